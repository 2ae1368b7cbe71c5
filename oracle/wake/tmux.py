"""Wake a seat in tmux: find its pane, wait until its agent is idle, paste, submit, and check that it was submitted.

Enter is pressed only after the text was seen in the pane: in a dialog it would answer a question.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Sequence

from oracle.errors import UsageError
from oracle.wake import screen as screens
from oracle.wake.outcomes import Busy, NoAgent, NoSession, Outcome, Stranded, Woken
from oracle.wake.screen import Screen, Sight
from oracle.wake.server import NoServer, Pane, PaneGone, Server, Unanswered
from oracle.wake.shells import SHELLS, holds_only_shell
from oracle.wording import say

PATIENCE = 8.0
"""Seconds to wait by default until a pane is free and its agent is idle."""

TYPING_TIME = 1.2
"""Seconds of them that are reserved for typing and checking."""

AGENTS = ("claude", "codex", "gemini", "opencode", "qwen", "node", "bun")
"""Programs in the pane of an agent. Some agents run in the last two."""

_VIEWERS = ("tmux", "less", "tail", "vim", "nvim", "watch", "htop", "top")
"""Programs in a pane that a person opened next to the agent, with the shells."""

SHOW_TIME, SUBMIT_TIME = 1.0, 2.0
"""Seconds for a pasted text to appear, and for a submitted one to leave the input box."""

_PAUSE = 0.15  # between paste and Enter: clients treat an immediate Enter as part of the paste
_STEADY = 0.12  # seconds in which an idle screen does not change
_POLL, _AT_LEAST = 0.04, 0.3


MAX_TEXT_BYTES = 8192
"""Bytes of UTF-8 of one wake-up."""

_UNTYPABLE = frozenset(("Cc", "Cs", "Zl", "Zp"))


class TmuxWaker:
    """Wake seats of one tmux server, named by its socket: a name, a path, or "" for the default one."""

    def __init__(self, socket: str = "") -> None:
        self._socket = socket

    def wake(self, names: Sequence[str], text: str, *, seat: str = "", patience: float = PATIENCE) -> Outcome:
        """Submit `text` to the first of the sessions that runs. Raises UsageError for a text that must not be typed."""
        return self._reach(names, check_text(text), seat=seat, patience=patience, wait=_wait_until_idle)

    def force(self, names: Sequence[str], text: str, *, seat: str = "", patience: float = PATIENCE) -> Outcome:
        """Submit `text` even if the agent is working: clients keep it until their turn ends."""
        return self._reach(names, check_text(text), seat=seat, patience=patience, wait=_look_once)

    def wake_again(self, names: Sequence[str], text: str, *, seat: str = "", patience: float = PATIENCE) -> Outcome:
        """Finish a stranded wake-up. Nothing is typed if the pane shows that the text was submitted."""
        return self._reach(names, check_text(text), seat=seat, patience=patience, wait=_wait_unless_submitted)

    def look(self, names: Sequence[str], text: str, *, seat: str = "") -> str | NoSession:
        """Return why `text` can't be typed now, "" if it can. Nothing is typed."""
        try:
            server = Server(self._socket)
            found = self._choose(server, names, seat)
            return found if isinstance(found, NoSession) else _why_not_idle(server.screen(found.pane_id), text)
        except (NoServer, PaneGone) as reason:
            return NoSession(tuple(names), reason.args[0])
        except Unanswered as reason:
            return str(reason.args[0])

    def _choose(self, server: Server, names: Sequence[str], seat: str) -> Pane | NoSession:
        return choose_pane(server.panes(), names, seat=seat)

    def _reach(
        self, names: Sequence[str], text: str, *, seat: str, patience: float, wait: Callable[..., Screen | str]
    ) -> Outcome:
        until = time.monotonic() + patience
        try:
            server = Server(self._socket)
            found = self._choose(server, names, seat)
            if isinstance(found, NoSession):
                return found
            return _type(server, found, text, until=until, wait=wait)
        except NoServer as reason:
            return NoSession(tuple(names), reason.args[0])
        except Unanswered as reason:
            return Busy(names[0] if names else "", reason.args[0])


class AgentWaker(TmuxWaker):
    """Wake a seat only where an agent may run: a shell would run what is typed at its prompt."""

    def _choose(self, server: Server, names: Sequence[str], seat: str) -> Pane | NoSession:
        panes, shell = server.panes(), ""
        while isinstance(found := choose_pane(panes, names, seat=seat), Pane):
            is_beside = found.session == shell and found.command in _VIEWERS
            if not is_beside and not holds_only_shell(server, found):
                return found
            shell = shell or found.session
            panes = [pane for pane in panes if pane.pane_id != found.pane_id]  # an agent may run in the next one
        return NoAgent(tuple(names), say("only a shell runs in {session}", session=shell)) if shell else found


class OwnPaneWaker(TmuxWaker):
    """Wake the seat of the pane of this process, even while its agent works: it keeps the text until its turn ends."""

    def __init__(self, socket: str, pane_id: str) -> None:
        super().__init__(socket)
        self._pane_id = pane_id

    def wake_again(self, names: Sequence[str], text: str, *, seat: str = "", patience: float = PATIENCE) -> Outcome:
        """Submit `text` unless the pane shows it."""
        return self._reach(names, check_text(text), seat=seat, patience=patience, wait=_look_at_own_again)

    def is_pane_of(self, names: Sequence[str], seat: str) -> bool:
        """Return whether the pane of this process is that of a seat."""
        try:
            found = choose_pane(Server(self._socket).panes(), names, seat=seat)
        except (NoServer, Unanswered):
            return False
        return isinstance(found, Pane) and found.pane_id == self._pane_id


def type_into_own_pane(socket: str, pane_id: str, text: str, *, patience: float) -> Outcome:
    """Submit `text` in the pane of this process, even if its agent is working.

    The agent waits for this process and is never idle; it keeps the text until its turn ends.
    """
    until = time.monotonic() + patience
    try:
        server = Server(socket)
        return _type(server, server.pane(pane_id), check_text(text), until=until, wait=_look_at_own)
    except (NoServer, PaneGone) as reason:
        return NoSession((pane_id,), reason.args[0])
    except Unanswered as reason:
        return Busy(pane_id, reason.args[0])


def check_text(text: str) -> str:
    """Return `text` if it may be typed into an input box.

    Raises UsageError for an empty text, for control characters (also line ends and tabs), and for more than 8 KiB.
    """
    if not text.strip():
        raise UsageError(say("A wake-up needs a text."), hint=say("Say in one line where to look."))
    if bad := next((char for char in text if unicodedata.category(char) in _UNTYPABLE), ""):
        raise UsageError(
            say("The text of a wake-up holds the control character U+{code:04X}.", code=ord(bad)),
            hint=say("Say in one line where to look; line ends, tabs and escape sequences can't be typed."),
        )
    if (size := len(text.encode("utf-8"))) > MAX_TEXT_BYTES:
        raise UsageError(
            say(
                "The text of a wake-up has {size} bytes, more than the {most} that may be typed.",
                size=size,
                most=MAX_TEXT_BYTES,
            ),
            hint=say("Write the content to a file and name the file."),
        )
    return text


# Which pane -----------------------------------------------------------------------------------------------------------


def choose_pane(panes: Sequence[Pane], names: Sequence[str], *, seat: str) -> Pane | NoSession:
    """Return the agent's pane of the first session that has one of the names. The focus does not matter.

    In order: the pane whose option `@oracle_seat` names the seat, a pane that runs an agent, a pane that runs no shell or
    viewer, the oldest pane. A pane that is marked for another seat is never returned.
    """
    dead = ""
    for name in names:
        mine = [pane for pane in panes if pane.session == _as_tmux_names(name)]
        alive = [pane for pane in mine if not pane.is_dead and pane.seat in ("", seat)]
        if alive:
            return min(alive, key=lambda pane: (_rank(pane, seat), int(pane.pane_id[1:])))
        if mine:
            dead = dead or mine[0].session
    reason = say("its only pane is dead") if dead else say("no session of this name is running")
    return NoSession(tuple(names), reason, dead=dead)


def _as_tmux_names(name: str) -> str:
    """Return a name as tmux stores it: with `_` for the separators of a target."""
    return name.replace(".", "_").replace(":", "_")


def _rank(pane: Pane, seat: str) -> int:
    if seat and pane.seat == seat:
        return 0
    if pane.command in AGENTS:
        return 1
    return 3 if _is_shell(pane.command) else 2


def _is_shell(command: str) -> bool:
    return command.removeprefix("-") in (*SHELLS, *_VIEWERS)


# Typing ---------------------------------------------------------------------------------------------------------------


def _type(server: Server, pane: Pane, text: str, *, until: float, wait: Callable[..., Screen | str]) -> Outcome:
    try:
        with server.alone_with(pane, until=until - TYPING_TIME) as is_ours:
            if not is_ours:
                return Busy(pane.session, say("another wake-up is being typed there"))
            refusal = _make_ready(server, pane.pane_id)
            before = refusal or wait(server, pane.pane_id, text, until=until - TYPING_TIME)
            if isinstance(before, str):
                return Busy(pane.session, before) if before else Woken(pane.session, pane.pane_id)
            return _submit(server, pane, text, before=before, until=until)
    except PaneGone as reason:
        return NoSession((pane.session,), reason.args[0], dead=pane.session)


def _make_ready(server: Server, pane_id: str) -> str:
    """Leave copy mode. Return the reason why the pane takes no text, or ""."""
    pane = server.pane(pane_id)
    if pane.is_synchronized:
        return say("its panes are synchronized, so that others would get the text too")
    if pane.ignores_input:
        return say("its input is switched off")
    if pane.in_mode:
        server.leave_modes(pane_id)
        if server.pane(pane_id).in_mode:
            return say("it is in a mode that can't be left")
    return ""


def _wait_until_idle(server: Server, pane_id: str, text: str, *, until: float) -> Screen | str:
    """Return the screen once the agent is idle and its box is empty or holds just `text`, else the reason."""
    last, since, why = server.screen(pane_id), time.monotonic(), ""
    while True:
        time.sleep(_POLL)
        seen = server.screen(pane_id)
        if seen != last:
            last, since = seen, time.monotonic()
        why = _why_not_idle(seen, text)
        if not why and time.monotonic() - since >= _STEADY:
            return seen
        if time.monotonic() >= until:
            return why or say("its screen does not come to rest")


def _why_not_idle(seen: Screen, text: str) -> str:
    if screens.is_working(seen):
        return say("its agent is at work")
    return _why_not_typed(seen, text)


def _why_not_typed(seen: Screen, text: str) -> str:
    if _is_shell(seen.command) and not screens.is_at_prompt(seen):
        return say("only a shell runs there, and it shows no empty prompt: somebody types, or a program asks something")
    if screens.is_asked(seen):
        return say("a program asks a question there")
    return _why_not_in_box(seen, text)


def _why_not_in_box(seen: Screen, text: str) -> str:
    if screens.is_in_shell_mode(seen):
        return say("its input box is in shell mode")
    if screens.draft(seen) and not screens.holds(seen, text):
        return say("somebody is writing in its input box")
    return ""


def _wait_unless_submitted(server: Server, pane_id: str, text: str, *, until: float) -> Screen | str:
    """Return "" if the pane shows the text outside of its box, now or once idle, else what `_wait_until_idle` returns."""
    if _was_submitted(server.screen(pane_id), text):
        return ""
    seen = _wait_until_idle(server, pane_id, text, until=until)
    return "" if isinstance(seen, Screen) and _was_submitted(seen, text) else seen


def _was_submitted(seen: Screen, text: str) -> bool:
    return screens.shows(seen, text) and not screens.holds(seen, text)


def _look_once(server: Server, pane_id: str, text: str, *, until: float) -> Screen | str:
    seen = server.screen(pane_id)
    return _why_not_typed(seen, text) or seen


def _look_at_own(server: Server, pane_id: str, text: str, *, until: float) -> Screen | str:
    seen = server.screen(pane_id)
    return _why_not_in_box(seen, text) or seen


def _look_at_own_again(server: Server, pane_id: str, text: str, *, until: float) -> Screen | str:
    seen = server.screen(pane_id)
    return "" if _was_submitted(seen, text) else _why_not_in_box(seen, text) or seen


def _submit(server: Server, pane: Pane, text: str, *, before: Screen, until: float) -> Outcome:
    """Paste, see the text appear, press Enter, see it go. A text left from an earlier try is not typed again."""
    if not screens.holds(before, text):
        # Some clients treat a backslash right before Enter as a line end in the box.
        server.paste(pane.pane_id, f"{text} " if text.endswith("\\") else text)
    typed = _wait_for(
        server, pane.pane_id, lambda seen: _is_seen(seen, text, before), seconds=_left(until, at_most=SHOW_TIME)
    )
    if typed is None:
        return Stranded(
            pane.session, pane.pane_id, say("the text was pasted and did not appear; Enter was not pressed")
        )
    time.sleep(_PAUSE)
    typed = server.screen(pane.pane_id)
    server.press_enter(pane.pane_id)

    def is_gone(seen: Screen) -> bool:
        return screens.is_submitted(seen, text, before=before, typed=typed)

    if _wait_for(server, pane.pane_id, is_gone, seconds=_left(until, at_most=SUBMIT_TIME)) is None:
        return Stranded(pane.session, pane.pane_id, say("Enter was pressed, but the text is still in the input box"))
    return Woken(pane.session, pane.pane_id)


def _left(until: float, *, at_most: float) -> float:
    """Return the seconds to keep watching: a typed text is watched for a moment even after the time is up."""
    return min(at_most, max(_AT_LEAST, until - time.monotonic()))


def _is_seen(seen: Screen, text: str, before: Screen) -> bool:
    return screens.sight(seen, text, before=before) is not Sight.NOWHERE


def _wait_for(server: Server, pane_id: str, is_met: Callable[[Screen], bool], *, seconds: float) -> Screen | None:
    until = time.monotonic() + seconds
    while True:
        seen = server.screen(pane_id)
        if is_met(seen):
            return seen
        if time.monotonic() >= until:
            return None
        time.sleep(_POLL)
