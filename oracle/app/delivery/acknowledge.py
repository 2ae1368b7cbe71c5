"""Acknowledge a handoff: its reader has what was completed."""

from __future__ import annotations

from oracle.app.context import Context
from oracle.app.delivery import dispatches
from oracle.app.delivery.team import Team, open_team
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import Receipt, ReceiptKind, ReceiptName
from oracle.domain.values import value
from oracle.store.delivery import handoffs, task_tree
from oracle.store.delivery.handoffs import Outcome


@value
class Acknowledged:
    """An ACK as it stands: its line in the reader's queue and the receipt; `is_new` unless it was there."""

    line: str
    receipt_path: str
    is_new: bool


def acknowledge(
    context: Context, project: str, task_id: str, *, source: str, target: str, path: str = ""
) -> Acknowledged:
    """Note that `target` has what `source` completed; `.consumed` is put beside the receipt. Raises NotFound, UsageError."""
    team = open_team(context, project, path=path)
    seats = team.seat_meant(source), team.seat_meant(target)
    name = team.receipt(task_id, seats[0], seats[1] or dispatches.asker_of(team, task_id, seats[0]))
    moment = context.now()
    receipt = _require_completion(team, name)
    line = task_tree.acknowledge_task(team.tree, name.target, name.task_id, source=name.source, moment=moment)
    task_tree.drop_task(team.tree, name.source, name.task_id)
    changes = {
        "consumed_at": context.stamp(),
        "consumed_ack": line,
        "todo_path": team.tree.todo_file(name.target),
    }
    outcome = handoffs.acknowledge(team.folder, name, changes)
    if outcome is Outcome.CREATED:
        task_tree.log_once(team.tree, receipts.status_line(receipt), task_id=name.task_id, moment=moment)
        context.note("ack", team.ends_of(name))
    return Acknowledged(line, handoffs.path_of(team.folder, name), outcome is Outcome.CREATED)


def _require_completion(team: Team, name: ReceiptName) -> Receipt:
    found = handoffs.find(team.folder, name)
    if found is None or found.kind not in (ReceiptKind.COMPLETION, ReceiptKind.UNKNOWN):
        raise handoffs.no_completion(name)
    return found
