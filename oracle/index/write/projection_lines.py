"""The lines of the projections `_links/` and `_backlinks/`, from the rows of the index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from json.encoder import encode_basestring as quote
from operator import itemgetter

from oracle.domain.names import FOREIGN, flatten
from oracle.domain.timestamps import NS, print_second

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


LINKS = "links"
BACKLINKS = "backlinks"

_BATCH = 2_000
"""Lines that are joined at a time."""

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
