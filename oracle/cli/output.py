"""Print for a terminal, a pipe or a program, and show a wait. No other module writes to the two streams.

The text of records is data: characters that could steer a terminal are printed as escapes.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, zip_longest
from threading import Lock, Timer
from typing import TYPE_CHECKING

from oracle.domain.layout import NARROWEST, broken, cells, cut, hanging, padded, shorten, squeeze, wrap
from oracle.domain.values import value
from oracle.errors import DiskFailure
from oracle.wording import Sentence, say, spelled_lines, spoken, visible, visible_lines

if TYPE_CHECKING:
    from types import TracebackType

    from rich.status import Status

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{6}Z")
_LOCAL = {"utf-8", "utf8"}
_INDENT = "    "
_GAP = "  "
"""Blanks between the columns of a table."""


class OutputLost(DiskFailure):
    """Standard output can't be written, for example because the disk is full."""


class ReaderGone(Exception):
    """The reader of the output stopped reading (`oracle list | head -1`)."""


def as_json(document: object) -> str:
    """Return one JSON document, two blanks an indent, letters of every script as they are, nothing that steers a terminal."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    text = json.dumps(document, ensure_ascii=encoding not in _LOCAL, indent=2)
    return spelled_lines(text, lambda match: f"\\u{ord(match[0]):04x}") + "\n"


@value
class Table:
    """Rows for people: on a terminal below headings, through a pipe one line a row with tabs between the cells.

    `faint` names rows by number, `stacked` and `names` name columns. On a terminal the stacked ones share the last cell of a
    row, each on its own line. Names are slugs and targets, which a terminal shows shortened unless `is_full`.
    """

    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    faint: frozenset[int] = frozenset()
    stacked: tuple[int, ...] = ()
    names: tuple[int, ...] = ()
    is_full: bool = False
    is_one_line: bool = False
    """Whether a terminal shows each row on one line. The last cell is cut first, then the widest, the first in its middle.

    What is stacked comes below its row, each on one line of its own.
    """
    kept: int = -1
    """The column that is cut last on one line, and in its middle."""
    captions: Sequence[str] = ()
    """What a terminal prints above each row, "" for nothing."""


def print_table(table: Table) -> None:
    """Print a table: drawn on a terminal, tab-separated without headings otherwise."""
    if not table.rows:
        return
    if is_terminal(sys.stdout):
        write_out(_draw(table))
    else:
        write_out("".join("\t".join(map(visible, row)) + "\n" for row in table.rows))


def on_terminal(text: str) -> str:
    """Return a word that programs know, in the chosen language only where a person reads it."""
    return text if is_terminal(sys.stdout) else str(text)


def columns() -> int:
    """Return how many columns the terminal has."""
    import shutil

    return shutil.get_terminal_size().columns


def _draw(table: Table) -> str:
    rows = [[_TIME.sub(r"\1 \2Z", visible(cell)) for cell in row] for row in _with_short_names(table)]
    heads = [visible(heading) for heading in table.headings]
    under = table.stacked if table.is_one_line else ()
    shown = [at for at in range(len(heads)) if at not in under and any(row[at] for row in rows)]
    width = {at: max(cells(row[at]) for row in (heads, *rows)) for at in shown}
    if table.is_one_line:
        width = squeeze(width, columns() - len(_GAP) * (len(shown) - 1), prose=len(heads) - 1, kept=table.kept)
        heads = [cut(head, width.get(at, 0)) for at, head in enumerate(heads)]
        wide = {**width, **dict.fromkeys(under, columns() - len(_GAP))}
        rows = [
            [cut(cell, wide.get(at, 0), keeps_end=at in (0, table.kept)) for at, cell in enumerate(row)] for row in rows
        ]
    last = [at for at in table.stacked if at in width]
    if not last and sum(width.values()) + len(_GAP) * (len(shown) - 1) > columns():
        last = [max(shown, key=lambda at: width[at])]
    beside = [(at, width[at]) for at in shown if at not in last]
    room = columns() - sum(wide + len(_GAP) for _, wide in beside)

    def lines(row: Sequence[str], below: Sequence[str]) -> list[str]:
        if last and room < NARROWEST:
            first = hanging(_GAP.join(row[at] for at, _ in beside if row[at]), columns(), may_break=True)
            return [*first, *(f"{_GAP}{part}" for text in below for part in wrap(text, columns() - len(_GAP)))]
        left = ["".join(padded(row[at], wide) + _GAP for at, wide in beside)]
        parts = [part for text in below for part in wrap(text, room)]
        return [
            f"{padded(one, columns() - room)}{part}".rstrip() for one, part in zip_longest(left, parts, fillvalue="")
        ]

    head = lines(heads, [" / ".join(heads[at] for at in last)] if last else [])
    drawn = [*head, "─" * columns()]
    for number, (row, caption) in enumerate(zip_longest(rows, table.captions, fillvalue="")):
        drawn += [emphasise(cut(visible(caption), columns()))] if caption else []
        text = lines(row, [row[at] for at in last if row[at]]) + [f"{_GAP}{row[at]}" for at in under if row[at]]
        drawn += [f"\x1b[2m{line}\x1b[0m" for line in text] if number in table.faint and wants_colour() else text
    return "\n".join(drawn) + "\n"


def _with_short_names(table: Table) -> Sequence[Sequence[str]]:
    """Return the rows of a table with what is unique in it of each slug and target."""
    if table.is_full or not table.names:
        return table.rows
    found: dict[str, str] = {}
    for row in table.rows:
        for at in table.names:
            _through(row[at], lambda name: found.setdefault(name, name))
    short = shorten(found)
    change = partial(_through, change=lambda name: short.get(name, name))
    return [[change(cell) if at in table.names else cell for at, cell in enumerate(row)] for row in table.rows]


def _through(cell: str, change: Callable[[str], str]) -> str:
    return cell.map_text(change) if isinstance(cell, Sentence) else change(cell)


def emphasise(text: str) -> str:
    """Return a safe line in bold on a terminal that has colours, as it is elsewhere."""
    return f"\x1b[1m{text}\x1b[0m" if is_terminal(sys.stdout) and wants_colour() else text


def headed(place: str, notes: Iterable[str]) -> str:
    """Return a place in bold with notes behind it, on a narrow terminal below it. The place stays whole, to be copied."""
    shown, text = visible(place), "  ".join(visible(note) for note in notes if note)
    if is_terminal(sys.stdout) and text and cells(f"{shown}  {text}") > columns():
        return "\n".join([emphasise(shown), *(f"  {line}" for line in wrap(text, columns() - 2))])
    return emphasise(shown) + (f"  {text}" if text else "")


def indented(text: str) -> str:
    """Return the lines of a record four blanks in; on a terminal one that is too long for it is broken between words."""
    lines = visible_lines(text).split("\n")
    if is_terminal(sys.stdout):
        lines = [part for line in lines for part in broken(line, columns() - len(_INDENT))]
    return "\n".join(f"{_INDENT}{line}" for line in lines)


def sentences(lines: Iterable[str], stream: object = None) -> str:
    """Return sentences, one line each; on a terminal a longer one goes on below, indented, its words and commands whole."""
    if not is_terminal(stream or sys.stdout):
        return "".join(f"{line}\n" for line in lines)
    return "".join(f"{part}\n" for text in lines for line in text.split("\n") for part in hanging(line, columns()))


def wants_colour() -> bool:
    """Check whether the environment allows colours: no NO_COLOR, no dumb terminal."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def is_terminal(stream: object) -> bool:
    """Check whether a stream is an open terminal."""
    try:
        return bool(stream is not None and stream.isatty())  # type: ignore[attr-defined]
    except ValueError:
        return False


def prepare_streams() -> None:
    """Print UTF-8 into pipes whatever the locale is, and never fail for a letter that the encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            encoding = None if is_terminal(stream) else "utf-8"
            reconfigure(encoding=encoding, errors="backslashreplace")


def print_lines(lines: Iterable[str]) -> None:
    """Print each text on a line of its own, in the operator's language; on a terminal a longer one is broken between words."""
    write_out(sentences(map(visible, lines)))


def print_line(line: str) -> None:
    """Print one text, such as a path, on a line of its own and whole, in the operator's language."""
    write_out(f"{visible(line)}\n")


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
    if not {"--help", "-h"}.intersection(words) or "compat" in words:  # the older programs print their own
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
        sys.stderr.write(sentences(map(visible_lines, lines), sys.stderr))
        sys.stderr.flush()


def mark_cuts(text: str, path: str, lines: tuple[int, int]) -> str:
    """Return a quote from one line of a file, with `…` where it begins or ends in the middle of a word of that line.

    A text of several lines is returned as it is, and so is one that the file no longer holds.
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


# A wait ---------------------------------------------------------------------------------------------------------------

PATIENCE = 2.0
"""Seconds of silence before the spinner appears."""


class Spinner:
    """A sign of life on standard error while the block runs; `report` says what is being done. Nothing at all off a terminal."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._timer = self._new_timer()
        self._lock = Lock()
        self._status: Status | None = None
        self._is_over = False
        self._text = say("Reading the Root …")

    def __enter__(self) -> Spinner:
        if is_terminal(sys.stderr):
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to a question while the block runs; afterwards wait as long as at first before it appears."""
        self._stop()
        try:
            yield
        finally:
            self._timer, self._is_over = self._new_timer(), False
            self.__enter__()

    def report(self, count: int, what: str) -> None:
        """Take a count from the work and the name of what is counted."""
        self._text = say("{count:,} {what} …", count=count, what=what)
        if self._status is not None:
            self._status.update(spoken(self._text))

    def _new_timer(self) -> Timer:
        timer = Timer(self._patience, self._begin)
        timer.daemon = True
        return timer

    def _stop(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._status is not None:
                self._status.stop()
                self._status = None

    def _begin(self) -> None:
        from rich.console import Console

        with self._lock:
            if self._is_over:
                return
            console = Console(
                file=sys.stderr,
                color_system="auto" if wants_colour() else None,
                highlight=False,
                markup=False,
                emoji=False,
            )
            self._status = console.status(spoken(self._text))
            self._status.start()
