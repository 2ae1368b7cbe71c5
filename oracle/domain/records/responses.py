"""JSON that is taken from outside to be kept: what every reader of JSON takes, and no more. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite

from oracle.errors import UsageError
from oracle.wording import say

_MOST_DIGITS = 4000
_MOST_INDENTATION = 16 << 20
"""Characters of blanks that a response may take where it is printed for people: deep down, every item has hundreds."""


def parse_response(raw: bytes | str) -> object:
    """Return what a response's JSON holds. Raises UsageError with the reason, also for what other readers of JSON refuse.

    Those are NaN, numbers that no reader can hold, and keys that one object has twice.
    """
    try:
        return json.loads(
            raw, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite, parse_int=_whole
        )
    except RecursionError:
        reason: str = say("it is nested too deeply")
    except UnicodeDecodeError:
        reason = say("it is not UTF-8")
    except ValueError as error:
        reason = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    raise UsageError(
        say("The response is not JSON: {reason}.", reason=reason), hint=say('Give an object, as in {{"answer": "…"}}.')
    )


def require_answer(response: Mapping[str, object]) -> None:
    """Raise UsageError for a response that says nothing: its `answer` is blank, or it has none and nothing else either.

    Other keys without an `answer` are what older tools send, and pass.
    """
    answer = response.get("answer")
    if not _says_something(list(response.values()) if answer is None else answer):
        raise UsageError(
            say("The response holds no answer; nothing was delivered."),
            hint=say('Give one, as in {{"answer": "…"}}.'),
        )


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
