"""Changes -> rows, edges, full text, dirty targets: make the index agree with the files, then print what became dirty.

Everything here runs under the write lock. An incremental reconcile is one transaction; a rebuild commits in steps and is
begun again when it was cut short (`ready` is set last).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass

from oracle.errors import TreeEmptied
from oracle.index import projections, scan
from oracle.index.db import Database, get_meta, immediate, set_meta
from oracle.index.rows import Writer, slug_in
from oracle.index.scan import Folder, Look, Stat
from oracle.index.schema import INDICES, SCHEMA_VERSION
from oracle.store.layout import RECORD_TREES, Root

Progress = Callable[[int, str], None]
"""Called now and then with a count and what is being counted."""

SMALLEST_TREE = 20
"""A tree of fewer known records may be emptied without a question."""

_STEP = 2_000


@dataclass(frozen=True, slots=True)
class Report:
    """What a reconcile did: records taken (new or changed), records dropped, projections printed, and whether all was anew."""

    taken: int
    dropped: int
    printed: int
    rebuilt: bool


@dataclass(slots=True)
class _Changes:
    """The difference between directory and rows, before anything is written."""

    take: list[tuple[str, Stat, str]]
    drop: list[str]
    folders: dict[str, Folder]
    gone: list[str]


def reconcile(
    database: Database,
    *,
    now_ns: int,
    full: bool = False,
    accept_removals: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Bring the index up to date and print what became dirty. The caller holds the write lock.

    `full` stats every file. Raises TreeEmptied when more than half of at least 20 known records are gone, unless
    `accept_removals`.
    """
    root = database.root
    connection = database.connect()
    if not database.is_ready() or scan.configuration_stamp(connection, root) != get_meta(connection, "configuration"):
        return rebuild(database, now_ns=now_ns, accept_removals=accept_removals, progress=progress)
    began = time.monotonic_ns()
    look = scan.look(connection, root, now_ns=now_ns, full=full)
    changes = _compare(connection, root, look)
    cost_ns = time.monotonic_ns() - began
    if not accept_removals:
        _refuse_emptied(connection, len(changes.drop) - _moved(connection, changes))
    with immediate(connection):
        writer = Writer(connection, root, now_ns=now_ns)
        _apply(writer, changes, progress)
        writer.settle()
        _keep_folders(connection, changes, now_ns)
        _touch(connection, root, look, now_ns=now_ns, cost_ns=cost_ns)
    printed = 0 if database.in_memory else projections.print_dirty(connection, root)
    return Report(len(changes.take), len(changes.drop), printed, rebuilt=False)


def touch(connection: sqlite3.Connection, root: Root, look: Look, *, now_ns: int, cost_ns: int) -> None:
    """Write down what a look saw when no record changed: folder times and the time of the last full stat."""
    with immediate(connection):
        _touch(connection, root, look, now_ns=now_ns, cost_ns=cost_ns)


def _touch(connection: sqlite3.Connection, root: Root, look: Look, *, now_ns: int, cost_ns: int) -> None:
    for path in look.touched:
        mtime_ns = scan.folder_mtime(root, path)
        if scan.is_same(connection, root, path) and scan.folder_mtime(root, path) == mtime_ns:
            connection.execute(
                "UPDATE folder SET mtime_ns = ?, settled = ? WHERE path = ?",
                (mtime_ns, _settled(mtime_ns, now_ns), path),
            )
    if look.full:
        set_meta(connection, "full_look", f"{now_ns} {cost_ns}")


def _settled(mtime_ns: int, now_ns: int) -> int:
    return int(now_ns - mtime_ns >= scan.SETTLE_NS)


def _compare(connection: sqlite3.Connection, root: Root, look: Look) -> _Changes:
    changes = _Changes([], [], {}, [])
    known_folders = {path for (path,) in connection.execute("SELECT path FROM folder")}
    queue = list(look.changed)
    while queue:
        path = queue.pop()
        folder = _read(root, path)
        changes.folders[path] = folder
        _compare_files(connection, path, folder, changes)
        queue += [f"{path}/{name}" for name in folder.folders if f"{path}/{name}" not in known_folders]
    for path in look.gone:
        changes.gone.append(path)
        rows = connection.execute("SELECT path FROM record WHERE folder = ?", (path,))
        changes.drop += [record for (record,) in rows]
    return changes


def _read(root: Root, path: str) -> Folder:
    mtime_ns = scan.folder_mtime(root, path)
    if mtime_ns == scan.NOT_A_FOLDER:
        return Folder(mtime_ns, {}, [], {"": "Not a folder of its own; a symbolic link is not followed here."})
    return Folder(-1, {}, [], {}) if mtime_ns < 0 else scan.read_folder(root, path)


def _compare_files(connection: sqlite3.Connection, path: str, folder: Folder, changes: _Changes) -> None:
    known = {
        name: (Stat(*row), slug, racy)
        for name, slug, racy, *row in connection.execute(
            "SELECT path, slug, racy, mtime_ns, size, inode, ctime_ns FROM record WHERE folder = ?", (path,)
        )
    }
    for name, stat in folder.files.items():
        record = f"{path}/{name}"
        slug = slug_in(record, folder.files)
        if known.pop(record, None) != (stat, slug, 0):
            changes.take.append((record, stat, slug))
    if "" not in folder.odd or folder.mtime_ns == scan.NOT_A_FOLDER:
        changes.drop += known


def _moved(connection: sqlite3.Connection, changes: _Changes) -> int:
    """Count dropped records whose inode turned up under another name: a moved folder empties nothing."""
    arrived = {stat.inode for _, stat, _ in changes.take}
    if not arrived or not changes.drop:
        return 0
    rows = (connection.execute("SELECT inode FROM record WHERE path = ?", (path,)).fetchone() for path in changes.drop)
    return sum(1 for row in rows if row and row[0] in arrived)


def _refuse_emptied(connection: sqlite3.Connection, gone: int) -> None:
    known = connection.execute("SELECT count(*) FROM record").fetchone()[0]
    if known >= SMALLEST_TREE and gone * 2 > known:
        raise TreeEmptied(
            f"{gone} of {known} known records are gone from the tree; the index was left as it is.",
            hint="Mount the disk or name the right Root; if they were really removed, run `oracle reconcile --accept-removals`.",
        )


def _apply(writer: Writer, changes: _Changes, progress: Progress | None) -> None:
    for path in changes.drop:
        writer.drop(path)
    # A slug that changes hands (x.json gives way to x.md) is free only when its old owner has let go of it.
    for path, _, slug in changes.take:
        writer.release(path, slug)
    for number, (path, stat, slug) in enumerate(changes.take, 1):
        writer.take(path, stat, slug=slug)
        if progress is not None and number % _STEP == 0:
            progress(number, "records read")


def _keep_folders(connection: sqlite3.Connection, changes: _Changes, now_ns: int) -> None:
    for path in changes.gone:
        connection.execute("DELETE FROM problem WHERE path = ? OR path GLOB ?", (path, _glob_below(path)))
        connection.execute("DELETE FROM folder WHERE path = ?", (path,))
    for path, folder in sorted(changes.folders.items()):
        _keep_folder(connection, path, folder, now_ns)


def _keep_folder(connection: sqlite3.Connection, path: str, folder: Folder, now_ns: int) -> None:
    connection.execute(
        "DELETE FROM problem WHERE path NOT GLOB '*.toml' AND path NOT IN (SELECT path FROM record)"
        " AND ((path = ? AND reason <> ?) OR (path GLOB ? AND path NOT GLOB ?))",
        (path, scan.NAMED_LIKE_A_RECORD, _glob_below(path), _glob_below(path) + "/*"),
    )
    rows = [(f"{path}/{name}" if name else path, 1, reason) for name, reason in folder.odd.items()]
    connection.executemany("INSERT INTO problem VALUES (?, ?, ?)", rows)
    connection.execute(
        "INSERT OR REPLACE INTO folder VALUES (?, ?, ?, ?, ?)",
        (path, folder.mtime_ns, _settled(folder.mtime_ns, now_ns), len(folder.files), scan.digest_of(folder)),
    )


def _glob_below(path: str) -> str:
    """Return a pattern for the paths below a folder; GLOB's own characters in its name are taken literally."""
    literal = "".join(f"[{char}]" if char in "*?[" else char for char in path)
    return f"{literal}/*"


def rebuild(
    database: Database, *, now_ns: int, accept_removals: bool = False, progress: Progress | None = None
) -> Report:
    """Build the index anew from the files and print every projection. The caller holds the write lock.

    Raises TreeEmptied when the tree holds less than half of what was known (or was published in `_links/`).
    """
    root = database.root
    if not accept_removals:
        _refuse_rebuild_of_nothing(database)
    database.create()
    began = time.monotonic_ns()
    with database.unsynchronised() as connection:
        taken = _fill(connection, root, now_ns=now_ns, began=began, progress=progress)
    if progress is not None:
        progress(taken, "records linked")
    printed = 0 if database.in_memory else projections.print_all(connection, root)
    return Report(taken, 0, printed, rebuilt=True)


def _fill(connection: sqlite3.Connection, root: Root, *, now_ns: int, began: int, progress: Progress | None) -> int:
    """Take every record into empty tables, committing now and then; `ready` is set with the last step."""
    with immediate(connection):
        set_meta(connection, "print_all", "1")
    writer = Writer(connection, root, now_ns=now_ns, bulk=True)
    taken = 0
    queue: list[str] = list(RECORD_TREES)
    while queue:
        with immediate(connection):
            taken += _take_folders(connection, writer, queue, now_ns)
        if progress is not None:
            progress(taken, "records read")
    with immediate(connection):
        for statement in INDICES:
            connection.execute(statement)
        writer.settle()
        set_meta(connection, "configuration", scan.configuration_stamp(connection, root))
        set_meta(connection, "full_look", f"{now_ns} {time.monotonic_ns() - began}")
        set_meta(connection, "ready", SCHEMA_VERSION)
    return taken


def _take_folders(connection: sqlite3.Connection, writer: Writer, queue: list[str], now_ns: int) -> int:
    """Take folders off the queue, depth first, until a step's worth of records is in; return how many that were."""
    taken = 0
    while queue and taken < _STEP:
        path = queue.pop()
        folder = _read(writer.root, path)
        for name, stat in sorted(folder.files.items()):
            writer.take(f"{path}/{name}", stat, slug=slug_in(f"{path}/{name}", folder.files))
        _keep_folder(connection, path, folder, now_ns)
        queue += [f"{path}/{name}" for name in sorted(folder.folders, reverse=True)]
        taken += len(folder.files)
    return taken


def _refuse_rebuild_of_nothing(database: Database) -> None:
    root = database.root
    try:
        known = database.connect().execute("SELECT count(*) FROM record").fetchone()[0]
    except sqlite3.DatabaseError:
        known = 0
    published = max(known, projections.count_sources(root))
    if published < SMALLEST_TREE:
        return
    found, queue = 0, list(RECORD_TREES)
    while queue and found * 2 < published:
        path = queue.pop()
        folder = _read(root, path)
        found += len(folder.files)
        queue += [f"{path}/{name}" for name in folder.folders]
    if found * 2 < published:
        raise TreeEmptied(
            f"The tree holds {found} records where {published} were known; the index was left as it is.",
            hint="Mount the disk or name the right Root; if they were really removed, run `oracle reconcile --accept-removals`.",
        )
