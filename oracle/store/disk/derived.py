"""Write derived files that are many, or large and often printed, faster than `files` does.

None of them is synced: after a crash they are printed again from the index.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache

from oracle.store.disk import files, folders

_EXCHANGE = 2
"""RENAME_EXCHANGE of renameat2(2)."""


def swap(path: str, *data: bytes | memoryview, scratch: str) -> None:
    """Replace a large derived file as `files.replace` does, but avoid the cost of a rename over a file.

    ext4 starts to write out a file that is renamed over another, and the next fsync waits for that. On Linux the two
    names are exchanged with renameat2 instead, which is as atomic. `data` may come in pieces.
    """
    try:
        new = files.write_scratch(scratch, *data)
        try:
            if not exchange(new, path):
                files.rename_over(new, path)
        finally:
            files.discard(new)
    except OSError as error:
        raise files.disk_failure(path, error) from error


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
    try:
        files.make_folder(aside)
        handle = folders.enter(aside)
        try:
            for name, data in contents:
                files.write_in(handle, name, data)
                names.append(name)
        finally:
            os.close(handle)
        _move_folder(aside, path, names)
    except OSError as error:
        raise files.disk_failure(path, error) from error
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
