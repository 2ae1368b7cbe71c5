"""Tasks with a workflow: create one, list its ready steps, change a step, supersede tasks that nobody took up.

workflow.md says how far a task is. A wake-up is enqueued before its step is written: a process that dies in between has
notified too early, but never not at all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.delivery import wakeups
from oracle.app.delivery.team import Team, open_team
from oracle.app.records.new_project import refuse_mistyped, remark
from oracle.domain import timestamps
from oracle.domain.delivery import receipts
from oracle.domain.delivery import workflows as rules
from oracle.domain.delivery.receipts import ReceiptKind
from oracle.domain.delivery.task_queue import Task
from oracle.domain.delivery.workflows import BLOCKED, DONE, IN_PROGRESS, WorkflowStep
from oracle.domain.names import OPERATOR, ROLES, role_of
from oracle.domain.spelling import is_one_slip_off, suggest
from oracle.domain.values import value
from oracle.errors import NoProfile, OracleError, UsageError
from oracle.store.delivery import handoffs, task_tree
from oracle.store.delivery.entries import InboxEntry
from oracle.store.delivery.task_tree import TaskTree
from oracle.wording import say

TEMPLATE = "brief-driven"
OLD_AFTER = 3.0
"""Days after which a task that nobody delivered is superseded."""


@value
class Changed:
    """A step as it is now, and what became of its wake-ups."""

    task_id: str
    step: WorkflowStep
    is_new: bool
    wake_ups: tuple[wakeups.WakeUp, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "task_id": self.task_id,
            "step": self.step.name,
            "status": self.step.status,
            "changed": self.is_new,
            "wake_ups": [one.as_json() for one in self.wake_ups],
        }


def tree_of(context: Context, project: str) -> tuple[TaskTree, Team | None]:
    """Return a project's task tree and team; without a profile the tree is where it always is. Raises InvalidName."""
    try:
        team = open_team(context, project)
    except NoProfile:
        root = context.root.task_tree(project)
        return TaskTree(root, f"{root}/TASKS.md", f"{root}/STATUS.md", context.root.handoffs(project)), None
    return team.tree, team


def _note(context: Context, event: str, details: Mapping[str, object]) -> None:
    """Put a line into the journal where there is a Root: a task tree needs none."""
    if os.path.isdir(context.root.path):
        context.note(event, details)


def create_task(
    context: Context,
    project: str,
    task_id: str,
    *,
    template: str = TEMPLATE,
    steps: Sequence[WorkflowStep] = (),
    new_project: bool = False,
) -> tuple[str, bool]:
    """Make workflow.md and STATUS.md; return (folder, whether it is new).

    `new_project` confirms a new project whose name is one letter off a known one.

    Raises UsageError, MistypedProject, InvalidName, SecretFound.
    """
    fields = {"project": project, "task_id": task_id, "template": template}
    guard.clean(context, fields, guard.FIXED, what=say("The handoff"))
    rules.require_sound(steps, say("Correct the steps."))
    tree, team = tree_of(context, project)
    folder = task_tree.folder_of(tree.tasks_root, task_id)
    if team is None:
        if not new_project:
            refuse_mistyped(context, project)
        for line in remark(context.root, project):
            context.warn(line)
    is_new = task_tree.create_workflow(tree.tasks_root, task_id, rules.render_workflow(task_id, template, steps))
    if is_new:
        _note(context, "workflow", {"project": project, "task_id": task_id, "status": rules.PENDING})
    return folder, is_new


def list_pending(context: Context, project: str, role: str) -> list[tuple[str, str]]:
    """Return (task id, step) of every step that a role may begin now; a workflow that can't be followed is a warning.

    Raises UsageError for a mistyped role.
    """
    if not role_of(role) and any(is_one_slip_off(role, known) for known in ROLES):
        raise UsageError(say("Unknown role {role!r}.", role=role[:60]), hint=suggest(role, ROLES))
    tree, _ = tree_of(context, project)
    found = []
    for task_id in task_tree.tasks_with_workflow(tree.tasks_root):
        try:
            steps = rules.steps_of(task_tree.read_workflow(tree.tasks_root, task_id))
        except OracleError as error:
            context.warn(say("the workflow of {task} is left out: {fault}", task=task_id, fault=error))
            continue
        for fault in rules.find_faults(steps):
            context.warn(say("the workflow of {task} can't be followed: {fault}", task=task_id, fault=fault))
        found += [(task_id, step.name) for step in rules.list_ready(steps, role)]
    return found


def update_step(context: Context, project: str, task_id: str, step: str, *, status: str) -> Changed:
    """Change the status of one step, note it, wake whom it names; once. Raises UsageError, NotFound."""
    tree, team = tree_of(context, project)
    seen: list[tuple[WorkflowStep, bool]] = []
    entries: list[InboxEntry] = []

    def alter(text: str) -> str:
        after, now = rules.advance(text, step, status)
        seen.append((now, after != text))
        if after != text:
            _warn_of_order(context, rules.steps_of(text), now)
            entries.extend(_enqueue(context, team, tree, task_id=task_id, now=now))
        return after

    task_tree.change_workflow(tree.tasks_root, task_id, alter)
    now, is_new = seen[-1]
    moment = context.now().astimezone()
    task_tree.note_status(tree.tasks_root, task_id, f"step {now.number} ({now.name}) is {now.status}", moment=moment)
    if not is_new:
        return Changed(task_id, now, is_new)
    _note(context, "step", {"project": project, "task_id": task_id, "step": now.name, "status": now.status})
    sent = tuple(wakeups.send(context, entry) for entry in entries)
    for outcome in sent:
        wakeups.warn_of(context, outcome)
    return Changed(task_id, now, is_new, sent)


def _warn_of_order(context: Context, steps: Sequence[WorkflowStep], now: WorkflowStep) -> None:
    waiting = rules.waits_for(steps, now) if now.status == IN_PROGRESS else []
    if waiting:
        context.warn(say("step {name} was begun before {others} is done", name=now.name, others=waiting))


def _enqueue(
    context: Context, team: Team | None, tree: TaskTree, *, task_id: str, now: WorkflowStep
) -> list[InboxEntry]:
    """Enqueue a wake-up for each seat that the step names for its new status."""
    told = {DONE: now.notify_on_done, BLOCKED: now.notify_on_blocked}.get(now.status, ())
    if not told:
        return []
    if team is None:
        context.warn(
            say(
                "nobody is notified that step {name} is {status}, because the project has no profile",
                name=now.name,
                status=now.status,
            )
        )
        return []
    seats = dict.fromkeys(seat for name in told for seat in _seats(context, team, name))
    path = task_tree.workflow_file(tree.tasks_root, task_id)
    text = f"{task_id} step {now.number} is {now.status}. Read {path}."
    source = now.owner_seat or now.owner_role or "planner"
    return [
        wakeups.enqueue(
            context,
            team,
            receipts.receipt_name(task_id, source, seat),
            seat=seat,
            text=text,
            topic=f"step {now.number} {now.status}",
        )
        for seat in seats
    ]


def _seats(context: Context, team: Team, name: str) -> tuple[str, ...]:
    """Return the seats that a name means: the seat itself, else those of the role; nobody is a warning."""
    if name == OPERATOR:
        return ()
    seats = (name,) if name in team.profile.seats else team.profile.seats_of(name)
    if not seats:
        context.warn(
            say("{project} has no seat or role {name}, so nobody is notified", name=name[:80], project=team.project)
        )
    return seats


# What nobody took up --------------------------------------------------------------------------------------------------


def supersede_old(context: Context, project: str, *, days: float = OLD_AFTER) -> list[tuple[str, str]]:
    """Supersede the open entries of every queue that are older than `days` and were not delivered; return (seat, task id)."""
    tree, _ = tree_of(context, project)
    now = context.now()
    limit = now - timedelta(days=min(days, now.toordinal() - 1))  # the first day there is, at most
    found = []
    for seat in task_tree.seats_with_files(tree):
        for task in task_tree.read_queue(tree, seat):
            if not _is_undelivered(tree, seat, task) or not _is_older(task, limit):
                continue
            _end_handoff(context, tree, seat, task)
            if task_tree.supersede_task(tree, seat, task.task_id):
                found.append((seat, task.task_id))
                _note_superseded(context, tree, project, seat=seat, task=task)
    return found


def _is_undelivered(tree: TaskTree, seat: str, task: Task) -> bool:
    """Return whether an entry is open and nothing on disk says that it was delivered."""
    from oracle.domain.delivery.task_queue import OPEN_STATES

    if task.state not in OPEN_STATES or task_tree.read_delivery(tree, seat).get("task_id") == task.task_id:
        return False
    asker = task.fields.get("reply_to") or task.fields.get("source") or ""
    try:
        name = receipts.receipt_name(task.task_id, seat, asker)
        answer = handoffs.find(tree.handoff_dir, name)
    except OracleError:
        return True
    return answer is None or answer.kind is not ReceiptKind.COMPLETION


def _is_older(task: Task, limit: datetime) -> bool:
    since = timestamps.parse(task.fields.get("dispatched_at", ""))
    return since is not None and since < limit


def _end_handoff(context: Context, tree: TaskTree, seat: str, task: Task) -> None:
    """Consume the dispatch of an entry and note in it that it was ended without an answer."""
    try:
        name = receipts.receipt_name(task.task_id, task.fields.get("source") or "", seat)
        asked = handoffs.read(tree.handoff_dir, name)
    except OracleError:  # the entry names no seat, or its receipt can't be read
        return
    if asked is not None and asked.kind is ReceiptKind.DISPATCH:
        handoffs.amend(tree.handoff_dir, name, {receipts.SUPERSEDED_AT: context.stamp()})
        handoffs.consume(tree.handoff_dir, name)


def _note_superseded(context: Context, tree: TaskTree, project: str, *, seat: str, task: Task) -> None:
    if any(row.get("ID") == task.task_id for row in task_tree.read_rows(tree)):
        task_tree.upsert_row(tree, task.task_id, {"Status": "superseded"})
    line = f"{seat} superseded {task.task_id}: nobody took it up"
    task_tree.append_log(tree, line, task_id=task.task_id, moment=context.now().astimezone())
    _note(context, "superseded", {"project": project, "task_id": task.task_id, "target": seat})
