"""Count what a Root holds, with how fresh the index is and which decisions are overdue; and what it holds by name."""

from __future__ import annotations

import json
import os

from oracle.app.context import Context
from oracle.domain import timestamps
from oracle.errors import InvalidName, NotInMemory
from oracle.index.db import Connection
from oracle.index.read import query
from oracle.store.root import facts
from oracle.store.root.facts import Fact
from oracle.store.root.layout import Root

__all__ = ["Fact", "find_fact", "take_inventory"]


def status(context: Context, *, fresh: bool = False) -> dict[str, object]:
    """Return what the Root holds, by project, seat and kind, with the totals and the freshness of the index."""

    def count(connection: Connection) -> dict[str, object]:
        groups = [
            {"project": project, "seat": seat, "kind": kind, "records": number, "newest": newest}
            for project, seat, kind, number, newest in query.counts(connection)
        ]
        return {
            "root": context.root.path,
            **query.totals(connection),
            "groups": groups,
            "facts": [path for _, path in facts.fact_files(context.root)],
            "freshness": {
                "last_full_stat": timestamps.from_mtime(context.index.seen_ns),
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


def take_inventory(root: Root) -> dict[str, object]:
    """Return `{exists, path, flat_files, machine_files, projects, index}`, only the first two without a Root."""
    if not os.path.isdir(root.path):
        return {"exists": False, "path": root.path}
    names = [path for _, path in facts.fact_files(root)]
    return {
        "exists": True,
        "path": root.path,
        "flat_files": [path for path in names if "/" not in path],
        "machine_files": [path.removeprefix("machine/") for path in names if "/" in path],
        "projects": _folders(root.join("projects")),
        "index": _load(root.catalogue),
    }


def find_fact(context: Context, key: str, project: str = "") -> Fact:
    """Return the fact at a dotted key. Raises NotInMemory."""
    return facts.find(context.root, key, project)


def is_fact(context: Context, key: str) -> bool:
    """Check whether the first part of a dotted key names a fact file of the machine."""
    try:
        return bool(facts.find_file(context.root, key.strip().partition(".")[0]))
    except (InvalidName, NotInMemory):
        return False


def _folders(path: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir() and entry.name[0] != ".")
    except OSError:
        return []


def _load(path: str) -> object:
    try:
        with open(path, "rb") as stream:
            return json.loads(stream.read().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
