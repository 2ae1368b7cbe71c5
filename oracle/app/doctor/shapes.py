"""Folders in the place of files that we print: nothing can be printed over one, and every write says so. Reads only."""

from __future__ import annotations

import os
from collections.abc import Iterator

from oracle.app.doctor.checks import FIX, Check, capped, error, quoted
from oracle.app.doctor.context import Patient
from oracle.app.doctor.tree import Entry
from oracle.wording import say

_PRINTED = ("_links", "_backlinks")
_DATABASE = ("_state/oracle.db", "_state/oracle.db-wal", "_state/oracle.db-shm")


def check_folders_in_the_way(patient: Patient) -> Iterator[Check]:
    """Name folders where projections and published files belong; an empty one is ours to remove."""
    yield from capped(
        error("shapes", say("{path} is a folder where a file of ours belongs", path=entry.path), FIX)
        if is_hollow(path)
        else error(
            "shapes",
            say("{path} is a folder where a file of ours belongs, and it holds files", path=entry.path),
            say("Move it away: {path}, then {fix}", path=quoted(path), fix=FIX),
        )
        for entry, path in folders_in_the_way(patient)
    )


def folders_in_the_way(patient: Patient) -> list[tuple[Entry, str]]:
    """Return the folders that stand where a projection or a published file belongs, each with its absolute path."""
    return [
        (entry, patient.root.join(entry.path))
        for entry in patient.tree.derived
        if entry.is_folder and _is_place_of_a_file(entry)
    ]


def _is_place_of_a_file(entry: Entry) -> bool:
    folder, _, name = entry.path.rpartition("/")
    if folder in _PRINTED or entry.path in _DATABASE:
        return True
    return folder.endswith("/_index") and name.endswith((".json", ".jsonl"))


def is_hollow(path: str) -> bool:
    """Tell whether nothing but folders is in a folder; one that can't be looked into may hold anything."""
    try:
        with os.scandir(path) as entries:
            return all(entry.is_dir(follow_symlinks=False) and is_hollow(entry.path) for entry in entries)
    except (OSError, RecursionError):
        return False


def remove_hollow(path: str) -> None:
    """Remove a folder of nothing but folders. Raises OSError, and removes no file, when one has come meanwhile."""
    for folder, _, _ in os.walk(path, topdown=False):
        os.rmdir(folder)
