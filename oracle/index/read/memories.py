"""Where an agent's memories are looked for: the newest records that hold, of a task, a session, a type, or of any. SQL only."""

from __future__ import annotations

from oracle.index.read.query import SUMMARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    Row = tuple[object, ...]

_HOLDS = "retired_by IS NULL AND status NOT IN ('superseded', 'retired')"
_IS_NO_RETIREMENT = "NOT EXISTS (SELECT 1 FROM edge WHERE source_id = record.id AND type = 'retires')"
_NEAR = "(? = '' OR project IN (?, '') OR path LIKE 'shared/%')"


def newest(connection: sqlite3.Connection, project: str, *, limit: int) -> list[Row]:
    """Return the summaries of the newest records that hold, of a project and of none; "" is every project.

    Records that only say what no longer holds are left out.
    """
    return connection.execute(
        f"SELECT {SUMMARY} FROM record WHERE {_HOLDS} AND {_NEAR} AND {_IS_NO_RETIREMENT}"  # noqa: S608
        " ORDER BY sort_ts DESC, slug LIMIT ?",
        (project, project, limit),
    ).fetchall()


def mentioning(connection: sqlite3.Connection, target: str, project: str, *, limit: int) -> list[Row]:
    """Return the summaries of the newest records that hold and have an edge to `target`, of a project and of none."""
    return connection.execute(
        f"SELECT {SUMMARY} FROM record WHERE id IN"  # noqa: S608
        " (SELECT source_id FROM edge WHERE target_id = (SELECT id FROM target WHERE name = ?))"
        f" AND {_HOLDS} AND {_NEAR} AND {_IS_NO_RETIREMENT} ORDER BY sort_ts DESC, slug LIMIT ?",
        (target, project, project, limit),
    ).fetchall()


def listing(connection: sqlite3.Connection, project: str, *, limit: int) -> list[Row]:
    """Return the summaries of the newest records, those that no longer hold among them."""
    return connection.execute(
        f"SELECT {SUMMARY} FROM record WHERE {_NEAR} AND {_IS_NO_RETIREMENT} ORDER BY sort_ts DESC, slug LIMIT ?",  # noqa: S608
        (project, project, limit),
    ).fetchall()
