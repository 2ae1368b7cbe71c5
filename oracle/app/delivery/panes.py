"""Type into the panes of tmux outside of a delivery: for `send_and_verify`, and for the hook's own pane."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.errors import InvalidName, UsageError
from oracle.wake.outcomes import Busy, NoSession, Outcome, Stranded, Woken, check_text
from oracle.wake.sessions import bound_projects, find_session_names, tmux_socket
from oracle.wake.tmux import TmuxWaker, type_into_own_pane
from oracle.wording import say

__all__ = [
    "Busy",
    "NoSession",
    "Outcome",
    "Stranded",
    "Woken",
    "check",
    "find_project",
    "send",
    "type_into_own_pane",
]


def check(context: Context, seat: str, text: str) -> None:
    """Raise UsageError for a text or a seat that must not be typed, PrivacyBlocked for a text that must not leave."""
    from oracle.app import guard

    check_text(text)
    check_text(seat)
    guard.require_clean(context, {"the text": text}, what="The text")


def find_project(context: Context, *, tasks: str = "") -> str:
    """Return the one project whose seats have sessions, "" if there is none. Raises UsageError if there are several.

    `tasks` is the folder of the task trees, by default that of the Root.
    """
    bound = bound_projects(tasks or context.root.tasks)
    if len(bound) > 1:
        raise UsageError(
            say("several projects have seats ({projects})", projects=", ".join(bound[:8])),
            hint=say("name one with --project"),
        )
    return bound[0] if bound else ""


def send(context: Context, project: str, seat: str, text: str, *, patience: float, is_forced: bool = False) -> Outcome:
    """Submit a text in a seat's pane and verify that it was taken. `seat` may be the name of a session too.

    `patience` is in seconds. With `is_forced` the text is submitted even if the agent is working.
    """
    try:
        found = find_session_names(context.root, project, seat, environ=os.environ) if project else ()
    except InvalidName:
        found = ()
    waker = TmuxWaker(tmux_socket(os.environ))
    act = waker.force if is_forced else waker.wake
    return act(tuple(dict.fromkeys((*found, seat))), text, seat=seat, patience=patience)
