"""The newest and the most used records of an agent's memory. SQL only."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from oracle.domain.names import FOREIGN
from oracle.index.db import marks
from oracle.index.read.candidates import candidates
from oracle.index.read.query import SUMMARY, summaries

_HOLDS = "retired_by IS NULL AND status NOT IN ('superseded', 'retired')"
_IS_NO_RETIREMENT = "NOT EXISTS (SELECT 1 FROM edge WHERE source_id = record.id AND type = 'retires')"
_IS_NO_EXPERIENCE = "kind <> 'experience'"  # it is recalled on its own
_IS_OWN = f"path NOT LIKE '{FOREIGN}%'"  # what is in a source is not the Root's to publish
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


_USED = (
    "max(sort_ts, coalesce((SELECT max(source.sort_ts) FROM edge JOIN record AS source ON source.id = edge.source_id"
    " WHERE edge.target_id = (SELECT id FROM target WHERE name = record.slug)), ''))"
)
"""When a record was written, or last linked to by another."""


def last_used(
    connection: sqlite3.Connection, project: str, targets: Sequence[str], *, limit: int
) -> list[tuple[object, ...]]:
    """Return the summaries of the records of a project and of none that hold and have an edge to one of `targets`.

    Those that were written or linked to last come first. Records of sources are left out.
    """
    named = f"(SELECT id FROM target WHERE name IN ({marks(targets)}))"  # noqa: S608
    mentions = f"id IN (SELECT source_id FROM edge WHERE target_id IN {named})"  # noqa: S608
    where = " AND ".join((_NEAR, _IS_OWN, _IS_NO_RETIREMENT, _HOLDS, mentions))
    statement = f"SELECT {SUMMARY} FROM record WHERE {where} ORDER BY {_USED} DESC, sort_ts DESC, slug LIMIT ?"  # noqa: S608
    return connection.execute(statement, (project, project, *targets, limit)).fetchall()


def experiences(
    connection: sqlite3.Connection, terms: Sequence[tuple[str, int]], project: str, *, limit: int
) -> list[tuple[object, ...]]:
    """Return the summaries of the experiences of a project and of none ("": of any) that hold and match best.

    `terms` are expressions of the full-text index, each with how many records it matches.
    """
    where = f"kind = 'experience' AND {_HOLDS} AND (? = '' OR project = ? OR path LIKE 'shared/%')"
    condition = (where, (project, project))
    found = candidates(connection, terms, condition, limit=limit)
    return [row[1:] for row in summaries(connection, found, condition)]
