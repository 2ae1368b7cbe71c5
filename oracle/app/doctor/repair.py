"""Repair derived data: index, projections, published files, leftovers, modes. Records are never touched.

What can't be repaired is a line that begins with "not repaired". Nothing is raised for it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress

from oracle.app.context import Context
from oracle.app.doctor import index, layout, root_checks
from oracle.app.doctor.context import CheckContext, TreeEntry, first_few, one_line
from oracle.app.doctor.diagnosis import ABSENT, DAMAGED, Diagnosis, diagnose
from oracle.app.records.publish import publish_all
from oracle.errors import OracleError
from oracle.index.db import Corrupt
from oracle.index.write import projection_checks, projections
from oracle.store.disk import files, folders
from oracle.wording import joined, say, say_many

_OWNER_ONLY = 0o700
_EMPTIED = ("_links", "_backlinks", "_state/tmp")
"""Folders from which files are removed that belong to nothing."""


def repair(context: Context, *, patience: float | None = None) -> list[str]:
    """Repair derived data under the write lock, waiting `patience` seconds; return a line for each repair. Raises RootUnusable."""
    context.root.require()
    reachable = root_checks.open_derived(CheckContext(context.root, context.clock.now_ns()))
    lines = _close_root(context)
    outside = [name for name in _EMPTIED if not context.root.contains(context.root.join(name))]
    if outside:
        links = joined(" and ", outside)
        return [*lines, say("not repaired: {links} lead out of the Root, where nothing is ours to remove", links=links)]
    try:
        with context.index.lock(patience):
            lines += _repair_scratch(context)
            lines += _repair_shapes(context)
            lines += _attempt(lambda: _repair_index(context))
            lines += _close_derived(context, reachable)
        lines += _repair_published(context)
    except OracleError as trouble:
        lines.append(_failed(trouble))
    except (OSError, Corrupt) as trouble:
        lines.append(_not_repaired(str(trouble)))
    return lines


def _attempt(step: Callable[[], list[str]]) -> list[str]:
    """Do one step. Its failure does not stop the next ones."""
    try:
        return step()
    except OracleError as trouble:
        return [_failed(trouble)]


def _failed(trouble: OracleError) -> str:
    return _not_repaired(say("{what} {hint}", what=trouble.sentence, hint=trouble.hint))


def _not_repaired(why: str) -> str:
    return one_line(say("not repaired: {why}", why=why))


def _close_root(context: Context) -> list[str]:
    """Set the mode of the Root to 0700 if we own it."""
    path = context.root.path
    status = os.stat(path)
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.geteuid() or mode & 0o777 == _OWNER_ONLY or mode == folders.SHARED_MODE:
        return []
    try:
        os.chmod(path, _OWNER_ONLY)
    except OSError as trouble:
        return [
            _not_repaired(say("{path} keeps mode {mode:04o} ({reason})", path=path, mode=mode, reason=trouble.strerror))
        ]
    return [one_line(say("{path}: mode {mode:04o} is now 0700", path=path, mode=mode))]


def _repair_scratch(context: Context) -> list[str]:
    removed = folders.empty(context.root.scratch)
    told = say_many(
        "_state/tmp: removed {n} file left by a writer that died",
        "_state/tmp: removed {n} files left by a writer that died",
        n=removed,
    )
    return [told] if removed else []


def _repair_shapes(context: Context) -> list[str]:
    """Remove empty folders where a derived file belongs. Folders that hold files stay."""
    lines = []
    for entry, path in layout.folders_in_the_way(CheckContext(context.root, context.clock.now_ns())):
        try:
            if not layout.is_hollow(path):
                lines.append(_not_repaired(say("{path} is a folder that holds files; move it away", path=entry.path)))
                continue
            layout.remove_hollow(path)
            lines.append(one_line(say("{path}: removed an empty folder; a file belongs there", path=entry.path)))
        except OSError as trouble:
            lines.append(_not_repaired(say("{path}: {reason}", path=entry.path, reason=trouble.strerror)))
    return lines


def _repair_index(context: Context) -> list[str]:
    found = diagnose(context.root, now_ns=context.clock.now_ns())
    if found.emptied:
        how = say("If the records were really removed, run `oracle index reconcile --accept-removals`.")
        return [_not_repaired(say("{what} {hint}", what=found.emptied, hint=how))]
    if found.state == DAMAGED:
        context.index.database.discard()
    lines = []
    if found.needs_rebuild or found.state == ABSENT or found.behind or found.dirty:
        report = context.index.reconcile_held(full=True, rebuild=found.needs_rebuild)
        why = _why(found)
        rebuilt, updated = say("index: {why}; rebuilt", why=why), say("index: {why}; brought up to date", why=why)
        lines.append(one_line(rebuilt if report.rebuilt else updated))
    return lines + _repair_projections(context, found)


def _why(found: Diagnosis) -> str:
    if found.wrong:
        return say("{count} differed from a rebuild ({names})", count=len(found.wrong), names=first_few([*found.wrong]))
    if found.reason:
        return found.reason
    if found.state == ABSENT:
        return say("there was none")
    parts = (
        [say_many("{n} change on disk was not in it", "{n} changes on disk were not in it", n=found.behind)]
        if found.behind
        else []
    )
    parts += (
        [say_many("{n} projection was not printed", "{n} projections were not printed", n=found.dirty)]
        if found.dirty
        else []
    )
    return joined(" and ", parts)


def _repair_projections(context: Context, found: Diagnosis) -> list[str]:
    connection = context.index.database.connect()
    if projection_checks.differences(connection, context.root):
        projections.print_all(connection, context.root)
    if not found.stale:
        return []
    stale = [os.path.relpath(path, context.root.path) for path in found.stale]
    return [
        one_line(
            say_many(
                "projections: repaired {n} missing, stale or stray file ({names})",
                "projections: repaired {n} missing, stale or stray files ({names})",
                n=len(stale),
                names=first_few(stale),
            )
        )
    ]


def _close_derived(context: Context, reachable: list[TreeEntry]) -> list[str]:
    """Close derived files that others could read while the Root was open."""
    for entry in reachable:
        with suppress(FileNotFoundError):
            files.set_mode(context.root.join(entry.path), entry.mode & ~folders.strangers(context.root.path))
    return [say("modes: {count} only the owner can read derived files now", count=len(reachable))] if reachable else []


def _repair_published(context: Context) -> list[str]:
    torn = [path for path, _ in index.torn_files(CheckContext(context.root, context.clock.now_ns()))]
    if not torn:
        return []
    publish_all(context)
    return [one_line(say("published: {names} held no JSON; published again", names=first_few(torn)))]
