"""Finish what other processes left: intents of dead processes, wake-ups that are due, handoffs that are half done.

Every command of delivery first does a bounded part of it, quietly (`before`); `resume` does everything and reports it.
"""

from __future__ import annotations

import time

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.delivery import homes, wakeups
from oracle.app.delivery.team import Team, is_memory, open_team
from oracle.domain.delivery.handoffs import Handoff, HandoffStep, Party
from oracle.domain.delivery.receipts import ReceiptKind
from oracle.domain.values import AsJson, value
from oracle.errors import Conflict, NotFound, OracleError, RulesUnusable, SecretFound
from oracle.store.delivery import inbox
from oracle.store.delivery.entries import InboxEntry, InboxKind
from oracle.store.delivery.inbox import MAX_TRIES, Inbox
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.delivery.listed import ListedHandoff

__all__ = ["MAX_TRIES", "Inbox", "InboxEntry", "InboxKind", "read_inbox", "resume"]


_ENDS = 4
"""Parts of an entry's subject that name a handoff: project, task and the two seats."""

_LONGEST_QUESTION = 60
"""Columns of a question in a sentence."""

QUIET_INTENTS, QUIET_WAKE_UPS = 20, 2
QUIET_TIME, QUIET_PATIENCE = 3.0, 1.5
"""Bounds of the quiet part: entries, seconds altogether, and seconds that one pane is waited for."""


def read_inbox(context: Context, kind: InboxKind | None = None) -> Inbox:
    """Return the entries of the inbox, of one kind or of all."""
    return inbox.read(context.root, context.now_seconds(), kind)


@value
class Resumed(AsJson):
    """What a resume did, a sentence each; `left` is what still waits, `waiting` the handoffs whose seat was not woken."""

    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    waiting: tuple[ListedHandoff, ...] = ()


def is_anything_kept(context: Context) -> bool:
    """Return whether a delivery is kept outside of the Root, because the Root could not be written."""
    return inbox.is_anything_outside(context.root)


def before(context: Context, *, notifies: bool = True) -> None:
    """Finish in a few seconds what others left, wake-ups only if the command wakes somebody. A failure is a warning."""
    until = time.monotonic() + QUIET_TIME
    try:
        inbox.bring_back(context.root)
        now = context.now_seconds()
        for entry in unattended(inbox.read(context.root, now), now)[:QUIET_INTENTS]:
            if time.monotonic() < until:
                finish_intent(context, entry)
        now = context.now_seconds()  # an intent that was finished may have left a wake-up
        due = [one for one in inbox.read(context.root, now).due(now) if notifies and one.kind is InboxKind.WAKE]
        for entry in due[:QUIET_WAKE_UPS]:
            if time.monotonic() < until and not wakeups.is_left_to_daemon(context, entry):
                wakeups.send_again(context, entry, patience=QUIET_PATIENCE)
    except (OracleError, OSError) as error:  # a Root that can't be written is still read
        context.warn(say("interrupted deliveries could not be finished: {error}", error=error))


def resume(context: Context) -> Resumed:
    """Finish every intent of a dead process, try every wake-up now, and do the machine's part of half-done handoffs."""
    done: list[str] = []
    left: list[str] = [
        say("{path}: kept until {root} can be written", path=path, root=context.root.path)
        for path in inbox.bring_back(context.root)
    ]
    now = context.now_seconds()
    for entry in inbox.read(context.root, now).poisoned:
        inbox.revive(context.root, entry, now)
    found = inbox.read(context.root, now)
    for entry in unattended(found, now):
        (done if (said := finish_intent(context, entry)) else left).append(
            said or say("{entry}: could not be finished", entry=_words(entry))
        )
    for project in projects(context):
        done += mend(context, project)
    waiting: dict[tuple[str, ...], ListedHandoff] = {}
    for entry, item in _to_wake(context):
        outcome, told = wakeups.send_again(context, entry), {"entry": _words(entry, item)}
        if outcome.result == "waits":
            told |= {"seat": outcome.seat, "reason": wakeups.reason_of(outcome)}
            left.append(
                say(
                    "{entry}: {seat} was not woken ({reason}); it is tried until it succeeds or the handoff is acknowledged",
                    **told,
                )
            )
            waiting |= {entry.subject[:_ENDS]: item} if item is not None else {}
        elif outcome.result:
            done.append(say("{entry}: woke {seat} ({detail})", **told, seat=outcome.seat, detail=outcome.detail))
    left += [_say_held(context, entry) for entry in _held(context)]
    left += list(found.problems)
    return Resumed(tuple(done), tuple(left), tuple(waiting.values()))


def _to_wake(context: Context) -> list[tuple[InboxEntry, ListedHandoff | None]]:
    """Return the wake-ups that wait, each with its handoff as lists have it, and in their order."""
    from oracle.app.delivery import handoffs

    entries = [one for one in inbox.read(context.root, context.now_seconds()).waiting if one.kind is InboxKind.WAKE]
    entries = [one for one in entries if not wakeups.is_left_to_daemon(context, one)]
    found = handoffs.list_all(context).items if entries else ()
    places: dict[tuple[str, ...], int] = {}
    for at, item in enumerate(found):
        ends = (item.handoff.asker, item.handoff.answerer)
        places |= {(item.project, item.handoff.task_id, *pair): at for pair in (ends, ends[::-1])}
    at_of = {one.subject: places.get(one.subject[:_ENDS], len(found)) for one in entries}
    entries.sort(key=lambda one: at_of[one.subject])
    return [(one, found[at] if (at := at_of[one.subject]) < len(found) else None) for one in entries]


def _held(context: Context) -> list[InboxEntry]:
    """Return the entries that other processes work on."""
    now = context.now_seconds()
    found = inbox.read(context.root, now)
    intents = [one for one in found.waiting if one.kind is InboxKind.INTENT and inbox.is_worked_on(one, now)]
    return [*intents, *found.taken]


def _say_held(context: Context, entry: InboxEntry) -> str:
    return say(
        "{entry}: process {owner} works on it; run `oracle resume` again in {seconds:.0f} s",
        entry=_words(entry),
        owner=inbox.owner_of(context.root, entry) or "?",
        seconds=inbox.LONGEST_WORK if entry.kind is InboxKind.INTENT else inbox.LEASE,
    )


def _words(entry: InboxEntry, item: ListedHandoff | None = None) -> str:
    """Return what people read for an entry, with the first words of the question of its handoff."""
    project, task, source, target, *_ = (*entry.subject, "", "", "", "")
    if not target:
        return " ".join(part for part in entry.subject if part)
    told = {"task": task, "project": project, "source": source, "target": target}
    if item is None or not item.question_line:
        return say("{task} of {project}, {source} to {target}", **told)
    from oracle.domain.layout import cut

    asked = cut(item.question_line, _LONGEST_QUESTION)
    return say("{task} of {project}, {source} to {target}, “{question}”", **told, question=asked)


# Intents --------------------------------------------------------------------------------------------------------------


def unattended(found: inbox.Inbox, now: float) -> list[InboxEntry]:
    """Return the intents that no living process works on."""
    entries = [*found.waiting, *found.taken]
    return [one for one in entries if one.kind is InboxKind.INTENT and not inbox.is_worked_on(one, now)]


def finish_intent(context: Context, entry: InboxEntry) -> str:
    """Do the steps of an intent; return a sentence, "" when the disk or a lock refused and it has to wait."""
    is_taken = inbox.take(context.root, entry, context.now_seconds())
    named = _words(entry)
    try:
        if not is_taken and inbox.find(context.root, entry) is None:
            return say("{entry}: another process finished it", entry=named)
        guard.require_unchanged(context, {"subject": entry.subject}, _content(entry))
        said = _carry_on(context, entry)
    except (*inbox.KEPT, RulesUnusable) as error:
        inbox.defer(context.root, entry, now=context.now_seconds(), error=error.sentence, most=wakeups.TRIES)
        return ""
    except OracleError as error:
        subject = list(entry.subject)
        if isinstance(error, SecretFound):  # it may be in the subject
            subject, named = [entry.file_name], entry.file_name
        if not isinstance(error, Conflict):
            context.note("skip", {"what": "intent", "subject": subject, "reason": error.sentence})
        inbox.finish(context.root, entry)
        return say("{entry}: dropped, {fault}", entry=named, fault=error)
    inbox.finish(context.root, entry)
    return said


def put_off(context: Context, entry: InboxEntry, error: str) -> InboxEntry:
    """Let an entry wait that failed unexpectedly. After five tries it is set aside (`oracle doctor`)."""
    return inbox.defer(context.root, entry, now=context.now_seconds(), error=error)


def _content(entry: InboxEntry) -> dict[str, object]:
    content = entry.fields.get("content")
    return content if isinstance(content, dict) else {}


def _carry_on(context: Context, entry: InboxEntry) -> str:
    from oracle.app.delivery import dispatch, later

    fields = _content(entry)
    if entry.fields.get("do") == "dispatch":
        return say("finished the dispatch {task}", task=dispatch.carry_on(context, fields))
    name = later.finish(context, fields)
    return say(
        "finished the delivery of {task} from {source} to {target}",
        task=name.task_id,
        source=name.source,
        target=name.target,
    )


# Handoffs that are half done ---------------------------------------------------------------------------------------


def projects(context: Context) -> list[str]:
    """Return the projects that have a profile."""
    from oracle.store.root import profile

    return profile.projects(context.root)


def mend(context: Context, project: str) -> list[str]:
    """Do the machine's part of a project's half-done handoffs; return a sentence for each thing done."""
    from oracle.app.delivery import handoffs

    try:
        team = open_team(context, project)
        found = handoffs.of_team(context, team)
    except OracleError as error:
        context.warn(say("{project}: {fault}", project=project, fault=error))
        return []
    done = []
    for item in found.handoffs:
        if item.state.party is Party.ORACLE:
            try:
                done.append(_mend_one(context, team, item))
            except OracleError as error:
                context.warn(say("{task} could not be completed: {fault}", task=item.task_id, fault=error))
    return list(filter(None, done))


def _mend_one(context: Context, team: Team, item: Handoff) -> str:
    from oracle.store.delivery import handoffs

    if item.dispatch is None:
        return ""
    if item.state.step is HandoffStep.DELIVERED and item.dispatch.kind is ReceiptKind.DISPATCH:
        handoffs.consume(team.folder, item.dispatch.name)
        return say("consumed the dispatch {name}: it is answered", name=item.dispatch.name.file_name)
    if (
        item.state.step is HandoffStep.ANSWERED
        and is_memory(team, item.answerer)
        and homes.machine_of(context, team.project, item.answerer) is None
        and is_alone(context, team, item.task_id)
    ):
        return _complete_from_response(context, team, item)
    return ""


def is_alone(context: Context, team: Team, task_id: str) -> bool:
    """Return whether no other project has a handoff of this task id: a response may name no project."""
    from oracle.app.delivery import handoffs

    try:
        return {name for name, _ in handoffs.projects_with(context, task_id)} == {team.project}
    except NotFound:
        return False


def _complete_from_response(context: Context, team: Team, item: Handoff) -> str:
    """Write the receipt of an answer whose delivery died before it, and whose intent is lost."""
    from oracle.app.delivery import deliver
    from oracle.store.delivery import responses

    response = responses.read_valid(context.root, item.task_id)
    if response is None:
        return ""
    made = deliver.Delivery(team.project, item.task_id, item.asker, response, source=item.answerer)
    _, work, _ = deliver.prepare(context, made)
    deliver.finish_work(context, team, work)
    return say("completed {task} from its response", task=item.task_id)
