"""Look at the pane of a seat; nothing is typed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oracle.wake import screen as screens
from oracle.wake.outcomes import NoSession
from oracle.wake.screen import Screen
from oracle.wake.server import NoServer, Pane, PaneGone, Server, Unanswered
from oracle.wake.shells import holds_only_shell
from oracle.wake.tmux import choose_pane
from oracle.wording import say


def find_shell(socket: str, names: Sequence[str], *, seat: str) -> str:
    """Return the session in which a text for a seat is typed at the prompt of a shell, "" if an agent may read it."""
    try:
        server = Server(socket)
        found = choose_pane(server.panes(), names, seat=seat)
    except (NoServer, Unanswered):
        return ""
    return found.session if isinstance(found, Pane) and holds_only_shell(server, found) else ""


def look_for(socket: str, names: Sequence[str], text: str, *, seat: str) -> tuple[bool, str]:
    """Return whether the pane of a seat shows `text` or its agent is working, and what was seen. Nothing is typed."""
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
    if screens.is_working(screen):
        return True, say("{session} is working", session=found.session)
    return False, say("{session} does not show it", session=found.session)


def _shows(screen: Screen, name: str) -> bool:
    """Return whether a name is on the screen as a whole word, also across the end of a row."""
    alone = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    return any(alone.search(text) for text in ("\n".join(screen.rows), "".join(row.rstrip() for row in screen.rows)))
