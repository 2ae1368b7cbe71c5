"""Where the code in a Markdown text is: the part of CommonMark's block structure that decides what counts as prose.

Pure text in, pure text out. Every function keeps offsets: the result has the length of the input, so that
a position in the one is a position in the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from oracle.domain.compiling import compiled
from oracle.domain.markdown.ends import CommentEnds, FenceEnds
from oracle.domain.markdown.inline_code import Inline

_DEEPEST = 32  # containers; deeper nesting is read as text, which keeps the cost of a line bounded
_INDENTED = 4

_BLOCK = r"""(?x)(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})
      | (?P<heading>\#{1,6}(?=[ \t]|\Z))
      | (?P<rule>([-*_])[ \t]*+(?:\4[ \t]*+){2,}+\Z)
      | (?P<quote>>)
      | (?P<underline>(?:=++|-{1,2}+)[ \t]*\Z)
      | (?P<item>[-+*]|[0-9]{1,9}[.)])(?=[ \t]|\Z)
      | (?P<comment><!--)"""
_BLANKS = re.compile(r"[ \t]*")
_BLANK = (" ", "\t")
_CODE_LINE = r"[^ \t\n][^\n]*"

_SIGNS = ("`", "<!--", "~~~", "    ", "\t")
"""All code and all comments have one of these."""

_NEW_BLOCK = r"#{1,6}[ \t]|[-+*] \S|(?<=\n\n)[^ \t\n]"
"""The head of a line that ends every block before it but comments and top-level fences."""

_MARKUP = "-+*_#`~<=> \t0123456789"
"""The characters with which a line begins that may be more than plain text."""

_PLAIN_END = rf"\n[{_MARKUP}\n]"


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
    return blank(text, _Blocks(text).read()) if any(sign in text for sign in _SIGNS) else text


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
        "_begins_block",
        "_comments",
        "_done",
        "_fence",
        "_fences",
        "_inline",
        "_is_bare",
        "_paragraph",
        "_signs",
        "_spans",
        "_stack",
        "_text",
    )

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans: list[tuple[int, int]] = []
        self._stack: list[int] = []  # a quote is 0, a list item the columns its content is indented by
        self._fence: tuple[str, int] | None = None  # inside a container
        self._paragraph = -1  # offset where the open paragraph begins
        self._is_bare = False  # the last line opened a list item without text; a blank line ends that item
        self._done = 0  # offset up to which comments and top-level fences are read
        self._begins_block = compiled(_NEW_BLOCK).match
        self._fences = FenceEnds(text)
        self._comments = CommentEnds(text)
        self._inline = Inline(text)
        self._signs = dict.fromkeys(_SIGNS, -1)  # the next place of each

    def read(self) -> list[tuple[int, int]]:
        """Return the (start, end) of code and comments. Blocks and lines without a sign of them get no closer look."""
        text = self._text
        start = 0
        while start < len(text):
            if start < self._done:
                start = self._done
            elif not start or self._begins_block(text, start):
                self._end_paragraph(start)
                self._stack.clear()
                self._fence = None
                start = self._find_block(start)
            if not self._stack and text[start : start + 1] not in _MARKUP:
                start = self._read_plain(start)
                continue
            end = text.find("\n", start)
            if end < 0:
                end = len(text)
            if start < end or start != self._done:
                self._read_line(start, end)
            start = end + 1
        self._end_paragraph(len(text))
        return sorted(self._spans)

    def _find_block(self, start: int) -> int:
        """Return where the first block with a sign of code or of a comment begins, from the start of a block on."""
        text = self._text
        for sign, place in self._signs.items():
            if place < start:
                found = text.find(sign, start)
                self._signs[sign] = found if found >= 0 else len(text)
        at = min(self._signs.values())
        if at == len(text):
            return at
        while (at := text.rfind("\n", start, at)) >= 0:
            if self._begins_block(text, at + 1):
                return at + 1
        return start

    def _read_plain(self, start: int) -> int:
        """Read an empty line, or lines of plain text as far as they go, outside of containers. Return where the next one is."""
        if self._text.startswith("\n", start):
            self._end_paragraph(start)
            return start + 1
        if self._paragraph < 0:
            self._paragraph = start
        end = compiled(_PLAIN_END).search(self._text, start)
        return end.start() + 1 if end else len(self._text)

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
            self._open_fence(start + line.at, start + len(line.text), marker=marker)
        elif kind == "heading":
            self._spans += self._inline.find_in_line(start + line.at, start + len(line.text))
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

    def _open_fence(self, at: int, line_end: int, *, marker: str) -> None:
        if self._stack:
            self._fence = (marker[0], len(marker))
        else:
            self._done = max(line_end, self._fences.end_of(line_end, marker))
        code = compiled(_CODE_LINE).finditer(self._text, at, max(line_end, self._done))
        self._spans += [line.span() for line in code]

    def _open_comment(self, at: int, line_end: int) -> bool:
        end = self._comments.end_of(at, len(self._text))
        if end < 0:
            return False
        self._end_paragraph(at)
        self._spans.append((at, end))
        self._done = end
        if end < line_end:
            self._paragraph = end
        return True

    def _end_paragraph(self, end: int) -> None:
        start, self._paragraph = self._paragraph, -1
        if start >= 0:
            self._spans += self._inline.find(start, end)
