"""Checks of the machine: file system and programs. Reads only."""

from __future__ import annotations

import errno
import fcntl
import os
import platform
from collections.abc import Iterator

from oracle.app.doctor.context import Check, CheckContext, error, note, passed, quoted, warning
from oracle.app.prompting.rest import resting
from oracle.index.db import Corrupt, Database
from oracle.store.root.layout import Root
from oracle.wording import say

_LEAST_BYTES = 50 * 1024 * 1024
_REMOTE = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "drvfs",
    "sshfs",
    "fuse.sshfs",
    "afpfs",
    "webdav",
    "davfs",
    "glusterfs",
    "ceph",
    "lustre",
    "virtiofs",
)
_LINKLESS = ("vfat", "msdos", "exfat", "fat")


def check_flock(context: CheckContext) -> Iterator[Check]:
    """Check that the file system supports flock: by the lock file if it exists, else by the kind of file system."""
    fix = say("Keep the Root on a local file system")
    kind = file_system_of(context.root.path)
    if os.path.isfile(context.root.lock):
        reason = _try_flock(context.root.lock)
        if reason:
            yield error(
                "flock",
                say(
                    "the file system of {path} ({kind}) knows no flock: {reason}",
                    path=context.root.path,
                    kind=kind or say("unknown"),
                    reason=reason,
                ),
                fix,
            )
            return
    if is_remote(kind):
        yield warning(
            "flock",
            say(
                "{path} is on {kind}: locks of other machines may not be seen, and SQLite's log needs shared memory",
                path=context.root.path,
                kind=kind,
            ),
            fix,
        )


def _try_flock(path: str) -> str:
    """Return why a shared lock can't be taken, or "". If somebody holds an exclusive lock, locks work."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as trouble:
        if trouble.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
            return trouble.strerror or str(trouble)
    finally:
        os.close(handle)
    return ""


def check_prompt_hook(context: CheckContext) -> Iterator[Check]:
    """Report that the prompt hook is silent, because it missed deadlines."""
    found = resting(context.root, context.now_ns)
    if found:
        yield warning("prompt hook", *found)


def is_remote(kind: str) -> bool:
    """Return whether a kind of file system is written by other machines or the host, so that changes go unreported."""
    return kind.startswith(_REMOTE)


def file_system_of(path: str, mounts: str = "/proc/mounts") -> str:
    """Return the kind of the file system of `path` (ext4, nfs4, 9p, …), or "" where the system does not say."""
    real = os.path.realpath(path)
    kind, longest = "", -1
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                words = line.split(" ")
                point = words[1].encode().decode("unicode_escape") if "\\" in words[1] else words[1]
                if (real + "/").startswith(point.rstrip("/") + "/") and len(point) >= longest:
                    kind, longest = words[2], len(point)
    except (OSError, IndexError, ValueError):
        return kind
    return kind


def check_file_system(context: CheckContext) -> Iterator[Check]:
    """Check space, inodes, a read-only mount, and what the file system can't do."""
    path = context.root.path
    seen = os.statvfs(path)
    if seen.f_flag & os.ST_RDONLY:
        yield error(
            "disk",
            say(
                "{path} is mounted read-only: nothing can be written, every command builds its index in memory",
                path=path,
            ),
            say("mount -o remount,rw, or copy {path}", path=quoted(path)),
        )
    yield from _check_room(context, seen)
    if file_system_of(path).startswith(_LINKLESS):
        yield note(
            "disk",
            say(
                "{path} is on a file system without hard links; records are created by a rename, which only "
                "the write lock makes safe",
                path=path,
            ),
        )
    if _folds_case(path):
        yield note(
            "disk",
            say(
                "{path} is on a file system that takes a.md and A.md for one file; such slugs can't both exist",
                path=path,
            ),
        )


def _check_room(context: CheckContext, seen: os.statvfs_result) -> Iterator[Check]:
    path = context.root.path
    free = seen.f_bavail * seen.f_frsize
    if free < _LEAST_BYTES or seen.f_bavail * 100 < seen.f_blocks:
        yield warning(
            "disk",
            say("{free} MiB are free where {path} is", free=free // 1024 // 1024, path=path),
            say(
                "Free some space; the index and the vectors are made again when they are gone: rm -f {caches}",
                caches=" ".join(f"{quoted(path)}*" for path in (context.root.database, context.root.vectors)),
            ),
        )
    if seen.f_files and seen.f_favail * 100 < seen.f_files:
        yield warning(
            "disk",
            say(
                "{free} of {all} inodes are free where {path} is",
                free=seen.f_favail,
                all=seen.f_files,
                path=path,
            ),
            say("Remove small files elsewhere on this disk"),
        )


def _folds_case(path: str) -> bool:
    parent, name = os.path.split(os.path.realpath(path))
    other = os.path.join(parent, name.swapcase())
    if other == os.path.join(parent, name):
        return False
    try:
        return os.path.samestat(os.lstat(path), os.lstat(other))
    except OSError:
        return False


def check_programs(_: CheckContext) -> Iterator[Check]:
    """Tell the versions of Python and SQLite, and whether SQLite has the full-text index that we need."""
    database = Database(Root("/"))
    database.use_memory()
    version = database.connect().execute("SELECT sqlite_version()").fetchone()[0]
    detail = f"Python {platform.python_version()}, SQLite {version}"
    try:
        database.connect().execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except Corrupt as trouble:
        yield error(
            "programs",
            say("{detail} without FTS5 ({trouble})", detail=detail, trouble=trouble),
            say("Use a Python whose sqlite3 has FTS5 (python.org, Debian, Homebrew)"),
        )
    else:
        yield passed("programs", say("{detail} with FTS5", detail=detail))
    finally:
        database.close()
