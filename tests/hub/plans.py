"""Which statements of a question read a whole table of the index."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.context import Context

WHOLE = re.compile(r"SCAN (?!.*(?:VIRTUAL TABLE|INDEX record_racy))(?:record|edge|target|reference|name|passage)\b")
"""A step of a plan that reads a table from its first row to its last; the full-text index and one of few rows are none."""
COUNTING = "SELECT count(*) FROM record"
"""The number of records: SQLite counts the entries of its smallest index, a millisecond for 100,000."""


def statements_of(copy: Context, work: Callable[[], object]) -> list[str]:
    """Return the statements by which the index answers."""
    connection = copy.index.database.connect()
    found: list[str] = []
    connection.set_trace_callback(found.append)
    try:
        work()
    finally:
        connection.set_trace_callback(None)
    assert connection is copy.index.database.connect()
    return [one for one in dict.fromkeys(found) if one.lstrip().upper().startswith("SELECT")]


def whole_reads(copy: Context, work: Callable[[], object]) -> list[str]:
    """Return the steps of query plans that read a whole table, each with its statement."""
    found = []
    for statement in statements_of(copy, work):
        if COUNTING in statement:
            continue
        try:
            plan = copy.index.database.connect().execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
        except sqlite3.OperationalError:  # a statement inside of the full-text index
            continue
        found += [f"{row[3]}: {statement}" for row in plan if WHOLE.match(str(row[3]))]
    return found
