"""Derived files by the thousand, or large ones printed often: put in their place without what the plain way costs.

None is fsynced: what a crash takes is printed again from the index.
"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache

from oracle.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_EXCHANGE = 2
_HERE = -100
"""RENAME_EXCHANGE and AT_FDCWD of renameat2(2)."""


def swap(path: str, *data: bytes | memoryview, scratch: str) -> None:
    """Do what `files.replace` does for a large derived file that is printed often, without what a rename over a file costs.

    ext4 begins to write a file out when it is renamed over another, and the next fsync waits for that. Two names exchanged
    (Linux, renameat2) are as atomic; where that is not to be had the file is renamed. `data` may come in pieces.
    """
    try:
        new = files.write_scratch(scratch, *data)
        try:
            if not _exchange(new, path):
                files.rename_over(new, path)
        finally:
            files.discard(new)
    except OSError as error:
        raise files.disk_failure(path, error) from error


def _exchange(new: str, path: str) -> bool:
    """Exchange two names, so that the old file stands where the new one was; False where the system can't."""
    call = _renameat2()
    if call is None:
        return False
    sys.audit("os.rename", new, path, -1, -1)
    return bool(call(_HERE, os.fsencode(new), _HERE, os.fsencode(path), _EXCHANGE) == 0)


@cache
def _renameat2() -> Callable[..., int] | None:
    """Return the call of the system that exchanges two names, None where there is none."""
    import ctypes

    return getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None


def create_folder(path: str, contents: Iterable[tuple[str, bytes]], *, scratch: str) -> int:
    """Fill a new folder aside with (name, bytes) and give it its name when it is whole; return how many files it holds.

    For derived files. When a folder of that name appeared meanwhile, the files are put into it one by one.
    """
    aside = files.scratch_name(scratch, os.path.basename(path))
    names: list[str] = []
    try:
        files.make_folder(aside)
        for name, data in contents:
            files.write_new(f"{aside}/{name}", data)
            names.append(name)
        _move_folder(aside, path, names)
    except OSError as error:
        raise files.disk_failure(path, error) from error
    return len(names)


def _move_folder(aside: str, path: str, names: list[str]) -> None:
    try:
        os.rename(aside, path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        for name in names:
            os.rename(f"{aside}/{name}", f"{path}/{name}")
        os.rmdir(aside)
