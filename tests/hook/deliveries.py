"""A use case of delivering made of the store alone, for runs of the hook that are about the hook; and a front that uses it.

deliveries.py < payload
"""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

CHECKOUT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(CHECKOUT))

from oracle.domain.delivery.receipts import Kind, new_receipt, receipt_name  # noqa: E402
from oracle.hook.stop import Surroundings, handle  # noqa: E402
from oracle.store.delivery import handoffs, responses  # noqa: E402
from oracle.store.delivery.handoffs import Outcome  # noqa: E402
from oracle.store.root import profile  # noqa: E402

if TYPE_CHECKING:
    from oracle.hook.ports import Answer
    from oracle.store.root.layout import Root


class StoreDeliver:
    """Write what a delivery writes, and note each wake-up in `woken` of the Root."""

    def __init__(self, root: Root) -> None:
        self._root = root

    def check(self, answer: Answer) -> None:
        """Let everything through: what is refused is a matter of the use case."""

    def deliver(self, answer: Answer) -> bool:
        stored = responses.put(self._root, answer.task_id, {"answer": answer.text, "claims": []})
        folder = profile.load(self._root, answer.project, os.environ).handoff_dir
        fields = {"delivered_at": datetime.now(UTC).isoformat(), "unsolicited": answer.unsolicited}
        done = receipt_name(answer.task_id, answer.source, answer.seat)
        outcome = handoffs.complete(folder, new_receipt(Kind.COMPLETION, done, fields))
        handoffs.consume(folder, receipt_name(answer.task_id, answer.seat, answer.source))
        return Outcome.CREATED in (stored.outcome, outcome)

    def wake(self, answer: Answer, *, patience: float) -> None:
        assert patience <= 2
        with Path(self._root.join("woken")).open("a", encoding="utf-8") as log:
            log.write(f"{answer.task_id} {answer.seat}\n")


if __name__ == "__main__":
    handle(sys.stdin.buffer.read(), Surroundings(dict(os.environ), StoreDeliver, time.monotonic()))
