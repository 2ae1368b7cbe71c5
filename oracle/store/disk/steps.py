"""Steps on disk that need no write lock: create a file once, replace one durably, lock a single file.

They serve files that several processes write at the same time: receipts, responses, the inbox, the task tree. A file
gets its name only when it is complete and synced. A process that dies leaves at most a hidden `.new-…` file.

Derived files that are many or large are written here too, unsynced: after a crash they are printed again from the index.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache

from oracle.errors import DiskFailure, LockTimeout
from oracle.store.disk import files, folders
from oracle.wording import Sentence, say

LOCK_TIMEOUT = 30.0
"""Seconds to wait for the lock of one file."""

MOST_BYTES = 64 << 20
"""The largest file in bytes that is read or written."""

_CHUNK = 1 << 16
_HIDDEN = ".new-"
_POLL, _SLOWEST_POLL = 0.002, 0.05


@contextmanager
def folders_synced_once() -> Iterator[None]:
    """Sync the folders that a block changes once each, at its end. Until then a crash of the host may undo any of its steps.

    Raises DiskFailure.
    """
    changed: dict[str, None] = {}
    try:
        with folders.syncs_put_off(changed):
            yield
    finally:
        for path in changed:
            with files.failing(path):
                files.sync_folder(path)


def create_once(path: str, data: bytes, *, syncs: bool = True) -> bool:
    """Create `path` with `data`, unless it exists; one of any number of processes gets True. Raises DiskFailure.

    `syncs` is False for what may be lost, or left empty, when the host crashes.
    """
    folder = os.path.dirname(path)
    with files.failing(path):
        new = write_hidden(folder, data, syncs=syncs)
        try:
            created = _give_name(new, path)
        finally:
            files.discard(new)
        if syncs:
            files.sync_folder(folder)
    return created


def replace(path: str, data: bytes) -> None:
    """Replace `path` atomically and sync it; a reader sees the old bytes or the new ones. The mode is kept."""
    folder = os.path.dirname(path)
    with files.failing(path):
        new = write_hidden(folder, data)
        try:
            keep_mode(path, new)
            files.rename(new, path)
        except BaseException:
            files.discard(new)
            raise
        files.sync_folder(folder)


def link_once(source: str, path: str) -> bool:
    """Give a file a second name unless that name is taken. Returns whether this call did. Raises FileNotFoundError."""
    try:
        created = _give_name(source, path)
        files.sync_folder(os.path.dirname(path))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise files.disk_failure(path, error) from error
    return created


def rename(path: str, new: str) -> None:
    """Rename a file within its folder and sync that. A file with the new name is replaced. Raises DiskFailure."""
    with files.failing(path):
        files.rename(path, new)
        files.sync_folder(os.path.dirname(new))


def remove(path: str) -> None:
    """Remove a file and sync that. A missing one is no error."""
    try:
        files.unlink(path)
        files.sync_folder(os.path.dirname(path))
    except FileNotFoundError:
        return
    except OSError as error:
        raise files.disk_failure(path, error) from error


class NotPlain(DiskFailure):
    """A pipe, a socket, a device, a folder or an endless file is in the place of a regular file."""

    def __init__(self, path: str, reason: Sentence | None = None) -> None:
        super().__init__(
            say("{path} can't be read: {reason}.", path=path, reason=reason or say("it is not a regular file")),
            hint=say("Check it, then remove or rename it."),
        )


def read(path: str) -> bytes | None:
    """Return the bytes of a regular file or a link to one, None for none. Never waits. Raises NotPlain, DiskFailure."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ENXIO:  # the answer of a socket, and of a device without a driver
            raise NotPlain(path) from error
        raise _unreadable(path, error) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotPlain(path)
        chunks = [os.read(handle, _CHUNK)]
        while len(chunks[-1]) == _CHUNK:  # a regular file returns less only at its end
            if len(chunks) * _CHUNK >= MOST_BYTES:
                raise NotPlain(path, say("it is larger than 64 MiB"))
            chunks.append(os.read(handle, _CHUNK))
        return b"".join(chunks)
    except OSError as error:
        raise _unreadable(path, error) from error
    finally:
        os.close(handle)


def parse_object(raw: bytes | None) -> dict[str, object] | None:
    """Return the JSON object that the bytes of a file hold, None for anything else."""
    try:
        content = json.loads((raw or b"").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def read_object(path: str) -> dict[str, object] | None:
    """Return the JSON object in a file, None if there is none or the file can't be read."""
    try:
        return parse_object(read(path))
    except DiskFailure:
        return None


def _unreadable(path: str, error: OSError) -> DiskFailure:
    reason = error.strerror or str(error)
    return DiskFailure(
        say("{path} can't be read: {reason}.", path=path, reason=reason),
        hint=say("Check its owner and mode (`oracle doctor`)."),
    )


def write_hidden(folder: str, data: bytes, *, syncs: bool = True) -> str:
    """Write a synced file with a hidden name into a folder, and return its path. Raises OSError."""
    if len(data) >= MOST_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), folder)
    new = files.write_scratch(folder, data, name=f"{_HIDDEN}{os.urandom(6).hex()}")
    try:
        if syncs:
            files.sync_file(new)
    except BaseException:
        files.discard(new)
        raise
    return new


def _give_name(source: str, path: str) -> bool:
    try:
        files.link(source, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in files.NO_LINKS:
            raise
        return _give_name_by_rename(source, path)
    return True


def _give_name_by_rename(source: str, path: str) -> bool:
    """Replace hard links: copy, check and rename, under a lock for this name."""
    with FileLock(path):
        if os.path.lexists(path):
            return False
        with open(source, "rb") as stream:
            files.rename(write_hidden(os.path.dirname(path), stream.read()), path)
    return True


def keep_mode(path: str, new: str) -> None:
    """Give a new file the mode of the one that it is to replace. Raises OSError."""
    try:
        mode = os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        return
    if mode != files.FILE_MODE:
        files.set_mode(new, mode)


class FileLock:
    """The lock of one file: flock on `<file>.lock`, which is never removed. Not re-entrant. Raises LockTimeout, DiskFailure."""

    def __init__(self, path: str, timeout: float = LOCK_TIMEOUT) -> None:
        self._path = f"{path}.lock"
        self._timeout = timeout
        self._handle = -1

    def __enter__(self) -> FileLock:
        deadline = time.monotonic() + self._timeout
        pause = _POLL
        while not self._try():
            if time.monotonic() >= deadline:
                raise LockTimeout(
                    say(
                        "{path} is held by another process; waited {timeout:g} s.",
                        path=self._path,
                        timeout=self._timeout,
                    ),
                    hint=say("Try again in a moment. If the holder hangs, end that process."),
                )
            time.sleep(pause)
            pause = min(pause * 1.5, _SLOWEST_POLL)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)
        self._handle = -1

    def _try(self) -> bool:
        from fcntl import LOCK_EX, LOCK_NB, flock  # most who import this module take no lock

        with files.failing(self._path):
            handle = self._open()
            try:
                flock(handle, LOCK_EX | LOCK_NB)
                if files.is_named(self._path, handle):  # otherwise it was deleted between open and flock
                    self._handle = handle
                    return True
            except BlockingIOError:
                pass
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)
        return False

    def _open(self) -> int:
        try:
            return files.open_to_change(self._path)
        except FileNotFoundError:
            files.make_folder(os.path.dirname(self._path))
            return files.open_to_change(self._path)


# Derived files that are many or large ----------------------------------------------------------------------------------

_EXCHANGE = 2
"""RENAME_EXCHANGE of renameat2(2)."""


def swap(path: str, *data: bytes | memoryview, scratch: str) -> None:
    """Replace a large derived file as `files.replace` does, but avoid the cost of a rename over a file.

    ext4 starts to write out a file that is renamed over another, and the next fsync waits for that. On Linux the two
    names are exchanged with renameat2 instead, which is as atomic. `data` may come in pieces.
    """
    with files.failing(path):
        new = files.write_scratch(scratch, *data)
        try:
            if not exchange(new, path):
                files.rename_over(new, path)
        finally:
            files.discard(new)


def exchange(new: str, path: str) -> bool:
    """Exchange two file names. Returns False where the system cannot."""
    call = _renameat2()
    if call is None:
        return False
    sys.audit("os.rename", new, path, -1, -1)
    try:
        with folders.parent_of(new) as (source, old_name), folders.parent_of(path) as (target, name):
            return bool(call(source, os.fsencode(old_name), target, os.fsencode(name), _EXCHANGE) == 0)
    except FileNotFoundError:
        return False


@cache
def _renameat2() -> Callable[..., int] | None:
    """Return the system call that exchanges two names, None if there is none."""
    import ctypes

    return getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None


def create_folder(path: str, contents: Iterable[tuple[str, bytes]], *, scratch: str) -> int:
    """Fill a new folder with (name, bytes) under a temporary name, then rename it. Returns the number of files.

    This is for derived files. If the folder appears meanwhile, the files are put into it one by one.
    """
    aside = files.scratch_name(scratch, os.path.basename(path))
    names: list[str] = []
    with files.failing(path):
        files.make_folder(aside)
        handle = folders.enter(aside)
        try:
            for name, data in contents:
                files.write_in(handle, name, data)
                names.append(name)
        finally:
            os.close(handle)
        _move_folder(aside, path, names)
    return len(names)


def _move_folder(aside: str, path: str, names: list[str]) -> None:
    try:
        files.rename(aside, path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        for name in names:
            files.rename(f"{aside}/{name}", f"{path}/{name}")
        folders.remove(aside)
