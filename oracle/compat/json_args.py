"""Read the JSON object that a caller passes to a program, and check the type of each field."""

from __future__ import annotations

import json

from oracle.domain import timestamps
from oracle.domain.markdown import documents
from oracle.domain.markdown.documents import Value
from oracle.errors import UsageError

_HINT = "Pass an object as JSON, the path of a file that holds one, or - for standard input."
_FIELDS = "The page on packets lists the fields."
_LONGEST_ECHO = 60
_LARGEST = 1e15  # above all counts, and small enough for an exact float
_TIMES = ("valid_from", "valid_to")


class Fields:
    """The fields of a JSON object. `unused` lists those that no caller read."""

    def __init__(self, content: dict[str, object]) -> None:
        self._content = content
        self._asked: set[str] = set()

    def text(self, *names: str, default: str = "") -> str:
        """Return the first of `names` that is set, stripped, else `default`. Raises UsageError for another type."""
        found = self._take(names)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, str | int | float):
            raise _wrong(names[0], "is not a text", found)
        return documents.replace_surrogates(str(found)).strip()

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts without empty ones. A single text becomes a list. Raises UsageError."""
        found = self._take((name,))
        items = [] if found is None else found if isinstance(found, list) else [found]
        for item in items:
            if not isinstance(item, str):
                raise _wrong(name, "is not a list of texts", found)
        return tuple(documents.replace_surrogates(str(item)).strip() for item in items if str(item).strip())

    def number(self, name: str) -> float | None:
        """Return a finite number, None if it is not set. Raises UsageError."""
        found = self._take((name,))
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) <= _LARGEST:  # NaN fails too
            raise _wrong(name, "is not a number", found)
        return float(found)

    def whole(self, name: str) -> int | None:
        """Return a whole number, None if it is not set. Raises UsageError."""
        found = self.number(name)
        if found is not None and found != int(found):
            raise _wrong(name, "is not a whole number", found)
        return None if found is None else int(found)

    def flag(self, name: str) -> bool:
        """Return a boolean, False if it is not set. Raises UsageError."""
        found = self._take((name,))
        if found is not None and not isinstance(found, bool):
            raise _wrong(name, "is not true or false", found)
        return bool(found)

    def mapping(self, name: str) -> dict[str, Value]:
        """Return an object with its scalars as text; empty if it is not set. Raises UsageError."""
        found = self._take((name,))
        if found is None:
            return {}
        value = documents.parse_json(json.dumps(found)) if isinstance(found, dict) else None
        if not isinstance(value, dict):
            raise _wrong(name, "is not an object", found)
        return value

    def objects(self, name: str) -> list[Fields]:
        """Return a list of objects. Raises UsageError."""
        found = self._take((name,))
        items = [] if found is None else found
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise _wrong(name, "is not a list of objects", found)
        return [Fields(item) for item in items]

    def require_times(self) -> None:
        """Check that every field with the name of a time holds one, even if nobody reads it. Raises UsageError."""
        for name, found in self._content.items():
            is_time = name.endswith("_ts") or name in _TIMES
            if is_time and found not in (None, "") and not (isinstance(found, str) and timestamps.to_utc(found)):
                raise _wrong(name, "is not a time", found, hint="Write it as 2026-04-27T18:30:00Z.")

    def unused(self) -> list[str]:
        """Return the names of the fields that were not read."""
        return [name for name in self._content if name not in self._asked]

    def _take(self, names: tuple[str, ...]) -> object:
        self._asked.update(names)
        return next((self._content[name] for name in names if self._content.get(name) is not None), None)


def _wrong(name: str, what: str, found: object, *, hint: str = _FIELDS) -> UsageError:
    echo = json.dumps(found, ensure_ascii=False)
    cut = echo if len(echo) <= _LONGEST_ECHO else f"{echo[:_LONGEST_ECHO]}…"
    return UsageError(f"{name} {what}: {cut}.", hint=hint)


def read(words: str | None) -> Fields:
    """Return the fields of a JSON object: given as text, as a file, or as - for standard input. None has no fields."""
    if words is None:
        return Fields({})
    if words.lstrip()[:1] not in ("{", "["):
        from oracle.process import read_text_input

        words = read_text_input(words, "--input-json")
    try:
        content = json.loads(words)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--input-json is not valid JSON: {error}.", hint=_HINT) from None
    if not isinstance(content, dict):
        raise UsageError("--input-json is not a JSON object.", hint=_HINT)
    return Fields(content)
