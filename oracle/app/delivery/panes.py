"""Type into the panes of tmux, send a seat a notice, and wait in the background for the pane of one seat.

A command that finds a pane busy starts a waiter and ends. One waits for each seat; it ends when nothing is pending,
when the session is gone, or after LONGEST seconds. Then the next Stop hook of the seat or the next command goes on.
"""

from __future__ import annotations

import json
import os
import sys
import time

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.delivery import wakeups
from oracle.app.delivery.team import open_team
from oracle.domain.delivery.task_files import one_line
from oracle.domain.values import value
from oracle.errors import InvalidName, LockTimeout, OracleError, UsageError
from oracle.store.delivery import inbox
from oracle.store.delivery.entries import InboxEntry, InboxKind
from oracle.store.disk import steps
from oracle.store.root.projects import find_session_names
from oracle.wake.looking import find_shell
from oracle.wake.outcomes import Busy, NoSession, Outcome, Stranded, Woken
from oracle.wake.server import tmux_socket
from oracle.wake.tmux import AgentWaker, TmuxWaker, check_text, type_into_own_pane
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
    check_text(text)
    check_text(seat)
    guard.require_clean(context, {"the text": text}, what="The text")


def find_project(context: Context, *, tasks: str = "") -> str:
    """Return the one project with sessions below `tasks` (default: of the Root), or "". Raises UsageError for several."""
    bound = _bound_projects(tasks or context.root.tasks)
    if len(bound) > 1:
        raise UsageError(
            say("several projects have seats ({projects})", projects=", ".join(bound[:8])),
            hint=say("name one with --project"),
        )
    return bound[0] if bound else ""


def send(
    context: Context, project: str, seat: str, text: str, *, patience: float, is_forced: bool = False
) -> tuple[Outcome, str]:
    """Submit a text in the pane of a seat or session and verify it. `patience` is in seconds; `is_forced` ignores a busy agent.

    Return the outcome, and the session if only a shell ran in it, which then runs the text as a command.
    """
    try:
        found = find_session_names(context.root, project, seat, environ=os.environ) if project else ()
    except InvalidName:
        found = ()
    socket, names = tmux_socket(os.environ), tuple(dict.fromkeys((*found, seat)))
    waker, shell = TmuxWaker(socket), find_shell(socket, names, seat=seat)
    act = waker.force if is_forced else waker.wake
    outcome = act(names, text, seat=seat, patience=patience)
    return outcome, shell if isinstance(outcome, Woken) else ""


LONGEST = 30 * 60.0
"""Seconds that a waiter lives at most."""

LOOK_EVERY = 1.0
"""Seconds between two looks at a pane."""

_PATIENCE = 2.0


def main() -> None:
    """Wait as the process that `wakeups` starts: the arguments are the Root, the project and the seat."""
    root, project, seat = sys.argv[1:]
    try:
        with Context.open(root) as context:
            wait(context, project, seat)
    except OracleError:
        return


def wait(context: Context, project: str, seat: str, *, seconds: float = LONGEST) -> None:
    """Send the wake-ups of a seat as soon as its agent is idle. Return at once if another process waits for it.

    The inbox is read again after the lock was given back: a command may have seen the lock just before.
    """
    until = time.monotonic() + seconds
    names = find_session_names(context.root, project, seat, environ=os.environ)
    waker = context.waker = AgentWaker(tmux_socket(os.environ))
    is_there = True
    while is_there and time.monotonic() < until and _pending(context, project, seat):
        try:
            with steps.FileLock(wakeups.waiter_lock(context.root, project, seat), timeout=0):
                is_there = _watch(context, waker, names, project=project, seat=seat, until=until)
        except LockTimeout:
            return


def _watch(
    context: Context, waker: TmuxWaker, names: tuple[str, ...], *, project: str, seat: str, until: float
) -> bool:
    """Look at the pane until nothing is pending. Return whether the session is still there."""
    while (entries := _pending(context, project, seat)) and time.monotonic() < until:
        reason = waker.look(names, entries[0].text("text"), seat=seat)
        if isinstance(reason, NoSession):
            return False
        for entry in () if reason else entries:
            wakeups.send_again(context, entry, patience=_PATIENCE)
        time.sleep(LOOK_EVERY)
    return True


def _pending(context: Context, project: str, seat: str) -> list[InboxEntry]:
    """Return the pending wake-ups of a seat that no daemon sends, those too that another process sends just now."""
    found = inbox.read(context.root, context.now_seconds(), InboxKind.WAKE)
    mine = (one for one in (*found.waiting, *found.taken) if (one.text("project"), one.text("seat")) == (project, seat))
    return [one for one in mine if wakeups.is_pending(one) and not wakeups.is_left_to_daemon(context, one)]


FOLDER = "notices"
"""Where the receipts of notices lie, below the handoff folder."""


@value
class Notice:
    """What to tell whom. A `task_id` makes it leave a receipt."""

    project: str
    source: str
    target: str
    message: str
    task_id: str = ""
    reply_to: str = ""
    kind: str = "notice"
    profile: str = ""
    leaves_receipt: bool = True


@value
class Notified:
    """How it went: `sent` tells whether the text was seen to be taken."""

    sent: bool
    detail: str
    receipt_path: str = ""


def notify(context: Context, notice: Notice) -> Notified:
    """Send a notice at once; one that fails is recorded as not sent. Raises UsageError for an unknown seat or a bad text."""
    team = open_team(context, notice.project, path=notice.profile)
    name = team.receipt(notice.task_id or "notice", notice.source, notice.target)
    text = _text(notice)
    check_text(text)
    guard.require_clean(context, {say("its text"): text}, what=say("The notice"))
    moment = context.now()
    topic = f"{notice.kind} {moment.isoformat()}"
    entry = wakeups.enqueue(context, team, name, seat=name.target, text=text, topic=topic)
    outcome = wakeups.send_once(context, entry)
    inbox.finish(context.root, entry)  # a notice is worth nothing later
    sent = outcome.result == "sent"
    path = ""
    if notice.task_id and notice.leaves_receipt:
        stamp = f"{moment:%Y%m%dT%H%M%S%fZ}"
        path = f"{team.folder}/{FOLDER}/{name.file_name.removesuffix('.json')}__{stamp}.json"
        content = {
            "kind": notice.kind,
            "task_id": name.task_id,
            "source": name.source,
            "target": name.target,
            "reply_to": notice.reply_to or None,
            "message": text,
            "notified_at": context.stamp() if sent else None,
            "transport": "tmux",
            "detail": outcome.detail,
        }
        data = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True).encode("utf-8", "backslashreplace")
        steps.create_once(path, data + b"\n")
    return Notified(sent, outcome.detail, path)


def _text(notice: Notice) -> str:
    task = f"{notice.task_id} " if notice.task_id else ""
    text = f"{task}{notice.kind} from {notice.source} to {notice.target}: {one_line(notice.message)}"
    if notice.reply_to:
        text += f" Reply to {notice.reply_to} if follow-up or completion is required."
    return text


def _bound_projects(tasks: str) -> list[str]:
    """Return the projects that are bound to sessions by a PROJECT_BINDING.toml in their task tree."""
    try:
        names = sorted(os.listdir(tasks))
    except OSError:
        return []
    return [name for name in names if os.path.isfile(f"{tasks}/{name}/PROJECT_BINDING.toml")]
