"""Our text inside somebody's file: known by its marks, put in and taken out without touching the rest. Pure.

A section is between two lines of marks, whole lines both; a file that is all ours ends with one. Each carries the digest of
what was put there, so that a change by hand is seen before it is lost.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.wording import say

_LINE = re.compile(
    r"(?:^|(?<=\A\ufeff))<!-- memory-oracle:(?P<what>begin|end) (?P<name>[a-z-]+)(?: sha256=(?P<digest>[0-9a-f]{16}))?"
    r"(?P<first> first)? -->[ \t]*(?:\r?\n|\Z)",
    re.MULTILINE,
)
_LAST_LINE = re.compile(r"^<!-- memory-oracle:owned sha256=(?P<digest>[0-9a-f]{16}) -->\s*\Z", re.MULTILINE)


class BrokenMarks(UsageError):
    """The marks of a file don't belong together, so that our text can't be distinguished from the rest."""

    code = "broken_marks"


@value
class ManagedSection:
    """What is ours in a text: its name, its place with both marks, and whether a person changed it.

    `is_first` says that the text was empty before, so that no line end before the section is ours.
    """

    name: str
    start: int
    end: int
    is_edited: bool
    is_first: bool


def find(text: str) -> list[ManagedSection]:
    """Return our sections, in order. Raises BrokenMarks for marks that are not pairs, and for a repeated name."""
    marks = list(_LINE.finditer(text))
    found = []
    for opening, closing in zip(marks[::2], marks[1::2], strict=False):
        if (opening["what"], closing["what"], closing["name"]) != ("begin", "end", opening["name"]):
            raise _broken()
        body = text[opening.end() : closing.start()]
        is_edited, is_first = opening["digest"] != _digest(body), bool(opening["first"])
        found.append(ManagedSection(opening["name"], opening.start(), closing.end(), is_edited, is_first))
    if len(marks) % 2 or len({section.name for section in found}) < len(found):
        raise _broken()
    return found


def put(text: str, name: str, body: str) -> str:
    """Return the text with the section of that name holding `body`: in its place, or at the end. Raises BrokenMarks.

    Line ends are those of the text. A new section is one line end away from the text before it, which `take` takes back.
    """
    for section in find(text):
        if section.name == name:
            line_end = _line_end(text[section.start : section.end])
            new = _section(name, body, line_end, is_first=section.is_first)
            return text[: section.start] + new + text[section.end :]
    line_end = _line_end(text)
    return text + (line_end if text else "") + _section(name, body, line_end, is_first=not text)


def take(text: str, name: str) -> str:
    """Return the text without the section of that name; what was there before `put` comes back as it was. Raises BrokenMarks.

    Text that was written after the section begins a line still.
    """
    for section in find(text):
        if section.name == name:
            line_end = _line_end(text[section.start : section.end])
            before, rest = text[: section.start], text[section.end :]
            before = before if section.is_first else before.removesuffix(line_end)
            needs_end = bool(before and rest) and not before.endswith("\n") and not rest.startswith(line_end)
            return before + (line_end if needs_end else "") + rest
    return text


def sign(text: str) -> str:
    """Return a text that fills a file of its own, with its mark at the end."""
    return f"{text.rstrip()}\n\n<!-- memory-oracle:owned sha256={_digest(text)} -->\n"


def is_signed(text: str) -> bool:
    """Return whether a file is all ours."""
    return _LAST_LINE.search(text) is not None


def is_edited(text: str) -> bool:
    """Return whether a file that is all ours was changed by hand since."""
    found = _LAST_LINE.search(text)
    return found is not None and found["digest"] != _digest(text[: found.start()])


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _section(name: str, body: str, line_end: str, *, is_first: bool) -> str:
    return line_end.join(_lines(name, body, " first" if is_first else "")) + line_end


def _lines(name: str, body: str, first: str) -> Iterator[str]:
    yield f"<!-- memory-oracle:begin {name} sha256={_digest(body)}{first} -->"
    yield from body.strip().split("\n")
    yield f"<!-- memory-oracle:end {name} -->"


def _digest(text: str) -> str:
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").strip()
    return hashlib.sha256(plain.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _broken() -> BrokenMarks:
    return BrokenMarks(
        say("The marks `<!-- memory-oracle:begin NAME … -->` and `<!-- memory-oracle:end NAME -->` are no pairs."),
        hint=say("Take out what is left of them by hand."),
    )
