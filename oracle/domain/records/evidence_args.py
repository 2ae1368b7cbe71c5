"""Evidence as a person states it on a command line, the same at every door: TRUST:SOURCE, or JSON. Pure."""

from __future__ import annotations

import json

from oracle.domain.records.drafts import TRUSTS, Evidence
from oracle.errors import UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HINT = say('Write it as high:src/app.py:12 or {{"trust": "high", "source_url": "src/app.py:12"}}.')


class NotAnObject(UsageError):
    """An item of evidence in JSON is a number, a text or a list."""


def parse_evidence(words: Sequence[str]) -> tuple[Evidence, ...]:
    """Return the evidence that was given, in order: a JSON object or array of them, or TRUST:SOURCE. Raises UsageError."""
    return tuple(item for word in words for item in _parse(word))


def _parse(word: str) -> list[Evidence]:
    text = word.strip()
    if text[:1] in ("{", "["):
        items = _load(text)
        return [_evidence(item) for item in (items if isinstance(items, list) else [items])]
    trust, colon, source = text.partition(":")
    if not colon:
        no_source = say("The evidence {word!r} has no source.", word=word)
        no_trust = say("The evidence {word!r} has no trust before its source.", word=word)
        raise UsageError(no_source if trust.lower() in TRUSTS else no_trust, hint=_HINT)
    return [Evidence(trust.strip().lower(), source.strip())]


def _load(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(say("The evidence is not valid JSON: {error}.", error=error), hint=_HINT) from error


def _evidence(item: object) -> Evidence:
    if not isinstance(item, dict):
        raise NotAnObject(
            say("Evidence in JSON is an object, not {item}.", item=json.dumps(item, ensure_ascii=False)[:40]),
            hint=_HINT,
        )
    values = {key: _as_text(value) for key, value in item.items()}
    trust = values.pop("trust", "")
    source_key = "source_url" if values.get("source_url") else "source"
    source = values.pop(source_key, "")
    return Evidence(trust, source, values.pop("quote", ""), {key: text for key, text in values.items() if text})


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
