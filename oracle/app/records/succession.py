"""What qualifies an answer: records that replaced its records, unreadable files, the freshness of the index.

All of it comes from the index as the answer used it. The tree is not read a second time.
"""

from __future__ import annotations

from collections.abc import Iterable

from oracle.app.context import Context
from oracle.app.records.views import Summary
from oracle.domain import timestamps
from oracle.domain.names import is_entity
from oracle.index.db import get_meta
from oracle.index.read import query


def standing(context: Context) -> dict[str, object]:
    """Return `problems`, the number of files that could not be read cleanly, and `freshness`."""
    connection = context.index.database.connect()
    looked = get_meta(connection, "full_look").partition(" ")[0]
    return {
        "problems": query.count_problems(connection),
        "freshness": {
            "last_full_stat": timestamps.from_mtime(int(looked or 0)),
            "stale": context.index.stale,
            "in_memory": context.index.database.in_memory,
        },
    }


def marks(context: Context, targets: Iterable[str]) -> dict[str, str]:
    """Return the mark of each target that does not hold: missing, superseded or retired; entities always hold."""
    connection = context.index.database.connect()
    found: dict[str, str] = {}
    for target in dict.fromkeys(targets):
        if is_entity(target):
            continue
        row = query.summary(connection, target)
        status = Summary.from_row(row).effective_status if row is not None else "missing"
        if status in ("missing", "superseded", "retired"):
            found[target] = status
    return found


def successor(context: Context, slug: str) -> str:
    """Return the record that replaced a retired one, "" when it holds or was retired without a successor."""
    connection = context.index.database.connect()
    chain = query.retirers(connection, slug)
    if not chain:
        return ""
    last, how = chain[-1]
    if how == "supersedes":
        return last
    supported = query.links(
        connection, last, ("supports",)
    )  # a refresh of memories names there what it puts in the place
    return supported[0][1] if supported else ""


def chains(context: Context, slugs: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each retired record among `slugs`, the records that replaced it, nearest first."""
    connection = context.index.database.connect()
    found = {slug: tuple(by for by, _ in query.retirers(connection, slug)) for slug in dict.fromkeys(slugs)}
    return {slug: chain for slug, chain in found.items() if chain}
