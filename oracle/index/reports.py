"""The report of a reconcile, its progress, and the refusal to drop most records."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from typing import TypedDict

from oracle.domain.values import value
from oracle.errors import TreeEmptied
from oracle.wording import Sentence, say

Progress = Callable[[int, str], None]
"""Called now and then with a count and what is counted."""

SMALLEST_TREE = 20
"""A tree with fewer known records may be emptied without confirmation."""


def count_own(connection: sqlite3.Connection) -> int:
    """Return how many records of the Root the index knows, without those of sources."""
    foreign = "path >= 'sources/' AND path < 'sources0'"
    statement = f"SELECT (SELECT count(*) FROM record) - (SELECT count(*) FROM record WHERE {foreign})"  # noqa: S608
    return int(connection.execute(statement).fetchone()[0])


class Wanted(TypedDict, total=False):
    """How a reconcile is done: `full` stats every file; files in the `doubted` folders may have changed in place."""

    full: bool
    rebuild: bool
    accept_removals: bool
    progress: Progress | None
    doubted: Collection[str]


@value
class ReconcileReport:
    """The result of a reconcile: records indexed, records dropped, projections printed, and whether it was a rebuild."""

    taken: int
    dropped: int
    printed: int
    rebuilt: bool


def emptied(what: Sentence) -> TreeEmptied:
    """Return the error that most known records are gone, with the ways out."""
    return TreeEmptied(
        what,
        hint=say(
            "Mount the disk or choose the right Root. If the records were really removed, run `oracle index "
            "reconcile --accept-removals`."
        ),
    )
