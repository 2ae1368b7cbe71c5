"""Dirty targets -> `_links/` and `_backlinks/`: whole files printed from the index after its commit.

A file is replaced in one step, or removed when it has no line; what is on disk already is not written again. The caller
holds the write lock.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from json.encoder import encode_basestring as quote

from oracle.domain import timestamps
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
            _print(root, _path(root, side, name), _lines(connection, side, name))
        with immediate(connection):
            connection.executemany("DELETE FROM dirty WHERE side = ? AND name = ?", batch)
        printed += len(batch)


def print_all(connection: sqlite3.Connection, root: Root) -> int:
    """Print every projection and remove files that belong to nothing; return how many files there are now."""
    expected: dict[str, set[str]] = {LINKS: set(), BACKLINKS: set()}
    for side, name in _everything(connection):
        path = _path(root, side, name)
        _print(root, path, _lines(connection, side, name))
        expected[side].add(os.path.basename(path))
    for side, names in expected.items():
        for stray in _strays(root, side, names):
            files.remove(stray)
    with immediate(connection):
        connection.execute("DELETE FROM dirty")
        connection.execute("DELETE FROM target WHERE NOT EXISTS (SELECT 1 FROM edge WHERE target_id = target.id)")
        set_meta(connection, "print_all", "")
    return sum(map(len, expected.values()))


def differences(connection: sqlite3.Connection, root: Root) -> list[str]:
    """Return the paths of projections that are missing, stale or stray; read only."""
    wrong: list[str] = []
    expected: dict[str, set[str]] = {LINKS: set(), BACKLINKS: set()}
    for side, name in _everything(connection):
        path = _path(root, side, name)
        expected[side].add(os.path.basename(path))
        if _read(path) != "".join(_lines(connection, side, name)).encode():
            wrong.append(path)
    for side, names in expected.items():
        wrong += _strays(root, side, names)
    return wrong


def count_sources(root: Root) -> int:
    """Return how many records have a published `_links/` file: what a Root whose index was deleted is known to have held."""
    try:
        return sum(1 for entry in os.scandir(root.join("_links")) if entry.name.endswith(".jsonl"))
    except FileNotFoundError:
        return 0


def _everything(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    slugs = "SELECT slug FROM record WHERE id IN (SELECT source_id FROM edge)"
    for (slug,) in connection.execute(slugs):
        yield LINKS, slug
    for (name,) in connection.execute("SELECT name FROM target WHERE id IN (SELECT target_id FROM edge)"):
        yield BACKLINKS, name


def _strays(root: Root, side: str, expected: set[str]) -> list[str]:
    folder = root.join(f"_{side}")
    try:
        return [
            entry.path for entry in os.scandir(folder) if entry.name not in expected and entry.name.endswith(".jsonl")
        ]
    except FileNotFoundError:
        return []


def _path(root: Root, side: str, name: str) -> str:
    return root.links_file(name) if side == LINKS else root.backlinks_file(name)


def _print(root: Root, path: str, lines: Iterable[str]) -> None:
    data = "".join(lines).encode()
    if not data:
        files.remove(path)
    elif _read(path) != data:
        files.replace(path, data, scratch=root.scratch)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def _lines(connection: sqlite3.Connection, side: str, name: str) -> Iterator[str]:
    return _outgoing(connection, name) if side == LINKS else _incoming(connection, name)


def _outgoing(connection: sqlite3.Connection, slug: str) -> Iterator[str]:
    rows = connection.execute(
        "SELECT edge.type, target.name, edge.snippet, record.mtime_ns FROM record JOIN edge ON source_id = record.id"
        " JOIN target ON target.id = target_id WHERE slug = ? ORDER BY edge.line, edge.type, target.name",
        (slug,),
    )
    source = quote(slug)
    for kind, target, snippet, mtime_ns in rows:
        edge_type, to = quote(kind), quote(target)
        yield (
            f'{{"edge_type":{edge_type},"extracted_at":"{extracted_at(mtime_ns)}","from":{source},"snippet":{quote(snippet)},'
            f'"source":{source},"target":{to},"to":{to},"type":{edge_type}}}\n'
        )


def _incoming(connection: sqlite3.Connection, name: str) -> Iterator[str]:
    to = quote(name)
    for slug, kind, snippet, mtime_ns in connection.execute(
        "SELECT slug, edge.type, edge.snippet, record.mtime_ns FROM target JOIN edge ON target_id = target.id"
        " JOIN record ON record.id = source_id WHERE name = ? ORDER BY slug, edge.type",
        (name,),
    ):
        yield (
            f'{{"extracted_at":"{extracted_at(mtime_ns)}","from":{quote(slug)},"snippet":{quote(snippet)},'
            f'"to":{to},"type":{quote(kind)}}}\n'
        )


def extracted_at(mtime_ns: int) -> str:
    """Return the time of extraction that projections state: the source's mtime, UTC, whole seconds, so that a rebuild agrees."""
    return timestamps.from_mtime(mtime_ns)[:19] + "Z"


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
