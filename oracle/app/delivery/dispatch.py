"""Dispatch a task or a question from one seat to another: receipt, queue, table, dispatch log, wake-up.

The receipt is the fact. Every step first checks whether it is done, so that the next command can finish for a dead process.
"""

from __future__ import annotations

from collections.abc import Mapping

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.delivery import homes, wakeups
from oracle.app.delivery.order import (
    QUERY,
    Order,
    order_of,
    refuse_forbidden,
    refuse_id_of_other,
    refuse_other_case,
    refuse_second,
)
from oracle.app.delivery.team import Team, is_memory, open_team
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import ReceiptKind, ReceiptName, new_receipt
from oracle.domain.delivery.task_queue import PENDING, Task
from oracle.domain.names import OPERATOR
from oracle.domain.values import replace, value
from oracle.errors import Blocked, TaskAlreadyQueued
from oracle.store.delivery import handoffs, inbox, responses, task_tree
from oracle.store.delivery.entries import InboxEntry
from oracle.store.delivery.handoffs import Outcome
from oracle.wording import say


@value
class Dispatched:
    """The files of a dispatch, and what became of its wake-up."""

    name: ReceiptName
    todo_path: str
    receipt_path: str
    wake_up: wakeups.WakeUp = wakeups.WakeUp()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "task_id": self.name.task_id,
            "source": self.name.source,
            "target": self.name.target,
            "todo": self.todo_path,
            "receipt": self.receipt_path,
            "wake_up": self.wake_up.as_json(),
        }


def new_task_id(context: Context) -> str:
    """Return an id that nobody has: the moment and some letters of chance."""
    import secrets

    return f"Q-{context.now():%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def dispatch(context: Context, order: Order) -> Dispatched:
    """Dispatch once. Raises TaskAlreadyQueued, SecretFound (nothing is written), Blocked, UsageError, NoProfile, HandoffFailed."""
    order, _ = guard.clean_handoff(context, order, order.secrets)
    team = open_team(context, order.project, path=order.profile)
    if order.task_id:
        responses.path_of(context.root, order.task_id)  # an id that no answer could have is refused
        refuse_other_case(team, order.task_id)
        if is_memory(team, order.target):
            refuse_id_of_other(context, team, order)
    homes.require_here(context, team.project, order.source)
    named = replace(
        order, task_id=order.task_id or new_task_id(context), project=team.project, profile=team.profile.path
    )
    name = team.receipt(named.task_id, named.source, named.target)
    if named.reply_to and named.reply_to != named.source:
        team.receipt(named.task_id, named.target, named.reply_to)
    refuse_forbidden(context, team, named)
    subject = (team.project, name.task_id, name.source, name.target)
    intent = inbox.begin(context.root, "dispatch", subject, named.as_fields(), context.now_seconds())
    if intent is None:
        raise TaskAlreadyQueued(
            say("Another process sends {task_id} just now.", task_id=name.task_id),
            hint=say("If it has died, `oracle resume` finishes what it began."),
            task_id=name.task_id,
        )
    with inbox.until_done(context.root, intent):
        refuse_second(team, name)
        made = _carry_out(context, team, named)
        entry = _enqueue(context, team, named, made) if named.notifies else None
    return replace(made, wake_up=_send(context, entry))


def carry_on(context: Context, fields: Mapping[str, object]) -> str:
    """Do what a dead process left undone of a dispatch; return the task's id. Raises SecretFound, UsageError."""
    guard.require_unchanged(context, fields, fields)
    order = order_of(fields)
    team = open_team(context, order.project, path=order.profile)
    made = _carry_out(context, team, order)
    found = handoffs.read(team.folder, made.name)
    if order.notifies and found is not None and not found.text("notified_at"):
        _enqueue(context, team, order, made)
    return order.task_id


# Steps ----------------------------------------------------------------------------------------------------------------


def _carry_out(context: Context, team: Team, order: Order) -> Dispatched:
    name = team.receipt(order.task_id, order.source, order.target)
    moment = context.stamp()
    todo = team.tree.todo_file(name.target)
    outcome = handoffs.publish(team.folder, _receipt(context, team, order, moment))
    _list(context, team, order, moment, undo=name if outcome is Outcome.CREATED else None)
    if team.profile.role(order.source) == "memory":
        from oracle.app.delivery import decision_log

        decision_log.log_dispatch(context, team, replace(order, task_id=name.task_id))
    return Dispatched(name, todo, handoffs.path_of(team.folder, name))


def _list(context: Context, team: Team, order: Order, moment: str, *, undo: ReceiptName | None) -> None:
    """Put a dispatch into the queue, the task table, the dispatch log and the journal."""
    _queue(team, order, moment, undo=undo)
    cells = {"Title": order.headline, "Owner": order.target, "Status": PENDING, "Notes": order.notes}
    task_tree.upsert_row(team.tree, order.task_id, cells)
    task_tree.log_once(team.tree, _log_line(order), task_id=order.task_id, moment=context.now())
    ends = team.ends_of(team.receipt(order.task_id, order.source, order.target))
    context.note("dispatch", {**ends, "kind": order.kind, "notifies": order.notifies})


_LOGGED = {
    "finding_id": "finding_id",
    "hypothesis_fix_counter": "hypothesis_counter",
    "rca_override": "rca_override",
    "core_ux": "core_ux",
}
"""Fields of a queue's entry that the dispatch log tells too, and their names there."""


def _log_line(order: Order) -> str:
    told = {"test_policy": order.test_policy} | {word: order.queue.get(key, "") for key, word in _LOGGED.items()}
    line = f"{order.source} dispatched {order.task_id} to {order.target}"
    return " ".join([line, *(f"{key}={text}" for key, text in told.items() if text)])


def receive(context: Context, team: Team, receipt: receipts.Receipt) -> list[InboxEntry]:
    """Queue a dispatch that was written on another machine, unless it is queued; return its wake-up, which is in the inbox."""
    name, text = receipt.name, receipt.text
    order = Order(
        team.project,
        name.task_id,
        name.source,
        name.target,
        receipt.question,
        title=text("title"),
        reply_to=receipt.reply_to,
        test_policy=text("test_policy"),
        user_summary=text("user_summary"),
        kind=text("task_kind") or QUERY,
    )
    _list(context, team, order, text("assigned_at") or context.stamp(), undo=None)
    made = Dispatched(name, team.tree.todo_file(name.target), handoffs.path_of(team.folder, name))
    entry = _enqueue(context, team, order, made)
    return [] if entry is None else [entry]


def _queue(team: Team, order: Order, moment: str, *, undo: ReceiptName | None) -> None:
    """Put the task into the queue unless it is there; a receipt made now goes again when another seat queued the id."""
    entry = _task(team, order, moment)
    for found in task_tree.read_queue(team.tree, order.target):
        if found.task_id == order.task_id and found.fields.get("source") == order.source:
            return
    try:
        task_tree.queue_task(team.tree, order.target, entry)
    except TaskAlreadyQueued:
        if undo is not None:
            handoffs.withdraw(team.folder, undo)
        raise


def _task(team: Team, order: Order, moment: str) -> Task:
    fields = {
        "title": order.headline,
        "task_type": order.task_type,
        "review_required": str(order.needs_review).lower(),
        "source": order.source,
        "reply_to": order.reply_to or order.source,
        "dispatched_at": moment,
        "correlation_id": receipts.correlation_id(team.project, order.task_id),
        "test_policy": order.test_policy,
        "project": team.project,
        **order.queue,
    }
    return Task(order.task_id, PENDING, fields, order.objective, order.skill_refs)


def _receipt(context: Context, team: Team, order: Order, moment: str) -> receipts.Receipt:
    name = team.receipt(order.task_id, order.source, order.target)
    fields: dict[str, object] = {
        "assigned_at": moment,
        "correlation_id": receipts.correlation_id(team.project, name.task_id),
        "reply_to": order.reply_to or order.source,
        "test_policy": order.test_policy,
        "title": order.headline,
        "todo_path": team.tree.todo_file(name.target),
        "user_summary": order.user_summary,
        "task_kind": order.kind,
        "objective": order.objective,
    }
    if team.profile.role(name.target) == "builder":
        fields |= {"expected_branch": f"feat/{name.task_id}", "expected_worktree_path": f"/tmp/{name.task_id}-wt"}  # noqa: S108 - a name that teams expect
    if is_memory(team, name.target) and (prior := responses.digest_on_disk(context.root, name.task_id)):
        fields["prior_response"] = prior  # it answers an earlier question
    return new_receipt(ReceiptKind.DISPATCH, name, {**fields, **order.receipt})


def _enqueue(context: Context, team: Team, order: Order, made: Dispatched) -> InboxEntry | None:
    name = made.name
    if name.target == OPERATOR:
        return None
    reply = order.reply_to or order.source
    text = (
        f"{name.task_id} assigned from {name.source} to {name.target}. Read {made.todo_path}."
        f" When complete, reply to {reply} via DELIVERY + notify."
    )
    if order.kind == QUERY and is_memory(team, name.target):
        return wakeups.enqueue_question(context, team, name, text=text + team.how_to_read(name.task_id))
    return wakeups.enqueue(context, team, name, seat=name.target, text=text)


def _send(context: Context, entry: InboxEntry | None) -> wakeups.WakeUp:
    if entry is None:
        return wakeups.WakeUp()
    if wakeups.is_left_to_daemon(context, entry):
        detail = say("the daemon answers it, or wakes the seat with its packet")
        return wakeups.WakeUp("attended", entry.text("seat"), detail)
    outcome = wakeups.send(context, entry)
    wakeups.warn_of(context, outcome)
    return outcome


def least_busy(context: Context, project: str, role: str, *, path: str = "") -> str:
    """Return the seat of a role with the fewest open handoffs, the first of equals. Raises Blocked when there is none."""
    from oracle.app.delivery.handoffs import of_team

    team = open_team(context, project, path=path)
    seats = team.profile.seats_of(role)
    if not seats:
        raise Blocked(
            say(
                "seat_needed: the project {project} has no seat with the role {role}.", project=team.project, role=role
            ),
            hint=say("Add one."),
        )
    load = dict.fromkeys(seats, 0)
    for item in of_team(context, team).handoffs:
        if item.completion is None and item.answerer in load:
            load[item.answerer] += 1
    return min(seats, key=lambda seat: load[seat])
