"""Do what a receipt asks for on the machine of its reader, when it was written on another machine."""

from __future__ import annotations

from oracle.app.context import Context
from oracle.app.delivery import dispatch, later
from oracle.app.delivery.team import Team
from oracle.domain.delivery.receipts import ReceiptKind, ReceiptName
from oracle.store.delivery import handoffs, leases
from oracle.store.delivery.entries import InboxEntry


def arrive(context: Context, team: Team, name: ReceiptName) -> list[InboxEntry]:
    """Queue a task that arrived, or do the last steps of an answer that did. Return wake-ups, which are in the inbox.

    Each step first checks whether it is done, so that a receipt may arrive twice.
    """
    found = handoffs.read(team.folder, name)
    if found is None or found.is_malformed or found.text("notified_at"):
        return []
    if found.kind is ReceiptKind.COMPLETION:
        return list(later.receive(context, team, found))
    if found.kind is ReceiptKind.DISPATCH:
        return dispatch.receive(context, team, found)
    return []


def adopt(context: Context, team: Team, seat: str) -> list[InboxEntry]:
    """Take up the open dispatches to a seat that moved here: the machine that had claimed them can't answer any more."""
    entries: list[InboxEntry] = []
    for name in handoffs.open_names(team.folder):
        if name.target != seat:
            continue
        held = leases.read(team.folder, name)
        if held is not None:
            leases.release(team.folder, held)
        handoffs.amend(team.folder, name, {"notified_at": None, "notify_message": None})
        entries += arrive(context, team, name)
    return entries
