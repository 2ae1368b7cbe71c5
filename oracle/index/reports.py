"""The report of a reconcile, its progress, the refusal to drop most records, and what an SQLite error means."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection
from typing import TypedDict

from oracle.domain.values import value
from oracle.errors import DiskFailure, LockTimeout, OracleError, TreeEmptied
from oracle.store.root.layout import Root
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


_DAMAGE = frozenset({0, 1, 11, 19, 20, 24, 26})
"""Result codes that a sound database never returns: SQL errors (a missing table), corrupt, constraint, mismatch, no database."""

_SHORT_READ = 522
_BUSY, _IOERR, _FULL = 5, 10, 13
_MOMENTARY = frozenset({4, 6, 9, 15, 17})
"""Result codes of a statement that another connection got in the way of: abort, locked, interrupt, protocol, schema."""

_BUSY_SNAPSHOT = 517


def _code(error: sqlite3.DatabaseError) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def is_passing(error: sqlite3.DatabaseError) -> bool:
    """Return whether another process holds the database, or the disk is full. The Root itself is fine then."""
    return _code(error) in (_BUSY, _FULL)


def is_momentary(error: sqlite3.DatabaseError) -> bool:
    """Return whether the same statement will work when it is run again on a new connection."""
    return _code(error) in _MOMENTARY or getattr(error, "sqlite_errorcode", 0) == _BUSY_SNAPSHOT


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Return whether an error means that the database is damaged, and not just out of reach."""
    extended = int(getattr(error, "sqlite_errorcode", 0) or 0)
    return _code(error) in _DAMAGE or extended == _SHORT_READ


def as_oracle_error(root: Root, error: sqlite3.DatabaseError) -> OracleError:
    """Return the error for a database that is not damaged: LockTimeout if it is busy, else DiskFailure."""
    if _code(error) == _BUSY or is_momentary(error):
        return LockTimeout(
            say("The index {database} is busy: {error}.", database=root.database, error=error),
            hint=say("Try again in a moment."),
        )
    if _code(error) == _FULL or (_code(error) == _IOERR and _has_no_room(root)):
        return DiskFailure(
            say("{database} could not be written: the disk is full.", database=root.database),
            hint=say("Free some space and run the command again; no record was lost."),
        )
    return DiskFailure(
        say("{database} can't be used: {error}.", database=root.database, error=error),
        hint=say("Run `oracle doctor`; no record was lost."),
    )


def _has_no_room(root: Root) -> bool:
    """Return whether the disk is full. SQLite reports that as an I/O error when it creates its shared memory."""
    try:
        return os.statvfs(root.path).f_bavail == 0
    except OSError:
        return False
