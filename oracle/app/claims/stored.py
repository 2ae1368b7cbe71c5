"""List what a stored response claims: each claim, where it leads, and its verdict on delivery."""

from __future__ import annotations

from collections.abc import Mapping

from oracle.domain.values import contents_of, value

VERIFIED = "verified"
_LONGEST_STATEMENT = 80


@value
class ToldClaim:
    """A claim of a response: its handle (else its number), its places as `path:first-last`, and the verdict of its delivery.

    `reasons` are sentences of the check on what does not hold; the verdict is "" where nothing was checked.
    """

    handle: str
    statement: str
    places: tuple[str, ...] = ()
    verdict: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def excerpt(self) -> str:
        """The statement on one line, cut."""
        whole = " ".join(self.statement.split())
        return whole if len(whole) <= _LONGEST_STATEMENT else f"{whole[:_LONGEST_STATEMENT]} …"

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {**contents_of(self), "places": list(self.places), "reasons": list(self.reasons)}


def read(response: Mapping[str, object]) -> tuple[ToldClaim, ...]:
    """Return the claims of a response in their order; what was stored in another shape is left out, never an error."""
    results = _objects(response.get("claim_results"))
    made = _objects(response.get("claims"))
    return tuple(
        _tell(number, claim, results[number] if number < len(results) else {}) for number, claim in enumerate(made)
    )


def _tell(number: int, claim: Mapping[str, object], result: Mapping[str, object]) -> ToldClaim:
    given, found = _evidence(claim), _evidence(result)
    places = [_place({**one, **(found[at] if at < len(found) else {})}) for at, one in enumerate(given)]
    reasons = [str(one["reason"]) for one in found if one.get("reason") and one.get("verdict") != VERIFIED]
    return ToldClaim(
        str(claim.get("handle") or number + 1),
        str(claim.get("statement") or claim.get("claim") or ""),
        tuple(dict.fromkeys(place for place in places if place)),
        str(result.get("verdict") or ""),
        tuple(dict.fromkeys(reasons)),
    )


def _evidence(item: Mapping[str, object]) -> list[dict[str, object]]:
    given = item.get("evidence")
    return _objects(given if isinstance(given, list) else [given])


def _place(item: Mapping[str, object]) -> str:
    """Return where a piece of evidence leads: a path with the lines of its quote, or a file with the place of its value."""
    if isinstance(item.get("file"), str):
        return " ".join(str(item[key]) for key in ("file", "path") if isinstance(item.get(key), str))
    if not isinstance(item.get("path"), str):
        return ""
    lines = item.get("lines")
    shown = "-".join(map(str, dict.fromkeys(lines))) if isinstance(lines, list) else str(lines or "")
    return f"{item['path']}:{shown}" if shown else str(item["path"])


def _objects(content: object) -> list[dict[str, object]]:
    return [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
