"""Which dispatches a team refuses, and which warnings a seat gets. Writes nothing."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.app.delivery.order import QUERY, TASK, Order
from oracle.app.delivery.team import Team, is_memory
from oracle.domain.delivery.handoffs import HandoffStep
from oracle.domain.delivery.receipts import ReceiptKind, ReceiptName
from oracle.errors import Blocked, TaskAlreadyQueued, UsageError
from oracle.store.delivery import handoffs, responses, task_tree
from oracle.wording import say


def keep(context: Context, team: Team, order: Order) -> None:
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
            "BLOCKED: no planner is reachable in {project}, and memory does not dispatch to {target} by "
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
                    "BLOCKED: builder seat {target} dispatch outstanding ({task_id}); awaiting completion "
                    "receipt {task_id}__{target}__{asker}.json.",
                    target=order.target,
                    task_id=item.task_id,
                    asker=item.asker,
                ),
                hint=say("Wait for it, or dispatch with --force-parallel-builder."),
            )


def _refuse_answered(context: Context, team: Team, order: Order) -> None:
    """Raise TaskAlreadyQueued for a question under an id that memory answered before, for any seat.

    An id has one response: it would be taken for the answer to every later question.
    """
    if responses.project_of(context.root, order.task_id) is not None:
        raise _already_answered(order.task_id, order.target)
    for receipt, _ in handoffs.receipts_of(team.folder, order.task_id):
        if receipt.kind is ReceiptKind.COMPLETION and is_memory(team, receipt.name.source):
            raise _already_answered(order.task_id, receipt.name.source)


def _already_answered(task_id: str, seat: str) -> TaskAlreadyQueued:
    return TaskAlreadyQueued(
        say("TASK_ALREADY_QUEUED {task_id}: {target} answered it already.", task_id=task_id, target=seat),
        hint=say("Choose another task id."),
    )


def refuse_second(team: Team, name: ReceiptName) -> None:
    """Raise TaskAlreadyQueued when this task was dispatched to this seat before, in whatever way."""
    queued = next((task for task in task_tree.read_queue(team.tree, name.target) if task.task_id == name.task_id), None)
    if queued is not None and (queued.state in ("pending", "queued") or handoffs.read(team.folder, name) is not None):
        raise task_tree.already_queued(queued, team.tree.todo_file(name.target))
    if handoffs.read(team.folder, name.answered_by()) is not None:
        raise _already_answered(name.task_id, name.target)
