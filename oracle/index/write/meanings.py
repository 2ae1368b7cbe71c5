"""What the references of records mean: the record that each names, the type of the edge to it, and which records they end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from oracle.domain.links import links
from oracle.domain.links.resolution import Namesakes, unresolved_target
from oracle.domain.names import may_end

_MOST_KEYS = 20_000
_RETIRED = "SELECT DISTINCT name FROM edge JOIN target ON id = target_id WHERE type IN ('supersedes', 'retires')"
_NEWEST_RETIRER = (
    "SELECT source.slug, edge.type FROM target JOIN edge ON target_id = target.id JOIN record AS source ON source.id = source_id"
    " WHERE target.name = ? AND edge.type IN ('supersedes', 'retires') ORDER BY source.sort_ts DESC, source.slug LIMIT 1"
)


class Meanings:
    """The meanings of references while the records stay as they are: the records of each key are looked up once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._named: dict[str, Namesakes] = {}

    def forget(self) -> None:
        """Look records up again from now on."""
        self._named.clear()

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

    def mark_retired(self, slugs: Iterable[str] | None) -> None:
        """Set the newest record that supersedes or retires each of these records, or each record that is ended at all."""
        ended = (slug for (slug,) in self._connection.execute(_RETIRED)) if slugs is None else slugs
        for slug in sorted(ended):
            by = self._connection.execute(_NEWEST_RETIRER, (slug,)).fetchone() or (None, None)
            self._connection.execute("UPDATE record SET retired_by = ?, retired_how = ? WHERE slug = ?", (*by, slug))
