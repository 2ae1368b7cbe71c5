"""Fill the empty tables of a rebuild: collect rows and insert many at a time, edges in the order of their key.

The rows are the same as those of `rows.Writer`, at two thirds of the cost. The Writer resolves references when all
records are in.
"""

from __future__ import annotations

import sqlite3

from oracle.index.write.reading import Reading
from oracle.index.write.rows import (
    INSERT_EDGE,
    INSERT_PASSAGE,
    INSERT_RECORD,
    INSERT_REFERENCE,
    Writer,
)

_RECORDS = 500


class Filler:
    """Collects readings and inserts them in batches. Call `flush` at the end. The tables must be empty at first."""

    def __init__(self, connection: sqlite3.Connection, writer: Writer) -> None:
        self._connection = connection
        self._writer = writer
        self._count = 0
        self._forget()

    def _forget(self) -> None:
        self._records: list[tuple[object, ...]] = []
        self._passages: list[tuple[int, str, str]] = []
        self._edges: list[tuple[int, int, str, str, int]] = []
        self._references: list[tuple[object, ...]] = []

    def add(self, found: Reading) -> None:
        """Add a reading. Its record is numbered in the order of adding."""
        self._count += 1
        source = self._count
        self._records.append((*found.row, self._writer.is_racy(found), source))
        self._passages.append((source, found.title, found.body))
        target_id = self._writer.target_id
        self._edges += [(target_id(name), source, kind, snippet, line) for kind, name, snippet, line in found.edges]
        self._references += [(source, *reference) for reference in found.references]
        if found.problems:
            self._writer.report(str(found.row[1]), found.problems)
        if len(self._records) >= _RECORDS:
            self.flush()

    def flush(self) -> None:
        """Insert the collected rows."""
        insert = self._connection.executemany
        insert(INSERT_RECORD, self._records)
        insert(INSERT_PASSAGE, self._passages)
        insert(INSERT_EDGE, sorted(self._edges))
        insert(INSERT_REFERENCE, self._references)
        self._forget()
