"""Turn answers into what a terminal, a pipe or a machine reads; the only place that writes to the two streams.

Record text is data: whatever could steer a terminal is spelled out before it leaves.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from oracle.cli.i18n.translate import translate
from oracle.errors import DiskFailure
from oracle.wording import say

_STEERING = (
    "\x00-\x1f\x7f-\x9f"  # C0, DEL, C1: 0x9b alone begins an escape sequence on some terminals
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the order of what is read
    "\u2028\u2029\ufff9-\ufffb\ud800-\udfff"
)
_UNSAFE = re.compile(f"[{_STEERING}]")
_UNSAFE_IN_LINES = re.compile(f"[{_STEERING}]".replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{6}Z")
_LOCAL = {"utf-8", "utf8"}
_INDENT = "    "
_NARROWEST = 20
"""Columns below which a line is left for the terminal to break."""


class OutputLost(DiskFailure):
    """Standard output takes nothing: a full disk behind a redirection, as a rule."""


class ReaderGone(Exception):
    """Whoever read our output has had enough of it (`oracle list | head -1`)."""


def visible(text: str) -> str:
    r"""Return `text` in the operator's language, on one line, what steers a terminal spelled out (`\x1b`, `\n`, `\u202e`)."""
    return _UNSAFE.sub(_spell, translate(text))


def visible_lines(text: str) -> str:
    """Return text of several lines in the operator's language, its line ends and tabs kept, what else steers spelled out."""
    return _UNSAFE_IN_LINES.sub(_spell, translate(text))


def _spell(match: re.Match[str]) -> str:
    char = match[0]
    return _NAMED.get(char) or (f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}")


def as_json(document: object) -> str:
    """Return one JSON document, two blanks an indent, letters of every script as they are, nothing that steers a terminal."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    text = json.dumps(document, ensure_ascii=encoding not in _LOCAL, indent=2)
    return _UNSAFE_IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows for people: on a terminal under headings, through a pipe one line a row with tabs between the cells.

    `faint` names rows by number, `stacked` columns: a terminal is too narrow for slugs side by side, so it draws those in
    one cell, each on a line of its own, after the other columns.
    """

    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    faint: frozenset[int] = frozenset()
    stacked: tuple[int, ...] = ()


def print_table(table: Table) -> None:
    """Print a table: drawn by rich on a terminal, tab-separated without headings otherwise; nothing is ever cut off."""
    rows = [[visible(cell) for cell in row] for row in table.rows]
    if not rows:
        return
    if not is_terminal(sys.stdout):
        write_out("".join("\t".join(row) + "\n" for row in rows))
        return
    write_out(_draw(table, rows))


def _draw(table: Table, rows: list[list[str]]) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    beside = [
        index for index in range(len(table.headings)) if index not in table.stacked and any(row[index] for row in rows)
    ]
    drawn = Drawn(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), collapse_padding=True)
    for index in beside:
        drawn.add_column(Text(translate(table.headings[index])), overflow="fold")
    if table.stacked:
        drawn.add_column(Text(_stacked_heading(table, rows)), overflow="fold", ratio=1)
    for number, row in enumerate(rows):
        cells = [_TIME.sub(r"\1 \2Z", row[index]) for index in beside]
        if table.stacked:
            cells.append("\n".join(filter(None, (row[index] for index in table.stacked))))
        drawn.add_row(*map(Text, cells), style="dim" if number in table.faint else None)
    console = Console(
        file=sys.stdout, color_system="auto" if wants_colour() else None, highlight=False, markup=False, emoji=False
    )
    with console.capture() as capture:
        console.print(drawn)
    lines = capture.get().split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _stacked_heading(table: Table, rows: list[list[str]]) -> str:
    """Return what the lines of a stacked cell are, in their order, as in `as written / source / target`."""
    return " / ".join(translate(table.headings[index]) for index in table.stacked if any(row[index] for row in rows))


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def padded(text: str, width: int) -> str:
    """Return a text with blanks behind it, so many columns wide at least."""
    return text + " " * (width - cells(text))


def emphasise(text: str) -> str:
    """Return a safe line in bold on a terminal that has colours, as it is elsewhere."""
    return f"\x1b[1m{text}\x1b[0m" if is_terminal(sys.stdout) and wants_colour() else text


def headed(place: str, notes: Iterable[str]) -> str:
    """Return a place in bold and what is said of it; on a terminal too narrow for that, what is said stands on the next line."""
    said = "  ".join(visible(note) for note in notes if note)
    is_narrow = is_terminal(sys.stdout) and cells(f"{visible(place)}  {said}") > shutil.get_terminal_size().columns
    return emphasise(visible(place)) + ("\n  " if is_narrow else "  ") * bool(said) + said


def indented(text: str) -> str:
    """Return the lines of a record four blanks in; on a terminal one that is too long for it is broken between words."""
    lines = visible_lines(text).split("\n")
    if is_terminal(sys.stdout):
        lines = [part for line in lines for part in _broken(line, shutil.get_terminal_size().columns - len(_INDENT))]
    return "\n".join(f"{_INDENT}{line}" for line in lines)


def _broken(line: str, width: int) -> list[str]:
    """Return a line in parts of at most so many columns, each as far in as the line is; whole where hardly any are left."""
    inset = line[: len(line) - len(line.lstrip(" "))]
    room = width - len(inset)
    if cells(line) <= width or room < _NARROWEST:
        return [line]
    from rich.console import Console
    from rich.text import Text

    parts = Text(line.removeprefix(inset)).wrap(Console(file=io.StringIO(), width=room), room)
    return [f"{inset}{part.plain.rstrip()}" for part in parts]


def wants_colour() -> bool:
    """Tell whether the environment lets us send attributes: no NO_COLOR, no dumb terminal."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def is_terminal(stream: object) -> bool:
    """Tell whether a stream is a terminal; one that was closed is none."""
    try:
        return bool(stream is not None and stream.isatty())  # type: ignore[attr-defined]
    except ValueError:
        return False


def prepare_streams() -> None:
    """Print UTF-8 into pipes whatever the locale is, and never fail for want of a letter."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            encoding = None if is_terminal(stream) else "utf-8"
            reconfigure(encoding=encoding, errors="backslashreplace")


def print_lines(lines: Iterable[str]) -> None:
    """Print each text on a line of its own, in the operator's language."""
    write_out("".join(f"{visible(line)}\n" for line in lines))


def print_line(line: str) -> None:
    """Print one text on a line of its own, in the operator's language."""
    print_lines([line])


def write_out(text: str) -> None:
    """Write to standard output at once. Raises ReaderGone when nobody reads any more, OutputLost when it can't be written."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError as error:
        _give_up_stdout()
        raise ReaderGone from error
    except OSError as error:
        _give_up_stdout()
        raise OutputLost(
            say("The output could not be written: {strerror}.", strerror=error.strerror),
            hint=say("Free some space, or send it elsewhere."),
        ) from error


@contextlib.contextmanager
def held_back(words: Sequence[str]) -> Iterator[None]:
    """Where help is asked for, print what a block writes at its end: the parser, which prints it, fails in its own way."""
    if not {"--help", "-h"}.intersection(words):
        yield
        return
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        yield
    write_out(text.getvalue())


def _give_up_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's last flush has nothing to complain about."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def tell(lines: Iterable[str]) -> None:
    """Write lines to standard error; when that is gone there is nobody left to tell."""
    if sys.stderr is None:
        return
    with contextlib.suppress(OSError):
        sys.stderr.write("".join(f"{visible_lines(line)}\n" for line in lines))
        sys.stderr.flush()


def mark_cuts(text: str, path: str, lines: tuple[int, int]) -> str:
    """Return what stands in one line of a file with `…` where it ends, or begins, in the middle of a word of that line.

    A text of several lines is whole lines, and returned as it is; so is one that the file does not hold there any more.
    """
    if lines[0] != lines[1] or not text.strip():
        return text
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:  # noqa: PTH123 - pathlib is not loaded here
            line = next(islice(file, lines[0] - 1, None), "")
    except OSError:
        return text
    before, found, after = line.partition(text)
    if not found:
        return text
    opening = "… " if before[-1:].isalnum() and text[0].isalnum() else ""
    return f"{opening}{text} …" if text[-1].isalnum() and after[:1].isalnum() else f"{opening}{text}"
