"""Change a file that other programs write too, so that no change of theirs is lost.

Another program does not take our locks. So the new content is exchanged with the file, and what comes out is compared with what
was read. A program that has the old file open for writing is waited for; the lines that it appended follow the new content.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from oracle.errors import Conflict
from oracle.store.disk import files, steps
from oracle.wording import say

_TRIES = 20
_PATIENCE, _POLL, _GRACE, _LONG_PATIENCE = 1.0, 0.002, 0.02, 10.0
"""Seconds to wait for a program that writes the old file, and between two looks at it. Then: where nobody can tell whether a
program writes it, and for a program that appends again and again."""

_SET_SIGNAL, _HARMLESS = 10, 23
"""F_SETSIG and SIGURG of Linux: a broken lease sends SIGIO otherwise, which ends the process."""


def change(path: str, alter: Callable[[bytes | None], bytes]) -> bool:
    """Replace the content of a file by the result of `alter`, and sync it. Returns whether it changed.

    `alter` gets None for a missing file, and is called again if another program changes the file meanwhile. The mode is
    kept. Raises Conflict for a file that keeps changing, DiskFailure, and what `alter` raises.
    """
    for _ in range(_TRIES):
        before = _read_settled(path)
        after = alter(before)
        if after == (before or b""):
            return False
        late = _put(path, before, after)
        if late is not None:
            _append(path, late)
            return True
    raise Conflict(
        say("{path} keeps changing; it was left as it is.", path=path),
        hint=say("Another program writes it. Try again in a moment."),
    )


def _put(path: str, before: bytes | None, after: bytes) -> bytes | None:
    """Put new content in the place of the old, unless the file has other content by now: then return None.

    Returns what was appended to the old file meanwhile and is not in the new one.
    """
    if before is None:
        return b"" if steps.create_once(path, after) else None
    folder = os.path.dirname(path)
    with files.failing(path):
        new = steps.write_hidden(folder, after)
        try:
            steps.keep_mode(path, new)
            if not (steps.read(path) or b"").startswith(before):
                return None
            late = _exchange(path, new, before)
        finally:
            files.discard(new)
        files.sync_folder(folder)
    return late


def _exchange(path: str, new: str, before: bytes) -> bytes | None:
    """Put the new file in the place of the old. Returns what was appended to the old one meanwhile.

    If the old one was changed in another way, it is put back, and None returned.
    """
    is_exchanged = steps.exchange(new, path)
    old = new if is_exchanged else _replace(path, new)
    content = _read_settled(old) or b""
    late = content[len(before) :] if content.startswith(before) else None
    if late is None:
        if is_exchanged:
            steps.exchange(new, path)
        else:
            files.rename(old, path)
    elif not is_exchanged:
        files.discard(old)
    return late


def _append(path: str, lines: bytes) -> None:
    """Append lines, but not between two writes of another program, unless it never pauses."""
    end = time.monotonic() + _LONG_PATIENCE
    while lines and time.monotonic() < end:
        before = _read_settled(path)
        late = _put(path, before, _with_lines(before or b"", lines))
        lines = lines if late is None else late
    if lines:
        files.append_line(path, lines)


def _with_lines(raw: bytes, lines: bytes) -> bytes:
    return raw + b"\n" * (not raw.endswith(b"\n")) + lines if raw else lines


def _replace(path: str, new: str) -> str:
    """Rename the new file over the old, where names cannot be exchanged. Returns another name of the old one."""
    old = f"{new}.old"
    try:
        files.link(path, old)
    except OSError:
        files.write_new(old, steps.read(path) or b"")  # no file can have two names: the last look at the old one
    files.rename(new, path)
    return old


def _read_settled(path: str) -> bytes | None:
    """Return the content of a file while no program has it open for writing, or as it is after a while."""
    end = time.monotonic() + _PATIENCE
    while True:
        with _lease(path) as is_quiet:
            if is_quiet or time.monotonic() >= end:
                return steps.read(path)
            if is_quiet is None and time.monotonic() >= end - _PATIENCE + _GRACE:
                return steps.read(path)
        time.sleep(_POLL)


@contextmanager
def _lease(path: str) -> Iterator[bool | None]:
    """Keep others from opening a file for writing. Yields False if a program has it open so, None if nobody can tell.

    Linux gives no lease on such a file, and lets an opener wait for the end of a lease.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:  # no file has no writer
        yield True
        return
    try:
        yield _take_lease(handle)
    finally:
        os.close(handle)


def _take_lease(handle: int) -> bool | None:
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    try:
        fcntl.fcntl(handle, _SET_SIGNAL, _HARMLESS)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return False
    except OSError:  # a file system without leases, or a file of another user
        return None
    return True
