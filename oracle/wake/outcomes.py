"""What a wake-up is and how it can end: the `Waker` protocol, its four outcomes and what may be typed at all. Pure."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from oracle.errors import UsageError
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_TEXT = 8192
"""Bytes of UTF-8 in one wake-up."""

NO_SERVER = say("no tmux server runs")
"""Why nobody can be reached where tmux was not started."""

_UNTYPABLE = frozenset(("Cc", "Cs", "Zl", "Zp"))


@dataclass(frozen=True, slots=True)
class Woken:
    """The text was submitted: it was seen in the input box of the session's pane, and seen leaving it."""

    session: str
    pane: str


@dataclass(frozen=True, slots=True)
class Busy:
    """Nothing was typed: the agent works, somebody types, or the server does not answer. Try again later."""

    session: str
    reason: str


@dataclass(frozen=True, slots=True)
class NoSession:
    """No session of these names runs, or the only one there is has no live pane (then `dead` names it)."""

    names: tuple[str, ...]
    reason: str
    dead: str = ""


@dataclass(frozen=True, slots=True)
class Stranded:
    """The text was typed and not seen to be submitted; `wake_again` does the rest and types nothing twice."""

    session: str
    pane: str
    reason: str


Outcome = Woken | Busy | NoSession | Stranded


class Waker(Protocol):
    """Reach a seat by the names that its session may have, the likeliest first."""

    def wake(self, names: Sequence[str], text: str, *, seat: str = "", patience: float = ...) -> Outcome:
        """Submit `text` to the first of these sessions that runs; wait at most `patience` seconds until it is idle.

        `seat` picks the pane among several. Raises UsageError for a text that must not be typed.
        """
        ...

    def wake_again(self, names: Sequence[str], text: str, *, seat: str = "", patience: float = ...) -> Outcome:
        """Try again a wake-up that ended Stranded: nothing is typed when the text turns out to be submitted."""
        ...


def check_text(text: str) -> str:
    """Return `text` when it may be typed into an input box.

    Raises UsageError for an empty text, control characters (line ends and tabs too) and more than 8 KiB of UTF-8.
    """
    if not text.strip():
        raise UsageError(say("A wake-up needs a text."), hint=say("Say in one line where to look."))
    bad = next((char for char in text if unicodedata.category(char) in _UNTYPABLE), "")
    if bad:
        raise UsageError(
            say("The text of a wake-up holds the control character U+{code:04X}.", code=ord(bad)),
            hint=say("Say in one line where to look; line ends, tabs and escape sequences can't be typed."),
        )
    size = len(text.encode("utf-8"))
    if size > LONGEST_TEXT:
        raise UsageError(
            say(
                "The text of a wake-up has {size} bytes, more than the {most} that may be typed.",
                size=size,
                most=LONGEST_TEXT,
            ),
            hint=say("Write the content to a file and name the file."),
        )
    return text
