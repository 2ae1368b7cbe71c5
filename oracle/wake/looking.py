"""Look at a seat's pane without touching it: whether it is there, and what it shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oracle.wake.outcomes import NoSession
from oracle.wake.screen import Screen, is_working
from oracle.wake.server import NoServer, PaneGone, Server, Unanswered
from oracle.wake.tmux import choose_pane
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Sequence


def look_for(socket: str, names: Sequence[str], text: str, *, seat: str) -> tuple[bool, str]:
    """Return (whether the seat's pane shows `text` or works, what was seen). Types nothing, waits for nothing."""
    try:
        server = Server(socket)
        found = choose_pane(server.panes(), names, seat=seat)
        if isinstance(found, NoSession):
            return False, found.reason
        screen = server.screen(found.pane_id)
    except (NoServer, PaneGone, Unanswered) as reason:
        return False, reason.args[0]
    if _shows(screen, text):
        return True, say("{session} shows it", session=found.session)
    if is_working(screen):
        return True, say("{session} works", session=found.session)
    return False, say("{session} is silent about it", session=found.session)


def _shows(screen: Screen, name: str) -> bool:
    """Tell whether a name stands on the screen by itself, also where the end of a row divides it."""
    alone = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    return any(alone.search(text) for text in ("\n".join(screen.rows), "".join(row.rstrip() for row in screen.rows)))
