"""Look at the files of a large Root in rounds: each question looks at some, and a daemon vouches for all.

A look at every one of 200,000 files takes a second. Each part of a round continues where the last part of any process
ended, so the files that were looked at longest ago come first.

An edit in place is all that a round has to find. The time of the folder shows every other change.
"""

from __future__ import annotations

import os
import time
from collections import namedtuple

from oracle.index.db import get_meta, set_meta
from oracle.store.disk import folders
from oracle.store.root.lock import vouched_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from typing import NamedTuple

    from oracle.store.root.layout import Root

    class Part(NamedTuple):
        """A part of a round, and where the round is: times in ns since 1970, its cost so far, and its last record."""

        began_ns: int
        now_ns: int
        cost_ns: int
        last: int
        is_end: bool
        doubted: set[str]

else:
    Part = namedtuple("Part", "began_ns now_ns cost_ns last is_end doubted")

EVERY_NS = 1_000_000_000
"""The shortest time from one part to the next."""

_STEP = 500


def next_part(
    connection: sqlite3.Connection, root: Root, now_ns: int, looked_ns: int, bounds: tuple[int, int]
) -> tuple[int, Part | None]:
    """Stat the next files, unless a daemon vouches or another part was looked at a moment ago.

    `looked_ns` is the beginning of the last round. `bounds` are the time to spend, and how old what a daemon vouches for
    may be. Return up to when every change was seen, and the part.
    """
    budget_ns, trust_ns = bounds
    vouched = vouched_ns(root)
    if _is_recent(vouched, now_ns, trust_ns):
        return vouched, None
    began_ns, last_ns, cost_ns, last = map(int, (get_meta(connection, "round") or "0 0 0 0").split())
    if _is_recent(last_ns, now_ns, EVERY_NS):
        return looked_ns, None
    if not looked_ns < began_ns <= now_ns:
        began_ns, cost_ns, last = now_ns, 0, 0
    part = _look(connection, root, Part(began_ns, now_ns, cost_ns, last, is_end=False, doubted=set()), budget_ns)
    return began_ns if part.is_end else looked_ns, part


def _look(connection: sqlite3.Connection, root: Root, before: Part, budget_ns: int) -> Part:
    """Stat files from where a round is."""
    start = time.monotonic_ns()
    last = before.last
    doubted = set() if last else _folders_of_oddities(connection)
    while True:
        rows = connection.execute(
            "SELECT id, path, mtime_ns, size, inode, ctime_ns FROM record WHERE id > ? ORDER BY id LIMIT ?",
            (last, _STEP),
        ).fetchall()
        doubted.update(path.rpartition("/")[0] for _, path, *stat in rows if _differs(root, path, stat))
        last = rows[-1][0] if rows else last
        spent = time.monotonic_ns() - start
        if len(rows) < _STEP or spent >= budget_ns:
            return Part(before.began_ns, before.now_ns, before.cost_ns + spent, last, len(rows) < _STEP, doubted)


def _differs(root: Root, path: str, stat: list[int]) -> bool:
    """Return whether a record file is not as its row says."""
    try:
        found = os.stat(root.join(path))
    except (OSError, ValueError):
        return True
    numbers = [found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns]
    return numbers != stat and list(folders.stat_of(found)) != stat


def note_part(connection: sqlite3.Connection, part: Part) -> None:
    """Write where a round is. The caller holds an immediate transaction."""
    set_meta(connection, "round", f"{part.began_ns} {part.now_ns} {part.cost_ns} {part.last}")
    if part.is_end:
        set_meta(connection, "full_look", f"{part.began_ns} {part.cost_ns}")


def folders_edited(connection: sqlite3.Connection, root: Root, paths: Iterable[str]) -> set[str]:
    """Stat the files of these records, and return the folders in which one differs from its row; one without a row is left out."""
    select = "SELECT mtime_ns, size, inode, ctime_ns FROM record WHERE path = ?"
    rows = ((path, connection.execute(select, (path,)).fetchone()) for path in paths)
    return {path.rpartition("/")[0] for path, row in rows if row is not None and _differs(root, path, list(row))}


def _is_recent(moment_ns: int, now_ns: int, within_ns: int) -> bool:
    """Return whether a moment is past, but not long ago. A clock that was set back makes it neither."""
    return 0 <= now_ns - moment_ns <= within_ns


def _folders_of_oddities(connection: sqlite3.Connection) -> set[str]:
    """Return the folders with a name that is not a record, such as a dangling link: it may be one by now."""
    rows = connection.execute("SELECT path FROM problem WHERE path NOT IN (SELECT path FROM record)")
    return {path.rpartition("/")[0] for (path,) in rows}
