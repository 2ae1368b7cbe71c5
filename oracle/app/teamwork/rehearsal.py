"""Rehearse the chain of seats before real work: every seat reports, and memory checks that each did."""

from __future__ import annotations

import re

from oracle.app.context import Context
from oracle.app.delivery import resume
from oracle.app.delivery.acknowledge import Sign
from oracle.app.delivery.dispatch import dispatch
from oracle.app.delivery.team import Team, open_team
from oracle.app.teamwork.workflow import create_task
from oracle.domain.delivery.receipts import CONSUMED, Receipt, ReceiptKind
from oracle.domain.delivery.workflows import WorkflowStep
from oracle.domain.names import OPERATOR, check_name
from oracle.domain.values import value
from oracle.errors import Blocked, NotFound, TaskAlreadyQueued
from oracle.store.delivery import handoffs, task_tree
from oracle.wording import say

PREFIX = "chain-rehearsal-"
TOPICS = {
    "role": r"\brole\b|角色|职责",
    "boundary": r"\bboundar(?:y|ies)\b|边界",
    "closeout": r"\bclose-?out\b|complete_handoff|收尾|交付",
    "fan-out": r"\bfan-?out\b|分发|扇出",
    "relay": r"\brelays?\b|接力|传递|转交",
}
"""What each seat says of itself, and the words by which that is seen."""


@value
class Rehearsal:
    """A rehearsal that was begun: one step a seat."""

    task_id: str
    folder: str
    brief: str
    seats: tuple[str, ...]
    is_new: bool

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "task_id": self.task_id,
            "folder": self.folder,
            "brief": self.brief,
            "seats": list(self.seats),
            "dispatched": self.is_new,
        }


def rehearse(context: Context, project: str, *, task_id: str = "", notifies: bool = True) -> Rehearsal:
    """Write workflow and brief, then ask the planner. The same again changes nothing. Raises Blocked without a planner."""
    team = open_team(context, project)
    planners = team.profile.planners
    if not planners:
        raise Blocked(
            say("Nobody plans for {project}, so no chain can be rehearsed.", project=team.project),
            hint=say("Add a planner's seat."),
        )
    name = check_name(task_id or f"{PREFIX}{context.now():%Y%m%dT%H%M%SZ}", "task id")
    seats = _participants(team)
    steps = tuple(
        WorkflowStep(
            at, f"self-report {seat}", owner_role=team.profile.role(seat), owner_seat=seat, notify_on_done=planners[:1]
        )
        for at, seat in enumerate(seats, 1)
    )
    folder, _ = create_task(context, team.project, name, template="chain-rehearsal", steps=steps)
    brief = task_tree.write_brief(team.profile.tasks_root, name, _brief(name, planners[0], seats))
    from oracle.app.delivery.order import Order

    objective = f"Rehearse the chain: dispatch one step of {folder}/workflow.md to each seat, as {brief} says."
    memory = next(iter(team.profile.seats_of("memory")), "memory")
    order = Order(
        team.project, name, memory, planners[0], objective, title="Chain rehearsal", kind="task", notifies=notifies
    )
    try:
        resume.before(context, notifies=notifies)
        dispatch(context, order)
    except TaskAlreadyQueued:
        return Rehearsal(name, folder, brief, seats, is_new=False)
    return Rehearsal(name, folder, brief, seats, is_new=True)


def _participants(team: Team) -> tuple[str, ...]:
    """Return the seats that report: all but memory, who asks, the planner, who collects, and the front seat."""
    apart = (*team.profile.seats_of("memory"), *team.profile.planners, team.profile.heartbeat_owner, OPERATOR)
    return tuple(seat for seat in team.profile.seats if seat not in apart)


def _brief(task_id: str, planner: str, seats: tuple[str, ...]) -> str:
    return f"""# Brief: {task_id}

No code is changed. {planner} dispatches one step of workflow.md to each of {", ".join(seats) or "no seat"},
under this task id, and collects the reports.

Each seat reports in the summary of its completion:

- its role;
- its boundary: what it may write and what not;
- its closeout: `oracle compat complete_handoff`, then `oracle compat send_and_verify` to the planner;
- when it starts a fan-out;
- its relay: from whom work comes and to whom it goes.

Once every seat has reported, {planner} completes {task_id} for memory with the summary
`[{task_id}] all-seats-online` and the verdict PASS.
"""


# Verify ---------------------------------------------------------------------------------------------------------------


def verify(context: Context, project: str, *, task_id: str = "") -> tuple[str, list[Sign]]:
    """Return (id, signs) of a rehearsal, by default the last: receipts, DELIVERY.md, self-reports. Raises NotFound."""
    team = open_team(context, project)
    name = check_name(task_id, "task id") if task_id else _last(team)
    found = list(handoffs.receipts_of(team.folder, name))
    if not found:
        task_tree.read_workflow(team.profile.tasks_root, name)
    planner = team.profile.planners[0] if team.profile.planners else "planner"
    signs = [_consumed(found, seat) for seat in (planner, *_participants(team))]
    signs.append(_planner_delivery(team, found, name, planner))
    signs += [_self_report(team, found, seat) for seat in _participants(team)]
    return name, signs


def _last(team: Team) -> str:
    names = [name for name in task_tree.tasks_with_workflow(team.profile.tasks_root) if name.startswith(PREFIX)]
    if not names:
        raise NotFound(
            say("No chain was rehearsed in {project}.", project=team.project),
            hint=say("Begin with `oracle team rehearse start --project {project}`.", project=team.project),
        )
    return names[-1]


def _consumed(found: list[tuple[Receipt, str]], seat: str) -> Sign:
    held = any(
        suffix == CONSUMED and receipt.kind is ReceiptKind.DISPATCH and receipt.name.target == seat
        for receipt, suffix in found
    )
    detail = say("its dispatch was consumed") if held else say("no dispatch to {seat} was consumed", seat=seat)
    return Sign(f"receipt {seat}", held, detail)


def _planner_delivery(team: Team, found: list[tuple[Receipt, str]], task_id: str, planner: str) -> Sign:
    path = team.tree.delivery_file(planner)
    verdicts = {
        receipt.text("verdict")
        for receipt, _ in found
        if receipt.kind is ReceiptKind.COMPLETION and receipt.name.source == planner
    }
    if task_tree.read_delivery(team.tree, planner).get("task_id") != task_id:
        return Sign(
            f"delivery {planner}", held=False, detail=say("{path} does not mention {task}", path=path, task=task_id)
        )
    if "PASS" not in verdicts:
        return Sign(f"delivery {planner}", held=False, detail=say("its verdict is not PASS"))
    return Sign(f"delivery {planner}", held=True, detail=path)


def _self_report(team: Team, found: list[tuple[Receipt, str]], seat: str) -> Sign:
    texts = [
        receipt.text("summary")
        for receipt, _ in found
        if receipt.kind is ReceiptKind.COMPLETION and receipt.name.source == seat
    ]
    if not texts:
        return Sign(f"self-report {seat}", held=False, detail=say("it completed nothing"))
    said = "\n".join(texts)
    absent: list[str] = [topic for topic, words in TOPICS.items() if not re.search(words, said, re.IGNORECASE)]
    role = team.profile.role(seat)
    if role and role not in said.casefold():
        absent.append(say("that it is a {role}", role=role))
    detail = say("it does not say {topics}", topics=absent) if absent else say("complete")
    return Sign(f"self-report {seat}", not absent, detail)
