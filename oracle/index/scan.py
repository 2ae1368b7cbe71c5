"""Find the folders that differ from their rows, and change the rows. Files are not read.

Cheap to import and to run: every query calls `look`.
"""

from __future__ import annotations

import os
from collections import namedtuple

from oracle.domain.names import FOREIGN
from oracle.index.db import get_meta, set_meta
from oracle.index.listing import (
    ABSENT,
    DANGLING,
    NAMED_LIKE_A_RECORD,
    NOT_A_FOLDER,
    UNREADABLE,
    UNREADABLE_REASONS,
    digest_folder,
    digest_of,
    folder_mtime,
    is_text,
    read_folder,
)
from oracle.index.schema import INSERT_PROBLEM, problem_columns, read_reason
from oracle.store.disk.folders import LARGEST
from oracle.store.root.layout import RECORD_TREES, Root, tops_of
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection
    from typing import NamedTuple

    from oracle.index.listing import Folder

    class Look(NamedTuple):
        """The result of a look at the tree: changed folders, missing folders, and whether every file was scanned."""

        changed: list[str]
        gone: list[str]
        touched: list[str]
        full: bool
        configuration: bool

else:
    Look = namedtuple("Look", "changed gone touched full configuration")

SETTLE_NS = 2_000_000_000
"""A folder or file younger than this is scanned again: the clock may be too coarse to show a change."""

GONE = "gone"
"""The status of a record whose source is not there."""


def look(connection: sqlite3.Connection, root: Root, *, now_ns: int, full: bool, doubted: Collection[str] = ()) -> Look:
    """Compare the tree with the index.

    Folders whose mtime changed or was too young to be trusted, and `doubted` folders, are compared by name; with `full`
    all others are compared by digest. `touched` are unchanged folders with an outdated row. Anything below a name that
    is no longer a folder is gone, even if a link leads there; but a source that is not there keeps its records. A file
    that was too young when it was read is read again, with `full` even if it still is.
    """
    known = connection.execute("SELECT path, mtime_ns, settled, files, digest FROM folder").fetchall()
    tops = tops_of(root)
    children: dict[str, set[str]] = {}
    for path, *_ in known:
        parent, _, name = path.rpartition("/")
        children.setdefault(parent, set()).add(name)
    changed, gone, touched = sorted(tops.difference(path for path, *_ in known)), [], []
    absent: set[str] = set()
    kept: set[str] = set()
    for path, mtime_ns, settled, count, digest in sorted(known):
        parent = path.rpartition("/")[0]
        if parent in kept:
            kept.add(path)
            continue
        is_removed = path.startswith(FOREIGN) and root.source_of(path) is None
        current = ABSENT if parent in absent or is_removed else folder_mtime(root, path)
        if current <= NOT_A_FOLDER:
            (kept if path in tops and path not in RECORD_TREES else absent).add(path)
            if path not in tops:
                gone.append(path)
            elif current != mtime_ns:
                changed.append(path)
            continue
        is_trusted = current == mtime_ns and settled and path not in doubted
        if is_trusted and not full:
            continue
        agrees = _has_digest if is_trusted else _has_rows
        if mtime_ns <= UNREADABLE or not agrees(connection, root, path, children.get(path, set()), (count, digest)):
            changed.append(path)
        elif current != mtime_ns or (not settled and now_ns - current >= SETTLE_NS):
            touched.append(path)
    racy = connection.execute(  # with DISTINCT, SQLite would read the folder of every record
        "SELECT folder FROM record WHERE racy = 1 AND max(mtime_ns, ctime_ns) <= ?", (doubted_until(now_ns, full=full),)
    ).fetchall()
    changed += {folder for (folder,) in racy}.difference(changed, gone, kept)
    configuration = configuration_stamp(root) != get_meta(connection, "configuration")
    return Look(changed, gone, touched, full, configuration)


def doubted_until(now_ns: int, *, full: bool) -> int:
    """Return the time until which a file must have changed last to be read again, if it was too young when it was read."""
    return LARGEST if full else now_ns - SETTLE_NS


def is_same(connection: sqlite3.Connection, root: Root, path: str) -> bool:
    """Return whether a folder is as its rows say, file by file."""
    row = connection.execute("SELECT files, digest FROM folder WHERE path = ?", (path,)).fetchone()
    below = connection.execute("SELECT path FROM folder WHERE path > ? AND path < ?", (path + "/", path + "0"))
    subfolders = {name[len(path) + 1 :] for (name,) in below if "/" not in name[len(path) + 1 :]}
    return row is not None and _has_rows(connection, root, path, subfolders, (row[0], row[1]))


def _has_rows(
    connection: sqlite3.Connection, root: Root, path: str, subfolders: set[str], known: tuple[int, int]
) -> bool:
    """Compare a folder with the rows of its records, name by name.

    Renames within one tick of the file system's clock change no time, and two files that swap names leave the sum as it
    was.
    """
    folder = read_folder(root, path)
    if (len(folder.files), digest_of(folder)) != known or set(folder.folders) != subfolders:
        return False
    rows = connection.execute("SELECT path, mtime_ns, size, inode, ctime_ns FROM record WHERE folder = ?", (path,))
    return {f"{path}/{name}": found for name, found in folder.files.items()} == {
        name: tuple(row) for name, *row in rows
    }


def _has_digest(_: sqlite3.Connection, root: Root, path: str, subfolders: set[str], known: tuple[int, int]) -> bool:
    try:
        count, digest, folders_match = digest_folder(root, path, subfolders)
    except OSError:
        return False
    return folders_match and (count, digest) == known


# The rows of folders ---------------------------------------------------------------------------------------------------


def add_folder(connection: sqlite3.Connection, path: str, folder: Folder, now_ns: int) -> None:
    """Write the row of a folder and the problems in it."""
    rows = [(f"{path}/{name}" if name else path, *problem_columns(1, reason)) for name, reason in folder.odd.items()]
    connection.executemany(INSERT_PROBLEM, rows)
    connection.execute(
        "INSERT OR REPLACE INTO folder VALUES (?, ?, ?, ?, ?)",
        (path, folder.mtime_ns, is_settled(folder.mtime_ns, now_ns), len(folder.files), digest_of(folder)),
    )


def change_folder(connection: sqlite3.Connection, path: str, folder: Folder, now_ns: int) -> None:
    """Replace the row of a folder. A folder that is gone is forgotten, except those of the first level.

    What a source held that is not there stays known, with the status `gone`.
    """
    if folder.mtime_ns == ABSENT and path not in RECORD_TREES:
        if "" not in folder.odd:
            drop_folder(connection, path)
            return
        below = (_glob_below(path),)
        connection.execute("UPDATE record SET status = ?, hash = x'', mtime_ns = 0 WHERE path GLOB ?", (GONE, *below))
        connection.execute("UPDATE folder SET mtime_ns = 0, settled = 0, digest = -1 WHERE path GLOB ?", below)
    connection.execute(
        "DELETE FROM problem WHERE path NOT GLOB '*.toml' AND path NOT IN (SELECT path FROM record)"
        " AND ((path = ? AND reason <> ?) OR (path GLOB ? AND path NOT GLOB ?))",
        (path, NAMED_LIKE_A_RECORD, _glob_below(path), _glob_below(path) + "/*"),
    )
    add_folder(connection, path, folder, now_ns)


def drop_folder(connection: sqlite3.Connection, path: str) -> None:
    """Forget a folder that is gone."""
    connection.execute("DELETE FROM problem WHERE path = ? OR path GLOB ?", (path, _glob_below(path)))
    connection.execute("DELETE FROM folder WHERE path = ?", (path,))


def note_look(connection: sqlite3.Connection, root: Root, look: Look, *, now_ns: int, cost_ns: int) -> None:
    """Write what a look saw besides changed records: folder times, and the time of the last full stat.

    The caller holds an immediate transaction.
    """
    for path in look.touched:
        mtime_ns = folder_mtime(root, path)
        if is_same(connection, root, path) and folder_mtime(root, path) == mtime_ns:
            connection.execute(
                "UPDATE folder SET mtime_ns = ?, settled = ? WHERE path = ?",
                (mtime_ns, is_settled(mtime_ns, now_ns), path),
            )
    if look.full:
        set_meta(connection, "full_look", f"{now_ns} {cost_ns}")


def last_full_look(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return when every file was last looked at, in ns since 1970, and what that cost in ns; zeros if never."""
    at_ns, _, cost_ns = get_meta(connection, "full_look").partition(" ")
    return int(at_ns or 0), int(cost_ns or 0)


def warn_of_unreadable(connection: sqlite3.Connection, warn: Callable[[str], None]) -> None:
    """Warn about unreadable folders and files and about dangling links: what is not found may be there."""
    rows = connection.execute(
        "SELECT path, sentence FROM problem WHERE reason GLOB ? OR reason GLOB ?"
        " OR (reason = ? AND (path GLOB '*.md' OR path GLOB '*.json')) LIMIT 3",
        (*(f"{reason}*" for reason in UNREADABLE_REASONS), DANGLING),
    )
    for path, sentence in rows:
        warn(say("{path}: {reason} Its content is unknown.", path=path, reason=read_reason(sentence)))


def is_settled(mtime_ns: int, now_ns: int) -> int:
    """Return 1 if a folder's mtime is old enough to be trusted, else 0."""
    return int(now_ns - mtime_ns >= SETTLE_NS)


def _glob_below(path: str) -> str:
    """Return a GLOB pattern for the paths below a folder. Special characters in its name are escaped."""
    literal = "".join(f"[{char}]" if char in "*?[" else char for char in path)
    return f"{literal}/*"


def configuration_stamp(root: Root) -> str:
    """Return a text that changes when a configuration file for link extraction does."""
    try:
        with os.scandir(root.join("projects")) as entries:
            projects = [entry.name for entry in entries if is_text(entry.name)]
    except OSError:
        projects = []
    names = [name for project in ["", *projects] for name in root.pattern_files(project)]
    stamps = []
    for name in sorted(set(names)):
        try:
            status = os.stat(root.join(name))
        except OSError:
            continue
        stamps.append(f"{name}:{status.st_mtime_ns}:{status.st_size}:{status.st_ino}")
    return "\n".join(stamps)
