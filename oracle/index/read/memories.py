"""The newest records of an agent's memory. SQL only."""

from __future__ import annotations

import sqlite3

from oracle.index.read.query import SUMMARY

_HOLDS = "retired_by IS NULL AND status NOT IN ('superseded', 'retired')"
_IS_NO_RETIREMENT = "NOT EXISTS (SELECT 1 FROM edge WHERE source_id = record.id AND type = 'retires')"
_IS_NO_EXPERIENCE = "kind <> 'experience'"  # it is recalled on its own
_NEAR = "(? = '' OR project IN (?, '') OR path LIKE 'shared/%')"
_MENTIONS = "id IN (SELECT source_id FROM edge WHERE target_id = (SELECT id FROM target WHERE name = ?))"


def newest(
    connection: sqlite3.Connection, project: str, *, limit: int, target: str = "", with_retired: bool = False
) -> list[tuple[object, ...]]:
    """Return the summaries of the newest records of a project and of none ("": of every project) that hold.

    With a `target`, of those that have an edge to it. Records that only retire others, and experiences, are left out.
    """
    parts = [
        _NEAR,
        _IS_NO_RETIREMENT,
        _IS_NO_EXPERIENCE,
        *([] if with_retired else [_HOLDS]),
        *([_MENTIONS] if target else []),
    ]
    statement = f"SELECT {SUMMARY} FROM record WHERE {' AND '.join(parts)} ORDER BY sort_ts DESC, slug LIMIT ?"  # noqa: S608
    return connection.execute(statement, (project, project, *([target] if target else []), limit)).fetchall()
