"""Create the receipt of a completion, and consume the dispatches that it answers."""

from __future__ import annotations

from oracle.app.delivery import dispatches
from oracle.app.delivery.team import Team
from oracle.domain.delivery import receipts
from oracle.domain.delivery.receipts import Receipt, ReceiptKind, ReceiptName
from oracle.errors import Conflict
from oracle.store.delivery import handoffs, responses
from oracle.store.delivery.handoffs import Outcome
from oracle.store.root.profile import PLANNER_ROLES
from oracle.wording import say

REFUSE, SUPERSEDE, REWORK = "refuse", "supersede", "rework"
"""What to do about another answer on disk: refuse the new one; replace it, response and receipt; replace its receipt alone.

What is replaced is kept under another name.
"""


def complete_once(folder: str, receipt: Receipt, policy: str, stored: responses.Stored | None) -> Outcome:
    """Create the receipt; one with the same response is the same delivery. Raises Conflict, also for an open question."""
    open_ = handoffs.read(folder, receipt.name)
    if open_ is not None and open_.kind is ReceiptKind.DISPATCH:
        name = receipt.name
        raise Conflict(
            say(
                "{source} asked {target} under the task id {task_id}, and that is still open; nothing was completed.",
                source=name.source,
                target=name.target,
                task_id=name.task_id,
            ),
            hint=say(
                "{target} completes it, for {source}; another task needs another id.",
                source=name.source,
                target=name.target,
            ),
        )
    found = handoffs.find(folder, receipt.name)
    if found is not None and stored is not None and found.kind is ReceiptKind.COMPLETION:
        digest = found.text("response_digest")
        if digest == stored.digest or (not digest and stored.outcome is Outcome.ALREADY):
            return Outcome.ALREADY
        if not digest or policy == SUPERSEDE:
            return handoffs.supersede(folder, receipt)
    if policy == REFUSE:
        return handoffs.complete(folder, receipt)
    if found is None:
        try:
            return handoffs.complete(folder, receipt)
        except Conflict:  # another process was first
            return handoffs.supersede(folder, receipt)
    if receipts.say_the_same(found, receipt):
        return Outcome.ALREADY
    return handoffs.supersede(folder, receipt)


def consume(team: Team, name: ReceiptName) -> None:
    """Consume the dispatches that this completion answers. A planner's closeout consumes all that was sent to it."""
    closes = team.profile.role(name.source) in PLANNER_ROLES
    for receipt, is_open in dispatches.dispatches_to(team.folder, name.task_id, name.source):
        if is_open and not receipt.is_malformed and (closes or dispatches.is_answer(name, receipt)):
            handoffs.consume(team.folder, receipt.name)
