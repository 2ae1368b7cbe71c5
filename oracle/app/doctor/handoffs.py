"""Checks of the receipts of every team, which may lie outside of the Root. Reads only."""

from __future__ import annotations

import os
from collections.abc import Iterator

from oracle.app.doctor.context import Check, CheckContext, capped, warning
from oracle.domain.delivery import receipts
from oracle.errors import DiskFailure, OracleError
from oracle.store.delivery import handoffs
from oracle.store.disk import folders, steps
from oracle.store.root import profile
from oracle.store.root.layout import Root
from oracle.wording import say


def check_receipts(context: CheckContext) -> Iterator[Check]:
    """Report receipts that can't be read: nobody knows what they ask or answer."""
    fix = say("Restore it from a backup, or move it out of this folder and ask again")
    yield from capped(
        warning("receipts", say("{path}: {why}", path=path, why=why), fix)
        for folder in _folders(context.root)
        for path, why in _unreadable(folder)
    )


def _folders(root: Root) -> list[str]:
    found = set()
    for project in profile.projects(root):
        try:
            found.add(profile.load(root, project, os.environ).handoff_dir)
        except OracleError:  # listings of handoffs name it
            continue
    return sorted(found)


def _unreadable(folder: str) -> Iterator[tuple[str, str]]:
    """Yield (path, reason) for the receipts in a folder that are torn, empty, malformed or closed to us."""
    for file_name in sorted(folders.names_in(folder)):
        parsed = receipts.parse_file_name(file_name)
        if parsed is None or parsed[1] not in ("", receipts.CONSUMED):
            continue
        path = handoffs.path_of(folder, *parsed)
        try:
            raw = steps.read(path)
        except DiskFailure as trouble:
            yield path, trouble.sentence
            continue
        if raw is None:  # consumed meanwhile
            continue
        found = receipts.read_receipt(parsed[0], raw)
        if found.problems and (found.is_malformed or not found.fields):
            yield path, found.problems[0]
