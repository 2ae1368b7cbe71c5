"""`_state/vectors.db`: the vectors of records' chunks, each kept under the hash of the text that it was made of.

The file is beside the index, as an index is built again in seconds, vectors in minutes or hours. A vector is good as long as a
record has its text. The file may be deleted at any time; `oracle index embed` makes it again.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from oracle.domain.values import value
from oracle.index.db import BUSY_TIMEOUT, chunks, immediate, make_private, marks
from oracle.store.disk import files
from oracle.store.root.layout import Root

VERSION = "3"
"""Raise this when tables, chunks or the form of a vector change. Vectors of another version are computed again."""

Damaged = sqlite3.DatabaseError
"""SQLite raises this for a file that is not a sound database, or cannot be written now."""

_TABLES = (
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE text(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, wide INTEGER NOT NULL)",
    # Which records hold a text.
    "CREATE TABLE place(path TEXT NOT NULL, text INTEGER NOT NULL, PRIMARY KEY(path, text)) WITHOUT ROWID",
    "CREATE INDEX place_text ON place(text)",
    # The vectors of a model; and how much of each file a model has read.
    "CREATE TABLE vector(model TEXT NOT NULL, text INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(model, text))",
    """CREATE TABLE source(
        model TEXT NOT NULL, path TEXT NOT NULL, hash BLOB NOT NULL, is_whole INTEGER NOT NULL,
        PRIMARY KEY(model, path)) WITHOUT ROWID""",
)


@value
class Made:
    """A vector: the hash of its text, whether that is Chinese, Japanese or Korean, and the vector's bytes."""

    hash: bytes
    wide: bool
    data: bytes


@value
class Everything:
    """The hashes of all texts, whether each is wide, and (path, number of the text) of the records that hold them, by number."""

    hashes: tuple[bytes, ...]
    wide: bytes
    places: tuple[tuple[str, int], ...]
    vectors: Mapping[str, tuple[Sequence[int], bytearray]]
    """For each model, the numbers of the texts that it has read, and their vectors in one array."""


def text_hash(text: str) -> bytes:
    """Return the hash under which the vector of a text is kept."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Vectors:
    """The vectors of a Root. The file is opened on first use; only `begin` creates it."""

    def __init__(self, root: Root) -> None:
        self._path = root.vectors
        self._connection: sqlite3.Connection | None = None

    def is_there(self) -> bool:
        """Return whether the file exists."""
        return os.path.exists(self._path)

    def state(self) -> tuple[int, int, int]:
        """Return a value that changes whenever the vectors do; zeros without a file."""
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
        """Return the values that `begin` stored, by name; empty if there are no vectors of this version."""
        if not self.is_there():
            return {}
        try:
            found = dict(self._connect().execute("SELECT key, value FROM meta"))
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return {}
            raise
        return found if found.get("version") == VERSION.encode() else {}

    def sources(self, model: str) -> dict[str, tuple[bytes, bool]]:
        """Return, for each path, the hash of the file that a model has read, and whether it read all of it."""
        rows = self._connect().execute("SELECT path, hash, is_whole FROM source WHERE model = ?", (model,))
        return {path: (digest, bool(is_whole)) for path, digest, is_whole in rows}

    def known(self, model: str, hashes: Sequence[bytes]) -> set[bytes]:
        """Return those of the hashes whose texts a model has read."""
        found: set[bytes] = set()
        for chunk in chunks(hashes):
            rows = self._connect().execute(
                "SELECT hash FROM text JOIN vector ON text = id AND model = ?"  # noqa: S608
                f" WHERE hash IN ({marks(chunk)})",
                (model, *chunk),
            )
            found.update(row[0] for row in rows)
        return found

    def everything(self) -> Everything:
        """Read all vectors at once. A thousand take a millisecond."""
        connection = self._connect()
        connection.execute("BEGIN")
        try:
            texts = connection.execute("SELECT id, hash, wide FROM text ORDER BY id").fetchall()
            at = {row[0]: number for number, row in enumerate(texts)}
            places = connection.execute("SELECT path, text FROM place ORDER BY text, path").fetchall()
            models: dict[str, tuple[list[int], bytearray]] = {}
            for model, identifier, data in connection.execute("SELECT model, text, data FROM vector"):
                numbers, held = models.setdefault(model, ([], bytearray()))
                numbers.append(at[identifier])
                held += data
        finally:
            connection.execute("ROLLBACK")
        return Everything(
            tuple(row[1] for row in texts),
            bytes(row[2] for row in texts),
            tuple((path, at[identifier]) for path, identifier in places),
            models,
        )

    def count(self, model: str) -> int:
        """Return the number of a model's vectors."""
        return int(self._connect().execute("SELECT count(*) FROM vector WHERE model = ?", (model,)).fetchone()[0])

    # -- writing ---------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Create the file unless it exists with this version."""
        files.make_folder(os.path.dirname(self._path))
        make_private(self._path)
        try:
            if self.meta():
                return
        except sqlite3.DatabaseError:
            self.discard()
        with immediate(self._connect()) as connection:
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                connection.execute(f'DROP TABLE "{name}"')
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO meta VALUES ('version', ?)", (VERSION.encode(),))

    def begin_model(self, model: str, about: Mapping[str, bytes]) -> None:
        """Remove the vectors of a model and store its description `about`."""
        with immediate(self._connect()) as connection:
            connection.execute("DELETE FROM vector WHERE model = ?", (model,))
            connection.execute("DELETE FROM source WHERE model = ?", (model,))
            _note(connection, model, about)

    def note(self, model: str, about: Mapping[str, bytes]) -> None:
        """Store a model's description `about` and keep its vectors."""
        with immediate(self._connect()) as connection:
            _note(connection, model, about)

    def discard(self) -> None:
        """Delete the files."""
        self.close()
        for suffix in ("", "-journal"):
            try:
                files.unlink(self._path + suffix)
            except FileNotFoundError:
                continue

    def keep(self, model: str, made: Iterable[Made]) -> None:
        """Store vectors. Existing ones are not replaced."""
        made = list(made)
        with immediate(self._connect()) as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO text(hash, wide) VALUES (?, ?)", [(one.hash, int(one.wide)) for one in made]
            )
            connection.executemany(
                "INSERT OR IGNORE INTO vector SELECT ?, id, ? FROM text WHERE hash = ?",
                [(model, one.data, one.hash) for one in made],
            )

    def place(self, model: str, path: str, digest: bytes, hashes: Sequence[bytes], *, is_whole: bool) -> None:
        """Record that a model has read the texts `hashes` of the record at `path`; `digest` is the hash of the file."""
        with immediate(self._connect()) as connection:
            same = connection.execute("SELECT 1 FROM source WHERE path = ? AND hash = ?", (path, digest)).fetchone()
            if same is None:
                connection.execute("DELETE FROM place WHERE path = ?", (path,))
            connection.executemany(
                "INSERT OR IGNORE INTO place SELECT ?, id FROM text WHERE hash = ?",
                [(path, digest_of_text) for digest_of_text in hashes],
            )
            connection.execute(
                "INSERT OR REPLACE INTO source VALUES (?, ?, ?, ?)", (model, path, digest, int(is_whole))
            )

    def forget(self, paths: Iterable[str]) -> None:
        """Remove missing records, and the vectors of texts that no record contains."""
        gone = [(path,) for path in paths]
        with immediate(self._connect()) as connection:
            connection.executemany("DELETE FROM place WHERE path = ?", gone)
            connection.executemany("DELETE FROM source WHERE path = ?", gone)
            connection.execute("DELETE FROM text WHERE NOT EXISTS (SELECT 1 FROM place WHERE text = id)")
            connection.execute("DELETE FROM vector WHERE text NOT IN (SELECT id FROM text)")


def _note(connection: sqlite3.Connection, model: str, about: Mapping[str, bytes]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)", [(f"{model} {key}", about[key]) for key in about]
    )
