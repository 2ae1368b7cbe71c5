"""What a response says: JSON that every reader takes, an answer, and claims with the evidence that they name. Pure.

`verdicts` checks whether the evidence supports a claim.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

from oracle.domain.names import cut
from oracle.domain.spelling import is_one_slip_off
from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.wording import Sentence, say

KEYS = ("answer", "claims", "sources", "confidence")
"""The keys that a response is written with. Any other key may be beside them."""

_OTHERS = ("result", "source")
"""Keys that are known too: what an older tool writes for `answer`, and one that stored responses have."""

_MOST_DIGITS = 4000
_MOST_INDENTATION = 16 << 20
"""Characters of blanks that a response may take where it is printed for people: deep down, every item has hundreds."""


def parse_response(raw: bytes | str) -> dict[str, object]:
    """Return the object of a response's JSON. Raises UsageError with the reason, also for what other readers of JSON refuse.

    Those are NaN, numbers that no reader can hold, and keys that one object has twice.
    """
    hint = say('Give an object, as in {{"answer": "…"}}.')
    try:
        found = json.loads(
            raw, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite, parse_int=_whole
        )
        if isinstance(found, dict):
            return found
        raise UsageError(say("The response is not a JSON object."), hint=hint)
    except RecursionError:
        reason: str = say("it is nested too deeply")
    except UnicodeDecodeError:
        reason = say("it is not UTF-8")
    except ValueError as error:
        reason = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    raise UsageError(say("The response is not JSON: {reason}.", reason=reason), hint=hint)


def require_answer(response: Mapping[str, object]) -> None:
    """Raise UsageError for a response that says nothing, has no known key, or has one that is nearly a known one.

    Older tools write `result` for `answer`.
    """
    answer = response.get("answer")
    if not _says_something(list(response.values()) if answer is None else answer):
        raise UsageError(
            say("The response holds no answer; nothing was delivered."),
            hint=say('Give one, as in {{"answer": "…"}}.'),
        )
    slips = [(key, meant) for meant in KEYS if meant not in response for key in response if _is_slip(key, meant)]
    if not slips and not any(key in response for key in (*KEYS, *_OTHERS)):
        slips = [(min(response, key=lambda key: key == "query_id"), "answer")]
    if slips:
        key, meant = slips[0]
        raise UsageError(
            say("The response has the unknown key {key!r}; did you mean {meant}?", key=cut(key), meant=meant),
            hint=say('Correct it, as in {{"answer": "…"}}. Other keys may be beside it.'),
        )


def _is_slip(key: str, meant: str) -> bool:
    return key not in (*KEYS, *_OTHERS) and is_one_slip_off(key, meant)


def _says_something(content: object) -> bool:
    """Return whether something of it can be seen: a printed character in any text, a number or a truth value."""
    waiting = [content]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict | list):
            waiting += item.values() if isinstance(item, dict) else item
        elif isinstance(item, str):
            if any(sign.isprintable() and not sign.isspace() for sign in item):
                return True
        elif item is not None:
            return True
    return False


def require_json(response: Mapping[str, object]) -> None:
    """Raise UsageError for a response that can't be printed as JSON: NaN, infinity, or nested too deeply for what it holds."""
    try:
        _require_room(response)
        json.dumps(response, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(
            say("The response can't be stored as JSON: it holds NaN or infinity, or is nested too deeply."),
            hint=say("Write such a number as text."),
        ) from error


def _require_room(response: Mapping[str, object]) -> None:
    blanks = 0
    waiting: list[tuple[dict[str, object] | list[object], int]] = [(dict(response), 1)]
    while waiting:
        item, depth = waiting.pop()
        inner = list(item.values()) if isinstance(item, dict) else item
        blanks += 2 * depth * len(inner)
        if blanks > _MOST_INDENTATION:
            raise ValueError
        waiting += [(one, depth + 1) for one in inner if isinstance(one, dict | list)]


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table: dict[str, object] = {}
    for key, item in pairs:
        if key in table:
            raise ValueError(say("one object has the key {key!r} twice", key=key[:40]))
        table[key] = item
    return table


def _no_number(word: str) -> object:
    raise ValueError(say("JSON has no number {word}", word=word))


def _finite(word: str) -> float:
    number = float(word)
    if not isfinite(number):
        raise ValueError(say("the number {word} is too large", word=word[:40]))
    return number


def _whole(word: str) -> int:
    if len(word) > _MOST_DIGITS:
        raise ValueError(say("a number of {count} digits is too large", count=len(word)))
    return int(word)


# Claims ----------------------------------------------------------------------------------------------------------------

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


def confidence_of(claims: Sequence[Claim], given: object) -> str | float:
    """Return the confidence to store: "unverified" for a text that claims nothing, whatever its writer says."""
    if not claims:
        return UNVERIFIED
    return given if isinstance(given, str | float) and given else "medium"


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
