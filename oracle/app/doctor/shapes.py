"""Folders where projections belong: nothing can be printed there. Reads only."""

from __future__ import annotations

import os
from collections.abc import Iterator

from oracle.app.doctor.checks import FIX, Check, capped, error, quoted
from oracle.app.doctor.context import CheckContext
from oracle.app.doctor.tree import Entry
from oracle.wording import say

_PRINTED = ("_links", "_backlinks")
_DATABASE = ("_state/oracle.db", "_state/oracle.db-wal", "_state/oracle.db-shm")


def check_folders_in_the_way(context: CheckContext) -> Iterator[Check]:
    """Report folders where projections and published files belong. Empty ones can be removed."""
    yield from capped(
        error("shapes", say("{path} must be a file, but is an empty folder", path=entry.path), FIX)
        if is_hollow(path)
        else error(
            "shapes",
            say("{path} must be a file, but is a folder that holds files", path=entry.path),
            say("Move it away: {path}, then {fix}", path=quoted(path), fix=FIX),
        )
        for entry, path in folders_in_the_way(context)
    )


def folders_in_the_way(context: CheckContext) -> list[tuple[Entry, str]]:
    """Return the folders where a projection or a published file belongs, each with its absolute path."""
    return [
        (entry, context.root.join(entry.path))
        for entry in context.tree.derived
        if entry.is_folder and _is_place_of_a_file(entry)
    ]


def _is_place_of_a_file(entry: Entry) -> bool:
    folder, _, name = entry.path.rpartition("/")
    if folder in _PRINTED or entry.path in _DATABASE:
        return True
    return folder.endswith("/_index") and name.endswith((".json", ".jsonl"))


def is_hollow(path: str) -> bool:
    """Return whether a folder holds nothing but folders. One that can't be read may hold anything."""
    try:
        with os.scandir(path) as entries:
            return all(entry.is_dir(follow_symlinks=False) and is_hollow(entry.path) for entry in entries)
    except (OSError, RecursionError):
        return False


def remove_hollow(path: str) -> None:
    """Remove a folder that holds nothing but folders. Raises OSError, and removes no file, if it holds one by now."""
    for folder, _, _ in os.walk(path, topdown=False):
        os.rmdir(folder)
