"""JSON that belongs to somebody else: read strictly, printed with its own indentation, line ends and spelling of numbers.

Hook room; pure text in, pure text out.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TypedDict

from oracle.wording import say


class _Manner(TypedDict):
    indent: int | str | None
    separators: tuple[str, str] | None


_MARK = os.urandom(16).hex()


class _Number(float):
    """A number of the file, which is printed as it is spelled there, however large or exact."""

    _text: str

    def __new__(cls, text: str) -> _Number:
        """Keep the spelling beside the value."""
        number = super().__new__(cls, text)
        number._text = text
        return number

    def __str__(self) -> str:
        """Return the spelling."""
        return self._text


def parse(text: str) -> object:
    """Read a JSON text. Raises ValueError for what is none, or can't be kept, RecursionError for what is too deep."""
    return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse, parse_float=_Number, parse_int=_Number)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build a table; a key that stands twice can't be kept twice."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError(say("a key stands in one table twice"))
    return table


def _refuse(word: str) -> object:
    raise ValueError(say("{word} is no JSON", word=word))


def render(content: Mapping[str, object], before: str) -> str:
    """Print `content` in the manner of the text `before`, "" for a new file. Raises ValueError when that can't be done.

    What is printed is read again: a reader must find in it what was meant.
    """
    try:
        manner = _manner(before)
        text = json.dumps(_mark_numbers(content), ensure_ascii=False, allow_nan=False, **manner)
        text = re.sub(f'"{_MARK}([^"]*)"', r"\1", text)
        is_same = parse(text) == content
    except RecursionError:
        is_same = False
    if not is_same:
        raise ValueError(say("it would read otherwise"))
    text += "" if before and not before.endswith("\n") else "\n"
    return text.replace("\n", "\r\n") if "\r\n" in before else text


def _mark_numbers(value: object) -> object:
    """Return the content with each number of the file as a marked text: JSON's printer spells numbers its own way."""
    if isinstance(value, dict):
        return {key: _mark_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mark_numbers(item) for item in value]
    return f"{_MARK}{value}" if isinstance(value, _Number) else value


def _manner(text: str) -> _Manner:
    """Return how a text is laid out: on one line, with blanks behind its signs or without, or by an indentation."""
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
