"""Which records share rare words: where near-duplicates of a record are looked for. Read only.

A word is asked for with a bound on its rows, so that a common one costs no more than a rare one, in a Root of any size.
"""

from __future__ import annotations

import json
from collections import Counter

from oracle.index.fold import quote
from oracle.index.read.query import SUMMARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

MOST_OF_A_WORD = 60
"""Records beyond which a word finds none."""

_LEAST_SHARED = 2
_HOLDING = (
    "SELECT (SELECT group_concat(rowid) FROM (SELECT rowid FROM passage WHERE passage MATCH word.value LIMIT ?))"
    " FROM json_each(?) AS word"
)
"""For each word the records that hold it, in one text: to ask for each by itself costs half as much again."""


def sharing(connection: sqlite3.Connection, words: Iterable[str], limit: int) -> list[tuple[object, ...]]:
    """Return the summaries of the records that hold two or more rare words of these, those with the most first."""
    shared: Counter[str] = Counter()
    for (rows,) in connection.execute(_HOLDING, (MOST_OF_A_WORD + 1, json.dumps([quote(word) for word in words]))):
        found = rows.split(",") if rows else []
        if len(found) <= MOST_OF_A_WORD:
            shared.update(found)
    best = sorted((-times, int(row)) for row, times in shared.items() if times >= _LEAST_SHARED)[:limit]
    found = (connection.execute(f"SELECT {SUMMARY} FROM record WHERE id = ?", (row,)).fetchone() for _, row in best)  # noqa: S608
    return [row for row in found if row is not None]
