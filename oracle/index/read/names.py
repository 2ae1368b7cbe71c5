"""The names in the index: which there are, what has a name that a person typed, and what has a similar one. SQL only.

`app.records.naming` decides among the answers.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence

from oracle.domain.names import ENTITY

_COLUMNS = {
    "project": "project",
    "seat": "seat",
    "kind": "kind",
    "author": "author",
    "status": (
        "CASE WHEN retired_by IS NULL THEN status WHEN retired_how = 'retires' THEN 'retired' ELSE 'superseded' END"
    ),
}
_HASH = re.compile("[0-9a-fA-F]{4,40}")
_LAST_PART = "substr(slug, length(rtrim(slug, replace(slug, '/', ''))) + 1)"


def slug_meant(connection: sqlite3.Connection, name: str, suffix: str) -> str:
    """Return the slug of the record that a person named by `name` and `suffix`, else `name`.

    The suffix may belong to a path or, where `x.json` is beside `x.md`, to the slug itself. Letters with marks may have been
    typed in another normal form than the file name's.
    """
    wanted = name + suffix
    for condition, value in (("path", wanted), ("slug", wanted), ("slug", name)):
        row = connection.execute(f"SELECT slug FROM record WHERE {condition} = ?", (value,)).fetchone()  # noqa: S608
        if row is not None:
            return str(row[0])
    if wanted.isascii():
        return name
    from unicodedata import normalize

    from oracle.domain.links.links import reference_key

    forms = {normalize("NFC", name), normalize("NFC", wanted)}
    near = (slug for form in forms for slug in slugs_named(connection, reference_key(form), limit=1_000))
    return next((slug for slug in near if normalize("NFC", slug) in forms), name)


def slugs_named(connection: sqlite3.Connection, key: str, *, limit: int) -> list[str]:
    """Return at most `limit` slugs whose last part folds to `key`, shortest first."""
    rows = connection.execute("SELECT slug FROM record WHERE key = ? ORDER BY length(slug), slug LIMIT ?", (key, limit))
    return [slug for (slug,) in rows]


def slugs_called(connection: sqlite3.Connection, key: str, *, limit: int) -> list[str]:
    """Return at most `limit` slugs of records that give themselves a name with this key, shortest first."""
    rows = connection.execute(
        "SELECT DISTINCT slug FROM name JOIN record ON id = record_id WHERE name.key = ? ORDER BY length(slug), slug LIMIT ?",
        (key, limit),
    )
    return [slug for (slug,) in rows]


def with_words(connection: sqlite3.Connection, key: str, filters: Mapping[str, str], *, limit: int) -> list[str]:
    """Return at most `limit` slugs of records that pass `filters` and have the words of `key`, in this order, in their names."""
    from oracle.index.read.query import conditions

    condition, values = conditions(filters)
    rows = connection.execute(
        f"SELECT slug FROM record WHERE instr('-' || key || '-', ?) AND {condition} ORDER BY sort_ts DESC, slug LIMIT ?",  # noqa: S608
        (f"-{key}-", *values, limit),
    )
    return [slug for (slug,) in rows]


def titled(connection: sqlite3.Connection, title: str) -> list[tuple[str, str]]:
    """Return (slug, title) of up to 200 records whose title begins with the words of `title`."""
    from oracle.index.fold import fold, quote, words_of

    if not words_of(title):
        return []
    return connection.execute(
        "SELECT slug, record.title FROM passage JOIN record ON record.id = passage.rowid WHERE passage MATCH ? LIMIT 200",
        (f"title : ^ {quote(fold(title))}",),
    ).fetchall()


def named_alike(connection: sqlite3.Connection, heads: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (slug, key, title) of up to 200 records whose key or title holds most of `heads` (small letters), newest first."""
    likeness = " + ".join(f"(instr(words, ?{number}) > 0)" for number in range(1, len(heads) + 1))
    return connection.execute(
        f"SELECT slug, key, title FROM (SELECT slug, key, title, sort_ts, {likeness} AS likeness"  # noqa: S608
        " FROM (SELECT *, key || ' ' || lower(title) AS words FROM record)) WHERE likeness > 0"
        " ORDER BY likeness DESC, sort_ts DESC, slug LIMIT 200",
        heads,
    ).fetchall()


def entities_alike(connection: sqlite3.Connection, text: str) -> list[tuple[str, int]]:
    """Return (entity, number of backlinks) of the entities of any namespace with this value, whatever its case; most first."""
    value = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return connection.execute(
        "SELECT name, count(*) AS times FROM target JOIN edge ON target_id = id"
        " WHERE name LIKE 'entity:%' AND substr(name, instr(substr(name, 8), ':') + 8) LIKE ? ESCAPE '\\'"
        " GROUP BY id ORDER BY times DESC, name LIMIT 10",
        (value,),
    ).fetchall()


def entities_near(connection: sqlite3.Connection, beginning: str, heads: Sequence[str]) -> list[tuple[str, int]]:
    """Return (entity, number of backlinks) of up to 1000 mentioned entities that begin so and hold one of `heads`."""
    holds = " OR ".join(f"instr(lower(name), ?{number})" for number in range(2, len(heads) + 2))
    return connection.execute(
        "SELECT name, count(*) FROM target JOIN edge ON target_id = id"  # noqa: S608
        f" WHERE substr(name, 1, length(?1)) = ?1 AND ({holds}) GROUP BY id ORDER BY 2 DESC, name LIMIT 1000",
        (beginning, *heads),
    ).fetchall()


def slugs_with(connection: sqlite3.Connection, key: str, folder: str, *, limit: int) -> list[str]:
    """Return at most `limit` slugs with `key` in their folded last part and `folder` in the slug, the newest first.

    Where `key` is whole words of some names, the others are left out.
    """
    rows = connection.execute(
        "SELECT slug, instr('-' || key || '-', '-' || ?1 || '-') > 0 AS is_whole FROM record"
        " WHERE instr(key, ?1) AND instr(slug, ?2) ORDER BY is_whole DESC, sort_ts DESC, slug LIMIT ?3",
        (key, folder, limit),
    ).fetchall()
    return [slug for slug, is_whole in rows if is_whole or not rows[0][1]]


def entities_with(connection: sqlite3.Connection, text: str, *, limit: int) -> list[str]:
    """Return at most `limit` mentioned entities of which `text` is a part: a longer or shorter hash, the end of a path."""
    value = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = connection.execute(
        "SELECT name FROM target WHERE EXISTS (SELECT 1 FROM edge WHERE target_id = target.id) AND ("
        " name LIKE 'entity:file:%/' || ?1 ESCAPE '\\'"
        " OR (?2 AND name LIKE 'entity:commit:%' AND (name LIKE 'entity:commit:' || ?1 || '%' OR instr(?3, substr(name, 15)) = 1)))"
        " ORDER BY name LIMIT ?4",
        (value, _HASH.fullmatch(text) is not None, text.lower(), limit),
    )
    return [str(name) for (name,) in rows]


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
    """Return whether a record is in a folder of the Root, or below it."""
    row = connection.execute("SELECT 1 FROM record WHERE slug >= ? AND slug < ?", _span(f"{folder}/")).fetchone()
    return row is not None


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
    """Return the bounds of the names that begin so, the upper one left out: which an index of names can use."""
    return beginning, beginning + "\U0010ffff"


def entities(connection: sqlite3.Connection, namespace: str, top: int) -> list[tuple[str, int]]:
    """Return (entity, how many records mention it), most mentioned first, then by name."""
    from oracle.index.read.query import MOST_ROWS

    pattern = f"entity:{namespace}:" if namespace else "entity:"
    return connection.execute(
        "SELECT name, count(DISTINCT source_id) AS times FROM target JOIN edge ON target_id = id"
        " WHERE substr(name, 1, ?) = ? GROUP BY id ORDER BY times DESC, name LIMIT ?",
        (len(pattern), pattern, min(top, MOST_ROWS)),
    ).fetchall()
