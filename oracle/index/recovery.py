"""Repair the index after an SQLite error: from the files, under the write lock. A sound database is left alone."""

from __future__ import annotations

import os
import sqlite3

from oracle.errors import DiskFailure, LockTimeout, OracleError
from oracle.index.db import Database
from oracle.store.root.layout import Root
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.store.root.lock import WriteLock

_DAMAGE = frozenset(
    {
        *(sqlite3.SQLITE_OK, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT),
        *(sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_NOTADB),
    }
)
"""Result codes that a sound database never returns. An SQL error is one: a table is missing."""

_MOMENTARY = frozenset(
    {
        *(sqlite3.SQLITE_ABORT, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT),
        *(sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_SCHEMA),
    }
)
"""Result codes of a statement that another connection got in the way of."""

_PASSING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL)
"""Another process holds the database, or the disk is full. The Root itself is fine then."""


def _extended_code(error: sqlite3.DatabaseError) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0)


def _code(error: sqlite3.DatabaseError) -> int:
    return _extended_code(error) & 0xFF


def _is_momentary(error: sqlite3.DatabaseError) -> bool:
    """Return whether the same statement will work when it is run again on a new connection."""
    return _code(error) in _MOMENTARY or _extended_code(error) == sqlite3.SQLITE_BUSY_SNAPSHOT


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Return whether an error means that the database is damaged, and not just out of reach."""
    return _code(error) in _DAMAGE or _extended_code(error) == sqlite3.SQLITE_IOERR_SHORT_READ


def _as_oracle_error(root: Root, error: sqlite3.DatabaseError) -> OracleError:
    """Return the error for a database that is not damaged: LockTimeout if it is busy, else DiskFailure."""
    if _code(error) == sqlite3.SQLITE_BUSY or _is_momentary(error):
        return LockTimeout(
            say("The index {database} is busy: {error}.", database=root.database, error=error),
            hint=say("Try again in a moment."),
        )
    if _code(error) == sqlite3.SQLITE_FULL or (_code(error) == sqlite3.SQLITE_IOERR and _has_no_room(root)):
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


def discard(database: Database, error: sqlite3.DatabaseError, warn: Callable[[str], None]) -> None:
    """Discard a damaged database. The caller holds the write lock. Raises LockTimeout or DiskFailure for another error."""
    _require_damage(database, error)
    warn(say("The index was damaged ({error}); rebuilding it from the files.", error=error))
    database.discard()


def recover(
    database: Database,
    error: sqlite3.DatabaseError,
    *,
    lock: Callable[[], WriteLock],
    warn: Callable[[str], None],
    now_ns: Callable[[], int],
) -> bool:
    """Make the database usable again; return whether it is: a damaged one on a Root that can't be written is not.

    Raises LockTimeout, DiskFailure.
    """
    if _is_momentary(error):
        database.close()
        return True
    if _code(error) not in _PASSING and not os.access(database.root.path, os.W_OK):
        return False
    _require_damage(database, error)
    with lock():
        database.close()
        if not database.is_sound():  # otherwise another process has repaired it meanwhile
            from oracle.index.write.rebuild import rebuild

            discard(database, error, warn)
            rebuild(database, now_ns=now_ns())
    return True


def _require_damage(database: Database, error: sqlite3.DatabaseError) -> None:
    if not _is_damage(error):
        raise _as_oracle_error(database.root, error) from error
