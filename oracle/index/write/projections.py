"""Print the projections `_links/` and `_backlinks/` of dirty targets from the committed index.

A file is replaced atomically, or removed if it has no lines. Unchanged files are not written. The caller holds the
write lock.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from json.encoder import encode_basestring as quote
from operator import itemgetter

from oracle.domain.names import FOREIGN, flatten
from oracle.domain.timestamps import NS, print_second
from oracle.index.db import get_meta, immediate, set_meta
from oracle.index.write.splice import splice
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LINKS = "links"
BACKLINKS = "backlinks"
_BATCH = 2_000
"""Projections that are printed at a time."""

MOST_PRINTED = 1_000
"""The links of one record that `_backlinks/` holds: so many to entities, and so many to records. The index holds all."""

_LARGE = 32_768
"""Bytes of a printed file from which changed lines are spliced into it. A smaller one is printed whole …"""
_SHARE = 4_096
"""… as is a larger one if more than one source in so many bytes changed, about one in sixteen lines."""


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
    large = _stamps(root.join(f"_{BACKLINKS}/{name}") for name in printed(root, BACKLINKS))
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
    for stray in strays(root, side, expected):
        files.remove(stray)
    return len(expected)


def _is_ours(root: Root, side: str) -> bool:
    """Return whether a folder of projections is no link. Nothing is written or removed through one."""
    return not os.path.islink(root.join(f"_{side}"))


def linked(root: Root) -> list[str]:
    """Return the names of the projection folders that are symbolic links."""
    return [f"_{side}" for side in (LINKS, BACKLINKS) if not _is_ours(root, side)]


def is_missing(connection: sqlite3.Connection, root: Root) -> bool:
    """Return whether a folder of projections is missing although there are links to print."""
    if all(os.path.isdir(root.join(f"_{side}")) for side in (LINKS, BACKLINKS)):
        return False
    return connection.execute("SELECT 1 FROM edge LIMIT 1").fetchone() is not None


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


def strays(root: Root, side: str, expected: set[str]) -> list[str]:
    """Return the paths of the projection files of a side that belong to nothing."""
    return [root.join(f"_{side}/{name}") for name in printed(root, side) if name not in expected]


def printed(root: Root, side: str) -> Iterator[str]:
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
    elif not holds(path, data):
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


def holds(path: str, data: bytes) -> bool:
    """Return whether a printed file has exactly these bytes. It is read only if it is a regular file of that size."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size != len(data):
            return False
        with open(path, "rb", buffering=0) as stream:
            return stream.read(len(data) + 1) == data
    except OSError:
        return False


# The lines, from the rows of the index ---------------------------------------------------------------------------------

IS_OWN = f"record.slug NOT GLOB '{FOREIGN}*'"
_LINKS_OF = "SELECT edge.line, edge.type, target.name, edge.snippet, record.mtime_ns, record.slug FROM "
_BACKLINKS_OF = "SELECT record.slug, edge.type, edge.snippet, record.mtime_ns, target.name FROM "
_ALL = {
    LINKS: f"{_LINKS_OF} record JOIN edge ON source_id = record.id JOIN target ON target.id = target_id"
    f" WHERE {IS_OWN} ORDER BY record.id",
    BACKLINKS: f"{_BACKLINKS_OF} target JOIN edge ON target_id = target.id AND printed JOIN record ON record.id = source_id"
    " ORDER BY target.id",
}
_SOME = {
    LINKS: f"{_LINKS_OF} json_each(?) CROSS JOIN record ON slug = value CROSS JOIN edge ON source_id = record.id"
    " CROSS JOIN target ON target.id = target_id",
    BACKLINKS: f"{_BACKLINKS_OF} json_each(?) CROSS JOIN target ON name = value CROSS JOIN edge ON target_id = target.id"
    " AND printed CROSS JOIN record ON record.id = source_id",
}
_NAMES = {
    LINKS: f"SELECT slug FROM record WHERE {IS_OWN} AND EXISTS (SELECT 1 FROM edge WHERE source_id = record.id)",  # noqa: S608
    BACKLINKS: "SELECT name FROM target WHERE EXISTS (SELECT 1 FROM edge WHERE target_id = target.id AND printed)",
}
_PAIRS = (
    f"{_BACKLINKS_OF} json_each(?) AS pair CROSS JOIN target ON name = json_extract(pair.value, '$[0]')"
    " CROSS JOIN record ON slug = json_extract(pair.value, '$[1]')"
    " CROSS JOIN edge ON target_id = target.id AND source_id = record.id AND printed"
)
"""The lines of everything, of some names, and of pairs of target and source.

CROSS fixes the order of the join: otherwise the planner may read all lines of a target that has thousands.
"""


def texts(connection: sqlite3.Connection, side: str) -> Iterator[tuple[str, bytes]]:
    """Yield (file name, bytes) of every projection of a side, one source or target at a time."""
    for name, rows in _grouped(connection.execute(_ALL[side])):
        yield f"{flatten(name)}.jsonl", _draw(side, name, rows)


def draw_some(connection: sqlite3.Connection, side: str, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of the projections of these sources or targets; empty bytes if there are no lines."""
    left = dict.fromkeys(names)
    for name, rows in _grouped(connection.execute(_SOME[side], (json.dumps(list(left)),))):
        del left[name]
        yield name, _draw(side, name, rows)
    for name in left:
        yield name, b""


def lines_of_pairs(
    connection: sqlite3.Connection, pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str, bytes]]:
    """Yield (target, source, line) for pairs of target and source, in the order of their files."""
    for name, rows in _grouped(connection.execute(_PAIRS, (json.dumps(pairs),)) if pairs else ()):
        rows.sort()
        for (source, *_), line in zip(rows, _backlink_lines(name, rows), strict=True):
            yield name, source, line.encode()


def names_of(connection: sqlite3.Connection, side: str) -> list[str]:
    """Return the names of all sources or targets that have lines."""
    return [name for (name,) in connection.execute(_NAMES[side])]


def _grouped(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the value of the last column with the rows that share it, without that column. The statement sorts by it."""
    for name, group in groupby(rows, itemgetter(-1)):
        yield name, [row[:-1] for row in group]


def _draw(side: str, name: str, rows: list[Any]) -> bytes:
    return _draw_links(name, rows) if side == LINKS else draw_backlinks(name, rows)


def _draw_links(slug: str, rows: list[tuple[int, str, str, str, int]]) -> bytes:
    """Return the lines of a source from (line, type, target, snippet, mtime ns), in the order of its text."""
    source = quote(slug)
    time = print_second(rows[0][-1] // NS)
    lines = []
    for _, kind, target, snippet, _ in sorted(rows):
        edge_type, to = quote(kind), quote(target)
        lines.append(
            f'{{"edge_type":{edge_type},"extracted_at":"{time}","from":{source},"snippet":{quote(snippet)},'
            f'"source":{source},"target":{to},"to":{to},"type":{edge_type}}}\n'
        )
    return "".join(lines).encode()


def draw_backlinks(target: str, rows: list[tuple[str, str, str, int]]) -> bytes:
    """Return the lines of a target from (source slug, type, snippet, mtime ns), by slug and type. Empties `rows`."""
    rows.sort()
    lines = _backlink_lines(target, rows)
    drawn = []
    while piece := "".join(islice(lines, _BATCH)):  # a target may have a hundred thousand lines
        drawn.append(piece.encode())
    rows.clear()
    return b"".join(drawn)


def _backlink_lines(target: str, rows: list[tuple[str, str, str, int]]) -> Iterator[str]:
    """Yield the line of each row. The common part of the lines is built once, since a target may have thousands."""
    seconds = {row[3] // NS for row in rows}
    heads = {second: f'{{"extracted_at":"{print_second(second)}","from":' for second in seconds}
    tails = {kind: f',"to":{quote(target)},"type":{quote(kind)}}}\n' for kind in {row[1] for row in rows}}
    for slug, kind, snippet, mtime_ns in rows:
        yield f'{heads[mtime_ns // NS]}{quote(slug)},"snippet":{quote(snippet)}{tails[kind]}'
