"""Count what a Root holds, with how fresh the index is and which decisions are overdue."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.domain import timestamps
from oracle.index.db import Connection, get_meta
from oracle.index.read import query
from oracle.store.root import facts


def status(context: Context, *, fresh: bool = False) -> dict[str, object]:
    """Return what the Root holds, by project, seat and kind, with the totals and the freshness of the index."""

    def count(connection: Connection) -> dict[str, object]:
        groups = [
            {"project": project, "seat": seat, "kind": kind, "records": number, "newest": newest}
            for project, seat, kind, number, newest in query.counts(connection)
        ]
        looked = get_meta(connection, "full_look").partition(" ")[0]
        return {
            "root": context.root.path,
            **query.totals(connection),
            "groups": groups,
            "facts": [path for _, path in facts.fact_files(context.root)],
            "freshness": {
                "last_full_stat": timestamps.from_mtime(int(looked or 0)),
                "stale": context.index.stale,
                "in_memory": context.index.database.in_memory,
            },
        }

    return {**context.index.read(count, fresh=fresh), **_embedded(context), "overdue_decisions": _overdue(context)}


def _overdue(context: Context) -> list[dict[str, object]]:
    """Return the decisions that people did not settle in time."""
    from oracle.app.decisions import overdue

    return [one.as_json() for one in overdue.find_overdue(context.root, context.now())]


def _embedded(context: Context) -> dict[str, object]:
    """Return how much of the records has vectors, where the semantic extra made any."""
    if not os.path.exists(context.root.vectors):
        return {}
    from oracle.app.search.embedding import embedded

    done = embedded(context)
    return {"embedded": done.as_json()} if done is not None else {}
