"""Where the inline code and the comments of a paragraph are, as CommonMark says, and elements of HTML.

The cells of a table are texts of their own.
"""

from __future__ import annotations

import re

from oracle.domain.compiling import compiled
from oracle.domain.markdown.ends import CodeEnds, CommentEnds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ATTRIBUTE = r"""\s++[A-Za-z_:][A-Za-z0-9_.:-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?+"""
_INLINE = (
    r"(?s)\\.|``*+|<!--|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>"
    rf"|<(?:/[A-Za-z][A-Za-z0-9-]*+|[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+)\s*+/?>"
)
_DELIMITERS = (
    r"(?m)^[ \t>]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?+[ \t]*+$"  # the second row of a table
)
_CELL_END = r"(?<!\\)\||\n"


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


class Inline:
    """Finds the inline code and the comments of a text, one paragraph after the other."""

    __slots__ = ("_code", "_comments", "_may_hold_table", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._may_hold_table = "|" in text
        self._code = CodeEnds(text)
        self._comments = CommentEnds(text)

    def find(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the (start, end) of what is in a paragraph. Its cells are texts of their own if it holds a table."""
        text = self._text
        if text.find("`", start, end) < 0 and text.find("<!--", start, end) < 0:
            return []
        at = _find_table(text, start, end) if self._may_hold_table else end
        spans = self.find_in_line(start, at)
        if at < end:
            for cell in compiled(_CELL_END).finditer(text, at, end):
                spans += self.find_in_line(at, cell.start())
                at = cell.end()
            spans += self.find_in_line(at, end)
        return spans

    def find_in_line(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the (start, end) of what is in a heading or another text without a table."""
        spans: list[tuple[int, int]] = []
        while token := compiled(_INLINE).search(self._text, start, end):
            start = token.end()
            found = token.group()
            if found[0] == "`":
                close = self._code.end_of(start, len(found), end)
            elif found == "<!--":
                close = self._comments.end_of(token.start(), end)
            else:
                continue
            if close > 0:
                spans.append((token.start(), close))
                start = close
        return spans


def _find_table(text: str, start: int, end: int) -> int:
    """Return where the table in a paragraph begins, `end` without one."""
    if text.find("`", start, end) < 0 or text.find("|", start, end) < 0:
        return end
    for row in compiled(_DELIMITERS).finditer(text, start, end):
        if row.start() > start and "|" in row.group():
            return max(start, text.rfind("\n", start, row.start() - 1) + 1)
    return end
