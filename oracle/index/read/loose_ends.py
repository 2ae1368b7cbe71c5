"""What is not connected: records that share no link with others, and links that lead nowhere."""

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
