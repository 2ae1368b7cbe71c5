"""Dirty targets -> `_links/` and `_backlinks/`: whole files printed from the index after its commit.

A file is replaced in one step, or removed when it has no line; what is on disk already is not written again. The caller
holds the write lock.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from itertools import groupby
from json.encoder import encode_basestring as quote
from operator import itemgetter

from oracle.domain.flat import flatten
from oracle.domain.instants import NS, extracted_at
from oracle.index.db import get_meta, immediate, set_meta
from oracle.index.splice import splice
from oracle.store import files
from oracle.store.layout import Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LINKS = "links"
BACKLINKS = "backlinks"
_BATCH = 2_000
_LARGE = 32_768
"""Bytes of a printed file from which the lines that changed are put into it; a smaller one is drawn from the index …"""
_SHARE = 4_096
"""… as it is when more than one source in so many bytes changed, which is one in some sixteen lines."""

_NOTED = "printed "
"""How the keys begin under which is noted what a large file was when it was printed; its name follows."""


def flush(connection: sqlite3.Connection, root: Root) -> None:
    """Print what a writer that died left dirty, before the next one changes anything."""
    if connection.execute("SELECT 1 FROM dirty LIMIT 1").fetchone() or get_meta(connection, "print_all"):
        print_dirty(connection, root, {})


def print_dirty(connection: sqlite3.Connection, root: Root, changed: Mapping[str, set[str]]) -> int:
    """Print each dirty target and clear it, or everything when a folder is gone; return how many files were looked at.

    `changed` names the sources whose lines are another matter than before in targets that were clean before.
    """
    if get_meta(connection, "print_all") or is_missing(connection, root):
        return print_all(connection, root)
    ours = {side: _is_ours(root, side) for side in (LINKS, BACKLINKS)}
    printed = 0
    while True:
        batch = connection.execute("SELECT side, name FROM dirty LIMIT ?", (_BATCH,)).fetchall()
        if not batch:
            return printed
        for side, name in batch:
            if ours[side] and not (
                side == BACKLINKS and name in changed and _amend(connection, root, name, changed[name])
            ):
                _put(root, *_one(connection, root, side, name))
        paths = [root.backlinks_file(name) for side, name in batch if side == BACKLINKS and ours[side]]
        large = [(path, stamp) for path in paths if (stamp := _stamp(path))]
        with immediate(connection):
            connection.executemany("DELETE FROM dirty WHERE side = ? AND name = ?", batch)
            for path, stamp in large:
                set_meta(connection, _key(path), stamp)
        printed += len(batch)


def print_all(connection: sqlite3.Connection, root: Root) -> int:
    """Print every projection and remove files that belong to nothing; return how many files there are now."""
    printed = sum(print_side(connection, root, side) for side in (LINKS, BACKLINKS))
    note_printed(connection, root)
    return printed


def note_printed(connection: sqlite3.Connection, root: Root) -> None:
    """Write down that every projection is as the index says, and what the large ones are known by."""
    large = _large(root)
    with immediate(connection):
        connection.execute("DELETE FROM meta WHERE key GLOB ?", (f"{_NOTED}*",))
        for path, stamp in large:
            set_meta(connection, _key(path), stamp)
        connection.execute("DELETE FROM dirty")
        connection.execute("DELETE FROM target WHERE NOT EXISTS (SELECT 1 FROM edge WHERE target_id = target.id)")
        set_meta(connection, "print_all", "")


def print_side(connection: sqlite3.Connection, root: Root, side: str) -> int:
    """Print one folder of projections; one that is not there yet is filled aside and takes its name when it is whole."""
    folder = root.join(f"_{side}")
    if not _is_ours(root, side):
        return 0
    if not os.path.lexists(folder):
        return files.create_folder(folder, _texts(connection, side), scratch=root.scratch)
    expected: set[str] = set()
    for name, data in _texts(connection, side):
        _put(root, f"{folder}/{name}", data)
        expected.add(name)
    for stray in _strays(root, side, expected):
        files.remove(stray)
    return len(expected)


def _is_ours(root: Root, side: str) -> bool:
    """Tell whether a folder of projections is in the Root: behind a link that leaves it, nothing is written or removed."""
    folder = root.join(f"_{side}")
    return not os.path.islink(folder) or root.contains(folder)


def differences(connection: sqlite3.Connection, root: Root) -> list[str]:
    """Return the paths of projections that are missing, stale or stray; read only."""
    wrong: list[str] = []
    for side in (LINKS, BACKLINKS):
        expected: set[str] = set()
        for name, data in _texts(connection, side):
            expected.add(name)
            if not _holds(root.join(f"_{side}/{name}"), data):
                wrong.append(root.join(f"_{side}/{name}"))
        wrong += _strays(root, side, expected)
    return wrong


def is_missing(connection: sqlite3.Connection, root: Root) -> bool:
    """Tell whether a folder of projections is not there although there are links to print."""
    if all(os.path.isdir(root.join(f"_{side}")) for side in (LINKS, BACKLINKS)):
        return False
    return connection.execute("SELECT 1 FROM edge LIMIT 1").fetchone() is not None


def count_sources(root: Root) -> int:
    """Return how many records have a published `_links/` file: what a Root whose index was deleted is known to have held."""
    try:
        return sum(1 for entry in os.scandir(root.join("_links")) if entry.name.endswith(".jsonl"))
    except OSError:
        return 0


_LINKS = (
    "SELECT edge.line, edge.type, target.name, edge.snippet, record.mtime_ns{} FROM record"
    " JOIN edge ON source_id = record.id JOIN target ON target.id = target_id"
)
_BACKLINKS = (
    "SELECT record.slug, edge.type, edge.snippet, record.mtime_ns{} FROM target JOIN edge ON target_id = target.id"
    " JOIN record ON record.id = source_id"
)

_BACKLINKS_FROM = (
    "SELECT record.slug, edge.type, edge.snippet, record.mtime_ns FROM json_each(?) CROSS JOIN record ON slug = value"
    " CROSS JOIN edge ON source_id = record.id AND target_id = (SELECT id FROM target WHERE name = ?)"
)
"""The lines of a few sources in one target; without CROSS a planner may read all of a target that has thousands."""


def _texts(connection: sqlite3.Connection, side: str) -> Iterator[tuple[str, bytes]]:
    """Yield (file name, bytes) of every projection of a side, one source or target at a time."""
    if side == LINKS:
        for name, group in _grouped(connection, f"{_LINKS.format(', record.slug')} ORDER BY record.id"):
            yield f"{flatten(name)}.jsonl", _draw_links(name, group)
    else:
        for name, group in _grouped(connection, f"{_BACKLINKS.format(', target.name')} ORDER BY target.id"):
            yield f"{flatten(name)}.jsonl", _draw_backlinks(name, group)


def _grouped(connection: sqlite3.Connection, statement: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the last column with the rows that share it, that column taken off; the statement brings them together."""
    for name, group in groupby(connection.execute(statement), itemgetter(-1)):
        yield name, [row[:-1] for row in group]


def _one(connection: sqlite3.Connection, root: Root, side: str, name: str) -> tuple[str, bytes]:
    """Return the path and bytes of one projection, no bytes when it has no line."""
    if side == LINKS:
        rows = connection.execute(f"{_LINKS.format('')} WHERE record.slug = ?", (name,)).fetchall()
        return root.links_file(name), _draw_links(name, rows)
    rows = connection.execute(f"{_BACKLINKS.format('')} WHERE target.name = ?", (name,)).fetchall()
    return root.backlinks_file(name), _draw_backlinks(name, rows)


def _amend(connection: sqlite3.Connection, root: Root, name: str, sources: set[str]) -> bool:
    """Put the lines of `sources` into the large file of a target; False when that can't be trusted to give what it should."""
    path = root.backlinks_file(name)
    stamp = _stamp(path)
    if not stamp or stamp != get_meta(connection, _key(path)):
        return False  # few lines, or another file than was printed: somebody changed it, or put an old one back
    try:
        with open(path, "rb", buffering=0) as stream:
            printed = stream.read()
    except OSError:
        return False
    if len(sources) * _SHARE > len(printed):
        return False
    rows = connection.execute(_BACKLINKS_FROM, (json.dumps(list(sources)), name)).fetchall()
    lines = dict.fromkeys(sources, b"")
    for source, group in groupby(sorted(rows), itemgetter(0)):
        lines[source] = _draw_backlinks(name, list(group))
    amended = splice(printed, lines)
    if not amended:
        return False
    if amended != printed:
        files.swap(path, amended, scratch=root.scratch)
    return True


def _draw_links(slug: str, rows: list[tuple[int, str, str, str, int]]) -> bytes:
    """Draw the lines of a source from (line, type, target, snippet, mtime ns), in the order of its text."""
    source = quote(slug)
    lines = []
    for _, kind, target, snippet, mtime_ns in sorted(rows):
        edge_type, to = quote(kind), quote(target)
        lines.append(
            f'{{"edge_type":{edge_type},"extracted_at":"{extracted_at(mtime_ns)}","from":{source},"snippet":{quote(snippet)},'
            f'"source":{source},"target":{to},"to":{to},"type":{edge_type}}}\n'
        )
    return "".join(lines).encode()


def _draw_backlinks(target: str, rows: list[tuple[str, str, str, int]]) -> bytes:
    """Draw the lines of a target from (source slug, type, snippet, mtime ns), by slug and type.

    A target may have thousands of lines and is drawn whole at every write: what lines share is drawn once.
    """
    rows.sort()
    seconds = {row[3] // NS for row in rows}
    heads = {second: f'{{"extracted_at":"{extracted_at(second * NS)}","from":' for second in seconds}
    tails = {kind: f',"to":{quote(target)},"type":{quote(kind)}}}\n' for kind in {row[1] for row in rows}}
    drawn = []
    for start in range(0, len(rows), _BATCH):  # in pieces: a target may have a hundred thousand lines
        lines = [
            f'{heads[mtime_ns // NS]}{quote(slug)},"snippet":{quote(snippet)}{tails[kind]}'
            for slug, kind, snippet, mtime_ns in rows[start : start + _BATCH]
        ]
        drawn.append("".join(lines).encode())
    rows.clear()
    return b"".join(drawn)


def _strays(root: Root, side: str, expected: set[str]) -> list[str]:
    folder = root.join(f"_{side}")
    try:
        return [
            entry.path for entry in os.scandir(folder) if entry.name not in expected and entry.name.endswith(".jsonl")
        ]
    except OSError:
        return []


def _put(root: Root, path: str, data: bytes) -> None:
    if not data:
        if os.path.lexists(path):
            files.remove(path)
    elif not _holds(path, data):
        put = files.swap if len(data) >= _LARGE else files.replace
        put(path, data, scratch=root.scratch)


def _large(root: Root) -> list[tuple[str, str]]:
    """Return (path, stamp) of every large file of backlinks."""
    try:
        paths = [entry.path for entry in os.scandir(root.join(f"_{BACKLINKS}")) if entry.name.endswith(".jsonl")]
    except OSError:
        return []
    return [(path, stamp) for path in paths if (stamp := _stamp(path))]


def _key(path: str) -> str:
    """Return under which key it is noted what a large file was when it was printed."""
    return _NOTED + os.path.basename(path)


def _stamp(path: str) -> str:
    """Return by what a large printed file is known again, "" for a small one and for what is no plain file."""
    try:
        status = os.lstat(path)
    except OSError:
        return ""
    is_large = stat.S_ISREG(status.st_mode) and status.st_size >= _LARGE
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}" if is_large else ""


def _holds(path: str, data: bytes) -> bool:
    """Tell whether a printed file has just these bytes. What has not their size, or is no plain file, is not read."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size != len(data):
            return False
        with open(path, "rb", buffering=0) as stream:
            return stream.read(len(data) + 1) == data
    except OSError:
        return False
