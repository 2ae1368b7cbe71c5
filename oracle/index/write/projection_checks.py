"""Which projections on disk are not what the index says, and what they leave out. Read only."""

from __future__ import annotations

import os
import sqlite3

from oracle.domain.names import flatten
from oracle.index.write.projections import BACKLINKS, IS_OWN, LINKS, draw_some, holds, names_of, printed, strays, texts
from oracle.store.root.layout import Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


_AVERAGE = 8_192
"""Bytes that a projection of a sample may have on average. What is beyond is not read."""


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
            if not holds(root.join(f"_{side}/{name}"), data):
                wrong.append(root.join(f"_{side}/{name}"))
        wrong += strays(root, side, expected)
    return wrong


def _sampled_differences(connection: sqlite3.Connection, root: Root, side: str, most: int) -> list[str]:
    import random

    names = names_of(connection, side)
    missing, wrong = {f"{flatten(name)}.jsonl" for name in names}, []
    for name in printed(root, side):
        if name in missing:
            missing.remove(name)
        else:
            wrong.append(root.join(f"_{side}/{name}"))
    wrong += [root.join(f"_{side}/{name}") for name in missing]
    left = most * _AVERAGE
    for name, data in draw_some(connection, side, random.sample(names, min(most, len(names)))):
        path = root.join(f"_{side}/{flatten(name)}.jsonl")
        if f"{flatten(name)}.jsonl" not in missing and not holds(path, data):
            wrong.append(path)
        left -= len(data)
        if left < 0:
            break
    return wrong


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
