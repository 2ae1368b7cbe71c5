"""`_state/vectors.db`: the vectors of records' stretches, each kept under the hash of the text that it was made of.

Beside the index and not in it: an index is built anew in seconds, vectors in minutes or hours. A vector is good as long as its
text stands somewhere, whatever becomes of the index. May be deleted at any time; `oracle embed` makes it again.
"""

from __future__ import annotations

import os
import sqlite3

from oracle.domain.values import value
from oracle.index.db import BUSY_TIMEOUT, immediate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oracle.store.layout import Root

VERSION = "1"
"""Raise it when tables, stretches or the form of a vector change; vectors of another version are made again."""

Damaged = sqlite3.DatabaseError
"""What SQLite raises when the file is not a sound database, or can't be written now."""

_TABLES = (
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE vector(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, wide INTEGER NOT NULL, data BLOB NOT NULL)",
    # Which records hold the text of a vector; and of which bytes of a file all stretches (or only the first) have one.
    "CREATE TABLE place(path TEXT NOT NULL, vector INTEGER NOT NULL, PRIMARY KEY(path, vector)) WITHOUT ROWID",
    "CREATE TABLE source(path TEXT PRIMARY KEY, hash BLOB NOT NULL, is_whole INTEGER NOT NULL) WITHOUT ROWID",
)
_CHUNK = 400


@value
class Made:
    """A vector: the hash of its text, whether that is Chinese, Japanese or Korean, and the vector's bytes."""

    hash: bytes
    wide: bool
    data: bytes


@value
class Everything:
    """All vectors in the order of their numbers, and (path, place in that order) of the records that hold their texts."""

    hashes: tuple[bytes, ...]
    wide: bytes
    data: bytes
    places: tuple[tuple[str, int], ...]


class Vectors:
    """The vectors of one Root; the file is opened when it is first needed, and made by `begin` alone."""

    def __init__(self, root: Root) -> None:
        self._path = root.vectors
        self._connection: sqlite3.Connection | None = None

    def is_there(self) -> bool:
        """Tell whether there is a file of vectors."""
        return os.path.exists(self._path)

    def state(self) -> tuple[int, int, int]:
        """Return what differs whenever somebody wrote vectors meanwhile; zeros when there is no file."""
        try:
            status = os.stat(self._path)
        except OSError:
            return (0, 0, 0)
        return (status.st_ino, status.st_mtime_ns, status.st_size)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect(
                self._path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
            )
        return self._connection

    # -- reading ---------------------------------------------------------------------------------------------------

    def meta(self) -> dict[str, bytes]:
        """Return what `begin` was given, by name; nothing when there are no vectors of this version."""
        if not self.is_there():
            return {}
        try:
            found = dict(self._connect().execute("SELECT key, value FROM meta"))
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return {}
            raise
        return found if found.get("version") == VERSION.encode() else {}

    def sources(self) -> dict[str, tuple[bytes, bool]]:
        """Return of each path the hash of the file whose vectors are here, and whether they are all of it."""
        rows = self._connect().execute("SELECT path, hash, is_whole FROM source")
        return {path: (digest, bool(is_whole)) for path, digest, is_whole in rows}

    def known(self, hashes: Sequence[bytes]) -> set[bytes]:
        """Return those of the hashes that have a vector."""
        found: set[bytes] = set()
        for start in range(0, len(hashes), _CHUNK):
            chunk = hashes[start : start + _CHUNK]
            marks = ", ".join("?" * len(chunk))
            rows = self._connect().execute(f"SELECT hash FROM vector WHERE hash IN ({marks})", chunk)  # noqa: S608
            found.update(row[0] for row in rows)
        return found

    def everything(self) -> Everything:
        """Read all vectors at once: a millisecond a thousand."""
        connection = self._connect()
        connection.execute("BEGIN")
        try:
            rows = connection.execute("SELECT id, hash, wide, data FROM vector ORDER BY id").fetchall()
            places = connection.execute("SELECT path, vector FROM place").fetchall()
        finally:
            connection.execute("ROLLBACK")
        at = {row[0]: number for number, row in enumerate(rows)}
        return Everything(
            tuple(row[1] for row in rows),
            bytes(row[2] for row in rows),
            b"".join(row[3] for row in rows),
            tuple((path, at[identifier]) for path, identifier in places if identifier in at),
        )

    def count(self) -> int:
        """Return the number of vectors."""
        return int(self._connect().execute("SELECT count(*) FROM vector").fetchone()[0])

    # -- writing ---------------------------------------------------------------------------------------------------

    def begin(self, meta: Mapping[str, bytes]) -> None:
        """Make the file for vectors of one model, described by `meta`; those of another model or version are given up."""
        wanted = {**meta, "version": VERSION.encode()}
        if not self.is_there():
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        try:
            if self.meta() == wanted:
                return
        except sqlite3.DatabaseError:
            self.discard()
        connection = self._connect()
        with immediate(connection):
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                connection.execute(f'DROP TABLE "{name}"')
            for statement in _TABLES:
                connection.execute(statement)
            connection.executemany("INSERT INTO meta VALUES (?, ?)", wanted.items())

    def discard(self) -> None:
        """Delete the files."""
        self.close()
        for suffix in ("", "-journal"):
            try:
                os.unlink(self._path + suffix)
            except FileNotFoundError:
                continue

    def keep(self, made: Iterable[Made]) -> None:
        """Write vectors; one that is there already stays."""
        with immediate(self._connect()) as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO vector(hash, wide, data) VALUES (?, ?, ?)",
                [(one.hash, int(one.wide), one.data) for one in made],
            )

    def place(self, path: str, digest: bytes, hashes: Sequence[bytes], *, is_whole: bool) -> None:
        """Write down that the vectors of `hashes` are those of the record at `path`, whose file's hash is `digest`."""
        with immediate(self._connect()) as connection:
            connection.execute("DELETE FROM place WHERE path = ?", (path,))
            connection.executemany(
                "INSERT OR IGNORE INTO place SELECT ?, id FROM vector WHERE hash = ?",
                [(path, digest_of_text) for digest_of_text in hashes],
            )
            connection.execute("INSERT OR REPLACE INTO source VALUES (?, ?, ?)", (path, digest, int(is_whole)))

    def forget(self, paths: Iterable[str]) -> None:
        """Forget records that are gone, and the vectors that no record holds any more."""
        gone = [(path,) for path in paths]
        with immediate(self._connect()) as connection:
            connection.executemany("DELETE FROM place WHERE path = ?", gone)
            connection.executemany("DELETE FROM source WHERE path = ?", gone)
            connection.execute("DELETE FROM vector WHERE id NOT IN (SELECT vector FROM place)")


def record_ids(connection: sqlite3.Connection, paths: Sequence[str]) -> list[int]:
    """Return the numbers of the records at these paths, in their order; those that are gone are left out."""
    found: dict[str, int] = {}
    for start in range(0, len(paths), _CHUNK):
        chunk = paths[start : start + _CHUNK]
        marks = ", ".join("?" * len(chunk))
        found.update(connection.execute(f"SELECT path, id FROM record WHERE path IN ({marks})", chunk))  # noqa: S608
    return [found[path] for path in paths if path in found]


def file_hashes(connection: sqlite3.Connection) -> dict[str, bytes]:
    """Return the hash of every record's file as the index read it, newest records first."""
    return dict(connection.execute("SELECT path, hash FROM record ORDER BY sort_ts DESC, slug"))
