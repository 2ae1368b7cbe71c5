"""Attend to what memory was asked: answer from disk, or hand the question with a packet to the memory seat.

One question in, one delivery out; nothing is begun that nobody asked for, and no other seat is dispatched to. Only files say
how far a question is: claim, packet, and the last wake-up in the dispatch receipt. So any process can go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from oracle.app import guard
from oracle.app.answers import owner_programs
from oracle.app.answers.answer import answer
from oracle.app.answers.reply import ANSWERED, CANDIDATES, NOT_IN_MEMORY, Reply
from oracle.app.context import Context
from oracle.app.delivery import deliver, homes, wakeups
from oracle.app.delivery.team import Team, open_team, other_owner
from oracle.app.queries import packet
from oracle.domain import timestamps
from oracle.domain.delivery.receipts import Receipt, ReceiptKind, ReceiptName
from oracle.domain.values import replace, value
from oracle.errors import HandoffFailed
from oracle.store.delivery import handoffs, inbox, leases, packets, responses
from oracle.store.delivery.entries import InboxEntry, InboxKind
from oracle.store.delivery.leases import Held, Lease

HOLDER = "oracle"
"""Who holds the claim of a question while it is looked up and until its seat is reached."""

MOST_LEASES = 5
"""Leases of a seat that was woken and stays silent, after which it counts as not there."""

BEING_JUDGED = "being-judged"
WAITS = "waits"
_SOON = 2.0
_SLACK = 60.0
"""Seconds by which a lease may look longer than it is before the clock must have been set back."""


@value
class Terms:
    """How long a seat is waited for, in seconds, and whether a question that nobody answers stays open (`hold`)."""

    hold: bool = False
    seat_bound: float = 300.0
    seat_lease: float = 1800.0
    consolidate_every: float = 0.0
    """Seconds from one plan of what to remember to the next; 0 is never."""


@value
class Asked:
    """An open dispatch to a memory seat."""

    team: Team
    dispatch: Receipt

    @property
    def name(self) -> ReceiptName:
        """The name of its receipt."""
        return self.dispatch.name

    @property
    def subject(self) -> tuple[str, ...]:
        """What names it in the inbox."""
        return (self.team.project, self.name.task_id, self.name.source, self.name.target)

    @property
    def question(self) -> str:
        """What is asked."""
        return self.dispatch.question


@value
class Attended:
    """A question: answered, unanswered, with-seat, waits, held, gone or being judged.

    Look again at `due`, in seconds since 1970.
    """

    word: str
    due: float = 0.0
    detail: str = ""


def read_terms(context: Context) -> Terms:
    """Return the terms that `config.toml` sets under `[daemon]`. Raises UsageError for invalid values."""
    from oracle.store.root import configuration

    return Terms(**configuration.load_daemon(context.root))  # type: ignore[arg-type]


# What is open ---------------------------------------------------------------------------------------------------------


def open_questions(context: Context, project: str) -> list[Asked]:
    """Return the open questions to the memory seats of a project that run here, by name. Raises NoProfile, InvalidProfile."""
    team = open_team(context, project)
    seats = team.profile.seats_of("memory")
    if context.has_hub:
        seats = tuple(seat for seat in seats if homes.runs_here(context, project, seat))
    found = (handoffs.read(team.folder, name) for name in handoffs.open_names(team.folder) if name.target in seats)
    asked = (Asked(team, receipt) for receipt in found if receipt is not None and _asks(receipt))
    return [one for one in asked if not _is_answered(context, one)]


def _asks(receipt: Receipt) -> bool:
    """Return whether a dispatch is a question; what other tools dispatch to memory says nothing of its kind and is one."""
    return receipt.kind is ReceiptKind.DISPATCH and receipt.text("task_kind") in ("", "query")


def _is_answered(context: Context, asked: Asked) -> bool:
    """Return whether an answer is on disk, so that only its last steps are missing (`resume` does them)."""
    done = asked.name.answered_by(asked.dispatch.reply_to)
    if handoffs.read(asked.team.folder, done) is not None:
        return True
    return responses.project_of(context.root, asked.name.task_id) in ("", asked.team.project)


# What failed ----------------------------------------------------------------------------------------------------------


def put_off(context: Context, asked: Asked, error: str) -> InboxEntry:
    """Let a question that could not be taken up wait; after five tries it is set aside (`oracle doctor`)."""
    from oracle.app.delivery import resume

    fields = {"project": asked.team.project, "task_id": asked.name.task_id}
    entry = InboxEntry(InboxKind.QUERY, asked.subject, fields, due_at=context.now_seconds())
    return resume.put_off(context, failed(context).get(asked.subject, entry), error)


def forgive(context: Context, asked: Asked) -> None:
    """Forget that a question failed: it was taken up now."""
    inbox.finish(context.root, InboxEntry(InboxKind.QUERY, asked.subject, {}, due_at=0.0))


def failed(context: Context) -> Mapping[tuple[str, ...], InboxEntry]:
    """Return the questions that could not be taken up, by subject: those that wait, and those set aside, which are never due."""
    found = inbox.read(context.root, context.now_seconds(), InboxKind.QUERY)
    given_up = (replace(entry, due_at=float("inf")) for entry in found.poisoned)
    return {entry.subject: entry for entry in (*found.waiting, *given_up)}


# One question ---------------------------------------------------------------------------------------------------------


def look_up(context: Context, asked: Asked) -> Reply:
    """Return what the disk answers to a question."""
    context.reader = asked.name.source  # what the answer quotes is for the seat that asks
    try:
        return answer(context, asked.question, project=asked.team.project)
    finally:
        context.reader = ""


def reply_now(context: Context, asked: Asked) -> Reply:
    """Return what the disk answers to a question; candidates are judged by the owner's program, which may take its time."""
    reply = look_up(context, asked)
    return owner_programs.judge(context, reply) if reply.status == CANDIDATES else reply


def attend_to(
    context: Context, asked: Asked, terms: Terms, reply_to: Callable[[Context, Asked], Reply | None] = reply_now
) -> Attended:
    """Take a question as far as it goes now. `reply_to` returns None while the reply is in the making.

    The claim ends with what failed or only waits for its seat: nobody works on it then.
    Raises what a delivery raises, DiskFailure, HandoffFailed, LockTimeout.
    """
    lease = _claim(context, asked, terms)
    if lease is None:
        return Attended("gone")
    if isinstance(lease, Held):
        return Attended("held", lease.until.timestamp(), lease.holder)
    found = None
    try:
        found = _take_on(context, asked, lease, terms, reply_to)
    finally:
        if found is None or found.word == WAITS:
            with suppress(HandoffFailed):  # it runs out by itself
                leases.release(asked.team.folder, lease)
    return found


def _take_on(
    context: Context,
    asked: Asked,
    lease: Lease,
    terms: Terms,
    reply_to: Callable[[Context, Asked], Reply | None],
) -> Attended:
    reply = reply_to(context, asked)
    if reply is None:
        return Attended(BEING_JUDGED)
    if other_owner(
        context, asked.team, asked.name.task_id
    ):  # the one response of its id is taken: its seat completes it
        return _hand_over(context, asked, lease, replace(terms, hold=True), reply)
    if reply.status == ANSWERED:
        _deliver(context, asked, reply.as_json())
        return Attended("answered")
    return _hand_over(context, asked, lease, terms, reply)


def _claim(context: Context, asked: Asked, terms: Terms) -> Lease | None:
    folder, name, now = asked.team.folder, asked.name, context.now()
    before = leases.read(folder, name)
    longest = max(terms.seat_lease, leases.LEASE.total_seconds()) + _SLACK
    if before is not None and (before.until - now).total_seconds() > longest:  # the clock was set back since
        leases.release(folder, before)
    found = leases.claim(folder, name, holder=HOLDER, now=now)
    is_again = before.holder == HOLDER if before else _was_handed_over(context, asked)
    if found is not None and not isinstance(found, Held) and not is_again:
        _note_claim(context, asked, found, after=before.holder if before else "")
    return found


def _was_handed_over(context: Context, asked: Asked) -> bool:
    return os.path.isdir(context.root.packets) and packets.asked_at(_packet_of(context, asked)) is not None


def _note_claim(context: Context, asked: Asked, lease: Lease, *, after: str) -> None:
    name, until = asked.name, timestamps.print_moment(lease.until)
    context.note("claim", {**asked.team.ends_of(name), "holder": lease.holder, "until": until, "after": after})


def _deliver(context: Context, asked: Asked, response: Mapping[str, object]) -> None:
    made = deliver.Delivery(
        asked.team.project,
        asked.name.task_id,
        asked.dispatch.reply_to,
        response,
        source=asked.name.target,
        profile=asked.team.profile.path,
        secrets=guard.REDACT,  # it may quote a record that a seat wrote; nobody is there to decide
        wake_until=0,  # the daemon sends what is in the inbox
    )
    deliver.deliver(context, made)


# The memory seat ------------------------------------------------------------------------------------------------------


def _hand_over(context: Context, asked: Asked, lease: Lease, terms: Terms, reply: Reply) -> Attended:
    """Give a question that the disk does not answer to its seat: write the packet, wake the seat, pass the claim on."""
    name, seat = asked.name, asked.name.target
    path = _packet_of(context, asked)
    since = _keep_packet(context, asked, reply, path)
    text = f"{name.task_id} from {name.source} waits for {seat}. Read {path}. It says how to answer."
    notified_at = _notified_at(context, asked, text)
    now = context.now_seconds()
    patience = terms.seat_bound + MOST_LEASES * terms.seat_lease
    if 0 < notified_at <= now - terms.seat_lease and now - since >= patience and not terms.hold:
        return _give_up(context, asked, reply, f"{seat} was woken and has not answered for {now - since:.0f} s")
    reason, due = "", now
    if notified_at + terms.seat_lease <= now:
        reason, due = _wake(context, asked, text, is_first=not notified_at)
        notified_at = _notified_at(context, asked, text)
    if notified_at + terms.seat_lease > now:
        return _pass_on(context, asked, lease, notified_at + terms.seat_lease)
    bound = patience if notified_at or reason.startswith(wakeups.THERE) else terms.seat_bound
    if now - since >= bound and not terms.hold:
        return _give_up(context, asked, reply, f"{seat} was not reached in {now - since:.0f} s ({reason})")
    return Attended(WAITS, due if terms.hold else min(due, since + bound), reason)


def _packet_of(context: Context, asked: Asked) -> str:
    return packets.question_path(context.root, asked.team.project, asked.name.task_id)


def _give_up(context: Context, asked: Asked, reply: Reply, why: str) -> Attended:
    """Deliver that memory does not know, what was searched, the candidates, and that its seat was silent."""
    if reply.status == CANDIDATES:
        reply = replace(reply, status=NOT_IN_MEMORY)
    _deliver(context, asked, {**reply.as_json(), "asked_seat": asked.name.target, "seat_silent": why})
    return Attended("unanswered", detail=why)


def _keep_packet(context: Context, asked: Asked, reply: Reply, path: str) -> float:
    """Write the packet unless it is there, and return since when it is; one of a time to come is of another clock."""
    since, now = packets.asked_at(path), context.now_seconds()
    if since is None or since > now + _SLACK:
        text = packet.render(context, asked.team, asked.dispatch, reply)
        packets.keep_question(path, guard.open_guard(context).clean(text)[0])  # it quotes what seats wrote themselves
        since = packets.asked_at(path)
    return now if since is None else since


def _notified_at(context: Context, asked: Asked, text: str) -> float:
    """Return when the seat was last woken for its packet, 0 when it never was or the clock was set back since."""
    receipt = handoffs.read(asked.team.folder, asked.name)
    notified = wakeups.notified_at(receipt, text) if receipt is not None else None
    return (
        notified.timestamp() if notified is not None and notified.timestamp() <= context.now_seconds() + _SLACK else 0.0
    )


def _wake(context: Context, asked: Asked, text: str, *, is_first: bool) -> tuple[str, float]:
    """Wake the seat if its time has come; return why it was not woken ("" when it was) and when to try again."""
    entry = wakeups.enqueue_packet(context, asked.team, asked.name, text=text)
    now = context.now_seconds()
    if not entry.is_due(now):
        return entry.last_error, entry.due_at
    send = wakeups.send_again if is_first or entry.tries else wakeups.send  # a pane shows the text of an earlier round
    outcome = send(context, entry)
    standing = inbox.find(context.root, entry)
    return "" if outcome.result == "sent" else outcome.detail, standing.due_at if standing else now + _SOON


def _pass_on(context: Context, asked: Asked, lease: Lease, until: float) -> Attended:
    seat = asked.name.target
    moment = datetime.fromtimestamp(until, UTC)
    if leases.pass_on(asked.team.folder, lease, holder=seat, until=moment, now=context.now()):
        _note_claim(context, asked, Lease(asked.name, seat, moment), after=lease.holder)
    return Attended("with-seat", until, seat)


def forget_packets(context: Context, waiting: Collection[tuple[str, str]]) -> None:
    """Delete the packets of questions, except for those (project, task id) that wait."""
    if os.path.isdir(context.root.packets):
        packets.forget_questions(context.root, {packets.question_path(context.root, *one) for one in waiting})
