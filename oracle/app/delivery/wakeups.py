"""Wake-ups: owe one, send it, put it back for later. App room; no lock is held while a pane is waited for.

A wake-up is a file of the inbox until it was seen to be submitted, so that it outlives whoever owes it. It is owed only while
its receipt has no `notified_at` and was not consumed: whoever sends one looks there first. A second try types nothing that a
pane shows already.
"""

from __future__ import annotations

import os

from oracle.app.guard import privacy
from oracle.domain import timestamps
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CONSUMED, Receipt, ReceiptName
from oracle.domain.values import value
from oracle.errors import OracleError
from oracle.store.delivery import handoffs, inbox
from oracle.store.delivery.inbox import Entry, Kind
from oracle.wording import Sentence, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from oracle.app.context import Context
    from oracle.app.delivery.team import Team
    from oracle.wake.outcomes import Outcome, Waker

PATIENCE = 8.0
"""Seconds that a command waits for a pane, unless `ORACLE_WAKE_PATIENCE` says otherwise."""

THERE = ("Busy", "Stranded", "another process")
"""How the reason begins for which a seat that runs was not woken just now."""

_DAEMON = "daemon"

TRIES = 1000
"""Times that a wake-up is tried, at last every ten minutes: a seat may be away for a week."""


@value
class WakeUp:
    """What became of a wake-up: `sent`, or `waits` with the reason; "" when none was owed."""

    result: str = ""
    seat: str = ""
    detail: str = ""

    def as_json(self) -> dict[str, object] | None:
        """Return the JSON form, None when none was owed."""
        return {"result": self.result, "seat": self.seat, "detail": self.detail} if self.result else None


def owe(context: Context, team: Team, name: ReceiptName, *, seat: str, text: str, topic: str = "") -> Entry:
    """Put a wake-up into the inbox and return it. With a `topic` it stands for itself, and no receipt is amended."""
    entry = _entry(context, team, name, {"folder": "" if topic else team.folder, "seat": seat, "text": text}, topic)
    inbox.add(context.root, entry)
    return entry


def owe_packet(context: Context, team: Team, name: ReceiptName, *, text: str) -> Entry:
    """Owe a memory seat word of a packet, and return the entry as it stands: it may have been tried before.

    It is owed until the seat was told this text since now, or the question is over.
    """
    fields = {"folder": team.folder, "seat": name.target, "text": text, "owed_at": context.stamp()}
    entry = _entry(context, team, name, fields, "packet")
    inbox.add(context.root, entry)
    return inbox.standing(context.root, entry) or entry


def owe_question(context: Context, team: Team, name: ReceiptName, *, text: str) -> Entry:
    """Owe a memory seat word of a question; where a daemon attends to it, it is not sent (`is_left_to_daemon`)."""
    entry = _entry(context, team, name, {"folder": team.folder, "seat": name.target, "text": text, "by": _DAEMON}, "")
    inbox.add(context.root, entry)
    return entry


def is_left_to_daemon(context: Context, entry: Entry) -> bool:
    """Tell whether a daemon answers the question of a wake-up, or wakes its seat with a packet.

    It is looked for each time, so that the seat is woken by whoever comes after a daemon that died.
    """
    from oracle.store.daemon import state

    return _text(entry, "by") == _DAEMON and state.serves(context.root, context.now_seconds())


def is_of_question(entry: Entry) -> bool:
    """Tell whether a wake-up is word of a question to memory, or of its packet."""
    return "owed_at" in entry.fields or _text(entry, "by") == _DAEMON


def told_at(receipt: Receipt, text: str) -> datetime | None:
    """Return when the seat of a receipt was woken with just this text, None when it was not."""
    return timestamps.parse(receipt.text("notified_at")) if receipt.text("notify_message") == text else None


def _entry(context: Context, team: Team, name: ReceiptName, fields: dict[str, str], topic: str) -> Entry:
    whole = {
        "project": team.project,
        "task_id": name.task_id,
        "source": name.source,
        "target": name.target,
        **fields,
    }
    subject = (team.project, name.task_id, name.source, name.target, fields["seat"], topic)
    return Entry(Kind.WAKE, subject, whole, due_at=context.now_seconds())


def send(context: Context, entry: Entry, *, patience: float | None = None) -> WakeUp:
    """Send a wake-up that was owed just now, unless another does."""
    return _send(context, entry, lambda waker: waker.wake, patience=patience)


def send_again(context: Context, entry: Entry, *, patience: float | None = None) -> WakeUp:
    """Send a wake-up that was perhaps sent before: a text that the pane shows is not typed again."""
    return _send(context, entry, lambda waker: waker.wake_again, patience=patience)


def send_once(context: Context, entry: Entry) -> WakeUp:
    """Send a wake-up that is worth nothing later: it does not stay in the inbox when it fails."""
    outcome = send(context, entry)
    inbox.finish(context.root, entry)
    return outcome


def patience_of_commands() -> float:
    """Return the seconds to wait for a pane: `ORACLE_WAKE_PATIENCE` or PATIENCE."""
    try:
        return max(0.0, float(os.environ.get("ORACLE_WAKE_PATIENCE", PATIENCE)))
    except ValueError:
        return PATIENCE


def _send(
    context: Context, entry: Entry, way: Callable[[Waker], Callable[..., Outcome]], *, patience: float | None
) -> WakeUp:
    seat = _text(entry, "seat")
    if not inbox.take(context.root, entry, context.now_seconds()):
        return WakeUp("waits", seat, say("another process sends it"))
    if not is_owed(entry):
        inbox.finish(context.root, entry)
        return WakeUp()
    waited = patience_of_commands() if patience is None else patience
    try:
        privacy.require_clean(context, {say("its text"): _text(entry, "text")}, what=say("The wake-up"))
        wake = way(_waker(context))
        outcome = wake(_names(context, entry), _text(entry, "text"), seat=seat, patience=waited)
    except OracleError as error:
        return _give_up(context, entry, error)
    return _settle(context, entry, outcome)


def is_owed(entry: Entry) -> bool:
    """Tell whether its seat was not told yet, and its receipt still waits for somebody."""
    if not _text(entry, "folder"):
        return True
    folder, name = _text(entry, "folder"), _name(entry)
    found = handoffs.read(folder, name)
    owed_at = timestamps.parse(_text(entry, "owed_at"))
    if found is None or (found.text("notified_at") and owed_at is None):
        return False
    told = told_at(found, _text(entry, "text"))
    if owed_at is not None and told is not None and told >= owed_at:
        return False
    return handoffs.read(folder, name, CONSUMED) is None  # else its reader had it without being woken


def _settle(context: Context, entry: Entry, outcome: Outcome) -> WakeUp:
    from oracle.wake.outcomes import Woken

    seat, details = _text(entry, "seat"), _details(entry)
    if not isinstance(outcome, Woken):
        return _postpone(context, entry, say("{kind}: {reason}", kind=type(outcome).__name__, reason=outcome.reason))
    moment = context.stamp()
    if _text(entry, "folder"):
        changes = {"notified_at": moment, "notify_message": _text(entry, "text")}
        handoffs.amend(_text(entry, "folder"), _name(entry), changes)
    inbox.finish(context.root, entry)
    context.note("wake-up", {**details, "result": "woken", "session": outcome.session})
    return WakeUp("sent", seat, outcome.session)


def _postpone(context: Context, entry: Entry, reason: str) -> WakeUp:
    import random

    chance = random.Random()  # noqa: S311 - jitter
    inbox.defer(context.root, entry, now=context.now_seconds(), error=reason, chance=chance, most=TRIES)
    if reason[:500] != entry.last_error:  # the same failure again is no event
        context.note("wake-up", {**_details(entry), "result": "waits", "reason": reason})
    return WakeUp("waits", _text(entry, "seat"), reason)


def _give_up(context: Context, entry: Entry, error: OracleError) -> WakeUp:
    """End a wake-up that can never be sent, such as one whose text must not be typed."""
    from oracle.errors import DiskFailure, LockTimeout, RulesUnusable

    if isinstance(error, DiskFailure | LockTimeout | RulesUnusable):
        return _postpone(context, entry, error.sentence)
    inbox.finish(context.root, entry)
    context.note("skip", {**_details(entry), "what": "wake-up", "reason": error.sentence})
    context.warn(say("{seat} is not woken: {fault}", seat=_text(entry, "seat"), fault=error))
    return WakeUp("skipped", _text(entry, "seat"), error.sentence)


def is_there(outcome: WakeUp) -> bool:
    """Tell whether a seat runs that was not woken just now, because it is busy, or another wakes it."""
    return outcome.result == "waits" and outcome.detail.startswith(THERE)


def warn_of(context: Context, outcome: WakeUp) -> None:
    """Say that a seat was not woken, when it was not."""
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


def pending(context: Context) -> tuple[Entry, ...]:
    """Return every wake-up that is still owed and waits, is being sent or was given up."""
    found = inbox.read(context.root, context.now_seconds(), Kind.WAKE)
    return tuple(one for one in (*found.waiting, *found.taken, *found.poisoned) if is_owed(one))


def _waker(context: Context) -> Waker:
    if context.waker is None:
        from oracle.wake.sessions import tmux_socket
        from oracle.wake.tmux import TmuxWaker

        context.waker = TmuxWaker(tmux_socket(os.environ))
    return context.waker


def _names(context: Context, entry: Entry) -> Sequence[str]:
    from oracle.wake.sessions import find_session_names

    return find_session_names(context.root, _text(entry, "project"), _text(entry, "seat"), environ=os.environ)


def _name(entry: Entry) -> ReceiptName:
    return receipts.receipt_name(*(_text(entry, key) for key in ("task_id", "source", "target")))


def _details(entry: Entry) -> dict[str, object]:
    return {key: _text(entry, key) for key in ("project", "task_id", "source", "target", "seat")}


def _text(entry: Entry, key: str) -> str:
    return str(entry.fields.get(key, ""))
