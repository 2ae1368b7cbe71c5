"""Read a JSON text, and change it where its content changes: all else keeps its bytes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import cast

from oracle.domain.values import value
from oracle.wording import say

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:\s]+)')
_MARK = os.urandom(16).hex()
_BOM = "\ufeff"
"""The mark that some editors put before a text."""


class RepeatedKey(ValueError):
    """A key that an object has twice: it could not be kept. `lines` are those of both, from 1."""

    def __init__(self, key: str, lines: tuple[int, int]) -> None:
        super().__init__(key)
        self.key, self.lines = key, lines


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


def parse_json(text: str) -> object:
    """Read a JSON text, also after a byte order mark.

    Raises RepeatedKey, ValueError for invalid JSON, RecursionError for deep nesting.
    """
    plain = text.removeprefix(_BOM)
    content = json.loads(plain, parse_constant=_refuse, parse_float=_Number, parse_int=_Number)
    _require_single_keys(plain)
    return content


def _require_single_keys(text: str) -> None:
    """Raise RepeatedKey for the first key that an object of a valid JSON text has twice."""
    objects: list[dict[str, int]] = []
    last, tokens = None, _TOKEN.finditer(text)
    for token in tokens:
        if token[1] == "{":
            objects.append({})
        elif token[1] == "}":
            objects.pop()
        elif token[1] == ":" and last is not None:
            key, at = json.loads(last[1]), last.start(1)
            if (first := objects[-1].setdefault(key, at)) != at:
                raise RepeatedKey(key, (_line(text, first), _line(text, at)))
        last = token


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _refuse(word: str) -> object:
    raise ValueError(say("{word} is not JSON", word=word))


def render_json(content: Mapping[str, object], before: str) -> str:
    """Print `content` as a change of the text `before`, "" for a new file. Raises ValueError when that is impossible.

    The result is parsed again, so that a reader finds the same content. A byte order mark stays.
    """
    old = before.removeprefix(_BOM)
    try:
        text = _Editor(old if old.strip() else "{}\n").edit(content)
        is_same = parse_json(text) == content
    except RecursionError:
        is_same = False
    if not is_same:
        raise ValueError(say("it would be read differently"))
    return before[: len(before) - len(old)] + text


@value
class _Part:
    """A value in a text, or the member of a key: where it begins, its value begins, and it ends; and what it holds."""

    start: int
    at: int
    end: int
    content: object
    key: str | None = None
    parts: tuple[_Part, ...] = ()


_New = tuple[_Part | None, str | None, object]
"""A member or an item as it should be: what it was, None for a new one, its key, and its value."""


class _Editor:
    """One JSON text, and the layout in which new values are printed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line_end = "\r\n" if "\r\n" in text else "\n"
        blanks = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
        self._blank = "" if '"' in blanks and not re.search(r"[:,] ", blanks) else " "
        self._margin = None if '"' in text and "\n" not in text.strip() else ""
        indent = re.search(r"^[ \t]+(?=\S)", text, re.MULTILINE)
        self._indent = "  " if indent is None else "\t" if indent[0].startswith("\t") else indent[0]
        self._whole = self._read(0, parse_json(text))

    def edit(self, content: object) -> str:
        """Return the text with another content."""
        whole = self._whole
        return self._text[: whole.start] + self._edit(whole, content, self._margin) + self._text[whole.end :]

    def _read(self, start: int, content: object, key: str | None = None) -> _Part:
        """Return the value, or the member of a key, that begins after `start`."""
        first = self._token(start)
        token = first if key is None else self._token(self._token(first.end()).end())
        parts: list[_Part] = []
        end = token.end()
        if isinstance(content, dict | list):
            named = content.items() if isinstance(content, dict) else ((None, item) for item in content)
            for name, item in named:
                parts.append(self._read(end, item, name))
                end = self._token(parts[-1].end).end()
            end = end if parts else self._token(end).end()
        return _Part(first.start(1), token.start(1), end, content, key, tuple(parts))

    def _token(self, at: int) -> re.Match[str]:
        return cast("re.Match[str]", _TOKEN.match(self._text, at))  # the text was parsed

    def _edit(self, part: _Part, content: object, margin: str | None) -> str:
        """Return the text of a value, or of a member, with another content.

        `margin` is the blank before its line, None if new values stay on the line.
        """
        text, is_same_type = self._text, type(part.content) is type(content)
        if is_same_type and part.content == content:
            return text[part.start : part.end]
        if not is_same_type or not part.parts or not content:
            return text[part.start : part.at] + self._print(content, margin)
        lead = text[part.at + 1 : part.parts[0].start]
        inner = lead.rpartition("\n")[2] if "\n" in lead else None
        gap = f",{self._blank}" if inner is None else f",{self._line_end}{inner}"
        gaps = {after.start: text[one.end : after.start] for one, after in pairwise(part.parts)}
        pieces = [text[part.start : part.at + 1]]
        wanted = _members(part, content) if isinstance(content, dict) else _items(part, cast("list[object]", content))
        for old, name, item in wanted:
            pieces.append(lead if len(pieces) == 1 else gaps.get(old.start, gap) if old else gap)
            if old:
                pieces.append(self._edit(old, item, inner))
            else:
                head = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}:{self._blank}"
                pieces.append(head + self._print(item, inner))
        return "".join([*pieces, text[part.parts[-1].end : part.end]])

    def _print(self, content: object, margin: str | None) -> str:
        """Return a value that is new."""
        is_on_line = margin is None
        separators = ("," + (self._blank if is_on_line else ""), f":{self._blank}")
        indent = None if is_on_line else self._indent
        text = json.dumps(_mark(content), ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
        return re.sub(f'"{_MARK}([^"]*)"', r"\1", text).replace("\n", f"{self._line_end}{margin}")


def _members(part: _Part, content: Mapping[str, object]) -> Iterator[_New]:
    """Yield the members of an object as it should be: those that were there in their order, then the new ones."""
    old = {one.key or "": one for one in part.parts}
    yield from ((one, key, content[key]) for key, one in old.items() if key in content)
    yield from ((None, key, item) for key, item in content.items() if key not in old)


def _items(part: _Part, content: Sequence[object]) -> Iterator[_New]:
    """Yield the items of a list as it should be, each with the one that it was, or the one that it replaces."""
    old = list(part.parts)
    for number, item in enumerate(content):
        at = next((at for at, one in enumerate(old) if one.content == item), None)
        if at is None and old and old[0].content not in content[number:]:
            at = 0
        yield (None if at is None else old[at]), None, item
        del old[: 0 if at is None else at + 1]


def _mark(content: object) -> object:
    """Return a value with each number as a marked text, because `json` would spell numbers in its own way."""
    if isinstance(content, dict):
        return {key: _mark(item) for key, item in content.items()}
    if isinstance(content, list):
        return [_mark(item) for item in content]
    return f"{_MARK}{content}" if isinstance(content, _Number) else content
