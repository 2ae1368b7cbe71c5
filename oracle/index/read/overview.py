"""What the index as a whole holds and lacks: how many records, which nothing links to, and which links lead nowhere."""

from __future__ import annotations

import sqlite3

from oracle.index.read.query import SUMMARY, Row, conditions


def orphans(connection: sqlite3.Connection, project: str) -> list[Row]:
    """Return the records that no other record links to, that link to none, and that share no entity with any."""
    condition, values = conditions({"project": project})
    return connection.execute(
        f"SELECT {SUMMARY} FROM record WHERE {condition}"  # noqa: S608
        " AND NOT EXISTS (SELECT 1 FROM target JOIN edge ON target_id = target.id WHERE target.name = record.slug)"
        " AND NOT EXISTS (SELECT 1 FROM reference WHERE source_id = record.id AND resolved = 1 AND target_id IS NOT NULL)"
        " AND NOT EXISTS (SELECT 1 FROM edge AS mine JOIN target ON target.id = mine.target_id AND name LIKE 'entity:%'"
        " JOIN edge AS other ON other.target_id = mine.target_id AND other.source_id <> mine.source_id"
        " WHERE mine.source_id = record.id) ORDER BY sort_ts, slug",
        values,
    ).fetchall()


def unresolved(connection: sqlite3.Connection, project: str) -> list[tuple[str, str, str, str, int, str]]:
    """Return the links to records that do not exist: (source slug, path, type, as written, line, slug it would have)."""
    condition, values = conditions({"record.project": project})
    return connection.execute(
        "SELECT record.slug, record.path, reference.type, ref, line, target.name FROM reference"  # noqa: S608
        " JOIN record ON record.id = source_id JOIN target ON target.id = reference.target_id"
        f" WHERE resolved = 0 AND {condition} ORDER BY record.slug, line, ref",
        values,
    ).fetchall()


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
