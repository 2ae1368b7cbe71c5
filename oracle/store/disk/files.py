"""Files: create exclusively, replace atomically, append a line.

Source files and their folders are synced to disk; derived files are not. Every file is written in a scratch folder
first, so that a reader sees a whole file or none.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from oracle.errors import DiskFailure, OracleError, OwnershipError, RecordExists
from oracle.store.disk import folders
from oracle.wording import say

FILE_MODE, SHARED_FILE_MODE = 0o600, 0o660
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EXDEV, errno.EMLINK, errno.ENOSYS)
"""Errors of link(2) where hard links are not supported: some network and FUSE file systems, another device."""

_counter = itertools.count()


def make_folder(path: str, *, sync: bool = False) -> None:
    """Create a folder and its parents with mode 0700. `sync` syncs the new names to disk. Raises DiskFailure."""
    with failing(path):
        folders.make(path, sync=sync)


def require_own(path: str) -> None:
    """Raise OwnershipError if another user may change a file or folder that is there."""
    try:
        found = os.lstat(path)
    except OSError:
        return
    if found.st_mode & 0o022 or found.st_uid != os.geteuid():
        raise OwnershipError(
            say("{path} is not used: others may write it.", path=path),
            hint=say("Look at what it lists; if it is yours, run chmod go-w on it."),
        )


def require_own_list(path: str) -> str:
    """Return the real path of a list. Raises OwnershipError if another user may change it or its folder."""
    real = os.path.realpath(path)
    for place in (real, os.path.dirname(real)):
        require_own(place)
    return real


def disk_failure(path: str, error: OSError) -> OracleError:
    """Return an OSError as an error with a sentence and a hint; its exit code is 70, or 5 for a symbolic link."""
    if error.errno == errno.ELOOP:
        return folders.LinkRefused(path)
    reasons = {
        errno.ENOSPC: (
            say("the disk is full"),
            say("Free some space and run the command again; no file was half written."),
        ),
        errno.EDQUOT: (
            say("the disk quota is used up"),
            say("Free some space and run the command again; no file was half written."),
        ),
        errno.EROFS: (
            say("the file system is read-only"),
            say("Remount it writable, or choose another Root with --memory-dir."),
        ),
        errno.ENOENT: (
            say("nothing can be created there"),
            say("Choose another Root with --memory-dir; `oracle doctor` checks this one."),
        ),
        errno.EACCES: (say("permission is denied"), say("Check the owner and mode of the folder (`oracle doctor`).")),
        errno.EPERM: (say("permission is denied"), say("Check the owner and mode of the folder (`oracle doctor`).")),
        errno.ENAMETOOLONG: (say("the name is too long"), say("Choose a shorter project name or title.")),
    }
    reason, hint = reasons.get(
        error.errno or 0, (error.strerror or str(error), say("Run `oracle doctor` to see what is wrong."))
    )
    return DiskFailure(say("{path} could not be written: {reason}.", path=path, reason=reason), hint=hint)


@contextmanager
def failing(path: str) -> Iterator[None]:
    """Raise the errors of the system in a block as `disk_failure` gives them."""
    try:
        yield
    except OSError as error:
        raise disk_failure(path, error) from error


def write_scratch(scratch: str, *data: bytes | memoryview, name: str = "") -> str:
    """Write `data` to a new file in `scratch` with mode 0600 and return its path. It is not synced."""
    while True:
        path = scratch_name(scratch, name or "new")
        try:
            return write_new(path, *data)
        except FileNotFoundError:
            make_folder(scratch)
        except FileExistsError:  # left by a killed process with the same process id
            continue


def scratch_name(scratch: str, stem: str) -> str:
    """Return a path in a scratch folder that no other running process uses."""
    return f"{scratch}/{stem}.{os.getpid()}.{next(_counter)}"


def write_new(path: str, *data: bytes | memoryview) -> str:
    """Write `data` to a new file with mode 0600, all of it or no file, and return its path. Raises FileExistsError, OSError."""
    with folders.parent_of(path) as (folder, name):
        write_in(folder, name, *data)
    return path


def write_in(folder: int, name: str, *data: bytes | memoryview) -> None:
    """Write a new file in an open folder as `write_new` does."""
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE, dir_fd=folder)
    try:
        _share(handle, folder)
        for piece in data:
            _write_all(handle, piece)
    except OSError:
        os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def sync_file(path: str) -> None:
    """Sync the content of a file to disk."""
    with folders.parent_of(path) as (folder, name):
        handle = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=folder)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: str) -> None:
    """Sync the names in a folder to disk, unless that is put off. A file system that does not support it is no error."""
    if folders.put_off(path):
        return
    handle = folders.enter(path)
    try:
        folders.sync_names(handle)
    finally:
        os.close(handle)


def is_named(path: str, handle: int) -> bool:
    """Return whether a path still names the file that a handle is open on: it may have been replaced."""
    try:
        named = os.stat(path)
    except FileNotFoundError:
        return False
    held = os.fstat(handle)
    return (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino)


def publish(scratch_file: str, path: str) -> None:
    """Give a finished, synced scratch file its name, exclusively. Raises RecordExists. The caller holds the lock.

    Without hard links, the bytes are written to a hidden file beside it, which is renamed after a check. The write lock
    makes that safe.
    """
    try:
        link(scratch_file, path)
    except FileExistsError:
        raise _taken(path) from None
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _publish_by_rename(scratch_file, path)
    unlink(scratch_file)


def _publish_by_rename(scratch_file: str, path: str) -> None:
    folder, name = os.path.split(path)
    with open(scratch_file, "rb") as stream:
        neighbour = write_new(f"{folder}/.{name[:100]}.{os.getpid()}.tmp", stream.read())
    sync_file(neighbour)
    if os.path.lexists(path):
        unlink(neighbour)
        raise _taken(path)
    rename(neighbour, path)


def _taken(path: str) -> RecordExists:
    return RecordExists(
        say("{path} already exists.", path=path),
        hint=say("Choose another title; records are never overwritten."),
    )


def create(path: str, data: bytes, *, scratch: str) -> None:
    """Create `path` with `data` and sync it. The caller holds the write lock. Raises RecordExists, DiskFailure."""
    with failing(path):
        new = write_scratch(scratch, data)
        try:
            sync_file(new)
            make_folder(os.path.dirname(path))
            publish(new, path)
        except BaseException:
            discard(new)
            raise
        sync_folder(os.path.dirname(path))


def replace(path: str, data: bytes, *, scratch: str) -> None:
    """Replace `path` atomically: a reader sees the old bytes or the new ones. Not synced: for derived files."""
    with failing(path):
        for folder in (scratch, os.path.dirname(path)):
            with suppress(FileNotFoundError):
                _replace(path, data, scratch)
                return
            make_folder(folder)
        _replace(path, data, scratch)


def _replace(path: str, data: bytes, scratch: str) -> None:
    new = f"new.{os.getpid()}.{next(_counter)}"
    with folders.parent_of(f"{scratch}/{new}") as (source, _), folders.parent_of(path) as (target, name):
        write_in(source, new, data)
        try:
            os.rename(new, name, src_dir_fd=source, dst_dir_fd=target)
        except BaseException:
            os.unlink(new, dir_fd=source)
            raise


def rename_over(new: str, path: str) -> None:
    """Rename a scratch file over a name. Creates the folder if needed. Raises OSError."""
    try:
        rename(new, path)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        rename(new, path)


def rename(path: str, new: str) -> None:
    """Rename a file. Raises LinkRefused, OSError."""
    with folders.parent_of(path) as (source, old_name), folders.parent_of(new) as (target, name):
        os.rename(old_name, name, src_dir_fd=source, dst_dir_fd=target)


def link(path: str, new: str) -> None:
    """Give a file a second name. Raises LinkRefused, FileExistsError, OSError."""
    with folders.parent_of(path) as (source, old_name), folders.parent_of(new) as (target, name):
        os.link(old_name, name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)


def unlink(path: str) -> None:
    """Remove a file. Raises LinkRefused, OSError."""
    with folders.parent_of(path) as (folder, name):
        os.unlink(name, dir_fd=folder)


def set_time(path: str, ns: int) -> None:
    """Set when a file changed, in nanoseconds since 1970. Raises LinkRefused, OSError."""
    with folders.parent_of(path) as (folder, name):
        try:
            os.utime(name, ns=(ns, ns), dir_fd=folder, follow_symlinks=False)
        except PermissionError:  # of a file of another user, only the present moment can be set
            os.utime(name, dir_fd=folder)


def set_mode(path: str, mode: int) -> None:
    """Set the mode of a file. Raises LinkRefused, OSError."""
    with folders.parent_of(path) as (folder, name):
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fchmod(handle, mode)
    finally:
        os.close(handle)


def make_private(path: str) -> None:
    """Let only the owner read a file, or the group of a shared folder too. Raises LinkRefused, OSError."""
    with suppress(PermissionError):  # a file of another user of the group
        is_shared = folders.is_shared(os.stat(os.path.dirname(path)).st_mode)
        set_mode(path, SHARED_FILE_MODE if is_shared else FILE_MODE)


def discard(*paths: str) -> None:
    """Remove scratch files if they exist. Errors are ignored."""
    for path in paths:
        with suppress(OSError, OracleError):
            unlink(path)


def remove(path: str) -> None:
    """Remove a derived file. A missing one is no error."""
    try:
        unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise disk_failure(path, error) from error


def open_to_change(path: str, flags: int = 0) -> int:
    """Open a file for reading and writing, or create it with mode 0600. Raises LinkRefused, OSError (ELOOP for a link)."""
    flags |= os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    with folders.parent_of(path) as (folder, name):
        handle = os.open(name, flags, FILE_MODE, dir_fd=folder)
        _share(handle, folder)
    return handle


def _share(handle: int, folder: int) -> None:
    """Give our own file to the group of its folder if that is shared, whatever the umask."""
    if folders.is_shared(os.fstat(folder).st_mode):
        found = os.fstat(handle)
        if found.st_uid == os.geteuid() and found.st_mode & 0o777 == FILE_MODE:
            os.fchmod(handle, SHARED_FILE_MODE)


def append_line(path: str, line: bytes) -> None:
    """Append one line with a single `O_APPEND` write, so that lines of several processes never mix.

    A line that a dead writer left unfinished is ended first; its lock shows that it is dead. Only regular files are
    accepted.
    """
    from fcntl import LOCK_EX, flock

    with failing(path):
        handle = open_to_change(path, os.O_APPEND)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(errno.EINVAL, "Not a plain file", path)
            with suppress(OSError):  # a file system without locks
                flock(handle, LOCK_EX)
            size = os.fstat(handle).st_size
            is_torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            _write_all(handle, b"\n" * is_torn + line.rstrip(b"\n") + b"\n")
        finally:
            os.close(handle)
