"""A private copy of the index, to look at and to change: nothing is made beside the real one.

SQLite can't open a database in WAL mode without making files beside it. So the file and its log are copied to a temporary
folder, which is removed once SQLite has them open.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile

from oracle.domain.values import value
from oracle.index.db import Database
from oracle.store.root.layout import Root

_TRIES = 5
_IN_MEMORY = "/dev/shm"  # noqa: S108 -- only a folder of our own in it, when the disk of temporary files is full

Stamp = tuple[tuple[int, int, int], ...]


class BeingWritten(Exception):
    """The files of the index did not hold still for as long as it takes to read them."""


class NoRoom(Exception):
    """No folder for temporary files has room for a copy."""


@value
class Snapshot:
    """The index at one moment, and the stats by which a later change is noticed."""

    database: Database
    stamp: Stamp


def stamp_of(root: Root) -> Stamp:
    """Return the stats of the database and its log; () when there is no database."""
    stats = []
    for suffix in ("", "-wal"):
        try:
            status = os.stat(root.database + suffix)
        except OSError:
            continue
        stats.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(stats) if os.path.exists(root.database) else ()


def take(root: Root) -> Snapshot:
    """Copy the index. Raises BeingWritten, NoRoom, OSError, sqlite3.DatabaseError; that the bytes are sound is not checked."""
    for _ in range(_TRIES):
        before = stamp_of(root)
        try:
            database = _copy_and_open(root)
        except FileNotFoundError:
            if stamp_of(root):
                continue
            raise
        if stamp_of(root) == before:
            return Snapshot(database, before)
        database.close()
    raise BeingWritten(root.database)


def _copy_and_open(root: Root) -> Database:
    for place in (tempfile.gettempdir(), _IN_MEMORY):
        try:
            with tempfile.TemporaryDirectory(prefix="oracle-", dir=place) as folder:
                copy = os.path.join(folder, "index.db")
                _copy(root.database, copy)
                if os.path.exists(f"{root.database}-wal"):
                    _copy(f"{root.database}-wal", f"{copy}-wal")
                database = Database(root)
                database.use_copy(copy)
                return database
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                raise
    raise NoRoom


def _copy(path: str, copy: str) -> None:
    """Copy a file of the index. A pipe, which has no end, gives an error. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as source, open(copy, "xb") as target:
        shutil.copyfileobj(source, target)
