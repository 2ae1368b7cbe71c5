"""Open and create folders without following a symbolic link below a trusted folder.

A Root may come from elsewhere and hold links that lead out of it. So only a trusted folder may be reached through a
link; below it, each name is opened on its own with `O_NOFOLLOW`. A file is then named by the handle of its folder, so a
folder that is swapped for a link meanwhile leads nowhere.
"""

from __future__ import annotations

import os
import stat
from _thread import _local  # `threading`, which gives it a public name, takes a millisecond
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from oracle.errors import DiskFailure, OwnershipError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, NamedTuple

    class Stat(NamedTuple):
        """The stat of a file, by which changes are detected."""

        mtime_ns: int
        size: int
        inode: int
        ctime_ns: int

else:
    Stat = namedtuple("Stat", "mtime_ns size inode ctime_ns")

LARGEST = (1 << 63) - 1
"""The largest integer in a database row. Inodes and far-off times may be larger."""

FOLDER_MODE, SHARED_MODE = 0o700, 0o2770
"""The mode of a new folder; in a shared one, whose group may write and hands itself on, and whose files are the group's too."""

_FLAGS = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_NEXT = _FLAGS | os.O_NOFOLLOW
_trusted: set[str] = set()


class _Later(_local):
    changed: dict[str, None] | None = None
    """The folders whose names this thread syncs later, in order; None if each is synced at once."""


_later = _Later()


class LinkRefused(OwnershipError, DiskFailure):
    """A symbolic link lies where the program writes. Nothing was written through it."""

    def __init__(self, path: str) -> None:
        super().__init__(
            say("{folder} is a symbolic link; the program does not write through links.", folder=path),
            hint=say("Remove the link, or replace it by what it points at; then run the command again."),
        )


def trust(*paths: str) -> None:
    """Trust folders: each may be reached through links, and nothing below it is written through one."""
    _trusted.update(paths)


@contextmanager
def parent_of(path: str) -> Iterator[tuple[int, str]]:
    """Open the folder of a file, and yield its handle (a `dir_fd`) and the name. Raises LinkRefused, OSError."""
    folder, name = os.path.split(path)
    handle = enter(folder)
    try:
        yield handle, name
    finally:
        os.close(handle)


def enter(path: str) -> int:
    """Return a handle of a folder, which the caller closes. Raises LinkRefused, OSError."""
    top, names = _split(path)
    handle = os.open(top or ".", _FLAGS)
    for name in names:
        above = handle
        try:
            handle = os.open(name, _NEXT, dir_fd=above)
        except OSError as error:
            if is_link(name, above):
                raise LinkRefused("/".join((top, *names[: names.index(name) + 1]))) from error
            raise
        finally:
            os.close(above)
    return handle


def make(path: str, *, sync: bool = False) -> None:
    """Create a folder and its parents with mode 0700. `sync` syncs each new name. Raises LinkRefused, OSError."""
    top, names = _split(path)
    while top and not os.path.isdir(top):
        names.insert(0, os.path.basename(top))
        top = os.path.dirname(top)
    handle = os.open(top or ".", _FLAGS)
    for name in names:
        above, top = handle, os.path.join(top, name)
        try:
            handle = _enter_new(above, name, sync=sync)
        except OSError as error:
            if is_link(name, above):
                raise LinkRefused(top) from error
            raise
        finally:
            os.close(above)
    os.close(handle)


def _enter_new(above: int, name: str, *, sync: bool) -> int:
    """Open a folder in an open folder, and create it if needed."""
    with suppress(FileNotFoundError):
        return os.open(name, _NEXT, dir_fd=above)
    with suppress(FileExistsError):
        os.mkdir(name, FOLDER_MODE, dir_fd=above)
    if sync:
        sync_names(above)
    handle = os.open(name, _NEXT, dir_fd=above)
    if is_shared(os.fstat(above).st_mode):
        share(handle)
    return handle


def open_plain(path: str, *, within: str = "") -> BinaryIO:
    """Open a regular file for reading, without ever waiting for a pipe. Its real path must be `within` a folder, if given.

    The descriptor is checked, so a file that is swapped meanwhile leads nowhere. Raises OSError.
    """
    stream = open(path, "rb", opener=_open_now)  # noqa: SIM115 - the caller closes it
    try:
        _check_plain(os.fstat(stream.fileno()), path, within)
    except OSError:
        stream.close()
        raise
    return stream


def _open_now(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)


def _check_plain(opened: os.stat_result, path: str, within: str) -> None:
    import errno  # the smallest commands get along without it

    if not stat.S_ISREG(opened.st_mode):
        raise OSError(errno.EINVAL, say("it is not a regular file"), path)
    if not within or _is_at(opened, path, within):
        return
    real, folder = os.path.realpath(path), os.path.realpath(within).rstrip("/")
    if not real.startswith(f"{folder}/"):
        raise PermissionError(errno.EACCES, say("a symbolic link leads out of its folder"), path)
    if not os.path.samestat(opened, os.stat(real)):
        raise PermissionError(errno.EACCES, say("it changed while it was opened"), path)


def _is_at(opened: os.stat_result, path: str, within: str) -> bool:
    """Return whether a path without a link below a folder leads to an open file: a look for each name below it is enough."""
    place, below = within.rstrip("/"), path.removeprefix(f"{within.rstrip('/')}/")
    if below == path or not {"", ".", ".."}.isdisjoint(below.split("/")):
        return False
    for name in below.split("/"):
        place = f"{place}/{name}"
        found = os.lstat(place)
        if stat.S_ISLNK(found.st_mode):
            return False
    return os.path.samestat(opened, found)


def stat_of(status: os.stat_result) -> Stat:
    """Return the stored part of a file's stat, each number within the limits of a database integer."""
    inode = status.st_ino & LARGEST
    return Stat(bound(status.st_mtime_ns), status.st_size, inode, bound(status.st_ctime_ns))


def bound(nanoseconds: int) -> int:
    """Return a time as a row holds it. The three smallest integers are kept as stand-ins for a time."""
    return max(2 - LARGEST, min(nanoseconds, LARGEST))


def names_in(path: str) -> list[str]:
    """Return the names in a folder, sorted; none of a folder that cannot be listed."""
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def is_shared(mode: int) -> bool:
    """Return whether the mode of a folder shares it with its group, as `oracle init --shared` sets it."""
    return mode & 0o2020 == 0o2020


def strangers(path: str) -> int:
    """Return the mode bits of those who may not look into a folder: everybody but the owner, and a group that shares it."""
    return 0o007 if is_shared(os.stat(path).st_mode) else 0o077


def share(handle: int) -> None:
    """Share an open folder with its group, if it is ours. Raises OSError."""
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
    try:
        if os.fstat(folder).st_uid == os.geteuid():
            os.fchmod(folder, SHARED_MODE)
    finally:
        os.close(folder)


def sync_names(handle: int) -> None:
    """Sync the names in an open folder to disk. A file system that does not support it is no error."""
    import errno

    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(folder)


@contextmanager
def syncs_put_off(changed: dict[str, None]) -> Iterator[None]:
    """Put the folders whose names a block changes into `changed` instead of syncing them: the caller does it afterwards."""
    before, _later.changed = _later.changed, changed
    try:
        yield
    finally:
        _later.changed = before


def put_off(path: str) -> bool:
    """Put off syncing the names in a folder, if this thread is in a block that does. Returns whether it is."""
    changed = _later.changed
    if changed is not None:
        changed[path] = None
    return changed is not None


def empty(path: str) -> int:
    """Remove everything in a folder and return the number of names. A missing folder is empty. Raises LinkRefused, OSError."""
    try:
        return _empty(enter(path))
    except FileNotFoundError:
        return 0


def _empty(handle: int) -> int:
    """Empty an open folder, and close it."""
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
    os.close(handle)
    try:
        names = os.listdir(folder)
        for name in names:
            with suppress(FileNotFoundError):
                _remove(folder, name)
    finally:
        os.close(folder)
    return len(names)


def _remove(folder: int, name: str) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        _empty(os.open(name, _NEXT, dir_fd=folder))
        os.rmdir(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)


def remove(path: str) -> None:
    """Remove an empty folder. Raises LinkRefused, OSError."""
    with parent_of(path) as (above, name):
        os.rmdir(name, dir_fd=above)


def is_link(name: str, folder: int) -> bool:
    """Return whether a name in an open folder is a symbolic link."""
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _split(path: str) -> tuple[str, list[str]]:
    """Return the innermost trusted folder on the way to a folder, and the names below it.

    Without one it is the folder itself, which may be reached through links.
    """
    top = path
    while top not in _trusted:
        cut = top.rfind("/")
        if cut <= 0:
            return path, []
        top = top[:cut]
    return top, [name for name in path[len(top) :].split("/") if name]
