"""What the references of records mean: the record that each names, and the type of the edge to it."""

from __future__ import annotations

import sqlite3

from oracle.domain.links import links
from oracle.domain.links.resolution import Namesakes, unresolved_target
from oracle.domain.names import may_end

_KEY_CACHE = 20_000


class ReferenceMeanings:
    """The records that references may mean, as the index knows them. Some are remembered until `forget`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._named: dict[str, Namesakes] = {}

    def find(self, ref: str, source_slug: str, key: str) -> tuple[str, int]:
        """Return the slug that a reference means, and whether that record exists; "" for a link to itself."""
        found = self._namesakes(key).resolve(ref, source_slug)
        name = found if found is not None else unresolved_target(ref, source_slug)
        return ("", 0) if name == source_slug else (name, int(found is not None))

    def effect_of(self, kind: str, source: str, seat: str, target: str) -> str:
        """Return the type of an edge: a relation that may not end its target is a claim."""
        if kind not in links.CLAIMS:
            return kind
        row = self._connection.execute("SELECT seat FROM record WHERE slug = ?", (target,)).fetchone()
        return kind if row is None or may_end(source, seat, target, row[0]) else links.CLAIMS[kind]

    def sources_of(self, key: str) -> list[int]:
        """Return the sources of the references that have a key."""
        rows = self._connection.execute("SELECT DISTINCT source_id FROM reference WHERE key = ?", (key,))
        return [source for (source,) in rows]

    def forget(self) -> None:
        """Forget the records: they may change."""
        self._named.clear()

    def _namesakes(self, key: str) -> Namesakes:
        known = self._named.get(key)
        if known is None:
            rows = self._connection.execute("SELECT slug FROM record WHERE key = ?", (key,))
            named = self._connection.execute(
                "SELECT name, slug FROM name JOIN record ON id = record_id WHERE name.key = ?", (key,)
            )
            known = Namesakes([slug for (slug,) in rows], named)
            if len(self._named) >= _KEY_CACHE:
                self._named.clear()
            self._named[key] = known
        return known
