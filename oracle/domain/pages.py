"""A text being read for edges: what was found in it, where, and what stands beside it.

Domain room: values and pure text. Hits are kept as offsets; lines and snippets are made once, for the hits that stand.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from unicodedata import normalize

from oracle.domain.slugs import entity

RECORD = "references-record"
TASK, COMMIT, FILE, URL = "references-task", "references-commit", "references-file", "references-url"
KEY, PROJECT, COMPONENT = "references-key", "references-project", "references-component"
MAX_VALUE = 2000  # characters of an entity's value or a reference; longer ones are no edges, for a cut one would lie
SNIPPET_MARGIN = 60
SNIPPET_LENGTH = 200

HIDDEN = "\x01"  # written over what has been read: no pattern takes it for a word, a blank or punctuation
_PREFIXES = (  # in the order in which edges are listed
    (TASK, entity("taskid", "")),
    (COMMIT, entity("commit", "")),
    (FILE, entity("file", "")),
    (URL, entity("url", "")),
    (KEY, entity("key", "")),
    (PROJECT, entity("project", "")),
    (COMPONENT, entity("component", "")),
)
_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
UNCLEAN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Mention(NamedTuple):
    """An edge to an entity. `line` counts from 1 within the text that was read."""

    type: str
    target: str
    snippet: str
    line: int


class Reference(NamedTuple):
    """A link to a record: `ref` as written, without encoding, anchor, alias and suffix; `resolve` finds the record."""

    type: str
    ref: str
    snippet: str
    line: int


class Extraction(NamedTuple):
    """Mentions by pattern, then by place; references by place. The first of several equal ones stands."""

    mentions: tuple[Mention, ...]
    references: tuple[Reference, ...]


class Page:
    """Collects hits as (offset, end, value); lines and snippets are made once, for the hits that stand."""

    __slots__ = ("_hits", "_refs", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._hits: dict[str, list[tuple[int, int, str]]] = {}
        self._refs: list[tuple[int, int, str]] = []

    def before(self, at: int) -> str:
        """Return the character before an offset, or ""."""
        return self._text[at - 1] if at > 0 else ""

    def after(self, at: int) -> str:
        """Return the character at an offset, or ""."""
        return self._text[at : at + 1]

    def part(self, start: int, end: int) -> str:
        """Return a stretch of the text as it was written."""
        return self._text[max(start, 0) : end]

    def is_joined(self, start: int, end: int) -> bool:
        """Tell whether a hit is only part of a word."""
        return joins(self.before(start)) or joins(self.after(end))

    def mention(self, kind: str, value: str, *, start: int, end: int) -> None:
        """Keep an edge to an entity."""
        self._hits.setdefault(kind, []).append((start, end, value))

    def refer(self, ref: str, *, start: int, end: int) -> None:
        """Keep a link to a record."""
        self._refs.append((start, end, ref))

    def finish(self) -> Extraction:
        """Return the hits that stand as edges."""
        if not self._hits and not self._refs:
            return Extraction((), ())
        lines = _Lines(self._text)
        mentions = [
            Mention(kind, prefix + value, self._snippet(start, end), lines.of(start))
            for kind, prefix in _PREFIXES
            if kind in self._hits
            for start, end, value in _first(self._hits[kind])
        ]
        references = [
            Reference(RECORD, ref, self._snippet(start, end), lines.of(start)) for start, end, ref in _first(self._refs)
        ]
        return Extraction(tuple(mentions), tuple(references))

    def _snippet(self, start: int, end: int) -> str:
        begin = start - SNIPPET_MARGIN if start > SNIPPET_MARGIN else 0
        stop = min(end + SNIPPET_MARGIN, begin + SNIPPET_LENGTH)
        part = self._text[begin:stop].replace("\n", " ").strip()
        if "  " in part or not part.isprintable():  # every blank but the plain space counts as unprintable
            return " ".join(part.split())
        return part


class _Lines:
    """Line numbers of offsets; asked in ascending order (as each pattern does) the text is counted once."""

    __slots__ = ("_at", "_line", "_text")

    def __init__(self, text: str) -> None:
        self._text = text if "\r" not in text else text.replace("\r\n", " \n").replace("\r", "\n")
        self._at, self._line = 0, 1

    def of(self, offset: int) -> int:
        if offset < self._at:
            self._at, self._line = 0, 1
        self._line += self._text.count("\n", self._at, offset)
        self._at = offset
        return self._line


def _first(hits: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the first hit of each value, by place, in NFC and without those that are too long."""
    if len(hits) == 1 and hits[0][2].isascii() and len(hits[0][2]) <= MAX_VALUE:
        return hits
    first: dict[str, tuple[int, int, str]] = {}
    for start, end, value in sorted(hits):
        clean = compose(value)
        if clean not in first and len(clean) <= MAX_VALUE:
            first[clean] = (start, end, clean)
    return list(first.values())


def joins(char: str) -> bool:
    """Tell whether a neighbour makes one word with a Latin word: letters, digits and `_`, but nothing written wide."""
    return char != "" and (char == "_" or char.isalnum()) and (char.isascii() or not _WIDE.match(char))


def compose(text: str) -> str:
    """Return the text in NFC."""
    return text if text.isascii() else normalize("NFC", text)
