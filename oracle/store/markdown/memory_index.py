"""An agent's MEMORY.md, which is outside the Root: move merged entries into archives beside it.

It is only changed when a person names it. The archives are written first and hold each entry once, so that a process
that dies loses and repeats nothing. Then the old index is copied, and the new one replaces it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime

from oracle.domain.delivery import compaction
from oracle.domain.delivery.compaction import Merged
from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.store.disk import steps
from oracle.wording import say


@value
class Archived:
    """What was moved, or would be. In a rehearsal, `backup` and `archives` are empty."""

    path: str
    merged: tuple[Merged, ...]
    lines_after: int
    backup: str = ""
    archives: tuple[str, ...] = ()


def find(given: str, environ: Mapping[str, str], *, home: str) -> str:
    """Return the MEMORY.md to use: the named one, that of the environment, that of this folder, or Claude Code's only one.

    Raises UsageError for none and for several.
    """
    named = given or environ.get("CLAWSEAT_MEMORY_MD", "")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    if os.path.isfile("MEMORY.md"):
        return os.path.abspath("MEMORY.md")
    projects = f"{home}/.claude/projects"
    names = sorted(os.listdir(projects)) if os.path.isdir(projects) else []
    places = [f"{projects}/{name}{below}/MEMORY.md" for name in names for below in ("", "/memory")]
    found = [path for path in places if os.path.isfile(path)]
    if len(found) == 1:
        return found[0]
    several = say("{count} files match: {first}.", count=len(found), first=found[:5])
    raise UsageError(several if found else say("There is no MEMORY.md here."), hint=say("Name it with --memory-path."))


def rehearse(path: str, *, period: str) -> Archived:
    """Return what would be moved. Raises UsageError for a missing file, or one that is not UTF-8."""
    after, merged = compaction.archive_merged(_read(path), period=period)
    return Archived(path, merged, len(after.splitlines()))


def archive(path: str, *, period: str, moment: datetime) -> Archived:
    """Move merged entries. Raises UsageError, LockTimeout, DiskFailure."""
    with steps.FileLock(path):
        before = _read(path)
        after, merged = compaction.archive_merged(before, period=period)
        if not merged:
            return Archived(path, (), len(after.splitlines()))
        folder = os.path.dirname(path)
        archives = tuple(f"{folder}/{name}" for name in dict.fromkeys(one.archive for one in merged))
        for archived in archives:
            mine = tuple(one for one in merged if f"{folder}/{one.archive}" == archived)
            title = os.path.basename(archived).removesuffix(".md")
            text = _read(archived) if os.path.exists(archived) else ""
            steps.replace(archived, compaction.add_to_archive(text, mine, title=title).encode())
        backup = f"{path}.bak.{moment:%Y%m%dT%H%M%S%fZ}"
        steps.create_once(backup, before.encode())
        steps.replace(path, after.encode())
    return Archived(path, merged, len(after.splitlines()), backup, archives)


def _read(path: str) -> str:
    raw = steps.read(path)
    if raw is None:
        raise UsageError(say("There is no {path}.", path=path), hint=say("Name it with --memory-path."))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            say("{path} is not UTF-8 at byte {start}.", path=path, start=error.start), hint=say("Convert it first.")
        ) from error
