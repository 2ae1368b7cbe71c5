"""Where the code in a Markdown text is: the part of CommonMark's block structure that decides what counts as prose.

Pure text in, pure text out. Every function keeps offsets: the result has the length of the input, so that
a position in the one is a position in the other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection

from oracle.domain.compiling import compiled
from oracle.domain.markdown.inline_code import CommentEnds, find_inline

_DEEPEST = 32  # containers; deeper nesting is read as text, which keeps the cost of a line bounded
_INDENTED = 4

_BLOCK = r"""(?x)(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})
      | (?P<heading>\#{1,6}(?=[ \t]|\Z))
      | (?P<rule>([-*_])[ \t]*+(?:\4[ \t]*+){2,}+\Z)
      | (?P<quote>>)
      | (?P<underline>(?:=++|-{1,2}+)[ \t]*\Z)
      | (?P<item>[-+*]|[0-9]{1,9}[.)])(?=[ \t]|\Z)
      | (?P<comment><!--)"""
_CLOSER = r"(?m)^ {0,3}(`{3,}|~{3,})[ \t]*$"
_BLANKS = re.compile(r"[ \t]*")
_BLANK = (" ", "\t")
_NO_PLAIN_LINE = r"(?m)^[ \t>\-+*_#`~<=0-9]"
_CODE_LINE = r"[^ \t\n][^\n]*"


def unify_line_ends(text: str) -> str:
    r"""Make every line end one `\n` without moving an offset (`\r\n` becomes a space and a line feed)."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", " \n").replace("\r", "\n")


def blank(text: str, spans: Collection[tuple[int, int]], *, filler: str = " ") -> str:
    """Overwrite the (start, end) spans, in ascending order, with `filler`; line feeds stay."""
    if len(spans) == 1:
        ((start, end),) = spans
        if text.find("\n", start, end) < 0:
            return f"{text[:start]}{filler * (end - start)}{text[end:]}" if end > start else text
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        if start < done:
            start = done
        if end <= start:
            continue
        pieces.append(text[done:start])
        if text.find("\n", start, end) < 0:
            pieces.append(filler * (end - start))
        else:
            pieces.append("\n".join(filler * len(part) for part in text[start:end].split("\n")))
        done = end
    if not done:
        return text
    pieces.append(text[done:])
    return "".join(pieces)


def mask_code(text: str) -> str:
    r"""Overwrite code and comments with spaces; the result has the input's length and only `\n` as line end.

    Code is what CommonMark says: fenced, indented and inline code, inside quotes and list items too; HTML comments are
    hidden likewise. The one departure: a fence at the top level that is never closed hides its own line only, because a
    forgotten fence must not swallow the rest of a record. Time is linear in the length of the text.
    """
    text = unify_line_ends(text)
    if (
        "`" in text
        or "    " in text
        or "\t" in text
        or ("~" in text and "~~~" in text)
        or ("<" in text and "<!--" in text)
    ):
        return blank(text, _Blocks(text).read())
    return text


class _Line:
    """One line being eaten from the left: `at` is the next non-blank character, `column` its column (tab stops: 4)."""

    __slots__ = ("at", "column", "consumed", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = self.column = self.consumed = 0
        self._skip()

    def _skip(self) -> None:
        if self.text[self.at : self.at + 1] not in _BLANK:
            return
        found = _BLANKS.match(self.text, self.at)
        end = found.end() if found else self.at
        blanks = self.text[self.at : end]
        if "\t" in blanks:
            for char in blanks:
                self.column += 4 - self.column % 4 if char == "\t" else 1
        else:
            self.column += len(blanks)
        self.at = end

    @property
    def indent(self) -> int:
        return self.column - self.consumed

    @property
    def is_blank(self) -> bool:
        return self.at >= len(self.text)

    def eat_marker(self, width: int) -> int:
        """Step over a container's marker and return the columns of white space behind it."""
        self.at += width
        self.column += width
        self.consumed = self.column
        self._skip()
        return self.indent


def _interrupts(line: _Line) -> bool:
    """Return whether a line begins a block, and does not go on with a paragraph whose markers it leaves out."""
    block = compiled(_BLOCK).match(line.text, line.at)
    return block is not None and (block.lastgroup != "underline" or block.group().rstrip(" \t") == "-")


class _Blocks:
    """A walk over the lines that keeps the open containers, the open fence and the open paragraph."""

    __slots__ = (
        "_comment_end",
        "_comments",
        "_fence",
        "_has_bars",
        "_is_bare",
        "_last_closer",
        "_paragraph",
        "_spans",
        "_stack",
        "_text",
    )

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans: list[tuple[int, int]] = []
        self._stack: list[int] = []  # a quote is 0, a list item the columns its content is indented by
        self._fence: tuple[str, int] | None = None
        self._paragraph = -1  # offset where the open paragraph begins
        self._is_bare = False  # the last line opened a list item without text; a blank line ends that item
        self._comment_end = 0  # offset up to which the text is one comment
        self._last_closer = _LastClosers(text)
        self._comments = CommentEnds(text, len(text))
        self._has_bars = "|" in text and "`" in text

    def read(self) -> list[tuple[int, int]]:
        text = self._text
        start = 0
        while start <= len(text):
            if not self._stack and start >= self._comment_end:
                start = self._skip_fenced(start) if self._fence is not None else self._skip_plain(start)
            end = text.find("\n", start)
            if end < 0:
                end = len(text)
            if end > self._comment_end or not self._comment_end:
                self._read_line(max(start, self._comment_end), end)
            start = end + 1
        self._end_paragraph(len(text))
        return sorted(self._spans)

    def _skip_plain(self, start: int) -> int:
        """Read lines of plain text and empty ones from the start of a line: most need no closer look. Return where the next is."""
        text = self._text
        special = compiled(_NO_PLAIN_LINE).search(text, start)
        stop = special.start() if special else len(text)
        while start < stop:
            if text[start] == "\n":
                self._end_paragraph(start)
                start += 1
                continue
            if self._paragraph < 0:
                self._paragraph = start
            gap = text.find("\n\n", start, stop)
            start = gap + 1 if gap >= 0 else stop
        return stop

    def _skip_fenced(self, start: int) -> int:
        """Read the lines of an open fence outside of lists and quotes. Return where the line is that closes it."""
        char, length = self._fence or ("`", 1)
        closer = compiled(_CLOSER).search(self._text, start)
        while closer and (closer[1][0] != char or len(closer[1]) < length):
            closer = compiled(_CLOSER).search(self._text, closer.end())
        stop = closer.start() if closer else len(self._text)
        self._spans += [line.span() for line in compiled(_CODE_LINE).finditer(self._text, start, stop)]
        return stop

    def _read_line(self, start: int, end: int) -> None:
        line = _Line(self._text[start:end])
        depth = self._match_containers(line)
        if self._fence is not None:
            if depth == len(self._stack):
                self._read_fenced(line, start)
                return
            self._fence = None
        if line.is_blank:
            self._end_paragraph(start)
            if self._is_bare and depth:
                depth -= 1
            del self._stack[depth:]
            self._is_bare = False
            return
        self._is_bare = False
        if depth < len(self._stack):
            if self._paragraph >= 0 and (line.indent >= _INDENTED or not _interrupts(line)):
                return  # a lazy continuation: the paragraph goes on without its markers
            self._end_paragraph(start)
            del self._stack[depth:]
        self._open_blocks(line, start)

    def _match_containers(self, line: _Line) -> int:
        depth = 0
        for width in self._stack:
            if width == 0:
                if line.indent >= _INDENTED or not line.text.startswith(">", line.at):
                    break
                if line.eat_marker(1) > 0:
                    line.consumed += 1
            elif line.is_blank:
                pass
            elif line.indent >= width:
                line.consumed += width
            else:
                break
            depth += 1
        return depth

    def _read_fenced(self, line: _Line, start: int) -> None:
        self._spans.append((start + line.at, start + len(line.text)))
        if self._fence is None or line.indent >= _INDENTED or not line.text.startswith(self._fence[0], line.at):
            return
        char, length = self._fence
        rest = line.text[line.at :].rstrip(" \t")
        if len(rest) >= length and rest == char * len(rest):
            self._fence = None

    def _open_blocks(self, line: _Line, start: int) -> None:
        while not line.is_blank:
            if line.indent >= _INDENTED:
                if self._paragraph < 0:
                    self._spans.append((start + line.at, start + len(line.text)))
                return
            block = compiled(_BLOCK).match(line.text, line.at)
            kind = block.lastgroup if block else None
            if block is None or kind is None or not self._open_block(kind, block.group(), line=line, start=start):
                if self._paragraph < 0:
                    self._paragraph = start + line.at
                return
            if kind not in {"quote", "item"}:
                return

    def _open_block(self, kind: str, marker: str, *, line: _Line, start: int) -> bool:
        """Open the block whose marker is at `line.at`; return False when it turns out to be a paragraph's text."""
        if kind == "comment":
            return self._open_comment(start + line.at, start + len(line.text))
        if kind == "underline" and self._paragraph < 0:
            if marker.rstrip(" \t") != "-":
                return False
            kind, marker = "item", "-"
        if kind in {"quote", "item"}:
            if len(self._stack) >= _DEEPEST:
                return False
            return self._open_container(kind, marker, line=line, start=start)
        self._end_paragraph(start)
        if kind == "fence":
            self._spans.append((start + line.at, start + len(line.text)))
            if self._stack or self._last_closer.after(start + line.at, marker):
                self._fence = (marker[0], len(marker))
        elif kind == "heading":
            self._spans += find_inline(self._text, start + line.at, start + len(line.text))
        return True

    def _open_container(self, kind: str, marker: str, *, line: _Line, start: int) -> bool:
        if kind == "quote":
            self._end_paragraph(start + line.at)
            if line.eat_marker(1) > 0:
                line.consumed += 1
            self._stack.append(0)
            return True
        if self._paragraph >= 0:
            is_empty = not line.text[line.at + len(marker) :].strip(" \t")
            if is_empty or (len(marker) > 1 and marker[:-1] != "1"):
                return False  # only a list that starts at one, with text, interrupts a paragraph
        self._end_paragraph(start + line.at)
        indent = line.indent
        padding = line.eat_marker(len(marker))
        self._is_bare = line.is_blank
        if line.is_blank or padding > _INDENTED:
            padding = 1
        line.consumed += padding
        self._stack.append(indent + len(marker) + padding)
        return True

    def _open_comment(self, at: int, line_end: int) -> bool:
        end = self._comments.end_of(at)
        if end < 0:
            return False
        self._end_paragraph(at)
        self._spans.append((at, end))
        self._comment_end = end
        if end < line_end:
            self._paragraph = end
        return True

    def _end_paragraph(self, end: int) -> None:
        start, self._paragraph = self._paragraph, -1
        if start >= 0 and (self._text.find("`", start, end) >= 0 or self._text.find("<!--", start, end) >= 0):
            self._spans += find_inline(self._text, start, end, may_hold_table=self._has_bars)


class _LastClosers:
    """The last line that can close a fence of a given length, so that no fence is searched for twice."""

    __slots__ = ("_closers", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._closers: dict[str, tuple[list[int], list[int]]] | None = None

    def after(self, at: int, marker: str) -> bool:
        """Return whether a line behind `at` closes a top-level fence opened by `marker`."""
        if self._closers is None:
            self._closers = self._collect()
        lengths, offsets = self._closers.get(marker[0], ([], []))
        place = bisect_left(lengths, len(marker))
        return place < len(offsets) and offsets[place] > at

    def _collect(self) -> dict[str, tuple[list[int], list[int]]]:
        closers: dict[str, tuple[list[int], list[int]]] = {}
        for found in reversed(list(compiled(_CLOSER).finditer(self._text))):
            run = found.group(1)
            lengths, offsets = closers.setdefault(run[0], ([], []))
            if not lengths or len(run) > lengths[-1]:
                lengths.append(len(run))
                offsets.append(found.start(1))
        return closers
