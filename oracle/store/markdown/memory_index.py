"""An agent's MEMORY.md, which is outside the Root: move merged entries into archives beside it.

It is only changed when a person names it. The archives are written first and hold each entry once, so that a process
that dies loses and repeats nothing. Then the old index is copied, and the new one replaces it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from oracle.domain.delivery import compaction
from oracle.domain.delivery.compaction import Merged
from oracle.domain.values import replace, value
from oracle.errors import UsageError
from oracle.store.disk import folders, rewriting, steps
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
    """Return the named MEMORY.md, that of the environment, of this folder, or Claude Code's only one. Raises UsageError."""
    named = given or environ.get("CLAWSEAT_MEMORY_MD", "")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    if os.path.isfile("MEMORY.md"):
        return os.path.abspath("MEMORY.md")
    projects = f"{home}/.claude/projects"
    names = folders.names_in(projects)
    places = [f"{projects}/{name}{below}/MEMORY.md" for name in names for below in ("", "/memory")]
    found = [path for path in places if os.path.isfile(path)]
    if len(found) == 1:
        return found[0]
    several = say("{count} files match: {first}.", count=len(found), first=found[:5])
    raise UsageError(several if found else say("There is no MEMORY.md here."), hint=say("Name it with --memory-path."))


def rehearse(path: str, *, period: str) -> Archived:
    """Return what would be moved. Raises UsageError for a missing file, or one that is not UTF-8."""
    after, merged = compaction.archive_merged(_decode(path, steps.read(path)), period=period)
    return Archived(path, merged, len(after.splitlines()))


def archive(path: str, *, period: str, moment: datetime) -> Archived:
    """Move merged entries. Raises UsageError, LockTimeout, DiskFailure."""
    real = os.path.realpath(path)
    backup = f"{path}.bak.{moment:%Y%m%dT%H%M%S%fZ}"
    outcome = Archived(path, (), 0)

    def alter(raw: bytes | None) -> bytes:
        nonlocal outcome
        before = _decode(path, raw)
        after, merged = compaction.archive_merged(before, period=period)
        outcome = Archived(path, merged, len(after.splitlines()))
        if merged:
            outcome = replace(outcome, backup=backup, archives=tuple(_add_to_archives(path, merged)))
            steps.replace(backup, before.encode())
        return after.encode() if merged else before.encode()

    with steps.FileLock(real):
        rewriting.change(real, alter)
    return outcome


def _add_to_archives(path: str, merged: Sequence[Merged]) -> Iterator[str]:
    """Add entries to their archives, once each. Yields the paths of the archives."""
    for name in dict.fromkeys(one.archive for one in merged):
        archive = f"{os.path.dirname(path)}/{name}"
        mine = tuple(one for one in merged if one.archive == name)
        rewriting.change(archive, partial(_with_entries, archive, mine))
        yield archive


def _with_entries(archive: str, mine: tuple[Merged, ...], raw: bytes | None) -> bytes:
    text = "" if raw is None else _decode(archive, raw)
    title = os.path.basename(archive).removesuffix(".md")
    return compaction.add_to_archive(text, mine, title=title).encode()


def _decode(path: str, raw: bytes | None) -> str:
    if raw is None:
        raise UsageError(say("There is no {path}.", path=path), hint=say("Name it with --memory-path."))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            say("{path} is not UTF-8 at byte {start}.", path=path, start=error.start), hint=say("Convert it first.")
        ) from error
