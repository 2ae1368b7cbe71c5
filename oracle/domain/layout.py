"""Fit text and names into the columns of a terminal: measure, break, shorten."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

NARROWEST = 20
"""Columns below which text is not broken into lines, and the last cell of a row moves below the others."""

_LONGEST_NAME = 32
"""Columns that a terminal gives to the name of a record, if so many are enough to tell it from the others."""

_LEAST, _LEAST_PROSE = 4, 10
"""Columns of a text below which names beside it become narrower too."""

_SPARE = 6
"""Columns that a name may be longer before it is shortened."""

_STAMP = r"\d{4}-\d\d-\d\d(?:T[\d-]+Z)?-"
_WIDE = "\u3000-\u9fff\uf900-\ufaff\uff00-\uffef…—"
_WORD_END = rf"(?=[-_. ])|(?<=[{_WIDE}])(?=.)"
_OPENING, _CLOSING = "（「『《“【", "）」』》”】、，。；：！？…"
_ATOMS = (
    rf"\s+|[({_OPENING}]*`[^`]+`[).,;:{_CLOSING}]*"
    rf"|[{_OPENING}]*[{_WIDE}][{_CLOSING}]*"
    rf"|[^\s{_WIDE}{_OPENING}]+[{_CLOSING}]*|."
)
"""What a line is not broken in: a word, a command in backticks, or a Chinese character with the marks around it.

The patterns are compiled when a terminal needs them first: in a pipe no command pays for it.
"""

_BREAKS = (" ", "/", "-_.:=,")
"""Behind which letters a word that is too long is broken, the best first."""


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(char: str) -> int:
    if unicodedata.east_asian_width(char) in "WF":
        return 2
    return 0 if unicodedata.category(char) in ("Mn", "Me") else 1


def padded(text: str, width: int) -> str:
    """Return a text with blanks behind it, so many columns wide at least."""
    return text + " " * (width - cells(text))


def squeeze(widths: dict[int, int], room: int, *, prose: int = -1, kept: int = -1) -> dict[int, int]:
    """Return widths that take at most so much room together: a column of `prose` becomes narrower first, then the widest.

    A column that is `kept` stays as it is while the others have some letters each.
    """
    found = dict(widths)
    if kept in found:
        own = min(found.pop(kept), max(room - _LEAST * len(found), 1))
        return {kept: own, **squeeze(found, room - own, prose=prose)} if found else {kept: own}
    if prose in found:
        found[prose] = max(min(found[prose], _LEAST_PROSE), found[prose] - max(0, sum(found.values()) - room))
    while sum(found.values()) > room and max(found.values()) > 1:
        found[max(found, key=lambda at: found[at])] -= 1
    return found


def cut(text: str, width: int, *, keeps_end: bool = False) -> str:
    """Return a text that takes at most so many columns, with `…` for what is left out, in the middle to keep its end."""
    if cells(text) <= width:
        return text
    end = ""
    while keeps_end and cells(text[-len(end) - 1 :]) <= width // 2 - 1:
        end = text[-len(end) - 1 :]
    start = text
    while start and cells(start) + 1 + cells(end) > width:
        start = start[:-1]
    return f"{start}…{end}"


def wrap(text: str, width: int, *, keeps_words: bool = False) -> list[str]:
    """Return the lines of a paragraph. A word or command wider than a line is broken too, unless `keeps_words`."""
    lines, line = [], ""
    for atom in re.findall(_ATOMS, text):
        if line.strip() and cells(line) + cells(atom.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += atom if line else atom.lstrip()
        while not keeps_words and cells(line.rstrip()) > width > 1:
            part = _fitting(line, width)
            lines.append(part.rstrip())
            line = line[len(part) :]
    return [*lines, line.rstrip()] if line.strip() else lines


def _fitting(text: str, width: int) -> str:
    """Return a beginning of a text that takes at most so many columns and ends where a reader would break it."""
    part = text[:width]
    while cells(part) > width:
        part = part[:-1]
    for marks in _BREAKS:
        end = max(map(part.rfind, marks)) + 1
        if end > len(part) // 2:
            return part[:end]
    return part


def broken(line: str, width: int) -> list[str]:
    """Return a line in parts of at most so many columns, each indented as the line is; whole where hardly any are left."""
    inset = line[: len(line) - len(line.lstrip(" "))]
    room = width - len(inset)
    if cells(line) <= width or room < NARROWEST:
        return [line]
    return [f"{inset}{part}" for part in wrap(line, room)]


def hanging(line: str, width: int, inset: str = "  ", *, may_break: bool = False) -> list[str]:
    """Return the lines of a sentence, all but the first indented further.

    To be copied, a command behind `$` stays whole, and so do words and commands in backticks, unless `may_break`.
    """
    text = line.lstrip(" ")
    begins = line[: len(line) - len(text)]
    room = width - len(begins) - len(inset)
    if cells(line) <= width or room < NARROWEST or text.startswith("$ "):
        return [line]
    first, *rest = wrap(text, room, keeps_words=not may_break)
    return [f"{begins}{first}", *(f"{begins}{inset}{part}" for part in rest)]


def shorten(names: Iterable[str]) -> dict[str, str]:
    """Return each slug or target with the shortest name that no other of them has and that a command takes.

    A record goes by the first words of its name, else with its stamp or folder before them, an entity by its value.
    """
    forms = {name: _forms(name) for name in names}
    taken = Counter(form for those in forms.values() for form in {form.casefold() for form in those})
    whole = Counter(_bare(name).casefold() for name in forms if "/" in name and not name.startswith("entity:"))
    found = {}
    for name, those in forms.items():
        bare = _bare(name)
        counts = ((form, whole if form == bare else taken) for form in those)
        found[name] = next((form for form, count in counts if count[form.casefold()] == 1), name)
    return found


def _forms(name: str) -> list[str]:
    """Return the names that a target may go by, the shortest first."""
    if name.startswith("entity:"):
        return [name.split(":", 2)[-1]]
    folders, _, last = name.rpartition("/")
    if not folders:
        return [name]
    bare = _bare(name)
    ends = [match.start() for match in re.finditer(_WORD_END, bare) if match.start()]
    starts = [*(bare[:end] for end in ends), bare]
    short = sum(cells(start) <= _LONGEST_NAME for start in starts)
    starts = starts[max(short - 1, 0) :] if cells(bare) > _LONGEST_NAME + _SPARE else [bare]
    parts = folders.split("/")
    paths = ["/".join([*parts[at:], last]) for at in range(len(parts) - 1, -1, -1)]
    return [*starts, last[: -len(bare)] + starts[0], last, *paths]


def _bare(name: str) -> str:
    """Return the name of a record's file without its stamp."""
    last = name.rpartition("/")[2]
    return re.sub(_STAMP, "", last, count=1) or last
