"""What the references of records mean: the record that each names, and the type of the edge to it."""

from __future__ import annotations

import sqlite3

from oracle.domain.links import links
from oracle.domain.links.resolution import Namesakes, unresolved_target
from oracle.domain.names import may_end

_MOST_KEYS = 20_000


class Meanings:
    """The meanings of references while the records stay as they are: the records of each key are looked up once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._named: dict[str, Namesakes] = {}

    def find(self, ref: str, source: str, key: str) -> tuple[str, int]:
        """Return the slug that a reference in the record `source` means, and whether it exists; "" for a link to itself."""
        found = self._namesakes(key).resolve(ref, source)
        name = found if found is not None else unresolved_target(ref, source)
        return ("", 0) if name == source else (name, int(found is not None))

    def _namesakes(self, key: str) -> Namesakes:
        known = self._named.get(key)
        if known is None:
            rows = self._connection.execute("SELECT slug FROM record WHERE key = ?", (key,))
            called = self._connection.execute(
                "SELECT name, slug FROM name JOIN record ON id = record_id WHERE name.key = ?", (key,)
            )
            known = Namesakes([slug for (slug,) in rows], called)
            if len(self._named) >= _MOST_KEYS:
                self._named.clear()
            self._named[key] = known
        return known

    def effect_of(self, kind: str, source: str, seat: str, target: str) -> str:
        """Return the type of an edge: a relation that may not end its target is a claim."""
        if kind not in links.CLAIMS:
            return kind
        row = self._connection.execute("SELECT seat FROM record WHERE slug = ?", (target,)).fetchone()
        return kind if row is None or may_end(source, seat, target, row[0]) else links.CLAIMS[kind]
