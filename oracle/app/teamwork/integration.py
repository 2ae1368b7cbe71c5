"""Recover a commit that passed outside of the main line. The lane is written down as a record.

Light: memory landed it, and names the commit. Medium: a planner has a builder repair it. Heavy: the operator decides.
"""

from __future__ import annotations

from oracle.app import git
from oracle.app.context import Context
from oracle.app.delivery import resume
from oracle.app.delivery.dispatch import dispatch
from oracle.app.delivery.team import Team, open_team
from oracle.app.delivery.unmerged_commit import PASS_NEEDS_INTEGRATION
from oracle.app.git import DIVERGENT
from oracle.app.records.listing import list_records
from oracle.app.records.once import write_once
from oracle.app.records.views import Summary
from oracle.app.teamwork.workflow import create_task
from oracle.domain.delivery.receipts import Receipt, ReceiptKind
from oracle.domain.delivery.workflows import WorkflowStep
from oracle.domain.names import MEMORY, check_name
from oracle.domain.records.drafts import Draft
from oracle.domain.spelling import suggest
from oracle.domain.values import json_of, value
from oracle.errors import Blocked, NotFound, TaskAlreadyQueued, UsageError
from oracle.store.delivery import handoffs
from oracle.wording import say

LIGHT, MEDIUM, HEAVY = "light", "medium", "heavy"
LANES = (LIGHT, MEDIUM, HEAVY)
_TITLE = "Integrate {task_id} by the {lane} lane"


@value
class Integrated:
    """The lane that was taken: its record, the task of a repair, and the report to the operator."""

    task_id: str
    lane: str
    record: str
    repair: str = ""
    report: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {**json_of(self), "repair": self.repair or None, "report": self.report or None}


def integrate(
    context: Context,
    project: str,
    task_id: str,
    *,
    lane: str,
    commit: str = "",
    reason: str = "",
    notifies: bool = True,
) -> Integrated:
    """Take one lane for a task with an unmerged commit; another supersedes it. Raises NotFound, UsageError, Blocked."""
    if lane not in LANES:
        raise UsageError(say("{lane!r} is not a lane.", lane=lane), hint=suggest(lane, LANES))
    team = open_team(context, project)
    passed = _passed(team, check_name(task_id, "task id"))
    reported = passed.text("builder_commit") or passed.text("commit")
    if (lane == LIGHT) != bool(commit):
        raise UsageError(
            say("The light lane, and no other, has a commit that memory landed."),
            hint=say("Write --lane light --commit SHA."),
        )
    repair = report = ""
    if lane == LIGHT:
        _require_landed(context, team, commit)
        _note_commit(team, task_id, commit)
    elif lane == MEDIUM:
        repair = _have_repaired(context, team, task_id, reported, notifies=notifies)
    else:
        report = say(
            "BLOCKED: {task} of {project} passed with {commit}, which the main line does not contain; the operator decides.",
            task=task_id,
            project=team.project,
            commit=reported,
        )
        report = say("{what} {hint}", what=report, hint=reason.rstrip()) if reason.strip() else report
    outcome = f"Memory landed it as {commit}." if commit else report or f"The planner has it repaired as {repair}."
    because = f"\n\nReason: {reason}" if reason else ""
    body = f"{passed.name.source} delivered {task_id} with {reported}, outside of the main line. {outcome}{because}\n"
    return Integrated(task_id, lane, _record(context, team, task_id, lane, body=body), repair, report)


def _passed(team: Team, task_id: str) -> Receipt:
    for receipt, _ in handoffs.receipts_of(team.folder, task_id):
        if receipt.kind is ReceiptKind.COMPLETION and receipt.text("lineage_status") == DIVERGENT:
            return receipt
    raise NotFound(
        say("No delivery of {task_id} needs integration in {project}.", task_id=task_id, project=team.project),
        hint=say("`oracle handoffs show {task_id}` tells what was delivered.", task_id=task_id),
    )


def _require_landed(context: Context, team: Team, commit: str) -> None:
    status = git.lineage_of(team.profile.repo_root, commit)
    if status == git.UNKNOWN:
        context.warn(
            say("git can't tell whether {repo} contains {commit}", repo=team.profile.repo_root, commit=commit[:40])
        )
    elif status != git.IN_LINEAGE:
        raise UsageError(
            say(
                "The main line of {repo_root} does not contain {commit}.",
                repo_root=team.profile.repo_root,
                commit=commit[:40],
            ),
            hint=say("Land it first."),
        )


def _note_commit(team: Team, task_id: str, commit: str) -> None:
    """Put the commit into the dispatches that were answered: their key `memory_commit` is for it."""
    for receipt, _ in handoffs.receipts_of(team.folder, task_id):
        if receipt.kind is ReceiptKind.DISPATCH:
            handoffs.amend(team.folder, receipt.name, {"memory_commit": commit})


def _have_repaired(context: Context, team: Team, task_id: str, commit: str, *, notifies: bool) -> str:
    """Ask a planner to have a builder repair it, once; return the task's id."""
    from oracle.app.delivery.order import Order

    if not team.profile.planners:
        raise Blocked(
            say("Nobody plans for {project}, so nobody can have it repaired.", project=team.project),
            hint=say("Take --lane heavy."),
        )
    repair = f"{task_id}-repair"
    builders = team.profile.seats_of("builder")
    step = WorkflowStep(
        1, "repair", owner_role="builder", owner_seat=builders[0] if builders else "", notify_on_done=("memory",)
    )
    create_task(context, team.project, repair, template="repair", steps=(step,))
    objective = (
        f"{task_id} passed with {commit}, which the main line does not contain. Have a builder bring it in line."
    )
    memory = next(iter(team.profile.seats_of("memory")), "memory")
    order = Order(team.project, repair, memory, team.profile.planners[0], objective, kind="task", notifies=notifies)
    try:
        resume.before(context, notifies=notifies)
        dispatch(context, order)
    except TaskAlreadyQueued:
        context.warn(say("{task} was dispatched before", task=repair))
    return repair


def _record(context: Context, team: Team, task_id: str, lane: str, *, body: str) -> str:
    known = _known(context, team, task_id)
    finding = next((item.slug for item in known if item.title.startswith(f"{PASS_NEEDS_INTEGRATION} {task_id} ")), "")
    others = tuple(
        item.slug
        for item in known
        for other in LANES
        if other != lane and item.title == _TITLE.format(task_id=task_id, lane=other) and not item.is_retired
    )
    draft = Draft(
        "decision",
        team.project,
        _TITLE.format(task_id=task_id, lane=lane),
        body=body,
        seat=MEMORY,
        task_id=task_id,
        status="open" if lane == HEAVY else "resolved",
        extends=(finding,) if finding else (),
        supersedes=others,
        extra={"lane": lane, "decision_type": "integration"},
    )
    return write_once(context, draft)


def _known(context: Context, team: Team, task_id: str) -> list[Summary]:
    try:
        return list_records(context, {"project": team.project, "task": task_id}, fresh=True)
    except NotFound:
        return []
