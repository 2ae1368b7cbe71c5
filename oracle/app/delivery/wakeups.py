"""Wake-ups: enqueue one, send it, or put it back for later. No lock is held while waiting for a pane.

A wake-up is a file of the inbox until it was seen to be submitted, so it outlives its process. It is pending only while its
receipt has no `notified_at` and was not consumed, which is checked before each try. A second try types nothing that the pane
shows already.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time

from oracle.app import guard
from oracle.app.delivery import homes
from oracle.domain import timestamps
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CONSUMED, Receipt, ReceiptName
from oracle.domain.values import json_of, value
from oracle.errors import InvalidName, OracleError, SecretFound
from oracle.store.delivery import handoffs, inbox
from oracle.store.delivery.entries import InboxEntry, InboxKind
from oracle.wording import Sentence, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from oracle.app.context import Context, Root
    from oracle.app.delivery.team import Team
    from oracle.wake.outcomes import Outcome, Waker

PATIENCE = 8.0
"""Seconds that a command waits for a pane, unless `ORACLE_WAKE_PATIENCE` says otherwise."""

_BUSY, NO_AGENT = ("Busy", "Stranded"), "NoAgent"
ABSENT = ("NoSession", NO_AGENT)
THERE = (*_BUSY, "another process")
"""The first words of a reason which says that the seat runs and was not woken just now."""

_DAEMON = "daemon"
_WAITER = "import sys; sys.path.insert(0, sys.argv.pop(1)); from oracle.app.delivery.panes import main; main()"

_ENDS = ("project", "task_id", "source", "target")

TRIES = 1000
"""How often a wake-up is tried, in the end every ten minutes: a seat may be away for a week."""


@value
class WakeUp:
    """What became of a wake-up: `sent`, or `waits` with the reason; "" when none was due."""

    result: str = ""
    seat: str = ""
    detail: str = ""

    def as_json(self) -> dict[str, object] | None:
        """Return the JSON form, None when none was due."""
        return json_of(self) if self.result else None


def enqueue(context: Context, team: Team, name: ReceiptName, *, seat: str, text: str, topic: str = "") -> InboxEntry:
    """Put a wake-up into the inbox and return it. With a `topic` it is independent of the receipt, which is not amended."""
    return _enqueue(context, team, name, {"folder": "" if topic else team.folder, "seat": seat, "text": text}, topic)


def enqueue_question(context: Context, team: Team, name: ReceiptName, *, text: str) -> InboxEntry:
    """Put a wake-up for a question to a memory seat into the inbox. A running daemon makes it needless (`is_left_to_daemon`)."""
    fields = {"folder": team.folder, "seat": name.target, "text": text, "by": _DAEMON}
    return _enqueue(context, team, name, fields)


def enqueue_packet(context: Context, team: Team, name: ReceiptName, *, text: str) -> InboxEntry:
    """Put a wake-up for a packet into the inbox, pending until the seat reads it. Return the entry, which may have been tried."""
    fields = {"folder": team.folder, "seat": name.target, "text": text, "owed_at": context.stamp()}
    entry = _enqueue(context, team, name, fields, "packet")
    return inbox.find(context.root, entry) or entry


def _enqueue(context: Context, team: Team, name: ReceiptName, fields: dict[str, str], topic: str = "") -> InboxEntry:
    ends = (team.project, name.task_id, name.source, name.target)
    whole = {**dict(zip(_ENDS, ends, strict=True)), **fields}
    entry = InboxEntry(InboxKind.WAKE, (*ends, fields["seat"], topic), whole, due_at=context.now_seconds())
    inbox.add(context.root, entry)
    return entry


def is_left_to_daemon(context: Context, entry: InboxEntry) -> bool:
    """Return whether a running daemon answers the question of a wake-up, or wakes its seat. It is looked for each time."""
    from oracle.store.daemon import state

    return entry.text("by") == _DAEMON and state.serves(context.root, context.now_seconds())


def is_of_question(entry: InboxEntry) -> bool:
    """Return whether a wake-up is about a question to memory or its packet."""
    return "owed_at" in entry.fields or entry.text("by") == _DAEMON


def notified_at(receipt: Receipt, text: str) -> datetime | None:
    """Return when the seat of a receipt was woken with exactly this text, or None."""
    return timestamps.parse(receipt.text("notified_at")) if receipt.text("notify_message") == text else None


def send(context: Context, entry: InboxEntry, *, patience: float | None = None) -> WakeUp:
    """Send a wake-up that was enqueued now; a process waits for a busy pane. A disk that refuses is a reason to wait."""
    from oracle.errors import DiskFailure, HandoffFailed

    try:
        outcome = send_once(context, entry, patience=patience)
    except (DiskFailure, HandoffFailed) as error:
        return WakeUp("waits", entry.text("seat"), error.sentence)
    return _wait_for_pane(context, entry, outcome)


def send_once(context: Context, entry: InboxEntry, *, patience: float | None = None) -> WakeUp:
    """Send a wake-up as `send` does. No process waits for a busy pane."""
    return _send(context, entry, is_again=False, patience=patience)


def send_again(context: Context, entry: InboxEntry, *, patience: float | None = None) -> WakeUp:
    """Send a wake-up that may have been sent before: a text that the pane shows is not typed again."""
    return _wait_for_pane(context, entry, _send(context, entry, is_again=True, patience=patience))


def send_to_own_pane(context: Context, seat: str, socket: str, pane_id: str, *, until: float) -> None:
    """Send the pending wake-ups of a seat into the pane of this process, if that is the seat's. A Stop hook calls this."""
    found = inbox.read(context.root, context.now_seconds(), InboxKind.WAKE).waiting
    mine = [one for one in found if one.text("seat") == seat and not is_left_to_daemon(context, one)]
    if not mine:
        return
    from oracle.wake.tmux import OwnPaneWaker

    waker = context.waker = OwnPaneWaker(socket, pane_id)
    for entry in mine:
        if waker.is_pane_of(_names(context, entry), seat):
            send_again(context, entry, patience=max(0.0, until - time.monotonic()))


def _wait_for_pane(context: Context, entry: InboxEntry, outcome: WakeUp) -> WakeUp:
    """Start a process that waits for the pane of a seat that is busy."""
    if outcome.result == "waits" and outcome.detail.startswith(_BUSY):
        from oracle.wake.tmux import TmuxWaker

        if isinstance(context.waker, TmuxWaker):
            start_waiter(context, entry.text("project"), entry.text("seat"))
    return outcome


def start_waiter(context: Context, project: str, seat: str) -> None:
    """Start a process that waits for the pane of a seat, unless one waits already. It outlives this one (`waiter`)."""
    import subprocess

    from oracle.store.root.lock import is_held

    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    words = (sys.executable, "-P", "-c", _WAITER, package, context.root.path, project, seat)
    with contextlib.suppress(OSError):  # the wake-up stays in the inbox
        if is_held(f"{waiter_lock(context.root, project, seat)}.lock"):
            return
        subprocess.run(
            ("/bin/sh", "-c", '"$@" &', "sh", *words),  # the shell ends at once, so that no zombie is left
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={**os.environ, "ORACLE_INTERNAL": "1"},
            start_new_session=True,
            check=False,
        )


def waiter_lock(root: Root, project: str, seat: str) -> str:
    """Return the path of the file whose lock the waiter of a seat holds, without `.lock`."""
    digest = hashlib.sha256(f"{project}\n{seat}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return f"{root.inbox}/.waiter-{digest}"


def patience_of_commands() -> float:
    """Return the seconds to wait for a pane: `ORACLE_WAKE_PATIENCE` or PATIENCE."""
    try:
        return max(0.0, float(os.environ.get("ORACLE_WAKE_PATIENCE", PATIENCE)))
    except ValueError:
        return PATIENCE


def _send(context: Context, entry: InboxEntry, *, is_again: bool, patience: float | None) -> WakeUp:
    seat, text = entry.text("seat"), entry.text("text")
    if not inbox.take(context.root, entry, context.now_seconds()):
        return WakeUp("waits", seat, say("another process sends it"))
    if not is_pending(entry):
        inbox.finish(context.root, entry)
        return WakeUp()
    machine = homes.machine_of(context, entry.text("project"), seat) if context.has_hub else None
    if machine is not None:
        inbox.finish(context.root, entry)
        return WakeUp("attended", seat, say("it runs on {machine}, which wakes it", machine=machine.name))
    try:
        if _details(entry) != _ends(entry):  # any program can write into the inbox
            raise SecretFound(
                say("The wake-up names what looks like a secret."), hint=say("Its project, task and seats are names.")
            )
        if entry.text("folder"):
            handoffs.refuse_malformed(handoffs.read(entry.text("folder"), _name(entry)))
        guard.require_clean(context, {say("its text"): text}, what=say("The wake-up"))
        waker = _waker(context)
        wake = waker.wake_again if is_again else waker.wake
        waited = patience_of_commands() if patience is None else patience
        outcome = wake(_names(context, entry), text, seat=seat, patience=waited)
    except OracleError as error:
        return _give_up(context, entry, error)
    return _settle(context, entry, outcome)


def is_pending(entry: InboxEntry) -> bool:
    """Return whether the seat of a wake-up was not woken yet, and its receipt is still open."""
    folder = entry.text("folder")
    if not folder:
        return True
    try:
        name = _name(entry)
    except InvalidName:  # no receipt has such a name
        return False
    found = handoffs.read(folder, name)
    owed_at = timestamps.parse(entry.text("owed_at"))
    if found is None or (found.text("notified_at") and owed_at is None):
        return False
    notified = notified_at(found, entry.text("text"))
    if owed_at is not None and notified is not None and notified >= owed_at:
        return False
    return handoffs.read(folder, name, CONSUMED) is None  # a consumed one was read without a wake-up


def _settle(context: Context, entry: InboxEntry, outcome: Outcome) -> WakeUp:
    from oracle.wake.outcomes import Woken

    seat, details = entry.text("seat"), _details(entry)
    if not isinstance(outcome, Woken):
        return _postpone(context, entry, say("{kind}: {reason}", kind=type(outcome).__name__, reason=outcome.reason))
    moment = context.stamp()
    if entry.text("folder"):
        changes = {"notified_at": moment, "notify_message": entry.text("text")}
        handoffs.amend(entry.text("folder"), _name(entry), changes)
    inbox.finish(context.root, entry)
    context.note("wake-up", {**details, "result": "woken", "session": outcome.session})
    return WakeUp("sent", seat, outcome.session)


def _postpone(context: Context, entry: InboxEntry, reason: str) -> WakeUp:
    inbox.defer(context.root, entry, now=context.now_seconds(), error=reason, most=TRIES)
    if reason[:500] != entry.last_error:  # the same failure again is not noted
        context.note("wake-up", {**_details(entry), "result": "waits", "reason": reason})
    return WakeUp("waits", entry.text("seat"), reason)


def _give_up(context: Context, entry: InboxEntry, error: OracleError) -> WakeUp:
    """Drop a wake-up that can never be sent, such as one whose text must not be typed."""
    from oracle.errors import DiskFailure, HandoffFailed, LockTimeout, RulesUnusable

    if isinstance(error, DiskFailure | HandoffFailed | LockTimeout | RulesUnusable):
        return _postpone(context, entry, error.sentence)
    inbox.finish(context.root, entry)
    context.note("skip", {**_details(entry), "what": "wake-up", "reason": error.sentence})
    seat = _details(entry)["seat"]
    context.warn(say("{seat} is not woken: {fault}", seat=seat, fault=error))
    return WakeUp("skipped", seat, error.sentence)


def is_there(outcome: WakeUp) -> bool:
    """Return whether a seat runs but was not woken just now: it is busy, or another process wakes it."""
    return outcome.result == "waits" and outcome.detail.startswith(THERE)


def is_without_agent(entry: InboxEntry) -> bool:
    """Return whether a wake-up waits because only a shell runs in the session of its seat."""
    return entry.last_error.startswith(NO_AGENT) and is_pending(entry)


def warn_of(context: Context, outcome: WakeUp) -> None:
    """Warn when a seat was not woken."""
    if outcome.result != "waits":
        return
    from oracle.wake.outcomes import NO_SERVER

    if outcome.detail.endswith(NO_SERVER):
        context.warn(
            say(
                "{seat} was not woken: {reason}; the wake-up waits, nothing is lost",
                seat=outcome.seat,
                reason=NO_SERVER,
            )
        )
    else:
        context.warn(
            say(
                "{seat} was not woken ({reason}); the wake-up waits and is tried again",
                seat=outcome.seat,
                reason=reason_of(outcome),
            )
        )


def reason_of(outcome: WakeUp) -> str:
    """Return why a seat was not woken, without the name of the outcome's class."""
    detail = outcome.detail
    reason = detail.values.get("reason") if isinstance(detail, Sentence) and "kind" in detail.values else detail
    return reason if isinstance(reason, str) else str(reason)


def list_pending(context: Context) -> tuple[InboxEntry, ...]:
    """Return every pending wake-up, whether it waits, is being sent or was given up."""
    found = inbox.read(context.root, context.now_seconds(), InboxKind.WAKE)
    return tuple(one for one in (*found.waiting, *found.taken, *found.poisoned) if is_pending(one))


def _waker(context: Context) -> Waker:
    if context.waker is None:
        from oracle.wake.server import tmux_socket
        from oracle.wake.tmux import AgentWaker

        context.waker = AgentWaker(tmux_socket(os.environ))
    return context.waker


def _names(context: Context, entry: InboxEntry) -> Sequence[str]:
    from oracle.store.root.projects import find_session_names

    return find_session_names(context.root, entry.text("project"), entry.text("seat"), environ=os.environ)


def _name(entry: InboxEntry) -> ReceiptName:
    return receipts.receipt_name(*(entry.text(key) for key in _ENDS[1:]))


def _details(entry: InboxEntry) -> dict[str, str]:
    """Return what an event of the journal says of a wake-up, without secrets."""
    from oracle.domain.safety.secrets import redact

    return {key: redact(text)[0] for key, text in _ends(entry).items()}


def _ends(entry: InboxEntry) -> dict[str, str]:
    return {key: entry.text(key) for key in (*_ENDS, "seat")}
