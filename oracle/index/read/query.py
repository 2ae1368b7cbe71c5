"""Queries of the index: backlinks, links, neighbours, listings, search hits, counts. Only SQL; no file is read.

Rows are plain tuples, which keeps this module cheap to import; `app` names their fields.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from oracle.index.db import chunks, marks
from oracle.index.schema import read_reason

Row = tuple[object, ...]

SUMMARY = (
    "slug, path, project, seat, kind, title, status, author, task_id, ts, sort_ts, confidence, claims_seat, retired_by,"
    " retired_how"
)
"""The columns of a record in listings, in the order of `app.records.views.Summary`."""

_QUALIFIED = ", ".join(f"record.{column.strip()}" for column in SUMMARY.split(","))
MOST_ROWS = 1 << 31
"""The largest limit: SQLite accepts no number beyond 64 bits."""

MOST_OF_A_WORD = 60
"""A word in more records than this finds none."""

_LEAST_SHARED = 2
_HOLDING = (
    "SELECT (SELECT group_concat(rowid) FROM (SELECT rowid FROM passage WHERE passage MATCH word.value LIMIT ?))"
    " FROM json_each(?) AS word"
)
"""For each word, the records that contain it, as one text. One query per word would cost half as much again."""


def backlinks(
    connection: sqlite3.Connection, target: str, kinds: Sequence[str] = ()
) -> list[tuple[str, str, str, int, int, str, str, str]]:
    """Return the edges into `target`: (source slug, type, snippet, line, source mtime ns, path, retired by, retired how)."""
    wanted = f" AND edge.type IN ({marks(kinds)})" if kinds else ""
    return connection.execute(
        "SELECT slug, edge.type, snippet, line, mtime_ns, path, coalesce(retired_by, ''), coalesce(retired_how, '')"  # noqa: S608
        " FROM edge JOIN record ON record.id = source_id WHERE target_id = (SELECT id FROM target WHERE name = ?)"
        f"{wanted} ORDER BY slug, edge.type",
        (target, *kinds),
    ).fetchall()


def backlink_lines(
    connection: sqlite3.Connection, target: str
) -> list[tuple[str, str, str, int, str | None, str | None]]:
    """Return the edges into `target` as a projection prints them: (slug, type, snippet, mtime ns, retired by, how).

    A command with a start-up limit prints thousands of them: only the needed columns are read, and sorting here is
    cheaper.
    """
    rows: list[tuple[str, str, str, int, str | None, str | None]] = connection.execute(
        "SELECT slug, edge.type, snippet, mtime_ns, retired_by, retired_how FROM edge JOIN record ON record.id = source_id"
        " WHERE target_id = (SELECT id FROM target WHERE name = ?)",
        (target,),
    ).fetchall()
    rows.sort()  # by (slug, type), which is unique
    return rows


def links(connection: sqlite3.Connection, slug: str, kinds: Sequence[str] = ()) -> list[tuple[str, str, str, int, int]]:
    """Return the edges out of a record: (type, target, snippet, line, whether the target exists)."""
    wanted = f" AND edge.type IN ({marks(kinds)})" if kinds else ""
    return connection.execute(
        "SELECT edge.type, target.name, snippet, edge.line,"  # noqa: S608
        " target.name LIKE 'entity:%' OR EXISTS (SELECT 1 FROM record AS other WHERE other.slug = target.name)"
        " FROM record JOIN edge ON source_id = record.id JOIN target ON target.id = target_id"
        f" WHERE record.slug = ?{wanted} ORDER BY edge.line, edge.type, target.name",
        (slug, *kinds),
    ).fetchall()


def outgoing(
    connection: sqlite3.Connection, nodes: Sequence[str], kinds: Sequence[str] = ()
) -> Iterator[tuple[str, str, str, str]]:
    """Yield (source, type, target, snippet) of the edges that leave any of `nodes`."""
    return _neighbours(connection, "record.slug", nodes, kinds)


def incoming(
    connection: sqlite3.Connection, nodes: Sequence[str], kinds: Sequence[str] = ()
) -> Iterator[tuple[str, str, str, str]]:
    """Yield (source, type, target, snippet) of the edges that reach any of `nodes`."""
    return _neighbours(connection, "target.name", nodes, kinds)


def _neighbours(
    connection: sqlite3.Connection, column: str, nodes: Sequence[str], kinds: Sequence[str]
) -> Iterator[tuple[str, str, str, str]]:
    wanted = f" AND edge.type IN ({marks(kinds)})" if kinds else ""
    for chunk in chunks(nodes):
        yield from connection.execute(
            "SELECT record.slug, edge.type, target.name, snippet FROM record JOIN edge ON source_id = record.id"  # noqa: S608
            f" JOIN target ON target.id = target_id WHERE {column} IN ({marks(chunk)}){wanted}"
            " ORDER BY record.slug, edge.line, edge.type, target.name",
            (*chunk, *kinds),
        )


def referred(connection: sqlite3.Connection, slugs: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (source slug, link as written, slug it leads to) of the links of these records to others that exist."""
    for chunk in chunks(slugs):
        yield from connection.execute(
            "SELECT record.slug, ref, target.name FROM reference JOIN record ON record.id = source_id"  # noqa: S608
            f" JOIN target ON target.id = reference.target_id WHERE resolved = 1 AND record.slug IN ({marks(chunk)})",
            chunk,
        )


def digest_of(connection: sqlite3.Connection, path: str) -> bytes:
    """Return the digest of the record at a root-relative path as it was read last, b"" if it is unknown."""
    row = connection.execute("SELECT hash FROM record WHERE path = ?", (path,)).fetchone()
    return bytes(row[0]) if row else b""


def listing(connection: sqlite3.Connection, filters: Mapping[str, str], *, limit: int, newest_first: bool) -> list[Row]:
    """Return the summaries of the records that pass `filters` (exact columns; since and until bound sort_ts)."""
    condition, values = conditions(filters)
    order = "DESC" if newest_first else "ASC"
    column = (
        "sort_ts" if filters.keys() <= {"since", "until"} else "+sort_ts"
    )  # few pass another filter: sort just them
    return connection.execute(
        f"SELECT {SUMMARY} FROM record WHERE {condition} ORDER BY {column} {order}, slug {order} LIMIT ?",  # noqa: S608
        (*values, min(limit, MOST_ROWS) if limit > 0 else -1),
    ).fetchall()


def search(connection: sqlite3.Connection, expression: str, filters: Mapping[str, str], *, limit: int) -> list[Row]:
    """Return (score, id, summary …) of the best matches: retired records last, better scores first.

    The score is BM25 with the title weighted three times, higher is better. `expression` is in FTS5's language.
    """
    limit = min(limit, MOST_ROWS)
    condition, values = conditions({f"record.{name}": value for name, value in filters.items()})
    inner = "SELECT rowid AS id, -bm25(passage, 3.0, 1.0) AS score FROM passage WHERE passage MATCH ?"
    if not values:
        inner += f" ORDER BY bm25(passage, 3.0, 1.0) LIMIT {4 * limit}"
    return connection.execute(
        f"SELECT score, record.id, {_QUALIFIED} FROM ({inner}) AS hit JOIN record ON record.id = hit.id WHERE {condition}"  # noqa: S608
        " ORDER BY (retired_by IS NOT NULL OR record.status IN ('superseded', 'retired')), score DESC, record.slug LIMIT ?",
        (expression, *values, limit),
    ).fetchall()


def summary(connection: sqlite3.Connection, slug: str) -> Row | None:
    """Return the summary of one record, or None."""
    row: Row | None = connection.execute(f"SELECT {SUMMARY} FROM record WHERE slug = ?", (slug,)).fetchone()  # noqa: S608
    return row


def summaries(
    connection: sqlite3.Connection, identifiers: Sequence[int], condition: tuple[str, Sequence[str]]
) -> list[Row]:
    """Return (id, summary …) of the records with these numbers that meet a condition of `conditions`, in the given order."""
    where, values = condition
    found: dict[object, Row] = {}
    for chunk in chunks(identifiers):
        rows = connection.execute(
            f"SELECT id, {SUMMARY} FROM record WHERE id IN ({marks(chunk)}) AND {where}",  # noqa: S608
            (*chunk, *values),
        )
        found.update((row[0], row) for row in rows)
    return [found[identifier] for identifier in identifiers if identifier in found]


def ids_of(connection: sqlite3.Connection, slugs: Sequence[str]) -> list[int]:
    """Return the numbers of the records with these slugs, in the given order. Missing ones are left out."""
    found: dict[str, int] = {}
    for chunk in chunks(slugs):
        found.update(connection.execute(f"SELECT slug, id FROM record WHERE slug IN ({marks(chunk)})", chunk))  # noqa: S608
    return [found[slug] for slug in slugs if slug in found]


def slugs_of(connection: sqlite3.Connection, identifiers: Sequence[int]) -> dict[int, str]:
    """Return the slugs of the records with these numbers."""
    found: dict[int, str] = {}
    for chunk in chunks(identifiers):
        found.update(connection.execute(f"SELECT id, slug FROM record WHERE id IN ({marks(chunk)})", chunk))  # noqa: S608
    return found


def ids_at(connection: sqlite3.Connection, paths: Sequence[str]) -> list[int]:
    """Return the numbers of the records at these paths, in the given order. Missing ones are left out."""
    found: dict[str, int] = {}
    for chunk in chunks(paths):
        found.update(connection.execute(f"SELECT path, id FROM record WHERE path IN ({marks(chunk)})", chunk))  # noqa: S608
    return [found[path] for path in paths if path in found]


def file_hashes(connection: sqlite3.Connection) -> dict[str, bytes]:
    """Return the hash of every record's file as the index read it, newest records first."""
    return dict(connection.execute("SELECT path, hash FROM record ORDER BY sort_ts DESC, slug"))


def among(condition: tuple[str, list[str]], identifiers: Iterable[int]) -> tuple[str, list[str]]:
    """Return a condition of `conditions` restricted to these records."""
    where, values = condition
    return f"{where} AND record.id IN ({', '.join(map(str, identifiers))})", values


def count_backlinks(connection: sqlite3.Connection, target: str) -> int:
    """Return the number of edges into a target."""
    statement = "SELECT count(*) FROM edge WHERE target_id = (SELECT id FROM target WHERE name = ?)"
    return int(connection.execute(statement, (target,)).fetchone()[0])


def retirers(connection: sqlite3.Connection, slug: str) -> list[tuple[str, str]]:
    """Return (slug, how) along the chain of records that supersede or retire this one, nearest first; a cycle ends it."""
    chain: list[tuple[str, str]] = []
    seen = {slug}
    current = slug
    while True:
        row = connection.execute("SELECT retired_by, retired_how FROM record WHERE slug = ?", (current,)).fetchone()
        if row is None or row[0] is None or row[0] in seen:
            return chain
        chain.append((row[0], row[1]))
        seen.add(row[0])
        current = row[0]


def retired_among(connection: sqlite3.Connection, slugs: Iterable[str]) -> list[str]:
    """Return those of some records that a newer one supersedes or retires."""
    wanted = list(slugs)
    statement = f"SELECT slug FROM record WHERE slug IN ({marks(wanted)}) AND retired_by IS NOT NULL"  # noqa: S608
    return [slug for (slug,) in connection.execute(statement, wanted)]


def retired_by(connection: sqlite3.Connection, slug: str) -> list[str]:
    """Return the records that `slug` supersedes or retires, directly and through them, nearest first."""
    found: dict[str, None] = {}
    frontier = [slug]
    while frontier:
        rows = [
            name
            for source, _, name, _ in outgoing(connection, frontier, ("supersedes", "retires"))
            if name not in found and name != slug
        ]
        found.update(dict.fromkeys(rows))
        frontier = rows
    return list(found)


def problems(connection: sqlite3.Connection, prefix: str = "") -> list[tuple[str, int, str]]:
    """Return (path, line, reason) of what could not be read cleanly, below a root-relative prefix."""
    rows = connection.execute(
        "SELECT path, line, sentence FROM problem WHERE substr(path, 1, ?) = ? ORDER BY path, line, reason",
        (len(prefix), prefix),
    )
    return [(path, line, read_reason(sentence)) for path, line, sentence in rows]


def count_problems(connection: sqlite3.Connection) -> int:
    """Return the number of problems in the whole Root."""
    return int(connection.execute("SELECT count(*) FROM problem").fetchone()[0])


def below(connection: sqlite3.Connection, folder: str) -> list[Row]:
    """Return (path, slug, sort_ts, retired by, retired how, mtime ns, size) of the records below a folder, by path."""
    return connection.execute(
        "SELECT path, slug, sort_ts, retired_by, retired_how, mtime_ns, size FROM record"
        " WHERE path >= ? AND path < ? ORDER BY path",
        (f"{folder}/", f"{folder}0"),  # 0 is the character after /
    ).fetchall()


def conditions(filters: Mapping[str, str], *, with_shared: bool = False) -> tuple[str, list[str]]:
    """Return filters as SQL over the columns of `record`, with its values; "1" without filters.

    `with_shared` lets the records of no project pass the filter of a project.
    """
    parts, values = ["1"], []
    for name, value in filters.items():
        if not value:
            continue
        column = name.removeprefix("record.")
        if column == "since":
            parts.append("sort_ts >= ?")
        elif column == "until":
            parts.append("sort_ts <= ?")
        elif column == "task":
            parts.append(
                "record.id IN (SELECT source_id FROM edge WHERE target_id ="
                " (SELECT id FROM target WHERE target.name = 'entity:taskid:' || ?))"
            )
        elif column == "status":
            parts.append(
                "CASE WHEN retired_by IS NULL THEN record.status"
                " WHEN retired_how = 'retires' THEN 'retired' ELSE 'superseded' END = ?"
            )
        elif column == "project" and with_shared:
            parts.append(f"({name} = ? OR path GLOB 'shared/*')")
        else:
            parts.append(f"{name} = ?")
        values.append(value)
    return " AND ".join(parts), values


def sharing(connection: sqlite3.Connection, words: Iterable[str], limit: int) -> list[tuple[object, ...]]:
    """Return the summaries of the records with two or more of these rare words, those with the most first.

    Each word is queried with a row limit, so that a common one costs no more than a rare one.
    """
    from json import dumps

    from oracle.index.fold import quote

    shared: dict[str, int] = {}
    for (rows,) in connection.execute(_HOLDING, (MOST_OF_A_WORD + 1, dumps([quote(word) for word in words]))):
        found = rows.split(",") if rows else []
        if len(found) <= MOST_OF_A_WORD:
            shared.update({row: shared.get(row, 0) + 1 for row in found})
    best = sorted((-times, int(row)) for row, times in shared.items() if times >= _LEAST_SHARED)[:limit]
    found = (connection.execute(f"SELECT {SUMMARY} FROM record WHERE id = ?", (row,)).fetchone() for _, row in best)  # noqa: S608
    return [row for row in found if row is not None]


def changed_since(connection: sqlite3.Connection, since_ns: int) -> list[int]:
    """Return when each record's file last changed (its ctime, ns since 1970), of those that did after `since_ns`."""
    return [changed for (changed,) in connection.execute("SELECT ctime_ns FROM record WHERE ctime_ns > ?", (since_ns,))]


def counts(connection: sqlite3.Connection) -> list[tuple[str, str, str, int, str]]:
    """Return (project, seat, kind, records, newest timestamp) of every group of records."""
    return connection.execute(
        "SELECT project, seat, kind, count(*), max(sort_ts) FROM record GROUP BY project, seat, kind ORDER BY project, seat, kind"
    ).fetchall()


def totals(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the numbers of records, edges, targets, unresolved references and problems."""
    tables = {
        "records": "SELECT count(*) FROM record",
        "edges": "SELECT count(*) FROM edge",
        "targets": "SELECT count(DISTINCT target_id) FROM edge",
        "unresolved": "SELECT count(*) FROM reference WHERE resolved = 0 AND target_id IS NOT NULL",
        "problems": "SELECT count(*) FROM problem",
    }
    return {name: int(connection.execute(statement).fetchone()[0]) for name, statement in tables.items()}
