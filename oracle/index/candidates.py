"""The first of two stages of a search: which records may hold the answer, by words, and how rare each word is. Read only.

Costs are bounded by rows rather than by words: BM25 of a row takes SQLite a microsecond, and five common words match every
record of a Root. Words are taken rarest first until a budget of rows is spent; of common ones all must be there together.
"""

from __future__ import annotations

import sqlite3
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROWS = 40_000
"""Rows that are scored for a search; a word with more of them is looked for beside others."""

_CHUNK = 400
_ALL_OF = 5
_MOST_ROWS = 1 << 31
"""Rows asked for at most: SQLite takes no number beyond 64 bits."""


class Stemmer:
    """Stem words as the full-text index does, by asking the same tokenizer: a table in memory and its vocabulary."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection.execute(
            "CREATE VIRTUAL TABLE word USING fts5(text, content = '', tokenize = \"porter unicode61 remove_diacritics 2\")"
        )
        self._connection.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(word, instance)")
        self._known: dict[str, str] = {}
        self._rows = 0

    def stems(self, words: Iterable[str]) -> dict[str, str]:
        """Return the stem of each word; a word is a run of letters and digits in small letters."""
        wanted = list(dict.fromkeys(words))
        unknown = [word for word in wanted if word not in self._known]
        if unknown:
            self._rows += 1
            self._connection.execute("INSERT INTO word(rowid, text) VALUES (?, ?)", (self._rows, " ".join(unknown)))
            rows = self._connection.execute("SELECT term, offset FROM stem WHERE doc = ?", (self._rows,)).fetchall()
            self._known.update(dict.fromkeys(unknown, ""))
            if len(rows) == len(unknown):
                self._known.update((unknown[at], term) for term, at in rows)
            else:
                self._known.update((word, word) for word in unknown)
        return {word: self._known[word] for word in wanted}


@cache
def stemmer() -> Stemmer:
    """Return the stemmer of this process."""
    return Stemmer()


def document_frequencies(connection: sqlite3.Connection, stems: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return of each stem (records that hold it, how often it stands in them); milliseconds for a very common one."""
    connection.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, passage, row)")
    found: dict[str, tuple[int, int]] = {}
    for stem in dict.fromkeys(stems):
        row = connection.execute("SELECT doc, cnt FROM temp.vocabulary WHERE term = ?", (stem,)).fetchone()
        found[stem] = (int(row[0]), int(row[1])) if row else (0, 0)
    return found


def candidates(
    connection: sqlite3.Connection,
    terms: Sequence[tuple[str, int]],
    condition: tuple[str, Sequence[str]],
    *,
    limit: int,
) -> list[tuple[int, float]]:
    """Return (record id, BM25 score) of the records that match any of `terms` best, the title weighted three times.

    `terms` are (expression, records that hold it); `condition` is SQL over `record` with its values, "" for none.
    """
    rarest = sorted((term for term in terms if term[1]), key=lambda term: term[1])
    taken: list[str] = []
    spent = 0
    for expression, count in rarest:
        if spent + count > ROWS:
            break
        taken.append(expression)
        spent += count
    found = dict(_matches(connection, " OR ".join(taken), condition, limit=limit)) if taken else {}
    if len(taken) < len(rarest):
        together = [expression for expression, _ in rarest[len(taken) :][:_ALL_OF]]
        while together and len(found) < limit:
            matches = _matches(connection, " AND ".join(together), condition, limit=limit)
            found = {**dict(matches), **found}
            together.pop()
    return sorted(found.items(), key=lambda row: (-row[1], row[0]))


def _matches(
    connection: sqlite3.Connection, expression: str, condition: tuple[str, Sequence[str]], *, limit: int
) -> list[tuple[int, float]]:
    where, values = condition
    if not where:
        statement = "SELECT rowid, -bm25(passage, 3.0, 1.0) FROM passage WHERE passage MATCH ?"
    else:
        statement = (
            "SELECT record.id, -bm25(passage, 3.0, 1.0) FROM passage JOIN record ON record.id = passage.rowid"  # noqa: S608
            f" WHERE passage MATCH ? AND {where}"
        )
    return connection.execute(
        f"{statement} ORDER BY bm25(passage, 3.0, 1.0) LIMIT ?", (expression, *values, min(limit, _MOST_ROWS))
    ).fetchall()


def size(connection: sqlite3.Connection) -> int:
    """Return the number of records."""
    return int(connection.execute("SELECT count(*) FROM record").fetchone()[0])
