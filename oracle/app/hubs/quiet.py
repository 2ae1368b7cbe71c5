"""Find out if anything changed here since a sync that left nothing to do. Without a change, the next one only asks for news.

The index tells it of records, as it does for a question: an edit in place is seen as soon as a question sees it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

from oracle.app.context import Context
from oracle.app.hubs.visit import Begun, Visit, handoff_folders, rules_stamp
from oracle.domain.hub.rows import Membership
from oracle.errors import OracleError
from oracle.store.hub import ledger as ledgers
from oracle.store.hub import quiet as quiets
from oracle.store.hub.quiet import Quiet
from oracle.store.hub.tree import SharedTree
from oracle.store.root.profile import Profile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.index.db import Connection


def state_of(context: Context, membership: Membership, profiles: Mapping[str, Profile]) -> str:
    """Return a text that differs once a file changed that the hub takes, or a rule; "" while nobody can say."""
    if not os.path.exists(context.root.database):
        return ""  # to build the index takes longer than to look at every file
    try:
        records = context.index.read(_version_of_records, is_again=True)
        others = SharedTree(context.root, handoff_folders(profiles)).stamp_of_others(context.clock.now_ns())
    except OracleError:
        return ""
    if not others or context.index.stale or context.index.database.in_memory:
        return ""
    seats = sorted((project, one.handoff_dir, one.seats) for project, one in profiles.items())
    whole = (records, others, seats, rules_stamp(context.root), membership)
    return hashlib.sha256(repr(whole).encode()).hexdigest()


def is_quiet(context: Context, begun: Begun) -> bool:
    """Return whether the hub has no news either."""
    before, page = ledgers.load_team(context.root), begun.page
    has_news = page.rows or page.more or page.restarted
    return not has_news and before is not None and before.homes == tuple(begun.homes)


def note(visit: Visit, state: str) -> None:
    """Note after a visit whether it found something to do; `state` is that of before."""
    ledger = visit.ledger
    did = (visit.placed, visit.removed, visit.pushed, visit.conflicts, visit.problems, visit.tree.unread)
    is_settled = all(stamp for stamp, _ in ledger.seen.values())
    if state and is_settled and not any((*did, ledger.due, ledger.arrived)):
        refused = sorted((path, reason) for path, (_, reason) in ledger.refused.items())
        quiets.save(visit.context.root, Quiet(state, ledger.cursor, tuple(refused), tuple(visit.stranded())))


def _version_of_records(connection: Connection) -> tuple[str, str]:
    from oracle.index.db import VERSION, get_meta

    return get_meta(connection, VERSION), get_meta(connection, "configuration")
