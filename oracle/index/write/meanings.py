"""What the references of records mean: the record that each names, and the type of the edge to it."""

from __future__ import annotations

import sqlite3

from oracle.domain.links import links
from oracle.domain.links.resolution import Namesakes, unresolved_target
from oracle.domain.names import may_end

_KEY_CACHE = 20_000


def find(
    connection: sqlite3.Connection, named: dict[str, Namesakes], ref: str, source_slug: str, key: str
) -> tuple[str, int]:
    """Return the slug that a reference means, and whether that record exists; "" for a link to itself.

    `named` keeps the records that a key may mean.
    """
    found = _namesakes(connection, named, key).resolve(ref, source_slug)
    name = found if found is not None else unresolved_target(ref, source_slug)
    return ("", 0) if name == source_slug else (name, int(found is not None))


def effect_of(connection: sqlite3.Connection, kind: str, source: str, seat: str, target: str) -> str:
    """Return the type of an edge: a relation that may not end its target is a claim."""
    if kind not in links.CLAIMS:
        return kind
    row = connection.execute("SELECT seat FROM record WHERE slug = ?", (target,)).fetchone()
    return kind if row is None or may_end(source, seat, target, row[0]) else links.CLAIMS[kind]


def _namesakes(connection: sqlite3.Connection, named: dict[str, Namesakes], key: str) -> Namesakes:
    known = named.get(key)
    if known is None:
        rows = connection.execute("SELECT slug FROM record WHERE key = ?", (key,))
        called = connection.execute(
            "SELECT name, slug FROM name JOIN record ON id = record_id WHERE name.key = ?", (key,)
        )
        known = Namesakes([slug for (slug,) in rows], called)
        if len(named) >= _KEY_CACHE:
            named.clear()
        named[key] = known
    return known
