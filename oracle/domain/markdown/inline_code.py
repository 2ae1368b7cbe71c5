"""Where the inline code and the comments of a paragraph are, as CommonMark says, and elements of HTML.

The cells of a table are texts of their own.
"""

from __future__ import annotations

import re

from oracle.domain.compiling import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TICKS = re.compile(r"`+")
_ATTRIBUTE = r"""\s++[A-Za-z_:][A-Za-z0-9_.:-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?+"""
_INLINE = (
    r"(?s)\\.|`+|<!--|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>"
    rf"|<(?:/[A-Za-z][A-Za-z0-9-]*+|[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+)\s*+/?>"
)
_DELIMITERS = (
    r"(?m)^[ \t>]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?+[ \t]*+$"  # the second row of a table
)
_CELL_END = r"(?<!\\)\||\n"


def find_inline(text: str, start: int, end: int, *, may_hold_table: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of the inline code and the comments between two places of a text."""
    at = _find_table(text, start, end) if may_hold_table else end
    yield from _spans(text, start, at)
    if at < end:
        for cell in compiled(_CELL_END).finditer(text, at, end):
            yield from _spans(text, at, cell.start())
            at = cell.end()
        yield from _spans(text, at, end)


def _find_table(text: str, start: int, end: int) -> int:
    """Return where the table in a paragraph begins, `end` without one."""
    if text.find("`", start, end) < 0 or text.find("|", start, end) < 0:
        return end
    for row in compiled(_DELIMITERS).finditer(text, start, end):
        if row.start() > start and "|" in row.group():
            return max(start, text.rfind("\n", start, row.start() - 1) + 1)
    return end


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if text.find("`", start, end) < 0 and text.find("<!--", start, end) < 0:
        return
    runs, comments = _Runs(text, start, end), CommentEnds(text, end)
    at = start
    while token := compiled(_INLINE).search(text, at, end):
        at = token.end()
        found = token.group()
        if found[0] == "`":
            close = runs.next_of(len(found), at)
        elif found == "<!--":
            close = comments.end_of(token.start())
        else:
            continue
        if close > 0:
            yield token.start(), close
            at = close


def find_elements(text: str, tag: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of HTML elements. A tag that is never closed opens none.

    `tag` is the pattern of their tags: its first group is the stroke of a closing one, its second the name.
    """
    tags = list(re.finditer(tag, text))
    last = {found[2].lower(): found.start() for found in tags if found[1]}
    start, opened = 0, ""
    for found in tags:
        name = found[2].lower()
        if not opened and not found[1] and last.get(name, -1) > found.start():
            start, opened = found.start(), name
        elif found[1] and name == opened:
            yield start, found.end()
            opened = ""


class _Runs:
    """The backtick runs of one paragraph by length; answers in ascending order cost linear time in all."""

    __slots__ = ("_by_length",)

    def __init__(self, text: str, start: int, end: int) -> None:
        self._by_length: dict[int, list[int]] = {}
        for run in _TICKS.finditer(text, start, end):
            self._by_length.setdefault(run.end() - run.start(), []).append(run.start())
        for starts in self._by_length.values():
            starts.reverse()

    def next_of(self, length: int, at: int) -> int:
        """Return where the next run of just this length ends, or -1."""
        starts = self._by_length.get(length, [])
        while starts and starts[-1] < at:
            starts.pop()
        return starts[-1] + length if starts else -1


class CommentEnds:
    """The ends of HTML comments in a text. After the last one nothing is searched again."""

    __slots__ = ("_end", "_is_last", "_text")

    def __init__(self, text: str, end: int) -> None:
        self._text, self._end, self._is_last = text, end, False

    def end_of(self, at: int) -> int:
        """Return the offset behind the comment that opens at `at`, or -1 when it never ends."""
        end = -1 if self._is_last else self._text.find("-->", at + 2, self._end)
        self._is_last = end < 0
        return end + 3 if end >= 0 else -1
