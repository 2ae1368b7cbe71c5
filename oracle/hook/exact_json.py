"""Change a JSON text of another program: keep its indentation, line ends and spelling of numbers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TypedDict

from oracle.wording import say


class _Layout(TypedDict):
    indent: int | str | None
    separators: tuple[str, str] | None


_MARK = os.urandom(16).hex()


class _Number(float):
    """A number that is printed as the file spells it, however large or exact."""

    _text: str

    def __new__(cls, text: str) -> _Number:
        """Keep the spelling with the value."""
        number = super().__new__(cls, text)
        number._text = text
        return number

    def __str__(self) -> str:
        """Return the spelling."""
        return self._text


def parse(text: str) -> object:
    """Read a JSON text. Raises ValueError for invalid JSON or a repeated key, RecursionError for deep nesting."""
    return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse, parse_float=_Number, parse_int=_Number)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object. A repeated key is refused: it could not be kept."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError(say("an object repeats a key"))
    return table


def _refuse(word: str) -> object:
    raise ValueError(say("{word} is not JSON", word=word))


def render(content: Mapping[str, object], before: str) -> str:
    """Print `content` in the layout of the text `before`, "" for a new file. Raises ValueError when that is impossible.

    The result is parsed again, so that a reader finds the same content.
    """
    try:
        layout = _layout(before)
        text = json.dumps(_mark_numbers(content), ensure_ascii=False, allow_nan=False, **layout)
        text = re.sub(f'"{_MARK}([^"]*)"', r"\1", text)
        is_same = parse(text) == content
    except RecursionError:
        is_same = False
    if not is_same:
        raise ValueError(say("it would be read differently"))
    text += "" if before and not before.endswith("\n") else "\n"
    return text.replace("\n", "\r\n") if "\r\n" in before else text


def _mark_numbers(value: object) -> object:
    """Return the content with each number as a marked text, because `json` would spell numbers in its own way."""
    if isinstance(value, dict):
        return {key: _mark_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mark_numbers(item) for item in value]
    return f"{_MARK}{value}" if isinstance(value, _Number) else value


def _layout(text: str) -> _Layout:
    """Return the layout of a text: one line, with or without blanks after separators, or an indentation."""
    if '"' in text and "\n" not in text.strip():
        tight = not re.search(r"[:,] ", re.sub(r'"(?:[^"\\]|\\.)*"', '""', text))
        return {"indent": None, "separators": (",", ":") if tight else (", ", ": ")}
    return {"indent": _indentation(text), "separators": None}


def _indentation(text: str) -> int | str:
    for line in text.splitlines():
        blank = line[: len(line) - len(line.lstrip())]
        if blank:
            return "\t" if blank.startswith("\t") else len(blank)
    return 2
