"""Rebuild the index from the files and print every projection, under the write lock.

Rows are committed in steps and `ready` is set last, so that an interrupted rebuild starts over.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from operator import itemgetter

from oracle.domain.names import slug_in
from oracle.index import scan
from oracle.index.db import VERSION, Database, immediate, set_meta
from oracle.index.listing import list_folder
from oracle.index.reports import SMALLEST_TREE, Progress, ReconcileReport, count_own, emptied
from oracle.index.scan import add_folder
from oracle.index.schema import INDICES, SCHEMA_VERSION
from oracle.index.write import projection_checks
from oracle.index.write.reader_process import Batch, Item, ReaderProcess, read_batch
from oracle.index.write.reading import Reading
from oracle.index.write.rows import (
    INSERT_EDGE,
    INSERT_NAME,
    INSERT_PASSAGE,
    INSERT_RECORD,
    INSERT_REFERENCE,
    Writer,
)
from oracle.store.root.layout import RECORD_TREES, Root, tops_of
from oracle.wording import say

_BATCH = 200
_STEP = 2_000
_MANY = 500
"""From this number of records on, a second process is worth its start."""


def rebuild(
    database: Database, *, now_ns: int, accept_removals: bool = False, progress: Progress | None = None
) -> ReconcileReport:
    """Fill new tables from the files and print every projection. The caller holds the write lock.

    Raises TreeEmptied if the tree has less than half of the known records (or of those in `_links/`).
    """
    root = database.root
    if not accept_removals:
        _refuse_nothing(database)
    database.create()
    began = time.monotonic_ns()
    configuration = scan.configuration_stamp(root)  # before it is read: a change meanwhile shows at the next look
    with ReaderProcess(root) as helper:
        with database.unsynchronised() as connection:
            taken = _fill(connection, helper, root, now_ns=now_ns, progress=progress)
            with immediate(connection):
                for statement in INDICES:
                    connection.execute(statement)
                writer = Writer(connection, root, now_ns=now_ns, bulk=True)
                _check_configuration(writer, connection)
                writer.settle()
                set_meta(connection, "configuration", configuration)
                set_meta(connection, VERSION, str(now_ns))
                set_meta(connection, "full_look", f"{now_ns} {time.monotonic_ns() - began}")
                set_meta(connection, "ready", SCHEMA_VERSION)
        if progress is not None:
            progress(taken, say("records linked"))
        printed = helper.print_everything(database.connect()) if database.is_printed else 0
    return ReconcileReport(taken, 0, printed, rebuilt=True)


def _check_configuration(writer: Writer, connection: sqlite3.Connection) -> None:
    """Report every invalid configuration file, even if no record is read with it."""
    projects = connection.execute(
        "SELECT path FROM folder WHERE path GLOB 'projects/*' AND path NOT GLOB 'projects/*/*'"
    ).fetchall()
    for folder in ("learnings", *(path for (path,) in projects)):
        writer.patterns_of(f"{folder}/any")


def _fill(
    connection: sqlite3.Connection, helper: ReaderProcess, root: Root, *, now_ns: int, progress: Progress | None
) -> int:
    """Insert every record into the empty tables, in several commits. Returns the number of records."""
    with immediate(connection):
        set_meta(connection, "print_all", "1")
    writer = Writer(connection, root, now_ns=now_ns, bulk=True)
    filler = Filler(connection, writer)
    batches = _batches(connection, writer, now_ns)
    taken = 0
    connection.execute("BEGIN IMMEDIATE")
    try:
        for batch in batches:
            for found in read_batch(root, *batch):
                filler.add(found)
            taken += len(batch[1])
            if taken >= _MANY:
                break
        for found in helper.read(batches):
            filler.add(found)
            taken += 1
            if taken % _STEP == 0:
                _step(connection, taken, progress)
        filler.flush()
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return taken


def _step(connection: sqlite3.Connection, taken: int, progress: Progress | None) -> None:
    connection.execute("COMMIT")
    connection.execute("BEGIN IMMEDIATE")
    if progress is not None:
        progress(taken, say("records read"))


def _batches(connection: sqlite3.Connection, writer: Writer, now_ns: int) -> Iterator[Batch]:
    """Yield the record files of the tree, folder by folder. The row of each folder is written on the way."""
    queue: list[str] = sorted(tops_of(writer.root))
    while queue:
        path = queue.pop()
        folder = list_folder(writer.root, path)
        items: list[Item] = [
            (f"{path}/{name}", slug_in(f"{path}/{name}", folder.files), stat)
            for name, stat in sorted(folder.files.items())
        ]
        for start in range(0, len(items), _BATCH):
            yield writer.patterns_of(items[start][0]), items[start : start + _BATCH]
        add_folder(connection, path, folder, now_ns)
        queue += [f"{path}/{name}" for name in sorted(folder.folders, reverse=True)]


def _refuse_nothing(database: Database) -> None:
    root = database.root
    try:
        known = count_own(database.connect())
    except sqlite3.DatabaseError:
        known = 0
    published = max(known, projection_checks.count_sources(root))
    if published < SMALLEST_TREE:
        return
    found, queue = 0, list(RECORD_TREES)
    while queue and found * 2 < published:
        path = queue.pop()
        folder = list_folder(root, path)
        found += len(folder.files)
        queue += [f"{path}/{name}" for name in folder.folders]
    if found * 2 < published:
        raise emptied(
            say(
                "The tree has {found} records where {published} were known; the index was not changed.",
                found=found,
                published=published,
            )
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
        self._edges: list[tuple[object, ...]] = []
        self._references: list[tuple[object, ...]] = []
        self._names: list[tuple[str, str, int]] = []

    def add(self, found: Reading) -> None:
        """Add a reading. Its record is numbered in the order of adding."""
        self._count += 1
        source = self._count
        self._records.append((*found.row, self._writer.is_racy(found), source))
        self._passages.append((source, found.title, found.body))
        self._edges += self._writer.edge_rows(source, found.slug, found.edges)
        self._references += [(source, *reference) for reference in found.references]
        self._names += [(key, name, source) for key, name in found.names]
        if found.problems:
            self._writer.report(str(found.row[1]), found.problems)
        if len(self._records) >= _RECORDS:
            self.flush()

    def flush(self) -> None:
        """Insert the collected rows."""
        insert = self._connection.executemany
        insert(INSERT_RECORD, self._records)
        insert(INSERT_PASSAGE, self._passages)
        insert(INSERT_EDGE, sorted(self._edges, key=itemgetter(0, 1, 2)))
        insert(INSERT_REFERENCE, self._references)
        insert(INSERT_NAME, self._names)
        self._forget()
