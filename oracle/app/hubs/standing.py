"""What a machine has to send, to fetch and to settle, seen without changing anything."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.app.hubs.ports import Hub
from oracle.app.hubs.pushing import unsent
from oracle.app.hubs.visit import open_visit
from oracle.domain import timestamps
from oracle.domain.hub.rows import Membership
from oracle.domain.values import value
from oracle.store.hub import ledger as ledgers
from oracle.store.hub.placing import KEPT
from oracle.store.hub.tree import SHARED_TREES


@value
class HubStanding:
    """The files to send; how many wait at the hub, and whether that is all; files that need a person; the last sync, ISO 8601."""

    ahead: tuple[str, ...] = ()
    behind: int = 0
    is_more: bool = False
    refused: tuple[tuple[str, str], ...] = ()
    stranded: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    synced_at: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "ahead": list(self.ahead),
            "behind": self.behind,
            "behind_more": self.is_more,
            "refused": [{"path": path, "reason": reason} for path, reason in self.refused],
            "stranded": list(self.stranded),
            "kept": list(self.kept),
            "synced_at": self.synced_at,
        }


def standing(context: Context, hub: Hub, membership: Membership) -> HubStanding:
    """Return where this machine is against the hub. Raises HubFailed, DiskFailure."""
    before = ledgers.load_team(context.root)
    visit = open_visit(context, hub, membership)
    page = visit.page or hub.pull(visit.ledger.cursor)
    return HubStanding(
        tuple(sorted(unsent(visit))),
        sum(1 for row in page.rows if row.owner != hub.machine),
        page.more,
        tuple(sorted((path, reason) for path, (_, reason) in visit.ledger.refused.items())),
        tuple(visit.stranded()),
        tuple(kept_files(context)),
        timestamps.from_mtime(int(before.seen_at * 1e9)) if before else "",
    )


def kept_files(context: Context) -> list[str]:
    """Return the root-relative paths of files that lost their place to another of the same name, sorted."""
    found: list[str] = []
    for tree in SHARED_TREES:
        for folder, _, names in os.walk(context.root.join(tree)):
            found += [f"{folder}/{name}"[len(context.root.path) + 1 :] for name in names if KEPT in name]
    return sorted(found)
