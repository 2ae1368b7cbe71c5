"""Claims and the evidence that they name, as a response states them: quotes in files, values at paths of JSON files. Pure.

`verdicts` checks whether the evidence supports a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.wording import Sentence, say

UNVERIFIED = "unverified"
MAX_EVIDENCE = 1000
"""Pieces of evidence that one response may carry."""

_RANGE = re.compile(r"[Ll]?(\d{1,9})(?:\s*(?:-|–|:|,|\.\.)\s*[Ll]?(\d{1,9}))?")


@value
class ClaimedQuote:
    """A text in a file, at lines (first, last) counted from 1 when they are stated."""

    path: str
    quote: str
    lines: tuple[int, int] | None = None


@value
class Expected:
    """A value at a path inside a JSON file: `$.a[0].b`, `a.0.b` and `a/b` are all paths."""

    path: str
    place: str
    value: object


Evidence = ClaimedQuote | Expected


@value
class Claim:
    """A statement with its evidence."""

    statement: str
    evidence: tuple[Evidence, ...]


def read_claims(response: Mapping[str, object]) -> tuple[Claim, ...]:
    """Return the claims of a response; one without `claims` has none. Raises UsageError naming the place that is off."""
    given = response.get("claims")
    if given is None:
        return ()
    if not isinstance(given, list):
        raise _malformed("claims", say("is not a list"))
    claims = tuple(_read_claim(item, f"claims[{number}]") for number, item in enumerate(given))
    if sum(len(claim.evidence) for claim in claims) > MAX_EVIDENCE:
        raise _malformed("claims", say("hold more than {most} pieces of evidence", most=MAX_EVIDENCE))
    return claims


def in_full(given: object) -> list[dict[str, object]]:
    """Return claims that `read_claims` accepted as they are stored: `claim` becomes `statement`, evidence is a list."""
    stored = []
    for item in given if isinstance(given, list) else []:
        full = {key: value for key, value in item.items() if key != "claim" or item.get("statement")}
        full["statement"] = item.get("statement") or item.get("claim")
        evidence = item.get("evidence", [])
        full["evidence"] = evidence if isinstance(evidence, list) else [evidence]
        stored.append(full)
    return stored


def confidence_of(claims: Sequence[Claim], given: object) -> str:
    """Return the confidence to store: "unverified" for a text that claims nothing, whatever its writer says."""
    if not claims:
        return UNVERIFIED
    return given if isinstance(given, str) and given else "medium"


def paths_of(claims: Iterable[Claim]) -> list[str]:
    """Return the paths of all files that the claims name, each once."""
    return list(dict.fromkeys(item.path for claim in claims for item in claim.evidence))


def _malformed(place: str, what: Sentence) -> UsageError:
    return UsageError(
        say("The response's {place} {what}.", place=place, what=what),
        hint=say("A claim is {{statement, evidence: [{{path, lines, quote}} or {{file, path, expected_value}}]}}."),
    )


def _read_claim(item: object, place: str) -> Claim:
    if not isinstance(item, dict):
        raise _malformed(place, say("is not an object"))
    statement = item.get("statement") or item.get("claim")
    if not isinstance(statement, str) or not statement.strip():
        raise _malformed(place, say("has no statement"))
    given = item.get("evidence", [])
    if not isinstance(given, list):
        given = [given]
    return Claim(statement, tuple(_read_evidence(one, f"{place}.evidence[{at}]") for at, one in enumerate(given)))


def _read_evidence(item: object, place: str) -> Evidence:
    if not isinstance(item, dict):
        raise _malformed(place, say("is not an object"))
    if "expected_value" in item:
        return Expected(_text(item, "file", place), _text(item, "path", place), item["expected_value"])
    path = "path" if "path" in item else "file"
    return ClaimedQuote(_text(item, path, place), _text(item, "quote", place), _read_lines(item.get("lines"), place))


def _text(item: Mapping[str, object], key: str, place: str) -> str:
    value = item.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _malformed(place, say("has no {key}", key=key))
    if "\0" in value:
        raise _malformed(place, say("has a NUL in its {key}", key=key))
    return value


def _read_lines(given: object, place: str) -> tuple[int, int] | None:
    """Read 12, "12", "12-14", "L12-L14", [12] and [12, 14]."""
    if given in (None, "", []):
        return None
    numbers: list[object] = list(given) if isinstance(given, list) else [given]
    if len(numbers) == 1 and isinstance(numbers[0], str) and (found := _RANGE.fullmatch(numbers[0].strip())):
        numbers = [int(part) for part in found.groups() if part]
    whole = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool) and number > 0]
    if len(whole) != len(numbers) or len(whole) > len(("first", "last")) or whole[-1] < whole[0]:
        raise _malformed(place, say("has invalid lines {lines!r}", lines=str(given)[:40]))
    return whole[0], whole[-1]
