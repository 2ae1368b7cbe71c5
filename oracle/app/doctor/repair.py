"""Put right what is derived: index, projections, published files, leftovers, their modes. The truth is never touched.

What can't be put right comes back as a line that begins with "not repaired"; nothing is raised for it.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from oracle.app.doctor import ground, index
from oracle.app.doctor.checks import first_few, one_line
from oracle.app.doctor.diagnosis import ABSENT, DAMAGED, Diagnosis, diagnose
from oracle.app.doctor.patient import Patient
from oracle.app.doctor.tree import Entry
from oracle.app.oracle import Oracle
from oracle.errors import OracleError
from oracle.index import projections
from oracle.index.db import Corrupt
from oracle.store import files

_OWNER_ONLY = 0o700
_EMPTIED = ("_links", "_backlinks", "_state/tmp")
"""Folders from which files are removed that belong to nothing."""


def repair(oracle: Oracle, *, patience: float | None = None) -> list[str]:
    """Repair derived data under the write lock and return what was done, one line each; [] when all was well.

    `patience` is in seconds, None as long as a writer waits. Raises RootUnusable when there is no Root.
    """
    oracle.root.require()
    reachable = ground.open_derived(Patient(oracle.root, oracle.clock.now_ns()))
    lines = _close_root(oracle)
    outside = [name for name in _EMPTIED if not oracle.root.contains(oracle.root.join(name))]
    if outside:
        links = " and ".join(outside)
        return [*lines, one_line(f"not repaired: {links} lead out of the Root, where nothing is ours to remove")]
    try:
        with oracle.index.lock(patience):
            lines += _repair_scratch(oracle)
            lines += _repair_index(oracle)
            lines += _close_derived(oracle, reachable)
        lines += _repair_published(oracle)
    except OracleError as trouble:
        lines.append(one_line(f"not repaired: {trouble.sentence} {trouble.hint}"))
    except (OSError, Corrupt) as trouble:
        lines.append(one_line(f"not repaired: {trouble}"))
    return lines


def _close_root(oracle: Oracle) -> list[str]:
    """Give a Root of ours the mode 0700."""
    path = oracle.root.path
    status = os.stat(path)
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.geteuid() or mode & 0o777 == _OWNER_ONLY:
        return []
    try:
        os.chmod(path, _OWNER_ONLY)
    except OSError as trouble:
        return [one_line(f"not repaired: {path} keeps mode {mode:04o} ({trouble.strerror})")]
    return [one_line(f"{path}: mode {mode:04o} is now 0700")]


def _repair_scratch(oracle: Oracle) -> list[str]:
    removed = files.empty_folder(oracle.root.scratch)
    return [f"_state/tmp: {removed} files that a dead writer left are removed"] if removed else []


def _repair_index(oracle: Oracle) -> list[str]:
    found = diagnose(oracle.root, now_ns=oracle.clock.now_ns())
    if found.emptied:
        how = "If the records were really removed, run `oracle reconcile --accept-removals`."
        return [one_line(f"not repaired: {found.emptied} {how}")]
    if found.state == DAMAGED:
        oracle.index.database.discard()
    lines = []
    if found.needs_rebuild or found.state == ABSENT or found.behind or found.dirty:
        report = oracle.index.reconcile_held(full=True, rebuild=found.needs_rebuild)
        lines.append(one_line(f"index: {_why(found)}; {'rebuilt' if report.rebuilt else 'brought up to date'}"))
    return lines + _repair_projections(oracle, found)


def _why(found: Diagnosis) -> str:
    if found.wrong:
        return f"{len(found.wrong)} differed from a rebuild ({first_few(list(found.wrong))})"
    if found.reason:
        return found.reason
    if found.state == ABSENT:
        return "there was none"
    parts = [f"{found.behind} changes on disk were not in it"] if found.behind else []
    return " and ".join([*parts, f"{found.dirty} projections were not printed"] if found.dirty else parts)


def _repair_projections(oracle: Oracle, found: Diagnosis) -> list[str]:
    connection = oracle.index.database.connect()
    if projections.differences(connection, oracle.root):
        projections.print_all(connection, oracle.root)
    if not found.stale:
        return []
    stale = [os.path.relpath(path, oracle.root.path) for path in found.stale]
    return [one_line(f"projections: {len(stale)} missing, stale or stray files are put right ({first_few(stale)})")]


def _close_derived(oracle: Oracle, reachable: list[Entry]) -> list[str]:
    """Take from others what they could reach while the Root stood open; what was made anew meanwhile is closed."""
    for entry in reachable:
        with suppress(FileNotFoundError):
            os.chmod(oracle.root.join(entry.path), entry.mode & _OWNER_ONLY)
    return [f"modes: {len(reachable)} derived files are for their owner alone now"] if reachable else []


def _repair_published(oracle: Oracle) -> list[str]:
    torn = [path for path, _ in index.torn_files(Patient(oracle.root, oracle.clock.now_ns()))]
    if not torn:
        return []
    oracle.publish()
    return [one_line(f"published: {first_few(torn)} held no JSON; published anew")]
