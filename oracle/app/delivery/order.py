"""Orders: what one seat asks of another, how an intent keeps it, and which ones a team refuses."""

from __future__ import annotations

import os
from collections.abc import Mapping

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.delivery.team import Team, is_memory, open_all, other_owner
from oracle.domain.delivery.handoffs import HandoffStep
from oracle.domain.delivery.receipts import ReceiptKind, ReceiptName
from oracle.domain.values import NOTHING, contents_of, fields_of, value
from oracle.errors import Blocked, Conflict, TaskAlreadyQueued, UsageError
from oracle.store.delivery import handoffs, responses, task_tree
from oracle.wording import say

QUERY, TASK = "query", "task"


@value
class Order:
    """What is asked of whom. `queue` and `receipt` are further fields of the queue's entry and of the receipt."""

    project: str
    task_id: str
    source: str
    target: str
    objective: str
    title: str = ""
    reply_to: str = ""
    test_policy: str = "N/A"
    user_summary: str = ""
    notes: str = ""
    kind: str = TASK
    profile: str = ""
    task_type: str = "unspecified"
    needs_review: bool = False
    skill_refs: tuple[str, ...] = ()
    notifies: bool = True
    stacks: bool = False
    """Whether a builder may get a task while another is open."""
    queue: Mapping[str, str] = NOTHING
    receipt: Mapping[str, object] = NOTHING
    secrets: str = guard.REFUSE
    """What becomes of what looks like a secret in it."""

    @property
    def headline(self) -> str:
        """Its title, else the first line of what is asked, else its id."""
        lines = (line.strip() for line in self.objective.splitlines())
        return self.title or next(filter(None, lines), self.task_id)[:120]

    def as_fields(self) -> dict[str, object]:
        """Return the object that an intent keeps."""
        whole = contents_of(self)
        return {**whole, "skill_refs": list(self.skill_refs), "queue": dict(self.queue), "receipt": dict(self.receipt)}


def order_of(fields: Mapping[str, object]) -> Order:
    """Return the order that an intent keeps. Raises UsageError for another object."""
    fault = UsageError(say("An intent in the inbox holds no dispatch."), hint=say("It is dropped."))
    known = {key: item for key, item in fields.items() if key in fields_of(Order)}
    refs, queue = known.get("skill_refs"), known.get("queue")
    if isinstance(queue, dict) and not all(isinstance(item, str) for item in queue.values()):
        raise fault
    known["skill_refs"] = tuple(map(str, refs)) if isinstance(refs, list) else ()
    try:
        return Order(**known)  # type: ignore[arg-type]
    except TypeError as error:
        raise fault from error


def refuse_forbidden(context: Context, team: Team, order: Order) -> None:
    """Refuse what the team forbids, before anything is written."""
    if not order.objective.strip():
        raise UsageError(say("The task has no text."), hint=say("Say what is asked, in a sentence."))
    role = team.profile.role(order.target)
    if order.kind == QUERY and is_memory(team, order.target):
        _refuse_answered(context, team, order)
    if team.profile.is_multi_team and order.target in team.profile.planners:
        raise Blocked(
            say(
                "The project {project} has several teams; a planner there takes its tasks from its brief queue.",
                project=team.project,
            ),
            hint=say("Put the brief into the team's queue, or dispatch to a seat that is not a planner."),
        )
    if team.profile.role(order.source) == "memory" and role == "builder":
        _keep_peers(context, team, order)
    _warn_of_no_workflow(context, team, order)
    if role == "builder" and not order.stacks:
        _refuse_stacking(context, team, order)


def _keep_peers(context: Context, team: Team, order: Order) -> None:
    """Memory asks builders by way of a planner: warn where there is one, stop where nobody plans."""
    if team.profile.planners:
        context.warn(
            say(
                "memory dispatches straight to {seat} though {planners} plans for {project}; ask the planner instead",
                seat=order.target,
                planners=team.profile.planners,
                project=team.project,
            )
        )
        return
    raise Blocked(
        say(
            "No planner is reachable in {project}, and memory does not dispatch to {target} by "
            "itself. Nothing was dispatched. For the operator: task {task_id}, {title}.",
            project=team.project,
            target=order.target,
            task_id=order.task_id,
            title=order.title or order.objective[:120],
        ),
        hint=say(
            "Add a planner to the seats of {path}, or let the operator dispatch with --source operator.",
            path=team.profile.path,
        ),
        mark="BLOCKED",
    )


def _warn_of_no_workflow(context: Context, team: Team, order: Order) -> None:
    """Say how to make the workflow.md of a planner's task, which holds the state of its chain and comes first."""
    if order.target in team.profile.planners and order.kind == TASK:
        from oracle.store.delivery import task_tree

        if not os.path.exists(task_tree.workflow_file(team.profile.tasks_root, order.task_id)):
            context.warn(
                say(
                    "{task} has no workflow.md; make it first with `oracle team task create {task} --project {project}`",
                    task=order.task_id,
                    project=team.project,
                )
            )


def _refuse_stacking(context: Context, team: Team, order: Order) -> None:
    from oracle.app.delivery.handoffs import of_team

    waiting = (HandoffStep.OPEN, HandoffStep.CLAIMED, HandoffStep.CLAIM_EXPIRED, HandoffStep.UNNOTIFIED)
    for item in of_team(context, team).handoffs:
        is_open = item.dispatch is not None and item.completion is None and item.state.step in waiting
        if is_open and item.answerer == order.target and item.task_id != order.task_id:
            raise Blocked(
                say(
                    "{target} has not completed {task_id} for {asker}, and a builder does one task at a time. "
                    "Nothing was sent.",
                    target=order.target,
                    task_id=item.task_id,
                    asker=item.asker,
                ),
                hint=say(
                    "Wait for its answer (`oracle handoffs show {task_id}`), or add --force-parallel-builder.",
                    task_id=item.task_id,
                ),
                mark="BLOCKED",
            )


def _refuse_answered(context: Context, team: Team, order: Order) -> None:
    """Raise TaskAlreadyQueued for an id that memory answered: its one response would be taken for every later answer."""
    if responses.project_of(context.root, order.task_id) is not None:
        raise _already_answered(order.task_id, order.target)
    for receipt, _ in handoffs.receipts_of(team.folder, order.task_id):
        if receipt.kind is ReceiptKind.COMPLETION and is_memory(team, receipt.name.source):
            raise _already_answered(order.task_id, receipt.name.source)


def _already_answered(task_id: str, seat: str) -> TaskAlreadyQueued:
    return TaskAlreadyQueued(
        say("{target} answered {task_id} already.", task_id=task_id, target=seat),
        hint=say("Choose another task id."),
        task_id=task_id,
    )


def refuse_other_case(team: Team, task_id: str) -> None:
    """Raise TaskAlreadyQueued for an id that differs from a task's by case alone: some disks keep both in one file."""
    from oracle.app.delivery.handoffs import known_tasks

    known = known_tasks((team,))
    twin = next((one for one in known if one.casefold() == task_id.casefold()), task_id)
    if twin != task_id and task_id not in known:
        raise TaskAlreadyQueued(
            say(
                "The task id {task_id} differs from {twin} by case alone; nothing was sent.",
                task_id=task_id,
                twin=twin,
            ),
            hint=say("See `oracle handoffs show {twin}`, or choose another task id.", twin=twin),
            task_id=twin,
        )


def refuse_id_of_other(context: Context, team: Team, order: Order) -> None:
    """Raise Conflict for an id with which memory answers, or is asked in, another project: one response serves one task."""
    if owner := other_owner(context, team, order.task_id):
        raise responses.belongs_to(order.task_id, owner)
    if order.kind != QUERY:
        return
    for project, other in open_all(context)[0].items():
        names = handoffs.names_of(other.folder, order.task_id) if project != team.project else ()
        if any(not suffix and is_memory(other, name.target) for name, suffix in names):
            raise Conflict(
                say(
                    "Project {project} has asked memory under the task id {task_id}, which has one response only; "
                    "nothing was sent.",
                    project=project,
                    task_id=order.task_id,
                ),
                hint=say("Choose another task id."),
            )


def refuse_second(team: Team, name: ReceiptName) -> None:
    """Raise TaskAlreadyQueued when this task was dispatched to this seat before, in whatever way."""
    queued = next((task for task in task_tree.read_queue(team.tree, name.target) if task.task_id == name.task_id), None)
    if queued is not None and (queued.state in ("pending", "queued") or handoffs.read(team.folder, name) is not None):
        raise task_tree.already_queued(queued, team.tree.todo_file(name.target))
    if handoffs.read(team.folder, name.answered_by()) is not None:
        raise _already_answered(name.task_id, name.target)
