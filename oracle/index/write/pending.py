"""List what a reconcile would change, by reading only. Nothing is written and no lock is taken."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator

from oracle.domain.markdown.documents import digest_of
from oracle.domain.names import FOREIGN, slug_in
from oracle.index import listing, scan
from oracle.index.db import Database, get_meta
from oracle.index.write import projection_checks
from oracle.store.disk.folders import Stat
from oracle.store.markdown import records
from oracle.store.root.layout import Root, tops_of

Known = tuple[str, Stat, int, bytes]
"""(slug, stat, racy, hash) of a row."""


def differences(database: Database) -> list[tuple[str, str]]:
    """Return (what, root-relative path) of everything that a reconcile would change.

    `what` is index (missing, damaged, outdated, or its configuration changed), new, changed or gone (a record), or
    projection (missing, stale or stray).
    """
    root = database.root
    index = os.path.relpath(root.database, root.path)
    if not os.path.exists(root.database):
        return [("index", index)]
    try:
        if not database.is_ready():
            return [("index", index)]
        connection = database.connect()
        found = list(_compare_files(connection, root))
        if scan.configuration_stamp(root) != get_meta(connection, "configuration"):
            found.append(("index", index))
        stale = projection_checks.differences(connection, root)
    except sqlite3.DatabaseError:
        return [("index", index)]
    return found + [("projection", os.path.relpath(path, root.path)) for path in sorted(stale)]


def _compare_files(connection: sqlite3.Connection, root: Root) -> Iterator[tuple[str, str]]:
    known: dict[str, Known] = {
        path: (slug, Stat(*stat), racy, digest)
        for path, slug, racy, digest, *stat in connection.execute(
            "SELECT path, slug, racy, hash, mtime_ns, size, inode, ctime_ns FROM record"
        )
    }
    found: list[tuple[str, str]] = []
    queue = sorted(tops_of(root))
    while queue:
        path = queue.pop()
        if listing.folder_mtime(root, path) <= listing.NOT_A_FOLDER:
            if path.startswith(FOREIGN):  # a source that is not there drops nothing
                known = {name: row for name, row in known.items() if not name.startswith(path + "/")}
            continue
        folder = listing.read_folder(root, path)
        queue += [f"{path}/{name}" for name in folder.folders]
        if "" in folder.odd:  # an unreadable folder drops nothing
            known = {name: row for name, row in known.items() if not name.startswith(path + "/")}
        for name, stat in folder.files.items():
            record = f"{path}/{name}"
            what = _judge(root, record, stat, slug=slug_in(record, folder.files), known=known.pop(record, None))
            found += [(what, record)] if what else []
    yield from sorted(found + [("gone", path) for path in known], key=lambda item: item[1])


def _judge(root: Root, path: str, stat: Stat, *, slug: str, known: Known | None) -> str:
    """Return new, changed or "". A changed stat with the same bytes and mtime has no effect."""
    if known is None:
        return "new"
    if slug != known[0] or stat.mtime_ns != known[1].mtime_ns:
        return "changed"
    if stat == known[1] and not known[2]:
        return ""
    try:
        raw = records.load(root, path)
    except OSError:
        raw = b""
    return "" if digest_of(raw) == known[3] else "changed"
