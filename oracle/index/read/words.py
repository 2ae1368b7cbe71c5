"""Questions about the names in the index: which there are, which begin so. Read only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.domain.names.slugs import ENTITY

if TYPE_CHECKING:
    import sqlite3

_COLUMNS = {
    "project": "project",
    "seat": "seat",
    "kind": "kind",
    "author": "author",
    "status": (
        "CASE WHEN retired_by IS NULL THEN status WHEN retired_how = 'retires' THEN 'retired' ELSE 'superseded' END"
    ),
}
_LAST_PART = "substr(slug, length(rtrim(slug, replace(slug, '/', ''))) + 1)"


def distinct(connection: sqlite3.Connection, column: str) -> list[str]:
    """Return the different values of a column, by the alphabet, without the empty one."""
    rows = connection.execute(f"SELECT DISTINCT {_COLUMNS[column]} FROM record ORDER BY 1")  # noqa: S608
    return [str(value) for (value,) in rows if value]


def slugs_beginning(connection: sqlite3.Connection, beginning: str, limit: int) -> list[str]:
    """Return the slugs that begin so, by the alphabet; when there are none, the last parts that do, the newest first."""
    rows = connection.execute(
        "SELECT slug FROM record WHERE slug >= ? AND slug < ? ORDER BY slug LIMIT ?", (*_span(beginning), limit)
    ).fetchall()
    if not rows:
        rows = connection.execute(
            f"SELECT {_LAST_PART} AS name FROM record WHERE substr(name, 1, ?) = ?"  # noqa: S608
            " GROUP BY name HAVING count(*) = 1 ORDER BY max(sort_ts) DESC LIMIT ?",
            (len(beginning), beginning, limit),
        ).fetchall()
    return [str(slug) for (slug,) in rows]


def holds_records(connection: sqlite3.Connection, folder: str) -> bool:
    """Tell whether a record lies in a folder of the Root, or below it."""
    return (
        connection.execute("SELECT 1 FROM record WHERE slug >= ? AND slug < ?", _span(f"{folder}/")).fetchone()
        is not None
    )


def entities_beginning(connection: sqlite3.Connection, beginning: str, limit: int) -> list[str]:
    """Return the entities whose targets begin so, by the alphabet."""
    if not beginning.startswith(ENTITY):
        beginning = ENTITY if ENTITY.startswith(beginning) else "\0"
    rows = connection.execute(
        "SELECT name FROM target WHERE name >= ? AND name < ?"
        " AND EXISTS (SELECT 1 FROM edge WHERE target_id = target.id) ORDER BY name LIMIT ?",
        (*_span(beginning), limit),
    )
    return [str(name) for (name,) in rows]


def _span(beginning: str) -> tuple[str, str]:
    """Return the bounds of the names that begin so, the upper one left out: what an index of names can be asked."""
    return beginning, beginning + "\U0010ffff"
