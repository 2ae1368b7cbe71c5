"""Look whether a handoff was carried out: what its files say, and what a planner's closeout lacks. Writes nothing."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.app.delivery import dispatches
from oracle.app.delivery.complete import VERDICTS
from oracle.app.delivery.team import Team, open_team
from oracle.domain import timestamps
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import CONSUMED, Receipt, ReceiptKind, ReceiptName
from oracle.store.delivery import handoffs, task_tree


def verify(
    context: Context, project: str, task_id: str, *, source: str, target: str, path: str = ""
) -> dict[str, object]:
    """Return what the files say of one handoff: assigned, notified, consumed, verdict and whether all is well.

    Nothing is written. A receipt that can't be read is named under `problems`.
    """
    team = open_team(context, project, path=path)
    name = team.receipt(task_id, team.seat_meant(source), team.seat_meant(target))
    receipt = handoffs.find(team.folder, name)
    verdict = receipt.text("verdict") if receipt else ""
    needs_verdict = team.profile.role(name.source) == "reviewer" and (
        receipt is None or receipt.kind is ReceiptKind.COMPLETION
    )
    ack = task_tree.find_acknowledgement(team.tree, name.target, name.task_id, source=name.source)
    facts: dict[str, object] = {
        "assigned": receipt is not None and _is_assigned(team, receipt),
        "notified": bool(receipt and receipt.text("notified_at")),
        "consumed": receipt is not None and _is_consumed(team, receipt, ack),
        "verdict": verdict or None,
        "verdict_valid": verdict in VERDICTS if needs_verdict else True,
    }
    return {
        "task_id": name.task_id,
        "source": name.source,
        "target": name.target,
        **facts,
        "receipt_path": _path_of(team, name),
        "todo_path": team.tree.todo_file(name.target),
        "delivery_path": team.tree.delivery_file(name.source),
        "consumed_ack": ack or None,
        "healthy": all(facts[key] for key in ("assigned", "notified", "consumed", "verdict_valid")),
        "problems": list(receipt.problems) if receipt else [],
    }


def _path_of(team: Team, name: ReceiptName) -> str:
    """Return where the receipt lies, else where it would."""
    path = handoffs.path_of(team.folder, name)
    return path + CONSUMED if not os.path.exists(path) and os.path.exists(path + CONSUMED) else path


def _is_assigned(team: Team, receipt: Receipt) -> bool:
    """Return whether the task is in the queue of its reader. A completion needs no queue."""
    if receipt.kind is ReceiptKind.COMPLETION:
        return True
    queue = task_tree.read_queue(team.tree, receipt.name.target)
    return any(task.task_id == receipt.name.task_id for task in queue)


def _is_consumed(team: Team, receipt: Receipt, ack: str) -> bool:
    """Return whether this very round was consumed: an ACK that is older than its delivery belongs to an earlier one."""
    if receipt.text("consumed_at") or handoffs.read(team.folder, receipt.name, CONSUMED) is not None:
        return True
    acked = timestamps.parse(ack.rpartition(" at ")[2]) if ack else None
    since = timestamps.parse(receipt.since)
    return acked is not None and (since is None or acked > since)  # both tell seconds: in doubt it is an older one


def audit_closeout(context: Context, project: str, task_id: str, *, path: str = "") -> tuple[str, ...]:
    """Return a sentence for each of the three artifacts of a planner's closeout that is not there: () when all are.

    The planner consumed what was sent to it; its completion for memory is on disk; its DELIVERY.md names this task.
    """
    team = open_team(context, project, path=path)
    planners = team.profile.planners or ("planner",)
    memories = team.profile.seats_of("memory") or ("memory",)
    consumed = any(
        not is_open for seat in planners for _, is_open in dispatches.dispatches_to(team.folder, task_id, seat)
    )
    names = [receipts.receipt_name(task_id, seat, memory) for seat in planners for memory in memories]
    found = [receipt for name in names for receipt in [handoffs.find(team.folder, name)] if receipt is not None]
    absent = []
    if not consumed:
        absent.append(f"missing consumed receipt: {task_id}__*__{planners[0]}.json.consumed")
    if not found:
        absent.append(f"missing closeout receipt: {names[0].file_name}")
    absent += [f"unreadable closeout receipt: {text}" for receipt in found for text in receipt.problems]
    if not any(task_tree.read_delivery(team.tree, seat).get("task_id") == task_id for seat in planners):
        absent.append(f"missing delivery: {team.tree.delivery_file(planners[0])} does not name {task_id}")
    return tuple(absent)
