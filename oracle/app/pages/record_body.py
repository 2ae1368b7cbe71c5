"""Split a record into its fields and the text below them, for a page that shows both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.domain.markdown.documents import as_text
from oracle.domain.values import value
from oracle.store.markdown import records

if TYPE_CHECKING:
    from oracle.app.records.views import Shown, Summary


@value
class RecordBody:
    """The fields of a record as texts, in the order of the file, and its lines from `first_line` of the file on."""

    fields: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    first_line: int

    def window(self, first_line: int, most_lines: int, most: int) -> tuple[str, int]:
        """Return lines from a line of the file on, at most so many and so many characters, and the line after them, 0 at the end.

        There is at least one line, cut if it is too long.
        """
        start = max(first_line - self.first_line, 0)
        kept: list[str] = []
        left = most
        for line in self.lines[start : start + most_lines]:
            if kept and len(line) >= left:
                break
            kept.append(line if len(line) <= most else f"{line[:most]}…")
            left -= len(line) + 1
        after = start + len(kept)
        return "\n".join(kept), self.first_line + after if after < len(self.lines) else 0


def read(shown: Shown) -> RecordBody:
    """Return the parts of a record that was read whole."""
    return split(shown.record, shown.text.encode("utf-8", "surrogatepass"))


def split(record: Summary, raw: bytes) -> RecordBody:
    """Return the parts of a record's file. A title that the text repeats at its head is left out of it."""
    document = records.parse(record.path, raw)
    lines = document.body.split("\n")
    at = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[at].strip() == f"# {record.title}":
        at += 1
    fields = tuple((name, as_text(content)) for name, content in document.fields.items())
    return RecordBody(fields, tuple(lines[at:]), document.body_line + at)
