"""The result of a check: passed, a fault with its fix, or a note. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

from oracle.wording import LIST, Sentence, joined, say

ERROR = "error"
WARNING = "warning"
NOTE = "note"
_RANKS = (ERROR, WARNING, NOTE)

CAP = 20
"""Faults of one check that are listed; the rest is counted."""

FIX = "oracle doctor --repair"


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant and whether it holds.

    `severity` says how bad it is (or would be) when it does not hold; a note never counts as wrong, so its `ok` is true.
    `detail` is one line; `fix` is a command or an action, "" when there is nothing to do.
    """

    name: str
    ok: bool
    detail: str
    fix: str
    severity: str

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return asdict(self)


def passed(name: str, detail: str) -> Check:
    """Report an invariant that holds."""
    return Check(name, True, one_line(detail), "", NOTE)


def note(name: str, detail: str, fix: str = "") -> Check:
    """Report what a person should know although nothing is wrong."""
    return Check(name, True, one_line(detail), one_line(fix), NOTE)


def error(name: str, detail: str, fix: str) -> Check:
    """Report a fault: something does not work until it is fixed."""
    return Check(name, False, one_line(detail), one_line(fix), ERROR)


def warning(name: str, detail: str, fix: str) -> Check:
    """Report a fault that stops nothing else."""
    return Check(name, False, one_line(detail), one_line(fix), WARNING)


def capped(checks: Iterable[Check], cap: int = CAP) -> Iterator[Check]:
    """Yield the first `cap` checks, then one that counts the others by the name and severity of the last one."""
    listed = iter(checks)
    last = None
    for last in islice(listed, cap):
        yield last
    rest = sum(1 for _ in listed)
    if last is not None and rest:
        yield Check(
            last.name,
            last.ok,
            say("… and {rest} more", rest=rest),
            last.fix and say("The others are shown once these are fixed."),
            last.severity,
        )


def in_order(checks: Iterable[Check]) -> list[Check]:
    """Return checks with the worst first: errors, warnings, then what holds with the notes; else in the order given."""
    return sorted(checks, key=lambda check: (check.ok, _RANKS.index(check.severity)))


def first_few(names: Sequence[str], limit: int = 5) -> Sentence:
    """Return "a, b, c and 4 more"."""
    rest = len(names) - limit
    if rest > 0:
        return say("{names} and {rest} more", names=names[:limit], rest=rest)
    return joined(LIST, names[:limit])


def one_line(text: str) -> str:
    """Return text that fits on a line of a terminal: control characters and bytes that are not UTF-8 are escaped."""
    return text.map_text(_one_line) if isinstance(text, Sentence) else _one_line(text)


def _one_line(text: str) -> str:
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in whole)


def quoted(path: str) -> str:
    """Return a path as a word for a shell, so that a fix can be pasted."""
    return shlex.quote(path)
