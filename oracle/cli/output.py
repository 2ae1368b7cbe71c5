"""Print what a terminal, a pipe or a program reads; no other module writes to the two streams.

Record text is data: characters that could steer a terminal are spelled out.
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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest

from oracle.cli.i18n.translate import translate
from oracle.errors import DiskFailure
from oracle.wording import Sentence, say

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
_GAP = "  "
"""What stands between the columns of a table."""

_NARROWEST = 20
"""Columns below which a line is left for the terminal to break, and the last cell of a row moves below the others."""

_LONGEST_NAME = 32
"""Columns that a terminal gives to the name of a record, if so many are enough to tell it from the others."""

_STAMP = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d-]+Z)?-")
_ATOMS = re.compile(
    r"\s+|[（「『《“【]*[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef…—][）」』》”】、，。；：！？…]*"
    r"|[^\s\u3000-\u9fff\uf900-\ufaff\uff00-\uffef…—（「『《“【]+[）」』》”】、，。；：！？…]*|."
)
"""What a line is not broken in: a word, or a Chinese character with the marks around it."""


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
    """Rows for people: on a terminal below headings, through a pipe one line a row with tabs between the cells.

    `faint` names rows by number. The others name columns: `stacked` ones share the last cell of a row on a terminal, each on a
    line of its own, and `names` are slugs and targets, which a terminal shows shortened unless `is_full`.
    """

    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    faint: frozenset[int] = frozenset()
    stacked: tuple[int, ...] = ()
    names: tuple[int, ...] = ()
    is_full: bool = False


def print_table(table: Table) -> None:
    """Print a table: drawn on a terminal, tab-separated without headings otherwise."""
    if not table.rows:
        return
    if is_terminal(sys.stdout):
        write_out(_draw(table))
    else:
        write_out("".join("\t".join(map(visible, row)) + "\n" for row in table.rows))


def _draw(table: Table) -> str:
    rows = [[_TIME.sub(r"\1 \2Z", visible(cell)) for cell in row] for row in _with_short_names(table)]
    heads = [visible(heading) for heading in table.headings]
    shown = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    width = {at: max(cells(row[at]) for row in (heads, *rows)) for at in shown}
    last = [at for at in table.stacked if at in width]
    columns = shutil.get_terminal_size().columns
    if not last and sum(width.values()) + len(_GAP) * (len(shown) - 1) > columns:
        last = [max(shown, key=lambda at: width[at])]
    beside = [(at, width[at]) for at in shown if at not in last]
    room = columns - sum(wide + len(_GAP) for _, wide in beside)

    def lines(row: Sequence[str], below: Sequence[str]) -> list[str]:
        if room < _NARROWEST:
            first = wrap(_GAP.join(row[at] for at, _ in beside if row[at]), columns)
            return [*first, *(f"{_GAP}{part}" for text in below for part in wrap(text, columns - len(_GAP)))]
        first = ["".join(padded(row[at], wide) + _GAP for at, wide in beside)]
        parts = [part for text in below for part in wrap(text, room)]
        return [
            f"{padded(left, columns - room)}{right}".rstrip() for left, right in zip_longest(first, parts, fillvalue="")
        ]

    head = lines(heads, [" / ".join(heads[at] for at in last)] if last else [])
    drawn = [*head, "─" * min(columns, max(map(cells, head)) if room < _NARROWEST else columns)]
    for number, row in enumerate(rows):
        text = lines(row, [row[at] for at in last if row[at]])
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


def shorten(names: Iterable[str]) -> dict[str, str]:
    """Return each slug or target with the shortest form that no other of them has and that a command takes for it.

    A record goes by the first words of its name, its name without the stamp, its name or its slug, an entity by its value.
    """
    forms = {name: _forms(name) for name in names}
    taken = Counter(form for those in forms.values() for form in dict.fromkeys(those))
    return {name: next((form for form in those if taken[form] == 1), name) for name, those in forms.items()}


def _forms(name: str) -> list[str]:
    if name.startswith("entity:"):
        return [name.split(":", 2)[-1]]
    last = name.rpartition("/")[2]
    bare = _STAMP.sub("", last) or last
    cut = bare
    while cells(cut) > _LONGEST_NAME and "-" in cut:
        cut = cut.rpartition("-")[0]
    return [cut, bare, last, name]


def wrap(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph, none wider than so many cells. Chinese may break between characters."""
    lines, line = [], ""
    for atom in _ATOMS.findall(text):
        if line.strip() and cells(line) + cells(atom.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += atom if line else atom.lstrip()
        while cells(line.rstrip()) > width > 1:
            part = _fitting(line, width)
            lines.append(part)
            line = line[len(part) :]
    return [*lines, line.rstrip()] if line.strip() else lines


def _fitting(text: str, width: int) -> str:
    """Return the longest beginning of a text that takes at most so many cells."""
    part = text[:width]
    while cells(part) > width:
        part = part[:-1]
    return part


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
    """Return a line in parts of at most so many columns, each indented as the line is; whole where hardly any are left."""
    inset = line[: len(line) - len(line.lstrip(" "))]
    room = width - len(inset)
    if cells(line) <= width or room < _NARROWEST:
        return [line]
    return [f"{inset}{part}" for part in wrap(line, room)]


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
