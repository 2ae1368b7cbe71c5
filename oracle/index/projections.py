"""Dirty targets -> `_links/` and `_backlinks/`: whole files printed from the index after its commit.

A file is replaced in one step, or removed when it has no line; what is on disk already is not written again. The caller
holds the write lock.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from itertools import groupby
from json.encoder import encode_basestring as quote
from operator import itemgetter

from oracle.domain.flat import flatten
from oracle.domain.instants import extracted_at
from oracle.index.db import get_meta, immediate, set_meta
from oracle.store import files
from oracle.store.layout import Root

LINKS = "links"
BACKLINKS = "backlinks"
_BATCH = 2_000


def print_dirty(connection: sqlite3.Connection, root: Root) -> int:
    """Print each dirty target and clear it; return how many files were looked at."""
    if get_meta(connection, "print_all"):
        return print_all(connection, root)
    printed = 0
    while True:
        batch = connection.execute("SELECT side, name FROM dirty LIMIT ?", (_BATCH,)).fetchall()
        if not batch:
            return printed
        for side, name in batch:
            if _is_ours(root, side):
                _put(root, *_one(connection, root, side, name))
        with immediate(connection):
            connection.executemany("DELETE FROM dirty WHERE side = ? AND name = ?", batch)
        printed += len(batch)


def print_all(connection: sqlite3.Connection, root: Root) -> int:
    """Print every projection and remove files that belong to nothing; return how many files there are now."""
    printed = sum(print_side(connection, root, side) for side in (LINKS, BACKLINKS))
    note_printed(connection)
    return printed


def note_printed(connection: sqlite3.Connection) -> None:
    """Write down that every projection is as the index says."""
    with immediate(connection):
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
            if _read(root.join(f"_{side}/{name}")) != data:
                wrong.append(root.join(f"_{side}/{name}"))
        wrong += _strays(root, side, expected)
    return wrong


def count_sources(root: Root) -> int:
    """Return how many records have a published `_links/` file: what a Root whose index was deleted is known to have held."""
    try:
        return sum(1 for entry in os.scandir(root.join("_links")) if entry.name.endswith(".jsonl"))
    except OSError:
        return 0


_ALL_LINKS = (
    "SELECT record.slug, edge.line, edge.type, target.name, edge.snippet, record.mtime_ns FROM record"
    " JOIN edge ON source_id = record.id JOIN target ON target.id = target_id ORDER BY record.id"
)
_ALL_BACKLINKS = (
    "SELECT target.name, record.slug, edge.type, edge.snippet, record.mtime_ns FROM target JOIN edge ON target_id = target.id"
    " JOIN record ON record.id = source_id ORDER BY target.id"
)


def _texts(connection: sqlite3.Connection, side: str) -> Iterator[tuple[str, bytes]]:
    """Yield (file name, bytes) of every projection of a side, one source or target at a time."""
    statement = _ALL_LINKS if side == LINKS else _ALL_BACKLINKS
    for name, rows in groupby(connection.execute(statement), itemgetter(0)):
        lines = (_link(name, *row[2:]) if side == LINKS else _backlink(name, *row[1:]) for row in sorted(rows))
        yield f"{flatten(name)}.jsonl", "".join(lines).encode()


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
        files.remove(path)
    elif _read(path) != data:
        files.replace(path, data, scratch=root.scratch)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None


def _one(connection: sqlite3.Connection, root: Root, side: str, name: str) -> tuple[str, bytes]:
    """Return the path and bytes of one projection, no bytes when it has no line."""
    if side == LINKS:
        rows = connection.execute(f"{_ALL_LINKS.partition(' ORDER')[0]} WHERE record.slug = ?", (name,))
        return root.links_file(name), "".join(_link(name, *row[2:]) for row in sorted(rows)).encode()
    rows = connection.execute(f"{_ALL_BACKLINKS.partition(' ORDER')[0]} WHERE target.name = ?", (name,))
    return root.backlinks_file(name), "".join(_backlink(name, *row[1:]) for row in sorted(rows)).encode()


def _link(slug: str, kind: str, target: str, snippet: str, mtime_ns: int) -> str:
    source, edge_type, to = quote(slug), quote(kind), quote(target)
    return (
        f'{{"edge_type":{edge_type},"extracted_at":"{extracted_at(mtime_ns)}","from":{source},"snippet":{quote(snippet)},'
        f'"source":{source},"target":{to},"to":{to},"type":{edge_type}}}\n'
    )


def _backlink(target: str, slug: str, kind: str, snippet: str, mtime_ns: int) -> str:
    return (
        f'{{"extracted_at":"{extracted_at(mtime_ns)}","from":{quote(slug)},"snippet":{quote(snippet)},'
        f'"to":{quote(target)},"type":{quote(kind)}}}\n'
    )


def publish_catalogue(connection: sqlite3.Connection, root: Root, *, built: str) -> None:
    """Merge Memory's part into `index.json`: its own keys are replaced, every other key is kept as it stands.

    A file that is no JSON object is kept aside as `index.json.broken` and begun anew.
    """
    current = _read(root.catalogue)
    try:
        catalogue = json.loads(current) if current else {}
    except ValueError:
        catalogue = None
    if not isinstance(catalogue, dict):
        files.replace(root.catalogue + ".broken", current or b"", scratch=root.scratch)
        catalogue = {}
    catalogue.update(_catalogue(connection, built=built))
    data = json.dumps(catalogue, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"
    if data != current:
        files.replace(root.catalogue, data, scratch=root.scratch)


def _catalogue(connection: sqlite3.Connection, *, built: str) -> dict[str, object]:
    rows = connection.execute(
        "SELECT project, count(*), group_concat(DISTINCT kind), max(sort_ts) FROM record WHERE project <> '' GROUP BY project"
    ).fetchall()
    projects = [
        {"project": project, "file_count": count, "kinds": sorted(kinds.split(",")), "last_ts": last}
        for project, count, kinds, last in rows
    ]
    return {"version": 1, "last_built": built, "projects": projects}
