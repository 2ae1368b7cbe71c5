"""Make the index agree with the files, then print the dirty projections.

Everything here runs under the write lock, in one transaction.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from oracle.domain.names import FOREIGN, slug_in
from oracle.index import listing, scan
from oracle.index.db import Database, get_meta, immediate
from oracle.index.listing import Folder
from oracle.index.reports import SMALLEST_TREE, Progress, ReconcileReport, count_own, emptied
from oracle.index.scan import Look
from oracle.index.write import projections
from oracle.index.write.rebuild import rebuild as build
from oracle.index.write.rows import Writer
from oracle.store.disk.folders import Stat
from oracle.store.root.layout import Root
from oracle.wording import say

_STEP = 2_000


@dataclass(slots=True)
class _Changes:
    """The difference between the files and the rows, before anything is written."""

    take: list[tuple[str, Stat, str]]
    drop: list[str]
    folders: dict[str, Folder]
    gone: list[str]


def reconcile(
    database: Database,
    *,
    now_ns: int,
    full: bool = False,
    rebuild: bool = False,
    accept_removals: bool = False,
    progress: Progress | None = None,
    doubted: Collection[str] = (),
) -> ReconcileReport:
    """Bring the index up to date and print dirty projections. The caller holds the write lock.

    `rebuild` reads every file, `full` scans every one; those in the `doubted` folders are always compared. Raises
    TreeEmptied if more than half of at least 20 known records are gone, unless `accept_removals`.
    """
    root = database.root
    connection = database.connect()
    if rebuild or not database.is_ready() or scan.configuration_stamp(root) != get_meta(connection, "configuration"):
        return build(database, now_ns=now_ns, accept_removals=accept_removals, progress=progress)
    began = time.monotonic_ns()
    look = scan.look(connection, root, now_ns=now_ns, full=full, doubted=doubted)
    changes = _compare(connection, root, look, now_ns=now_ns)
    cost_ns = time.monotonic_ns() - began
    if not accept_removals:
        _refuse_emptied(connection, changes)
    if database.is_printed:
        projections.flush(connection, root)
    with immediate(connection):
        writer = Writer(connection, root, now_ns=now_ns)
        _apply(writer, changes, progress)
        writer.settle()
        _keep_folders(connection, changes, now_ns)
        scan.note_look(connection, root, look, now_ns=now_ns, cost_ns=cost_ns)
        if not database.is_printed:
            connection.execute("DELETE FROM dirty")
    return ReconcileReport(len(changes.take), len(changes.drop), _print(database, writer), rebuilt=False)


def _print(database: Database, writer: Writer) -> int:
    if not database.is_printed:
        return 0
    return projections.print_dirty(database.connect(), database.root, writer.changed)


def _compare(connection: sqlite3.Connection, root: Root, look: Look, *, now_ns: int) -> _Changes:
    changes = _Changes([], [], {}, [])
    known_folders = {path for (path,) in connection.execute("SELECT path FROM folder")}
    queue = list(look.changed)
    until_ns = scan.doubted_until(now_ns, full=look.full)
    while queue:
        path = queue.pop()
        folder = listing.list_folder(root, path)
        changes.folders[path] = folder
        _compare_files(connection, path, folder, changes, doubted_until_ns=until_ns)
        queue += [f"{path}/{name}" for name in folder.folders if f"{path}/{name}" not in known_folders]
    for path in look.gone:
        changes.gone.append(path)
        rows = connection.execute("SELECT path FROM record WHERE folder = ?", (path,))
        changes.drop += [record for (record,) in rows]
    return changes


def _compare_files(
    connection: sqlite3.Connection, path: str, folder: Folder, changes: _Changes, *, doubted_until_ns: int
) -> None:
    """Record the differences between a folder and its rows.

    The stat of a file that was too young when it was read does not count, if it last changed until `doubted_until_ns`.
    """
    known = {
        name: (Stat(*row), slug, racy)
        for name, slug, racy, *row in connection.execute(
            "SELECT path, slug, racy, mtime_ns, size, inode, ctime_ns FROM record WHERE folder = ?", (path,)
        )
    }
    for name, stat in folder.files.items():
        record = f"{path}/{name}"
        slug = slug_in(record, folder.files)
        old = known.pop(record, None)
        is_racy = old is not None and old[2] and max(stat.mtime_ns, stat.ctime_ns) <= doubted_until_ns
        if old is None or old[:2] != (stat, slug) or is_racy:
            changes.take.append((record, stat, slug))
    if "" not in folder.odd or folder.mtime_ns == listing.NOT_A_FOLDER:
        changes.drop += known


def _moved(connection: sqlite3.Connection, dropped: Sequence[str], changes: _Changes) -> int:
    """Count dropped records whose inode appeared under another name: a moved folder empties nothing."""
    arrived = {stat.inode for _, stat, _ in changes.take}
    if not arrived or not dropped:
        return 0
    rows = (connection.execute("SELECT inode FROM record WHERE path = ?", (path,)).fetchone() for path in dropped)
    return sum(1 for row in rows if row and row[0] in arrived)


def _refuse_emptied(connection: sqlite3.Connection, changes: _Changes) -> None:
    """Raise TreeEmptied if most records of the Root are gone. Sources do not count: others may empty them."""
    dropped = [path for path in changes.drop if not path.startswith(FOREIGN)]
    gone = len(dropped) - _moved(connection, dropped, changes)
    known = count_own(connection)
    if known >= SMALLEST_TREE and gone * 2 > known:
        raise emptied(
            say(
                "{gone} of {known} known records are gone from the tree; the index was not changed.",
                gone=gone,
                known=known,
            )
        )


def _apply(writer: Writer, changes: _Changes, progress: Progress | None) -> None:
    for path in changes.drop:
        writer.drop(path)
    # A slug that changes its file (x.json gives way to x.md) is free only when the old file has released it.
    for path, _, slug in changes.take:
        writer.release(path, slug)
    for number, (path, stat, slug) in enumerate(changes.take, 1):
        writer.take(path, stat, slug=slug)
        if progress is not None and number % _STEP == 0:
            progress(number, say("records read"))


def _keep_folders(connection: sqlite3.Connection, changes: _Changes, now_ns: int) -> None:
    for path in changes.gone:
        scan.drop_folder(connection, path)
    for path, folder in sorted(changes.folders.items()):
        scan.change_folder(connection, path, folder, now_ns)
