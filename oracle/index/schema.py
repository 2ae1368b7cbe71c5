"""The tables of the index and their version. The index is derived data: it is never migrated, only rebuilt."""

from __future__ import annotations

from oracle.wording import from_json, to_json

SCHEMA_VERSION = "23"
"""Raise this with every change of tables, extraction or folding. An index with another version is rebuilt."""

TABLES = (
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # The content of a folder when it was last scanned. `settled` is 0 while its mtime was too young to be trusted.
    """CREATE TABLE folder(
        path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL, settled INTEGER NOT NULL,
        files INTEGER NOT NULL, digest INTEGER NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE record(
        id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE, folder TEXT NOT NULL, key TEXT NOT NULL,
        mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, inode INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
        racy INTEGER NOT NULL, hash BLOB NOT NULL,
        project TEXT NOT NULL, seat TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, status TEXT NOT NULL,
        author TEXT NOT NULL, task_id TEXT NOT NULL, ts TEXT NOT NULL, sort_ts TEXT NOT NULL, confidence TEXT NOT NULL,
        claims_seat TEXT NOT NULL, retired_by TEXT, retired_how TEXT)""",
    "CREATE TABLE target(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    # The key of an edge is (source, type, target). The table is clustered by target, which is how backlinks are read.
    # `printed` is 0 for the edges of a record beyond MOST_PRINTED, which `_backlinks/` leaves out.
    """CREATE TABLE edge(
        target_id INTEGER NOT NULL, source_id INTEGER NOT NULL, type TEXT NOT NULL,
        snippet TEXT NOT NULL, line INTEGER NOT NULL, printed INTEGER NOT NULL,
        PRIMARY KEY(target_id, source_id, type)) WITHOUT ROWID""",
    # A link to a record as written. Its target is resolved again when records come and go.
    """CREATE TABLE reference(
        source_id INTEGER NOT NULL, type TEXT NOT NULL, ref TEXT NOT NULL, key TEXT NOT NULL,
        snippet TEXT NOT NULL, line INTEGER NOT NULL, target_id INTEGER, resolved INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY(source_id, type, ref)) WITHOUT ROWID""",
    # A name that a record gives itself (`name`, `aliases`), by which links may call it.
    """CREATE TABLE name(
        key TEXT NOT NULL, name TEXT NOT NULL, record_id INTEGER NOT NULL,
        PRIMARY KEY(key, name, record_id)) WITHOUT ROWID""",
    # `reason` is English; `sentence` is the JSON of its template and values, for translation.
    "CREATE TABLE problem(path TEXT NOT NULL, line INTEGER NOT NULL, reason TEXT NOT NULL, sentence TEXT NOT NULL)",
    "CREATE INDEX problem_path ON problem(path)",
    "CREATE TABLE dirty(side TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY(side, name)) WITHOUT ROWID",
    """CREATE VIRTUAL TABLE passage USING fts5(
        title, body, tokenize = "porter unicode61 remove_diacritics 2")""",
)

INDICES = (
    "CREATE INDEX record_folder ON record(folder)",
    "CREATE INDEX record_key ON record(key)",
    "CREATE INDEX record_project ON record(project, kind)",
    "CREATE INDEX record_newest ON record(sort_ts, slug)",
    "CREATE INDEX record_racy ON record(id) WHERE racy = 1",
    "CREATE INDEX name_record ON name(record_id)",
    "CREATE INDEX edge_source ON edge(source_id)",
    "CREATE INDEX reference_key ON reference(key)",
)
"""Created after the tables are filled: a rebuild does not need them before."""

INSERT_PROBLEM = "INSERT INTO problem VALUES (?, ?, ?, ?)"


def problem_columns(line: int, reason: str) -> tuple[int, str, str]:
    """Return the columns of a problem after its path, as plain text: another process may send them."""
    import json

    return line, str(reason), json.dumps(to_json(reason))


def read_reason(sentence: str) -> str:
    """Return the reason of a problem from its column `sentence`."""
    import json

    return from_json(json.loads(sentence))
