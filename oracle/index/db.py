"""Open the index, detect a damaged, replaced or outdated file, and run transactions.

The only module with the pragmas of the database. Cheap to import: every query uses it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager

from oracle.index.schema import INDICES, SCHEMA_VERSION, TABLES
from oracle.store.disk import folders
from oracle.store.root.layout import Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Sized
    from typing import TypeVar

    T = TypeVar("T")

Connection = sqlite3.Connection
Corrupt = sqlite3.DatabaseError
"""SQLite raises this for a file that is not a sound database. `sqlite3.OperationalError` (busy, full) is a subclass."""

BUSY_TIMEOUT = 30.0
_CACHE_KIB = 16_384
_CHUNK = 400
_LARGE = ("edge", "reference", "passage")


class Database:
    """A connection to the index of a Root. It reopens when the file was replaced.

    On a Root that cannot be written, the index is built in memory (`in_memory` is true), so that reading still works.
    """

    __slots__ = ("_connection", "_identity", "cache_kib", "in_memory", "is_printed", "root")

    def __init__(self, root: Root) -> None:
        self.root = root
        self._connection: sqlite3.Connection | None = None
        self._identity = (0, 0)
        self.cache_kib = _CACHE_KIB
        """KiB of pages that a connection keeps; a server has several, and what they keep grows with the Root."""
        self.in_memory = False
        self.is_printed = True
        """Whether `_links/` and `_backlinks/` are printed from it."""

    def connect(self) -> sqlite3.Connection:
        """Return the connection, reopened if the file was replaced. Raises sqlite3.DatabaseError."""
        if self._connection is not None and (self.in_memory or self._identity == _identity(self.root.database)):
            return self._connection
        self.close()
        self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        if self.in_memory:
            return _connect(":memory:")
        make_private(self.root.database)
        connection = _connect(self.root.database)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{self.cache_kib}")
        except BaseException:
            connection.close()
            raise
        self._identity = _identity(self.root.database)
        return connection

    def use_memory(self) -> None:
        """Keep the index in memory instead of the file: the Root cannot be written."""
        self.close()
        self.in_memory, self.is_printed = True, False

    def use_copy(self, path: str) -> None:
        """Work on a private copy of the file, which may be removed then. Nothing is printed from it.

        Raises sqlite3.DatabaseError.
        """
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            if os.path.getsize(path):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.execute("PRAGMA journal_mode = MEMORY")
                connection.execute("PRAGMA synchronous = OFF")
        except BaseException:
            connection.close()
            raise
        self.use_memory()
        self._connection = connection

    def close(self) -> None:
        """Close the connection. The next call reopens it."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def is_ready(self) -> bool:
        """Return whether the index is complete and has this program's version."""
        try:
            row = self.connect().execute("SELECT value FROM meta WHERE key = 'ready'").fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return False
            raise
        return row is not None and row[0] == SCHEMA_VERSION

    def is_whole(self) -> bool:
        """Return whether every table and index of the schema exists."""
        words = [statement.replace("(", " ").split() for statement in (*TABLES, *INDICES)]
        expected = {line[line.index("TABLE" if "TABLE" in line[:3] else "INDEX") + 1] for line in words}
        return expected <= {name for (name,) in self.connect().execute("SELECT name FROM sqlite_master")}

    def is_sound(self) -> bool:
        """Return whether the index is complete, and every table and value in it can be read."""
        try:
            if not (self.is_ready() and self.is_whole()):
                return False
            self.read_values(is_full=True)
            return bool(self.connect().execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        except sqlite3.DatabaseError:
            return False

    def read_values(self, *, is_full: bool) -> None:
        """Read every value, so that a damaged one is found: only Python looks at the bytes of a text.

        Without `is_full`, the large tables of edges and passages are left out. Raises sqlite3.DatabaseError.
        """
        for statement in TABLES:
            name = statement.replace("(", " ").split("TABLE ", 1)[-1].split()[0]
            if statement.startswith("CREATE INDEX") or (not is_full and name in _LARGE):
                continue
            for _ in self.connect().execute(f"SELECT * FROM {name}"):  # noqa: S608
                pass

    @contextmanager
    def unsynchronised(self) -> Iterator[sqlite3.Connection]:
        """Write without waiting for the disk. For a rebuild, which starts over if it is interrupted."""
        connection = self.connect()
        connection.execute("PRAGMA synchronous = OFF")
        try:
            yield connection
        finally:
            connection.execute("PRAGMA synchronous = NORMAL")

    def discard(self) -> None:
        """Delete the database files. The caller holds the write lock."""
        from oracle.store.disk import files

        self.close()
        for suffix in ("", "-wal", "-shm"):
            try:
                files.unlink(self.root.database + suffix)
            except FileNotFoundError:
                continue

    def create(self) -> None:
        """Create empty tables in place of any old ones. The caller holds the write lock."""
        connection = self.connect()
        with immediate(connection):
            names = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'passage_%' AND name NOT LIKE 'sqlite_%'"
            ).fetchall()
            for (name,) in names:
                connection.execute(f'DROP TABLE "{name}"')
            for statement in TABLES:
                connection.execute(statement)


def make_private(path: str) -> None:
    """Create a database file with mode 0600 if it does not exist. SQLite gives the files beside it the same mode.

    Raises LinkRefused where a symbolic link lies in its place or on the way to it.
    """
    try:
        with folders.parent_of(path) as (folder, name):
            for suffix in ("", "-wal", "-shm", "-journal"):
                if folders.is_link(name + suffix, folder):
                    raise folders.LinkRefused(path + suffix)
            handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
            if folders.is_shared(os.fstat(folder).st_mode):
                os.fchmod(handle, 0o660)
            os.close(handle)
    except OSError:
        return


def _connect(path: str) -> sqlite3.Connection:
    """Open a database. SQLite follows links by itself, so the file must exist: it is never created here."""
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    where = path if path == ":memory:" else f"file:{name}?mode=rw"
    return sqlite3.connect(where, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False, uri=True)


def _identity(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return (status.st_dev, status.st_ino)


@contextmanager
def immediate(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Run a transaction that takes SQLite's write lock at once. Commits on success, rolls back on an exception."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Read from one state of the database while others commit."""
    connection.execute("BEGIN")
    try:
        yield connection
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def hide(connection: sqlite3.Connection, folders: Sequence[str]) -> None:
    """Hide the records in some folders from every statement of the transaction: its end restores the tables."""
    if not folders:
        return
    inside = f"folder IN ({', '.join(quote(folder) for folder in folders)})"
    records = f"SELECT id FROM main.record WHERE {inside}"  # noqa: S608
    connection.execute(f"CREATE TEMP VIEW record AS SELECT * FROM main.record WHERE NOT {inside}")  # noqa: S608
    for table, column in (("edge", "source_id"), ("reference", "source_id"), ("name", "record_id")):
        connection.execute(
            f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE {column} NOT IN ({records})"  # noqa: S608
        )


def is_hiding(connection: sqlite3.Connection) -> bool:
    """Return whether `hide` hides a record from the transaction."""
    found = connection.execute("SELECT EXISTS (SELECT 1 FROM temp.sqlite_master WHERE name = 'record')").fetchone()
    return bool(found[0])


def quote(text: str) -> str:
    """Return a text as a literal of SQL: a view takes no parameters."""
    return "'" + text.replace("'", "''") + "'"


def marks(values: Sized) -> str:
    """Return the placeholders for values in a statement: `?, ?`."""
    return ", ".join("?" * len(values))


def chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield values in order, as many at a time as a statement can have placeholders."""
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


def get_meta(connection: sqlite3.Connection, key: str) -> str:
    """Return a value of the meta table, or ""."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return "" if row is None else str(row[0])


VERSION = "version"
"""The key of a number that grows when records are added, changed or dropped. A rebuild begins it with the time."""


def set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Set a value of the meta table. The caller holds the lock and an immediate transaction."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
