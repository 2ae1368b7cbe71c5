"""The use case of delivering as the Stop hook needs it. Hook room; everything is done by `app.deliver`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.app.context import Context
from oracle.app.delivery import deliver, wakeups

if TYPE_CHECKING:
    from oracle.hook.ports import Answer
    from oracle.store.delivery.inbox import Entry
    from oracle.store.root.layout import Root


class OracleDeliver:
    """Deliver into a Root; the hook keeps the intent, so that none is made here."""

    def __init__(self, root: Root) -> None:
        self._context = Context.open(root.path)
        self._owed: tuple[Entry, ...] = ()

    def check(self, answer: Answer) -> None:
        """Raise SecretFound or PrivacyBlocked for an answer that must not be handed over, before it is kept anywhere."""
        deliver.without_secrets(self._context, deliver.delivery_of(answer.as_fields()))

    def deliver(self, answer: Answer) -> bool:
        """Write response, receipt and `.consumed`, and put the wake-ups into the inbox; False when it was done before."""
        is_new, self._owed = deliver.deliver_held(self._context, deliver.delivery_of(answer.as_fields()))
        return is_new

    def wake(self, answer: Answer, *, patience: float) -> None:
        """Try the wake-ups that this delivery owes, its reader's first, all within `patience` seconds."""
        for entry in sorted(self._owed, key=lambda one: one.fields.get("seat") != answer.seat):
            wakeups.send(self._context, entry, patience=patience)
            patience = 0.0
