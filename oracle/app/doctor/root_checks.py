"""Checks of the Root: permissions, lock, leftovers, clock. Reads only."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime

from oracle.app.doctor.context import (
    FIX,
    Check,
    CheckContext,
    TreeEntry,
    capped,
    error,
    first_few,
    note,
    passed,
    quoted,
    warning,
)
from oracle.domain import timestamps
from oracle.errors import RootUnusable
from oracle.store.disk import folders
from oracle.store.root import lock
from oracle.store.root.in_the_way import find_fault
from oracle.store.root.layout import RECORD_TREES, SKIPPED_FOLDERS, Root
from oracle.wording import say, say_many

LONG_HELD = 300
"""Seconds after which a lock that is still held is called long: the longest command takes about a minute."""

TOLERANCE_NS = 60_000_000_000
"""How far ahead of the clock a time may be before it is called a time of the future."""

_EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)


# -- the Root and its permissions --------------------------------------------------------------------------------------


def check_root(root: Root) -> Check:
    """Check that the Root is a folder that only its owner may enter."""
    name, word = "root", quoted(root.path)
    if fault := find_fault(root.path):
        return error(name, *fault)
    if not os.path.lexists(root.path):
        return error(
            name,
            say("{path} does not exist", path=root.path),
            say("oracle init, or name another Root with --memory-dir"),
        )
    if foreign := why_no_root(root):
        return error(name, foreign, say("oracle init, or name another Root with --memory-dir"))
    status = os.stat(root.path)
    if folders.is_shared(status.st_mode) and not status.st_mode & 0o007 and os.access(root.path, os.W_OK):
        mode = stat.S_IMODE(status.st_mode)
        return passed(name, say("{path} is shared with its group, mode {mode:04o}", path=root.path, mode=mode))
    if status.st_uid != os.geteuid():
        we = os.geteuid()
        owner = say(
            "{path} belongs to user {owner}, not to you (user {we})", path=root.path, owner=status.st_uid, we=we
        )
        return warning(name, owner, say("Work as its owner, or sudo chown -R {we} {word}", we=we, word=word))
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o700 != 0o700:
        return error(
            name,
            say("{path} has mode {mode:04o}: its owner can't use it", path=root.path, mode=mode),
            f"chmod 700 {word}",
        )
    if mode & 0o077:
        return warning(
            name,
            say("{path} has mode {mode:04o}: others may look into it", path=root.path, mode=mode),
            f"chmod 700 {word}",
        )
    return passed(name, say("{path} belongs to you, mode {mode:04o}", path=root.path, mode=mode))


def why_no_root(root: Root) -> str:
    """Return why a folder that can be looked into is no Root and has nothing to examine, "" for one that is a Root."""
    if not os.access(root.path, os.R_OK | os.X_OK):
        return ""
    try:
        root.require()
    except RootUnusable as trouble:
        return trouble.sentence
    return ""


def check_readable(context: CheckContext) -> Iterator[Check]:
    """Report folders and files that we can't read."""
    yield from capped(_unreadable(context))


def _unreadable(context: CheckContext) -> Iterator[Check]:
    name = "readable"
    for path, reason in sorted(context.tree.unreadable.items()):
        yield error(
            name,
            say("{path}: the folder can't be read ({reason})", path=path or context.root.path, reason=reason),
            f"chmod u+rwx {quoted(context.root.join(path))}",
        )
    for entry in (*context.tree.entries, *context.tree.derived):
        if entry.is_link or entry.path in context.tree.unreadable:
            continue
        needed = 0o500 if entry.is_folder else 0o400
        is_ours = entry.status.st_uid == os.geteuid()
        absolute = context.root.join(entry.path)
        if (is_ours and entry.mode & needed != needed) or not os.access(absolute, os.R_OK):
            fix = f"chmod u+r{'wx' if entry.is_folder else 'w'} {quoted(absolute)}"
            detail = say("{path} can't be read (mode {mode:04o})", path=entry.path, mode=entry.mode)
            if not is_ours:
                detail = say(
                    "{path} can't be read (mode {mode:04o}, owner {owner})",
                    path=entry.path,
                    mode=entry.mode,
                    owner=entry.status.st_uid,
                )
            yield error(name, detail, fix if is_ours else f"sudo {fix}")


def check_private(context: CheckContext) -> Iterator[Check]:
    """Report facts about the machine, and derived files, that others may read."""
    strangers = folders.strangers(context.root.path)
    facts = [
        entry
        for entry in context.tree.entries
        if entry.is_file
        and entry.path.startswith("machine/")
        and entry.name.endswith(".json")
        and entry.mode & strangers
    ]
    for entry in facts:
        fix = f"chmod 600 {quoted(context.root.join(entry.path))}"
        yield warning(
            "private facts",
            say("{path} has mode {mode:04o}; it may hold credentials", path=entry.path, mode=entry.mode),
            fix,
        )


def check_private_derived(context: CheckContext) -> Iterator[Check]:
    """Report derived files that others may read: they quote the records. In a closed Root nobody reaches them."""
    found = [entry.path for entry in open_derived(context)]
    if found:
        yield warning(
            "private index",
            say_many(
                "{n} derived file may be read by others: {names}",
                "{n} derived files may be read by others: {names}",
                n=len(found),
                names=first_few(found),
            ),
            FIX,
        )


def open_derived(context: CheckContext) -> list[TreeEntry]:
    """Return our derived files and folders that others may reach; none in a closed Root."""
    strangers = folders.strangers(context.root.path)
    if not os.stat(context.root.path).st_mode & strangers:
        return []
    return [
        entry
        for entry in context.tree.derived
        if not entry.is_link and entry.mode & strangers and entry.status.st_uid == os.geteuid()
    ]


_REPORTED = ("events.log", "index.json", "machine/privacy.md", "config.toml")
"""Files that are errors, or that the check of their content reports, if they are not plain ones."""


def check_shapes(context: CheckContext) -> Iterator[Check]:
    """Report paths of the layout that are something else than a file or folder. Pipes and devices are never read."""
    folders = {*SKIPPED_FOLDERS, *RECORD_TREES, "machine", "responses"} - {"_index"}
    for name in sorted(folders):
        if os.path.lexists(context.root.join(name)) and not os.path.isdir(context.root.join(name)):
            yield error(
                "shapes",
                say("{name} is not a folder", name=name),
                say("Move it away: {path}", path=quoted(context.root.join(name))),
            )
    for path in (context.root.events, context.root.catalogue, context.root.database):
        if os.path.lexists(path) and not os.path.isfile(path) and not _is_named_elsewhere(path, context.root):
            yield error(
                "shapes", say("{path} is not a plain file", path=path), say("Move it away: {path}", path=quoted(path))
            )
    odd = [entry for entry in context.tree.entries if not (entry.is_file or entry.is_folder or entry.is_link)]
    yield from capped(
        warning(
            "shapes",
            say("{path} is not a plain file", path=entry.path),
            f"rm {quoted(context.root.join(entry.path))}",
        )
        for entry in odd
        if entry.parts[0] not in RECORD_TREES and entry.path not in _REPORTED
    )


def _is_named_elsewhere(path: str, root: Root) -> bool:
    """Return whether `shapes` says more of it: a folder in the place of a derived file."""
    return path == root.database and os.path.isdir(path) and not os.path.islink(path)


# -- the lock ----------------------------------------------------------------------------------------------------------


def _closed_lock(root: Root) -> Check:
    if os.path.isfile(root.lock) and os.statvfs(root.path).f_flag & os.ST_RDONLY:
        return passed("lock", say("not needed: nothing can be written on a read-only mount"))
    return error(
        "lock",
        say("{lock} can't be opened for writing", lock=root.lock),
        say("rm -r {lock}, or work as its owner", lock=quoted(root.lock)),
    )


def check_lock(context: CheckContext) -> Iterator[Check]:
    """Check whether the write lock is free, who holds it, and for how long."""
    root = context.root
    if not os.path.lexists(root.lock):
        yield passed("lock", say("free (nobody has written here yet)"))
        return
    if not os.path.isfile(root.lock) or not os.access(root.lock, os.R_OK | os.W_OK):
        yield _closed_lock(root)
        return
    if not is_locked(root):
        yield passed("lock", say("free"))
        return
    since, pid = _holder(root)
    holder = lock.describe_holder(root)
    if since and context.now_ns / 1e9 - since > LONG_HELD:
        look = say("ps -fp {pid}; if it hangs, kill {pid} (no record is lost)", pid=pid)
        yield warning(
            "lock",
            say(
                "held by {holder}, since {moment}Z",
                holder=holder,
                moment=f"{datetime.fromtimestamp(since, UTC):%Y-%m-%d %H:%M:%S}",
            ),
            look,
        )
    else:
        yield note("lock", say("held by {holder}", holder=holder))


def is_locked(root: Root) -> bool:
    """Return whether somebody holds the write lock. A lock that can't be read (see `check_lock`) counts as free."""
    try:
        return lock.is_held(root.lock)
    except OSError:
        return False


def _holder(root: Root) -> tuple[float, int]:
    try:
        with open(root.lock, "rb") as stream:
            told = json.loads(stream.read(4096) or b"null")
        return float(told["since"]), int(told["pid"])
    except (OSError, ValueError, TypeError, KeyError):
        return 0.0, 0


def check_scratch(context: CheckContext) -> Iterator[Check]:
    """Report scratch files of a writer that died. While the lock is held they may be in use."""
    before = scratch_files(context.root)
    if before and not is_locked(context.root):
        left = sorted(before & scratch_files(context.root))
        if left:
            yield warning(
                "scratch",
                say_many(
                    "{n} file left by a writer that died in _state/tmp: {names}",
                    "{n} files left by a writer that died in _state/tmp: {names}",
                    n=len(left),
                    names=first_few(left),
                ),
                FIX,
            )


def scratch_files(root: Root) -> set[str]:
    """Return the names in the scratch folder."""
    try:
        return set(os.listdir(root.scratch))
    except OSError:
        return set()


# -- clock -------------------------------------------------------------------------------------------------------------


def check_clock(context: CheckContext) -> Iterator[Check]:
    """Compare the clock of the system with the year and with the newest record."""
    now = timestamps.from_mtime(context.now_ns)
    fix = say("Set the clock (timedatectl, ntpd); names and dates of records come from it")
    if now < timestamps.print_moment(_EARLIEST):
        yield error("clock", say("the system says {now}", now=now), fix)
        return
    limit = timestamps.from_mtime(context.now_ns + TOLERANCE_NS)
    newest = (
        context.index.truth.connect()
        .execute("SELECT sort_ts, path FROM record WHERE sort_ts > ? ORDER BY sort_ts DESC, path", (limit,))
        .fetchall()
    )
    for ts, path in newest[:1]:
        detail = say(
            "the system says {now}, {path}:1 is dated {ts} (records ahead of the clock: {count})",
            now=now,
            path=path,
            ts=ts,
            count=len(newest),
        )
        yield warning(
            "clock", detail, say("{fix}; or write a record that supersedes the one with the wrong date", fix=fix)
        )


def check_mtimes(context: CheckContext) -> Iterator[Check]:
    """Report files and folders changed in the future: their folder is scanned every time."""
    limit = context.now_ns + TOLERANCE_NS
    ahead = [entry for entry in context.tree.entries if entry.status.st_mtime_ns > limit]
    yield from capped(
        warning(
            "times",
            say(
                "{path} was changed in the future: {moment}",
                path=entry.path,
                moment=timestamps.from_mtime(entry.status.st_mtime_ns) or say("beyond all dates"),
            ),
            f"touch {quoted(context.root.join(entry.path))}",
        )
        for entry in ahead
    )
