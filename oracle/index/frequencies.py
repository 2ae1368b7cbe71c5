"""How many indexed texts hold each of some words, by which rare words weigh more than common ones. SQL only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


def document_frequencies(connection: sqlite3.Connection, expressions: Iterable[str]) -> tuple[int, list[int]]:
    """Return (number of texts, how many match each expression of FTS5's language); an empty expression matches none."""
    (total,) = connection.execute("SELECT count(*) FROM passage").fetchone()
    found = [
        int(connection.execute("SELECT count(*) FROM passage WHERE passage MATCH ?", (text,)).fetchone()[0])
        if text
        else 0
        for text in expressions
    ]
    return int(total), found
