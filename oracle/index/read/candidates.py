"""Which records may hold the answer to a question, by words, and how rare each word is. Read only.

Costs depend on rows rather than on words: BM25 of a row takes SQLite a microsecond, and five common words match every record of
a Root. Words are taken rarest first until a budget of rows is spent. Of common ones all must be in a record.
"""

from __future__ import annotations

import sqlite3
from _thread import allocate_lock  # `threading` would cost each short program a millisecond
from collections.abc import Iterable, Sequence
from functools import cache

from oracle.index import fold
from oracle.index.db import chunks, is_hiding, marks
from oracle.index.read.query import MOST_ROWS

ROWS = 40_000
"""Rows that are scored for a search; a word with more of them is looked for beside others."""

_VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, passage, row)"
_ALL_OF = 5
_OF_ONE_KEY = 2
_OF_ENTITIES = (
    "'references-task', 'references-commit', 'references-file', 'references-url', 'references-key', 'references-project',"
    " 'references-component'"
)


class Stemmer:
    """Stem words as the full-text index does, by asking the same tokenizer: a table in memory and its vocabulary."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection.execute(
            "CREATE VIRTUAL TABLE word USING fts5(text, content = '', tokenize = \"porter unicode61 remove_diacritics 2\")"
        )
        self._connection.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(word, instance)")
        self._known: dict[str, str] = {}
        self._lock = allocate_lock()

    def stems(self, words: Iterable[str]) -> dict[str, str]:
        """Return the stem of each word, a run of letters and digits in lower case. Any thread may ask."""
        wanted = list(dict.fromkeys(words))
        with self._lock:
            unknown = [word for word in wanted if word not in self._known]
            found = self._read(unknown) if unknown else []
            if len(found) != len(unknown):  # the tokenizer parts a word at a letter that it does not know
                found = [stems[0] if len(stems := self._read([word])) == 1 else word for word in unknown]
            self._known.update(zip(unknown, found, strict=True))
            return {word: self._known[word] for word in wanted}

    def _read(self, words: Sequence[str]) -> list[str]:
        self._connection.execute("INSERT INTO word(word) VALUES ('delete-all')")
        self._connection.execute("INSERT INTO word(rowid, text) VALUES (1, ?)", (" ".join(words),))
        return [term for (term,) in self._connection.execute("SELECT term FROM stem ORDER BY offset")]


@cache
def stemmer() -> Stemmer:
    """Return the stemmer of this process."""
    return Stemmer()


def words_in(text: str) -> list[str]:
    """Return the words of a text, of a run of Chinese its pairs, without those that say nothing."""
    return [word for word in fold.terms_of(text) if not fold.is_run(word) or len(word) > 1]


def stems_in(text: str) -> frozenset[str]:
    """Return the stems of the words of a text."""
    return frozenset(stem or word for word, stem in stemmer().stems(words_in(text)).items())


def frequencies(
    connection: sqlite3.Connection, stems: Iterable[str], beginnings: Iterable[str] = ()
) -> dict[str, tuple[int, int]]:
    """Return for each stem (records that hold it, how often it occurs in them); milliseconds for a very common one.

    `beginnings` are characters: the sums over all words that begin with one, a record once for each word.
    """
    connection.execute(_VOCABULARY)
    wanted = dict.fromkeys(stems, "") | dict.fromkeys(beginnings, "\U0010ffff")
    statement = "SELECT coalesce(sum(doc), 0), coalesce(sum(cnt), 0) FROM temp.vocabulary WHERE term BETWEEN ? AND ?"
    return {text: connection.execute(statement, (text, text + end)).fetchone() for text, end in wanted.items()}


def holds_wide(connection: sqlite3.Connection) -> bool:
    """Return whether a record holds Chinese characters."""
    connection.execute(_VOCABULARY)
    statement = "SELECT EXISTS (SELECT 1 FROM temp.vocabulary WHERE term BETWEEN '\u4e00' AND '\ua000')"
    return bool(connection.execute(statement).fetchone()[0])


def holding(connection: sqlite3.Connection, expression: str) -> int:
    """Return how many records match an expression of the full-text index, one more at most than one search scores."""
    counted = f"SELECT count(*) FROM (SELECT 1 FROM passage WHERE passage MATCH ? LIMIT {ROWS + 1})"  # noqa: S608
    return int(connection.execute(counted, (expression,)).fetchone()[0])


def candidates(
    connection: sqlite3.Connection,
    terms: Sequence[tuple[str, int]],
    condition: tuple[str, Sequence[str]],
    *,
    limit: int,
) -> list[int]:
    """Return the records that match any of `terms` best, by BM25 with the title weighted three times.

    `terms` are (expression, records that hold it); `condition` is SQL over `record` with its values, "1" for none.
    """
    rarest = sorted((term for term in terms if term[1]), key=lambda term: term[1])
    taken: list[str] = []
    spent = 0
    for expression, count in rarest:
        if spent + count > ROWS:
            break
        taken.append(expression)
        spent += count
    is_most = spent >= size(connection)
    found = dict(_matches(connection, " OR ".join(taken), condition, limit=limit, is_most=is_most)) if taken else {}
    together = [expression for expression, _ in rarest[len(taken) :][:_ALL_OF]]
    while together and len(found) < limit:
        matches = _matches(connection, " AND ".join(together), condition, limit=limit)
        found = {**dict(matches), **found}
        together.pop()
    return sorted(found, key=lambda record: (-found[record], record))


def _matches(
    connection: sqlite3.Connection,
    expression: str,
    condition: tuple[str, Sequence[str]],
    *,
    limit: int,
    is_most: bool = False,
) -> list[tuple[int, float]]:
    """Return (record, score) of the best matches; of very many the newest alone are scored.

    Where most records match, those that pass the condition are looked up at once: one by one takes twice as long.
    """
    where, values = condition
    if where == "1" and not is_hiding(connection):
        record = passes = ""
    elif is_most:
        record, passes = "", f" AND +passage.rowid IN (SELECT record.id FROM record WHERE {where})"  # noqa: S608
    else:
        record, passes = " CROSS JOIN record ON record.id = passage.rowid", f" AND {where}"  # the words first
    return connection.execute(
        "SELECT record, score FROM (SELECT passage.rowid AS record, -bm25(passage, 3.0, 1.0) AS score"  # noqa: S608
        f" FROM passage{record} WHERE passage MATCH ?{passes}"
        f" ORDER BY passage.rowid DESC LIMIT {ROWS}) ORDER BY score DESC, record LIMIT ?",
        (expression, *values, min(limit, MOST_ROWS)),
    ).fetchall()


def beside(connection: sqlite3.Connection, records: Iterable[int], reach: int) -> dict[int, dict[int, int]]:
    """Return for each record those up to `reach` before it (-1, -2, …) and after it in its folder that state the same day."""
    where = "folder, CASE ts WHEN '' THEN id ELSE substr(sort_ts, 1, 10) END"
    found: dict[int, dict[int, int]] = {}
    for record in records:
        slug, *own = connection.execute(f"SELECT slug, {where} FROM record WHERE id = ?", (record,)).fetchone()  # noqa: S608
        found[record] = {}
        for sign, side in ((-1, "< ? ORDER BY slug DESC"), (1, "> ? ORDER BY slug")):
            statement = f"SELECT id, {where} FROM record WHERE slug {side} LIMIT {reach}"  # noqa: S608
            for step, (other, *its) in enumerate(connection.execute(statement, (slug,)), 1):
                if its != own:
                    break
                found[record][sign * step] = int(other)
    return found


def size(connection: sqlite3.Connection) -> int:
    """Return the number of records."""
    return int(connection.execute("SELECT count(*) FROM record").fetchone()[0])


def named(connection: sqlite3.Connection, keys: Sequence[str], rare: Sequence[str]) -> list[tuple[int, str, str]]:
    """Return (id, slug, title) of records that a question may name: by the key of the slug, or a rare word in the title."""
    found: dict[int, tuple[int, str, str]] = {}
    for chunk in chunks(keys):
        rows = connection.execute(
            f"SELECT id, slug, title FROM record WHERE key IN ({marks(chunk)}) LIMIT 100",  # noqa: S608
            chunk,
        )
        found.update((row[0], row) for row in rows)
    if rare:
        rows = connection.execute(
            "SELECT record.id, slug, record.title FROM (SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT 50)"
            " AS hit JOIN record ON record.id = hit.rowid",
            (f"title : ({' OR '.join(rare)})",),
        )
        found.update((row[0], row) for row in rows)
    return list(found.values())


def entity_sources(connection: sqlite3.Connection, names: Sequence[str], limit: int) -> list[int]:
    """Return records that mention any of these entities, those that the index took last first."""
    rows = connection.execute(
        f"SELECT DISTINCT source_id FROM target CROSS JOIN edge ON target_id = target.id WHERE name IN ({marks(names)})"  # noqa: S608
        " ORDER BY source_id DESC LIMIT ?",
        (*names, limit),
    )
    return [int(row[0]) for row in rows]


def neighbours(connection: sqlite3.Connection, record: int, slug: str, names: Iterable[str]) -> list[tuple[int, str]]:
    """Return (id, edge type) of the records at the other end of a record's links.

    Records that hold one of `names`, of two words or more, without a link come with them; their type is empty.
    """
    rows = connection.execute(
        "SELECT other.id, edge.type FROM edge JOIN target ON target.id = target_id"
        " JOIN record AS other ON other.slug = target.name WHERE source_id = ? LIMIT 400",
        (record,),
    ).fetchall()
    rows += connection.execute(
        "SELECT source_id, type FROM edge WHERE target_id = (SELECT id FROM target WHERE name = ?)"
        " ORDER BY source_id DESC LIMIT 400",
        (slug,),
    ).fetchall()
    phrases = " OR ".join(fold.quote(name) for name in dict.fromkeys(names) if " " in name)
    if phrases:
        rows += connection.execute(
            "SELECT rowid, '' FROM passage WHERE passage MATCH ? ORDER BY rowid DESC LIMIT 100",
            (f"body : ({phrases})",),
        ).fetchall()
    return [row for row in rows if row[0] != record]


def titled(connection: sqlite3.Connection, names: Iterable[str]) -> list[int]:
    """Return the records whose titles are these names: words in lower case."""
    found: list[int] = []
    for name in names:
        rows = connection.execute(
            "SELECT rowid, title FROM passage WHERE passage MATCH ? LIMIT 20", (f"title : ^ {fold.quote(name)}",)
        )
        found += [int(other) for other, title in rows if len(title.split()) == len(name.split())]
    return found


def keyed(connection: sqlite3.Connection, keys: Sequence[str]) -> list[int]:
    """Return the records whose slugs have one of these keys. A key of many records, as an index in each folder, has none."""
    rows = connection.execute(
        f"SELECT min(id), max(id) FROM record WHERE key IN ({marks(keys)}) AND key != '' GROUP BY key"  # noqa: S608
        f" HAVING count(*) <= {_OF_ONE_KEY}",
        keys,
    )
    return [int(number) for row in rows for number in dict.fromkeys(row)]


def relations(connection: sqlite3.Connection, records: Sequence[int]) -> list[tuple[int, str, int, str]]:
    """Return (source id, edge type, target id, "") of the edges between records.

    Those of `supports` and `contradicts` that reach them from anywhere come again, with the source's time.
    """
    inside = connection.execute(
        "SELECT source_id, edge.type, other.id, '' FROM edge CROSS JOIN target ON target.id = target_id"  # noqa: S608
        " CROSS JOIN record AS other ON other.slug = target.name"
        f" WHERE source_id IN ({marks(records)}) AND edge.type NOT IN ({_OF_ENTITIES})",
        records,
    ).fetchall()
    outside = connection.execute(
        "SELECT source_id, edge.type, other.id, source.sort_ts FROM record AS other"  # noqa: S608
        " CROSS JOIN target ON target.name = other.slug CROSS JOIN edge ON target_id = target.id"
        " CROSS JOIN record AS source ON source.id = source_id"
        f" WHERE other.id IN ({marks(records)}) AND edge.type IN ('supports', 'contradicts') AND source.retired_by IS NULL",
        records,
    ).fetchall()
    known = set(records)
    return [*(row for row in inside if row[2] in known), *outside]
