"""Check the claims of a response: its shape, its quotes in files, its values in fact files, and the verdicts stored with it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from oracle.domain import schemas
from oracle.domain.names import FOREIGN
from oracle.domain.records.responses import require_json
from oracle.domain.values import AsJson, value
from oracle.errors import ClaimsFailed, OracleError, UsageError
from oracle.store.root import facts
from oracle.store.root.layout import Root, choose_root
from oracle.wording import joined, say, say_many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from oracle.domain.records.responses import Claim
    from oracle.domain.records.verdicts import ClaimReport
    from oracle.store.root.layout import Root


_GIVEN = frozenset(("answer", "claims", "confidence", "sources"))
"""The keys of a response that its writer gives. The others that the schema names are filled in by the delivery."""


def require_response(response: Mapping[str, object]) -> None:
    """Raise UsageError if a part of the response that its writer gave breaks the schema."""
    given = {"query_id": "given-by-the-delivery", **{key: item for key, item in response.items() if key in _GIVEN}}
    if fault := schemas.find_fault("response", given):
        raise UsageError(
            say("The response's {place} {what}.", place=fault[0], what=fault[1]),
            hint=say("See schemas/response.schema.json."),
        )


LARGEST = 16 << 20
"""Bytes of a file that is looked at; a larger one counts as gone, since a quote in it could not be looked up whole."""

UNVERIFIED = "unverified"


@value
class Verified:
    """A response as it is stored, and what its claims are worth; `report` is None when it makes none."""

    response: Mapping[str, object]
    count: int = 0
    report: ClaimReport | None = None

    @property
    def all_verified(self) -> bool | None:
        """Return whether every claim is verified where it says; None when nothing is claimed."""
        return None if self.report is None else self.report.all_verified

    @property
    def confidence(self) -> str:
        """How sure its writer is; a text that claims nothing is unverified."""
        return str(self.response["confidence"])

    def require(self) -> None:
        """Raise ClaimsFailed if the evidence of a claim does not support it."""
        if self.report is not None and self.report.failed:
            raise _refusal(self.report)


def verify(root: Root, repo: str, given: Mapping[str, object]) -> Verified:
    """Check the claims of a response, which is stored with `claims` and `sources`, now. Raises UsageError for a malformed one."""
    require_json(given)
    kept = {key: item for key, item in given.items() if key not in ("all_verified", "claim_results")}
    for key in ("claims", "sources"):
        if kept.get(key) is None:
            kept[key] = []
    if kept["claims"] == []:
        require_response(kept)
        return Verified({**kept, "confidence": UNVERIFIED, "all_verified": None, "claim_results": []})
    from oracle.domain.records import responses, verdicts
    from oracle.store.markdown.sources import without_secrets

    made = responses.read_claims(kept)
    kept["claims"] = responses.in_full(kept["claims"])
    require_response(kept)
    sources = {path: verdicts.CitedFile(_read(root, repo, path)) for path in responses.paths_of(made)}
    for path in _quoted_redacted(made):
        if raw := sources[path].raw:
            sources[path] = verdicts.CitedFile(without_secrets(raw))
    report = verdicts.check(made, sources)
    kept["confidence"] = responses.confidence_of(made, kept.get("confidence"))
    return Verified({**kept, **report.as_json()}, len(made), report)


def _quoted_redacted(made: Iterable[Claim]) -> set[str]:
    """Return the paths of the files of which a quote holds the marker of a credential that was taken out."""
    found = (item for claim in made for item in claim.evidence)
    return {item.path for item in found if "[REDACTED:" in str(getattr(item, "quote", ""))}


def _refusal(report: ClaimReport) -> ClaimsFailed:
    worst = report.failed[0]
    reasons = [f"{finding.evidence.path}: {finding.verdict}" for finding in worst.findings] or [say("no evidence")]
    return ClaimsFailed(
        say_many(
            "{failed} of {n} claim does not hold: {statement!r} ({reasons}). Nothing was delivered.",
            "{failed} of {n} claims do not hold, the first being {statement!r} ({reasons}). Nothing was delivered.",
            n=len(report.claims),
            failed=len(report.failed),
            statement=worst.claim.statement[:120],
            reasons=joined("; ", reasons[:3]),
        ),
        hint=say("Correct the claims, or deliver without --strict: the answer then says which claims fail."),
    )


def _read(root: Root, repo: str, path: str) -> bytes | None:
    if path.startswith(FOREIGN) and root.load_sources() and root.source_of(path):
        from oracle.store.markdown import records

        try:
            return records.load(root, path)  # as an answer quotes it: without credentials
        except (OSError, ValueError):
            return None
    for place in _places(root, repo, path):
        try:
            if os.path.isfile(place) and os.path.getsize(place) <= LARGEST:
                with open(place, "rb") as stream:
                    return stream.read()
        except (OSError, ValueError):
            continue
    return None


def _places(root: Root, repo: str, path: str) -> Iterator[str]:
    """Yield where a path may lead: below the Root (also as the name of a fact file), then below the repository."""
    expanded = os.path.expanduser(path) if path.startswith("~/") else path
    bases = [root.path, repo] if repo else [root.path]
    names = [expanded] if os.path.isabs(expanded) else [path, f"{path}.json", f"machine/{path}", f"machine/{path}.json"]
    for base in bases:
        real = os.path.realpath(base).rstrip("/")
        for name in names:
            place = os.path.realpath(os.path.join(base, name))
            if real and place.startswith(f"{real}/"):
                yield place


VERIFIED = "verified"
_LONGEST_STATEMENT = 80


@value
class ToldClaim(AsJson):
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


_STEP = re.compile(r"""\[\s*(?:"([^"]*)"|'([^']*)'|([^\]]*?))\s*\]|([^./\[\]]+)""")


def verify_claims(response: Mapping[str, object], memory_dir: str) -> dict[str, object]:
    """Return `{all_verified, claim_results}`: a claim holds when all its evidence does, and it has some.

    Evidence `{file, path, expected_value}` holds when the value is on disk and is the same JSON value, of the same type;
    it is in a claim's `evidence` list or in the claim itself. A response without claims says nothing that could be
    checked: `{"all_verified": null, "reason": "legacy_schema_no_evidence"}`.
    """
    claims = response.get("claims")
    if claims is None:
        return {"all_verified": None, "reason": "legacy_schema_no_evidence"}
    root = Root(choose_root(memory_dir))
    results = [_verify(root, claim) for claim in (claims if isinstance(claims, list) else [claims])]
    return {"all_verified": all(result["verified"] for result in results), "claim_results": results}


def _verify(root: Root, claim: object) -> dict[str, object]:
    content = claim if isinstance(claim, Mapping) else {"statement": claim}
    given = content.get("evidence", [content] if "file" in content else [])
    items = given if isinstance(given, list) else [given]
    checked = [_check(root, item) for item in items]
    statement = content.get("statement", content.get("claim", content.get("text", "")))
    return {
        "statement": statement,
        "verified": bool(checked) and all(not item["reason"] for item in checked),
        "evidence": checked,
    }


def _check(root: Root, item: object) -> dict[str, object]:
    content = item if isinstance(item, Mapping) else {}
    file, path = str(content.get("file", "")), str(content.get("path", ""))
    return {"file": file, "path": path, "verified": not (reason := _fault(root, content, file, path)), "reason": reason}


def _fault(root: Root, content: Mapping[str, object], file: str, path: str) -> str:
    """Return why a piece of evidence does not hold, or ""."""
    if not file or "expected_value" not in content:
        return "incomplete_evidence"
    try:
        name, _ = facts.find_file(root, *_split(file))
        value = facts.look_up(facts.load(root, name), steps_of(path))
    except OracleError as error:
        return error.code
    if value is facts.MISSING:
        return "path_not_found"
    return "" if _is_same(value, content["expected_value"]) else "value_mismatch"


def _split(file: str) -> tuple[str, str]:
    """Return (name, project) of a fact file written as `x`, `x.json`, `machine/x.json` or `projects/p/x.json`."""
    parts = file.removesuffix(".json").split("/")
    if len(parts) == 3 and parts[0] == "projects":
        return parts[2], parts[1]
    return "/".join(parts[1:] if parts[0] == "machine" else parts), ""


def steps_of(path: str) -> list[str]:
    """Return the steps of a path such as `$.a[0]/b`, `a.0.b` or `$['a.b']`."""
    return ["".join(groups) for groups in _STEP.findall(path.strip().removeprefix("$"))]


def _is_same(value: object, expected: object) -> bool:
    """Compare JSON values strictly: 1 is not true, and not "1"; 1 and 1.0 are the same number."""
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if isinstance(value, dict) and isinstance(expected, dict):
        return value.keys() == expected.keys() and all(_is_same(item, expected[key]) for key, item in value.items())
    if isinstance(value, list) and isinstance(expected, list):
        return len(value) == len(expected) and all(map(_is_same, value, expected))
    return value == expected
