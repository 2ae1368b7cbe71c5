"""Which records hold an entity that a question names: by an edge, in their text, or by their own path. Read only."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Sequence

from oracle.domain.compiling import compiled
from oracle.domain.links.entity_query import COMMIT, FILE, EntityQuery
from oracle.domain.links.links import reference_key
from oracle.index import fold
from oracle.index.db import marks

MOST = 1_000
"""Records that are looked at for an entity."""
SIGNED = r"[A-Za-z]\w*\+\+|[A-Za-z]#"
"""Names that differ from others by their signs alone: `C++`, `C#`."""
_OWN = "edge.type NOT LIKE 'references-%'"


def holders(
    connection: sqlite3.Connection, asked: EntityQuery, condition: tuple[str, Sequence[str]], *, most: int = MOST
) -> dict[int, bool]:
    """Return the ids of the records that hold an entity and meet a condition, each with whether its frontmatter holds it.

    Edges come first, of the newest records. What the full-text index finds is checked, as it knows no punctuation.
    """
    found: dict[int, bool] = {}
    if asked.targets:
        found.update(_linked(connection, asked, condition, most))
    if not asked.is_sure and not found:
        return {}
    for identifier, title, body in _written(connection, asked, condition, most) if len(found) < most else ():
        if identifier not in found and (asked.is_named_in(title) or asked.is_named_in(body)):
            found[identifier] = False
    if asked.space == FILE:
        found.update(dict.fromkeys(_is_file(connection, asked, condition), True))
    return found


def naming(connection: sqlite3.Connection, slugs: Collection[str], names: Collection[str]) -> set[str]:
    """Return those of these records that hold a word which begins with one of the names, in their text, title or path.

    An identifier may be there as its words: `retry policy` for `RetryPolicy`. The full-text index knows no signs, so what it
    finds for a name with some (`C++`) is read again.
    """
    apart = [" ".join(words) for words in map(fold.humps, names) if words]
    expression = " OR ".join([*(f"{fold.quote(fold.fold(name))}*" for name in names), *map(fold.quote, apart)])
    rows = connection.execute(
        "SELECT slug, passage.title, passage.body FROM passage JOIN record ON record.id = passage.rowid"  # noqa: S608
        f" WHERE passage MATCH ? AND slug IN ({marks(slugs)})",
        (expression, *slugs),
    ).fetchall()
    small = [*(name.lower() for name in names), *apart]
    held = {slug for slug in slugs if any(name in slug.lower() for name in small)}
    plain = [name for name in small if not compiled(SIGNED).fullmatch(name)]
    if len(plain) == len(small):
        return held | {slug for slug, _, _ in rows}
    words = [rf"(?<!\w){re.escape(name)}{'' if name in plain else '(?![+#])'}" for name in small]
    pattern = re.compile("|".join(words))
    return held | {slug for slug, title, body in rows if pattern.search(f"{title}\n{body}".lower())}


def _linked(
    connection: sqlite3.Connection, asked: EntityQuery, condition: tuple[str, Sequence[str]], most: int
) -> list[tuple[int, bool]]:
    names, values = f"name IN ({marks(asked.targets)})", list(asked.targets)
    if asked.beginning:
        names, values = f"({names} OR (name >= ? AND name < ?))", [*values, asked.beginning, f"{asked.beginning}g"]
    rows = connection.execute(
        f"SELECT record.id, max({_OWN}) FROM target CROSS JOIN edge ON target_id = target.id"  # noqa: S608
        f" CROSS JOIN record ON record.id = source_id WHERE {names} AND {condition[0]}"
        " GROUP BY record.id ORDER BY record.id DESC LIMIT ?",
        (*values, *condition[1], most),
    )
    return [(int(identifier), bool(is_own)) for identifier, is_own in rows]


def _written(
    connection: sqlite3.Connection, asked: EntityQuery, condition: tuple[str, Sequence[str]], most: int
) -> list[tuple[int, str, str]]:
    """Return (id, title, text) of up to `most` records whose words are those of an entity."""
    phrases = [fold.quote(fold.fold(text)) for text in asked.expressions]
    if asked.space == COMMIT:
        phrases[0] += "*"
    rows = connection.execute(
        "SELECT record.id, passage.title, passage.body FROM passage JOIN record ON record.id = passage.rowid"  # noqa: S608
        f" WHERE passage MATCH ? AND {condition[0]} ORDER BY passage.rowid DESC LIMIT ?",
        (" OR ".join(phrases), *condition[1], most),
    )
    return rows.fetchall()


def _is_file(connection: sqlite3.Connection, asked: EntityQuery, condition: tuple[str, Sequence[str]]) -> list[int]:
    """Return the records that are the file itself."""
    name, _, suffix = asked.text.rpartition(".")
    if suffix not in ("md", "json"):
        return []
    rows = connection.execute(
        f"SELECT record.id, path FROM record WHERE key = ? AND {condition[0]}",  # noqa: S608
        (reference_key(name), *condition[1]),
    )
    ending = f"/{asked.text.lower()}"
    return [int(identifier) for identifier, path in rows if f"/{path.lower()}".endswith(ending)]
