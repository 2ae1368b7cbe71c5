"""Wake-ups: owe one, send it, put it back for later. App room; no lock is held while a pane is waited for.

A wake-up is a file of the inbox until it was seen to be submitted, so that it outlives whoever owes it. It is owed only while
its receipt has no `notified_at` and was not consumed: whoever sends one looks there first. A second try types nothing that a
pane shows already.
"""

from __future__ import annotations

import os

from oracle.app.delivery import team as teams
from oracle.app.guard import privacy
from oracle.domain import timestamps
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CONSUMED, Receipt, ReceiptName
from oracle.domain.values import value
from oracle.errors import OracleError
from oracle.store.delivery import handoffs, inbox
from oracle.store.delivery.inbox import Entry, Kind
from oracle.wording import retold, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from oracle.api import Oracle
    from oracle.app.delivery.team import Team
    from oracle.wake.outcomes import Outcome, Waker

PATIENCE = 8.0
"""Seconds that a command waits for a pane, unless `ORACLE_WAKE_PATIENCE` says otherwise."""

THERE = ("Busy", "Stranded", "another process")
"""How the reason begins for which a seat that runs was not woken just now."""

_KINDS = ("Busy", "Stranded", "NoSession")

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


def owe(oracle: Oracle, team: Team, name: ReceiptName, *, seat: str, text: str, topic: str = "") -> Entry:
    """Put a wake-up into the inbox and return it. With a `topic` it stands for itself, and no receipt is amended."""
    entry = _entry(oracle, team, name, {"folder": "" if topic else team.folder, "seat": seat, "text": text}, topic)
    inbox.add(oracle.root, entry)
    return entry


def owe_packet(oracle: Oracle, team: Team, name: ReceiptName, *, text: str) -> Entry:
    """Owe a memory seat word of a packet, and return the entry as it stands: it may have been tried before.

    It is owed until the seat was told this text since now, or the question is over.
    """
    fields = {"folder": team.folder, "seat": name.target, "text": text, "owed_at": teams.stamp(oracle)}
    entry = _entry(oracle, team, name, fields, "packet")
    inbox.add(oracle.root, entry)
    return inbox.standing(oracle.root, entry) or entry


def owe_question(oracle: Oracle, team: Team, name: ReceiptName, *, text: str) -> Entry:
    """Owe a memory seat word of a question; where a daemon attends to it, it is not sent (`is_left_to_daemon`)."""
    entry = _entry(oracle, team, name, {"folder": team.folder, "seat": name.target, "text": text, "by": _DAEMON}, "")
    inbox.add(oracle.root, entry)
    return entry


def is_left_to_daemon(oracle: Oracle, entry: Entry) -> bool:
    """Tell whether a daemon answers the question of a wake-up, or wakes its seat with a packet.

    It is looked for each time, so that the seat is woken by whoever comes after a daemon that died.
    """
    from oracle.store.daemon import state

    return _text(entry, "by") == _DAEMON and state.serves(oracle.root, teams.now_seconds(oracle))


def is_of_question(entry: Entry) -> bool:
    """Tell whether a wake-up is word of a question to memory, or of its packet."""
    return "owed_at" in entry.fields or _text(entry, "by") == _DAEMON


def told_at(receipt: Receipt, text: str) -> datetime | None:
    """Return when the seat of a receipt was woken with just this text, None when it was not."""
    return timestamps.parse(receipt.text("notified_at")) if receipt.text("notify_message") == text else None


def _entry(oracle: Oracle, team: Team, name: ReceiptName, fields: dict[str, str], topic: str) -> Entry:
    whole = {
        "project": team.project,
        "task_id": name.task_id,
        "source": name.source,
        "target": name.target,
        **fields,
    }
    subject = (team.project, name.task_id, name.source, name.target, fields["seat"], topic)
    return Entry(Kind.WAKE, subject, whole, due_at=teams.now_seconds(oracle))


def send(oracle: Oracle, entry: Entry, *, patience: float | None = None) -> WakeUp:
    """Send a wake-up that was owed just now, unless another does."""
    return _send(oracle, entry, lambda waker: waker.wake, patience=patience)


def send_again(oracle: Oracle, entry: Entry, *, patience: float | None = None) -> WakeUp:
    """Send a wake-up that was perhaps sent before: a text that the pane shows is not typed again."""
    return _send(oracle, entry, lambda waker: waker.wake_again, patience=patience)


def send_once(oracle: Oracle, entry: Entry) -> WakeUp:
    """Send a wake-up that is worth nothing later: it does not stay in the inbox when it fails."""
    outcome = send(oracle, entry)
    inbox.finish(oracle.root, entry)
    return outcome


def patience_of_commands() -> float:
    """Return the seconds to wait for a pane: `ORACLE_WAKE_PATIENCE` or PATIENCE."""
    try:
        return max(0.0, float(os.environ.get("ORACLE_WAKE_PATIENCE", PATIENCE)))
    except ValueError:
        return PATIENCE


def _send(
    oracle: Oracle, entry: Entry, way: Callable[[Waker], Callable[..., Outcome]], *, patience: float | None
) -> WakeUp:
    seat = _text(entry, "seat")
    if not inbox.take(oracle.root, entry, teams.now_seconds(oracle)):
        return WakeUp("waits", seat, say("another process sends it"))
    if not is_owed(entry):
        inbox.finish(oracle.root, entry)
        return WakeUp()
    waited = patience_of_commands() if patience is None else patience
    try:
        privacy.require_clean(oracle, {say("its text"): _text(entry, "text")}, what=say("The wake-up"))
        wake = way(_waker(oracle))
        outcome = wake(_names(oracle, entry), _text(entry, "text"), seat=seat, patience=waited)
    except OracleError as error:
        return _give_up(oracle, entry, error)
    return _settle(oracle, entry, outcome)


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


def _settle(oracle: Oracle, entry: Entry, outcome: Outcome) -> WakeUp:
    from oracle.wake.outcomes import Woken

    seat, details = _text(entry, "seat"), _details(entry)
    if not isinstance(outcome, Woken):
        return _postpone(oracle, entry, say("{kind}: {reason}", kind=type(outcome).__name__, reason=outcome.reason))
    moment = teams.stamp(oracle)
    if _text(entry, "folder"):
        changes = {"notified_at": moment, "notify_message": _text(entry, "text")}
        handoffs.amend(_text(entry, "folder"), _name(entry), changes)
    inbox.finish(oracle.root, entry)
    teams.note(oracle, "wake-up", {**details, "result": "woken", "session": outcome.session})
    return WakeUp("sent", seat, outcome.session)


def _postpone(oracle: Oracle, entry: Entry, reason: str) -> WakeUp:
    import random

    chance = random.Random()  # noqa: S311 - jitter
    inbox.defer(oracle.root, entry, now=teams.now_seconds(oracle), error=reason, chance=chance, most=TRIES)
    if reason[:500] != entry.last_error:  # the same failure again is no event
        teams.note(oracle, "wake-up", {**_details(entry), "result": "waits", "reason": reason})
    return WakeUp("waits", _text(entry, "seat"), reason)


def _give_up(oracle: Oracle, entry: Entry, error: OracleError) -> WakeUp:
    """End a wake-up that can never be sent, such as one whose text must not be typed."""
    from oracle.errors import DiskFailure, LockTimeout, RulesUnusable

    if isinstance(error, DiskFailure | LockTimeout | RulesUnusable):
        return _postpone(oracle, entry, error.sentence)
    inbox.finish(oracle.root, entry)
    teams.note(oracle, "skip", {**_details(entry), "what": "wake-up", "reason": error.sentence})
    oracle.warn(say("{seat} is not woken: {fault}", seat=_text(entry, "seat"), fault=error))
    return WakeUp("skipped", _text(entry, "seat"), error.sentence)


def is_there(outcome: WakeUp) -> bool:
    """Tell whether a seat runs that was not woken just now, because it is busy, or another wakes it."""
    return outcome.result == "waits" and outcome.detail.startswith(THERE)


def warn_of(oracle: Oracle, outcome: WakeUp) -> None:
    """Say that a seat was not woken, when it was not."""
    if outcome.result != "waits":
        return
    from oracle.wake.outcomes import NO_SERVER

    if outcome.detail.endswith(NO_SERVER):
        oracle.warn(
            say(
                "{seat} was not woken: {reason}; the wake-up waits, nothing is lost",
                seat=outcome.seat,
                reason=NO_SERVER,
            )
        )
    else:
        oracle.warn(
            say(
                "{seat} was not woken ({reason}); the wake-up waits and is tried again",
                seat=outcome.seat,
                reason=reason_of(outcome),
            )
        )


def reason_of(outcome: WakeUp) -> str:
    """Return why a seat was not woken as a person is told it: without the name of the sort of outcome."""
    kind, _, reason = outcome.detail.partition(": ")
    return retold(reason if kind in _KINDS else outcome.detail)


def pending(oracle: Oracle) -> tuple[Entry, ...]:
    """Return every wake-up that is still owed and waits, is being sent or was given up."""
    found = inbox.read(oracle.root, teams.now_seconds(oracle), Kind.WAKE)
    return tuple(one for one in (*found.waiting, *found.taken, *found.poisoned) if is_owed(one))


def _waker(oracle: Oracle) -> Waker:
    if oracle.waker is None:
        from oracle.wake.sessions import tmux_socket
        from oracle.wake.tmux import TmuxWaker

        oracle.waker = TmuxWaker(tmux_socket(os.environ))
    return oracle.waker


def _names(oracle: Oracle, entry: Entry) -> Sequence[str]:
    from oracle.wake.sessions import find_session_names

    return find_session_names(oracle.root, _text(entry, "project"), _text(entry, "seat"), environ=os.environ)


def _name(entry: Entry) -> ReceiptName:
    return receipts.receipt_name(*(_text(entry, key) for key in ("task_id", "source", "target")))


def _details(entry: Entry) -> dict[str, object]:
    return {key: _text(entry, key) for key in ("project", "task_id", "source", "target", "seat")}


def _text(entry: Entry, key: str) -> str:
    return str(entry.fields.get(key, ""))
