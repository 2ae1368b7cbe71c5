"""Say what an index holds, row by row and without what differs from build to build, and compare it with a rebuild.

The rebuild happens in memory on the same files, so that the history under test goes on undisturbed; what it would print
is compared with what is on disk, byte for byte.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from oracle.api import Oracle
from oracle.index.write import projection_checks

if TYPE_CHECKING:
    import sqlite3

SIDES = ("_links", "_backlinks")
_DUMPS = {
    "record": "SELECT slug, path, folder, key, mtime_ns, size, inode, ctime_ns, hex(hash), project, seat, kind, record.title,"
    " status, author, task_id, ts, sort_ts, confidence, retired_by, retired_how, passage.title, passage.body"
    " FROM record LEFT JOIN passage ON passage.rowid = record.id ORDER BY slug",
    "passage": "SELECT count(*) FROM passage",
    "edge": "SELECT slug, edge.type, name, snippet, line, printed FROM edge LEFT JOIN record ON record.id = source_id"
    " LEFT JOIN target ON target.id = target_id ORDER BY slug, edge.type, name",
    "reference": "SELECT slug, type, ref, reference.key, snippet, line, name, resolved FROM reference"
    " LEFT JOIN record ON record.id = source_id LEFT JOIN target ON target.id = target_id ORDER BY slug, type, ref",
    "problem": "SELECT path, line, reason FROM problem ORDER BY path, line, reason",
    "folder": "SELECT path, files, digest, mtime_ns FROM folder ORDER BY path",
}


@dataclass
class Clock:
    """The real time, or one moment of it, plus a chosen offset."""

    offset_ns: int = field(default=0)

    frozen_ns: int = field(default=0)

    def now_ns(self) -> int:
        return (self.frozen_ns or time.time_ns()) + self.offset_ns

    def advance(self, seconds: float) -> None:
        self.offset_ns += int(seconds * 1e9)


def dump(connection: sqlite3.Connection) -> list[str]:
    """Return the rows of every table as lines, in an order that no history changes."""
    return [f"{table}: {tuple(row)!r}" for table, statement in _DUMPS.items() for row in connection.execute(statement)]


def build_in_memory(root: Path | str, clock: Clock | None = None) -> Oracle:
    """Return an oracle whose index was built from nothing, in memory."""
    oracle = Oracle.open(str(root), clock=clock)
    oracle.index.database.use_memory()
    oracle.reconcile(rebuild=True, accept_removals=True)
    return oracle


def assert_like_rebuilt(oracle: Oracle, clock: Clock | None = None) -> None:
    """Compare the index of an oracle and its projections, as they are now, with a rebuild of the same files."""
    connection = oracle.index.database.connect()
    with build_in_memory(oracle.root.path, clock) as fresh:
        expected = fresh.index.database.connect()
        now, then = dump(connection), dump(expected)
        assert now == then, "\n".join(
            [
                "the index differs from a rebuild:",
                *(f"- {x}" for x in then if x not in now),
                *(f"+ {x}" for x in now if x not in then),
            ]
        )
        assert projection_checks.differences(expected, oracle.root) == []
    assert connection.execute("SELECT * FROM dirty").fetchall() == []
    assert connection.execute("SELECT value FROM meta WHERE key = 'print_all'").fetchone() in (None, ("",))


def read_projections(root: Path) -> dict[str, bytes]:
    """Return every byte under `_links/` and `_backlinks/`."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for side in SIDES
        if (root / side).is_dir()
        for path in sorted((root / side).rglob("*"))
        if path.is_file()
    }


def slugs_on_disk(root: Path) -> set[str]:
    """Return the slugs that the files have by the rules of the layout, found by a walk of our own."""
    found: set[str] = set()
    for tree in ("projects", "shared", "learnings"):
        if (root / tree).is_symlink():
            continue
        for folder, folders, names in os.walk(root / tree):
            folders[:] = [
                name
                for name in folders
                if name[0] != "."
                and name not in ("_index", "_links", "_backlinks", "_state")
                and not Path(folder, name).is_symlink()
            ]
            kept = {name for name in names if is_record(root, Path(folder, name))}
            found |= {os.path.relpath(f"{folder}/{slug}", root) for slug in _slugs_of(kept)}
    return found


def _slugs_of(names: set[str]) -> set[str]:
    """Give Markdown files their stem, then JSON files, shortest first, the first of `x`, `x.json` … that is free."""
    slugs = {name.removesuffix(".md") for name in names if name.endswith(".md")}
    for name in sorted((name for name in names if name.endswith(".json")), key=len):
        slug = name.removesuffix(".json")
        while slug in slugs:
            slug += ".json"
        slugs.add(slug)
    return slugs


def is_record(root: Path, path: Path) -> bool:
    """Tell whether a path is a record by name, type and place."""
    name = path.name
    if (
        name[0] == "."
        or not name.endswith((".md", ".json"))
        or (not name.isprintable() and name.encode("utf-8", "ignore").decode() != name)
    ):
        return False
    inside = os.path.realpath(path).startswith(os.path.realpath(root) + "/")
    return path.is_file() and inside


def pass_a_tick(folder: Path) -> None:
    """Wait until the clock of the file system has moved: it steps every few milliseconds."""
    probe = folder / ".tick"
    probe.touch()
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        os.utime(probe)
    probe.unlink()
