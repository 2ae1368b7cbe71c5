"""The rows of folders: what a folder held when it was last scanned, and the names in it that can't be records.

Cheap to import: a query that looked at every file and found nothing new writes that down.
"""

from __future__ import annotations

import sqlite3

from oracle.index import scan
from oracle.index.db import set_meta
from oracle.index.scan import Folder, Look
from oracle.index.schema import INSERT_PROBLEM, problem_columns
from oracle.store.root.layout import RECORD_TREES, Root
from oracle.wording import say


def list_folder(root: Root, path: str) -> Folder:
    """List a root-relative folder; one that is not there, or is a link, comes back empty."""
    mtime_ns = scan.folder_mtime(root, path)
    if mtime_ns == scan.NOT_A_FOLDER:
        return Folder(mtime_ns, {}, [], {"": say("Not a folder of its own; a symbolic link is not followed here.")})
    return Folder(mtime_ns, {}, [], {}) if mtime_ns == scan.ABSENT else scan.read_folder(root, path)


def add_folder(connection: sqlite3.Connection, path: str, folder: Folder, now_ns: int) -> None:
    """Write down what a folder holds and what is odd in it."""
    rows = [(f"{path}/{name}" if name else path, *problem_columns(1, reason)) for name, reason in folder.odd.items()]
    connection.executemany(INSERT_PROBLEM, rows)
    connection.execute(
        "INSERT OR REPLACE INTO folder VALUES (?, ?, ?, ?, ?)",
        (path, folder.mtime_ns, is_settled(folder.mtime_ns, now_ns), len(folder.files), scan.digest_of(folder)),
    )


def change_folder(connection: sqlite3.Connection, path: str, folder: Folder, now_ns: int) -> None:
    """Replace what was written down of a folder; one that is gone is forgotten, but for the first-level ones."""
    if folder.mtime_ns == scan.ABSENT and path not in RECORD_TREES:
        drop_folder(connection, path)
        return
    connection.execute(
        "DELETE FROM problem WHERE path NOT GLOB '*.toml' AND path NOT IN (SELECT path FROM record)"
        " AND ((path = ? AND reason <> ?) OR (path GLOB ? AND path NOT GLOB ?))",
        (path, scan.NAMED_LIKE_A_RECORD, _glob_below(path), _glob_below(path) + "/*"),
    )
    add_folder(connection, path, folder, now_ns)


def expect_folder(connection: sqlite3.Connection, path: str) -> None:
    """Make a folder and its parents known without having scanned them: the next look does, or finds them gone."""
    while path:
        connection.execute("INSERT OR IGNORE INTO folder VALUES (?, 0, 0, -1, -1)", (path,))
        path = path.rpartition("/")[0]


def drop_folder(connection: sqlite3.Connection, path: str) -> None:
    """Forget a folder that is gone."""
    connection.execute("DELETE FROM problem WHERE path = ? OR path GLOB ?", (path, _glob_below(path)))
    connection.execute("DELETE FROM folder WHERE path = ?", (path,))


def note_look(connection: sqlite3.Connection, root: Root, look: Look, *, now_ns: int, cost_ns: int) -> None:
    """Write down what a look saw besides changed records: folder times and the time of the last full stat.

    The caller holds an immediate transaction.
    """
    for path in look.touched:
        mtime_ns = scan.folder_mtime(root, path)
        if scan.is_same(connection, root, path) and scan.folder_mtime(root, path) == mtime_ns:
            connection.execute(
                "UPDATE folder SET mtime_ns = ?, settled = ? WHERE path = ?",
                (mtime_ns, is_settled(mtime_ns, now_ns), path),
            )
    if look.full:
        set_meta(connection, "full_look", f"{now_ns} {cost_ns}")


def is_settled(mtime_ns: int, now_ns: int) -> int:
    """Tell (1 or 0) whether a folder's mtime is old enough to be trusted."""
    return int(now_ns - mtime_ns >= scan.SETTLE_NS)


def _glob_below(path: str) -> str:
    """Return a pattern for the paths below a folder; GLOB's own characters in its name are taken literally."""
    literal = "".join(f"[{char}]" if char in "*?[" else char for char in path)
    return f"{literal}/*"
