"""The `Waker` protocol, the four outcomes of a wake-up, and the texts that may be typed."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from oracle.errors import UsageError
from oracle.wording import say

MAX_TEXT_BYTES = 8192
"""Bytes of UTF-8 of one wake-up."""

NO_SERVER = say("no tmux server is running")
"""The reason when tmux was not started."""

_UNTYPABLE = frozenset(("Cc", "Cs", "Zl", "Zp"))


@dataclass(frozen=True, slots=True)
class Woken:
    """The text was submitted: it was seen in the input box of the pane, and seen leaving it."""

    session: str
    pane: str


@dataclass(frozen=True, slots=True)
class Busy:
    """Nothing was typed: the agent is working, a person is typing, or the server does not answer. Try again later."""

    session: str
    reason: str


@dataclass(frozen=True, slots=True)
class NoSession:
    """No session with one of these names runs, or it has no live pane (then `dead` names the session)."""

    names: tuple[str, ...]
    reason: str
    dead: str = ""


@dataclass(frozen=True, slots=True)
class Stranded:
    """The text was typed but not seen to be submitted. `wake_again` does the rest without typing it twice."""

    session: str
    pane: str
    reason: str


Outcome = Woken | Busy | NoSession | Stranded


class Waker(Protocol):
    """Reach a seat by the names that its session may have, most likely first."""

    def wake(self, names: Sequence[str], text: str, *, seat: str = "", patience: float = ...) -> Outcome:
        """Submit `text` to the first of these sessions that runs. Wait at most `patience` seconds until it is idle.

        `seat` selects a pane among several. Raises UsageError for a text that must not be typed.
        """
        ...

    def wake_again(self, names: Sequence[str], text: str, *, seat: str = "", patience: float = ...) -> Outcome:
        """Repeat a wake-up that ended Stranded. Nothing is typed if the text was submitted in the meantime."""
        ...


def check_text(text: str) -> str:
    """Return `text` if it may be typed into an input box.

    Raises UsageError for an empty text, for control characters (also line ends and tabs), and for more than 8 KiB.
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
    if size > MAX_TEXT_BYTES:
        raise UsageError(
            say(
                "The text of a wake-up has {size} bytes, more than the {most} that may be typed.",
                size=size,
                most=MAX_TEXT_BYTES,
            ),
            hint=say("Write the content to a file and name the file."),
        )
    return text
