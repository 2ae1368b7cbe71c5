"""The `Waker` protocol and the four outcomes of a wake-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from oracle.domain.values import value
from oracle.wording import say

NO_SERVER = say("no tmux server is running")
"""The reason when tmux was not started."""


@value
class Woken:
    """The text was submitted: it was seen in the input box of the pane, and seen leaving it."""

    session: str
    pane: str


@value
class Busy:
    """Nothing was typed: the agent is working, a person is typing, or the server does not answer. Try again later."""

    session: str
    reason: str


@value
class NoSession:
    """No session with one of these names runs, or it has no live pane (then `dead` names the session)."""

    names: tuple[str, ...]
    reason: str
    dead: str = ""


@value
class NoAgent(NoSession):
    """The session runs, but only a shell in it: the seat is away, and nothing was typed."""


@value
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
