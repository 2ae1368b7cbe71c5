"""Print the projections `_links/` and `_backlinks/` of dirty targets from the committed index.

A file is replaced atomically, or removed if it has no lines. Unchanged files are not written. The caller holds the
write lock.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator

from oracle.domain.names import flatten
from oracle.index.db import get_meta, immediate, set_meta
from oracle.index.write.projection_lines import BACKLINKS, IS_OWN, LINKS, draw_some, lines_of_pairs, names_of, texts
from oracle.index.write.splice import splice
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_BATCH = 2_000
"""Projections that are printed at a time."""

MOST_PRINTED = 1_000
"""The links of one record that `_backlinks/` holds: so many to entities, and so many to records. The index holds all."""

_LARGE = 32_768
"""Bytes of a printed file from which changed lines are spliced into it. A smaller one is printed whole …"""
_SHARE = 4_096
"""… as is a larger one if more than one source in so many bytes changed, about one in sixteen lines."""

_AVERAGE = 8_192
"""Bytes that a projection of a sample may have on average. What is beyond is not read."""

_NOTED = "printed "
"""The prefix of the keys that record the state of a large file when it was printed."""


def flush(connection: sqlite3.Connection, root: Root) -> None:
    """Print what a dead writer left dirty, before the next one changes anything."""
    if connection.execute("SELECT 1 FROM dirty LIMIT 1").fetchone() or get_meta(connection, "print_all"):
        print_dirty(connection, root, {})


def print_dirty(connection: sqlite3.Connection, root: Root, changed: Mapping[str, set[str]]) -> int:
    """Print each dirty target and clear its mark, or print everything if a folder is missing.

    Returns the number of files checked.

    `changed` names the sources whose lines changed in targets that were clean before.
    """
    if get_meta(connection, "print_all") or is_missing(connection, root):
        return print_all(connection, root)
    ours = [side for side in (LINKS, BACKLINKS) if _is_ours(root, side)]
    printed = 0
    while True:
        batch = connection.execute("SELECT side, name FROM dirty LIMIT ?", (_BATCH,)).fetchall()
        for side in ours:
            _print_some(connection, root, side, [name for of, name in batch if of == side], changed)
        large = _stamps(root.backlinks_file(name) for side, name in batch if side == BACKLINKS and side in ours)
        with immediate(connection):
            connection.executemany("DELETE FROM dirty WHERE side = ? AND name = ?", batch)
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", large.items())
        printed += len(batch)
        if len(batch) < _BATCH:
            return printed


def _print_some(
    connection: sqlite3.Connection, root: Root, side: str, names: list[str], changed: Mapping[str, set[str]]
) -> None:
    """Print some projections of a side: by splicing where that is possible, otherwise whole."""
    amendable = {name: changed[name] for name in names if name in changed} if side == BACKLINKS else {}
    amended = _amend(connection, root, amendable)
    path_of = root.links_file if side == LINKS else root.backlinks_file
    for name, data in draw_some(connection, side, [name for name in names if name not in amended]):
        _put(root, path_of(name), data, swaps=bool(amended))


def print_all(connection: sqlite3.Connection, root: Root) -> int:
    """Print every projection and remove stray files. Returns the number of files."""
    printed = sum(print_side(connection, root, side) for side in (LINKS, BACKLINKS))
    note_printed(connection, root)
    return printed


def note_printed(connection: sqlite3.Connection, root: Root) -> None:
    """Record that every projection is up to date, and the state of the large files."""
    large = _stamps(root.join(f"_{BACKLINKS}/{name}") for name in _printed(root, BACKLINKS))
    with immediate(connection):
        connection.execute("DELETE FROM meta WHERE key GLOB ?", (f"{_NOTED}*",))
        connection.executemany("INSERT INTO meta VALUES (?, ?)", large.items())
        connection.execute("DELETE FROM dirty")
        connection.execute("DELETE FROM target WHERE NOT EXISTS (SELECT 1 FROM edge WHERE target_id = target.id)")
        set_meta(connection, "print_all", "")


def print_side(connection: sqlite3.Connection, root: Root, side: str) -> int:
    """Print one folder of projections. A missing folder is filled under another name and then renamed."""
    folder = root.join(f"_{side}")
    if not _is_ours(root, side):
        return 0
    if not os.path.lexists(folder):
        return steps.create_folder(folder, texts(connection, side), scratch=root.scratch)
    expected: set[str] = set()
    for name, data in texts(connection, side):
        _put(root, f"{folder}/{name}", data)
        expected.add(name)
    for stray in _strays(root, side, expected):
        files.remove(stray)
    return len(expected)


def _is_ours(root: Root, side: str) -> bool:
    """Return whether a folder of projections is no link. Nothing is written or removed through one."""
    return not os.path.islink(root.join(f"_{side}"))


def linked(root: Root) -> list[str]:
    """Return the names of the projection folders that are symbolic links."""
    return [f"_{side}" for side in (LINKS, BACKLINKS) if not _is_ours(root, side)]


def differences(connection: sqlite3.Connection, root: Root, *, most: int = 0) -> list[str]:
    """Return the paths of projections that are missing, stale or stray. Read only.

    With `most`, only so many of a side are read, chosen at random, and fewer if they are large. Missing and stray ones
    are found all the same.
    """
    wrong: list[str] = []
    for side in (LINKS, BACKLINKS):
        if most:
            wrong += _sampled_differences(connection, root, side, most)
            continue
        expected: set[str] = set()
        for name, data in texts(connection, side):
            expected.add(name)
            if not _holds(root.join(f"_{side}/{name}"), data):
                wrong.append(root.join(f"_{side}/{name}"))
        wrong += _strays(root, side, expected)
    return wrong


def _sampled_differences(connection: sqlite3.Connection, root: Root, side: str, most: int) -> list[str]:
    import random

    names = names_of(connection, side)
    missing, wrong = {f"{flatten(name)}.jsonl" for name in names}, []
    for printed in _printed(root, side):
        if printed in missing:
            missing.remove(printed)
        else:
            wrong.append(root.join(f"_{side}/{printed}"))
    wrong += [root.join(f"_{side}/{name}") for name in missing]
    left = most * _AVERAGE
    for name, data in draw_some(connection, side, random.sample(names, min(most, len(names)))):
        path = root.join(f"_{side}/{flatten(name)}.jsonl")
        if f"{flatten(name)}.jsonl" not in missing and not _holds(path, data):
            wrong.append(path)
        left -= len(data)
        if left < 0:
            break
    return wrong


def is_missing(connection: sqlite3.Connection, root: Root) -> bool:
    """Return whether a folder of projections is missing although there are links to print."""
    if all(os.path.isdir(root.join(f"_{side}")) for side in (LINKS, BACKLINKS)):
        return False
    return connection.execute("SELECT 1 FROM edge LIMIT 1").fetchone() is not None


def count_unprinted(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many links `_backlinks/` leaves out, and of how many records."""
    edges = f"edge JOIN record ON record.id = source_id WHERE NOT printed AND {IS_OWN}"
    row = connection.execute(f"SELECT count(*), count(DISTINCT source_id) FROM {edges}").fetchone()  # noqa: S608
    return int(row[0]), int(row[1])


def count_sources(root: Root) -> int:
    """Return how many records have a file in `_links/`: the known records of a Root whose index was deleted."""
    try:
        return sum(1 for entry in os.scandir(root.join("_links")) if entry.name.endswith(".jsonl"))
    except OSError:
        return 0


def _amend(connection: sqlite3.Connection, root: Root, changed: Mapping[str, set[str]]) -> set[str]:
    """Splice the lines of changed sources into the large files of targets.

    Returns the targets whose file is up to date then.
    """
    trusted = _trusted(connection, root, changed) if changed else {}
    pairs = [(name, source) for name in trusted for source in changed[name]]
    lines = {name: dict.fromkeys(changed[name], b"") for name in trusted}
    for name, source, line in lines_of_pairs(connection, pairs):
        lines[name][source] += line
    return {name for name, path in trusted.items() if _amend_one(path, lines[name], scratch=root.scratch)}


def _trusted(connection: sqlite3.Connection, root: Root, changed: Mapping[str, set[str]]) -> dict[str, str]:
    """Return target -> path of the large files that are as they were printed and have few changes."""
    paths = {name: root.backlinks_file(name) for name in changed}
    stamps = _stamps(paths.values())
    noted = connection.execute(
        "SELECT meta.key, meta.value FROM json_each(?) AS noted CROSS JOIN meta ON meta.key = noted.value",
        (json.dumps(list(stamps)),),
    )
    same = {key: stamp for key, stamp in noted if stamps[key] == stamp}
    return {
        name: path
        for name, path in paths.items()
        if _key(path) in same and len(changed[name]) * _SHARE <= int(same[_key(path)].split(" ")[1])
    }


def _amend_one(path: str, lines: Mapping[str, bytes], *, scratch: str) -> bool:
    try:
        with open(path, "rb", buffering=0) as stream:
            pieces = splice(stream.read(), lines)
    except OSError:
        return False
    if pieces:
        steps.swap(path, *pieces, scratch=scratch)
    return pieces is not None


def _strays(root: Root, side: str, expected: set[str]) -> list[str]:
    return [root.join(f"_{side}/{name}") for name in _printed(root, side) if name not in expected]


def _printed(root: Root, side: str) -> Iterator[str]:
    """Yield the names of all projection files in a folder. There may be hundreds of thousands."""
    try:
        for entry in os.scandir(root.join(f"_{side}")):
            if entry.name.endswith(".jsonl"):
                yield entry.name
    except OSError:
        return


def _put(root: Root, path: str, data: bytes, *, swaps: bool = False) -> None:
    """Write these bytes to a file. A small file is swapped too if others were: the function is loaded then."""
    if not data:
        if os.path.lexists(path):
            files.remove(path)
    elif not _holds(path, data):
        put = steps.swap if swaps or len(data) >= _LARGE else files.replace
        put(path, data, scratch=root.scratch)


def _stamps(paths: Iterable[str]) -> dict[str, str]:
    """Return the state of each large printed file, under the key that records it."""
    found = {}
    for path in paths:
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_size >= _LARGE:
            found[_key(path)] = f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
    return found


def _key(path: str) -> str:
    return _NOTED + os.path.basename(path)


def _holds(path: str, data: bytes) -> bool:
    """Return whether a printed file has exactly these bytes. It is read only if it is a regular file of that size."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size != len(data):
            return False
        with open(path, "rb", buffering=0) as stream:
            return stream.read(len(data) + 1) == data
    except OSError:
        return False
