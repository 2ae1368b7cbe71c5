"""Which records share rare words: where near-duplicates of a record are looked for. Read only.

A word is asked for with a bound on its rows, so that a common one costs no more than a rare one, in a Root of any size.
"""

from __future__ import annotations

from collections import Counter

from oracle.index.fold import quote
from oracle.index.query import SUMMARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

MOST_OF_A_WORD = 60
"""Records beyond which a word finds none."""

_LEAST_SHARED = 2


def sharing(connection: sqlite3.Connection, words: Iterable[str], limit: int) -> list[tuple[object, ...]]:
    """Return the summaries of the records that hold two or more rare words of these, those with the most first."""
    shared: Counter[int] = Counter()
    for word in words:
        rows = connection.execute(
            "SELECT rowid FROM passage WHERE passage MATCH ? LIMIT ?", (quote(word), MOST_OF_A_WORD + 1)
        ).fetchall()
        if len(rows) <= MOST_OF_A_WORD:
            shared.update(row for (row,) in rows)
    best = sorted((-times, row) for row, times in shared.items() if times >= _LEAST_SHARED)[:limit]
    found = (connection.execute(f"SELECT {SUMMARY} FROM record WHERE id = ?", (row,)).fetchone() for _, row in best)  # noqa: S608
    return [row for row in found if row is not None]
