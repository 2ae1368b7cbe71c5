"""The one daemon of a Root: its lock, and the file in which it says how it is. Store room.

Whether a daemon runs is told by the lock alone; what the file says is as old as its time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from oracle.errors import AlreadyRunning, LockTimeout
from oracle.store import files, steps
from oracle.store.layout import Root
from oracle.store.lock import ensure_state, is_held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

PROBE = "alive"
"""The name of the file that is moved for the watcher."""

PATIENCE = 2.0
"""Seconds to wait for the lock: a child of a daemon that was killed may hold it a moment longer."""


class Instance(steps.FileLock):
    """A context manager that is the daemon of a Root while it is held. Raises AlreadyRunning, RootUnusable, DiskFailure."""

    def __init__(self, root: Root) -> None:
        super().__init__(root.daemon_lock.removesuffix(".lock"), PATIENCE)
        self._root = root

    def __enter__(self) -> Instance:
        ensure_state(self._root)
        try:
            super().__enter__()
        except LockTimeout as error:
            raise AlreadyRunning(
                f"A daemon serves {self._root.path} already (process {holder(self._root) or 'unknown'}).",
                hint="See `oracle daemon status`; end it with `oracle daemon stop`.",
            ) from error
        try:
            os.pwrite(self._handle, b"%-20d\n" % os.getpid(), 0)
        except OSError as error:
            self.__exit__(None, None, None)
            raise files.disk_failure(self._root.daemon_lock, error) from error
        return self

    def renew(self) -> None:
        """Take the lock that others look at now, in place of the one that is held. Raises AlreadyRunning, DiskFailure."""
        self.__exit__(None, None, None)
        self.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle >= 0:  # none is held where renewing it failed
            super().__exit__(kind, value, trace)

    @property
    def is_current(self) -> bool:
        """Tell whether the lock that is held is the one that others look at: `_state` may have been deleted."""
        return self._handle >= 0 and self._is_current(self._handle)


def is_running(root: Root) -> bool:
    """Tell whether a daemon serves the Root now."""
    try:
        return is_held(root.daemon_lock)
    except OSError:
        return False


def holder(root: Root) -> int:
    """Return the process that holds the lock, as it wrote when it took it; 0 when nobody ever did."""
    try:
        with open(root.daemon_lock, "rb") as stream:
            return int(stream.read(64) or b"0")
    except (OSError, ValueError):
        return 0


def write_status(root: Root, content: Mapping[str, object]) -> None:
    """Write what the daemon says of itself. Raises DiskFailure."""
    data = json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    files.replace(root.daemon_status, data, scratch=root.state)  # the common scratch folder is the write lock holder's


def read_status(root: Root) -> dict[str, object]:
    """Return what the daemon last said of itself; {} when there is nothing."""
    try:
        with open(root.daemon_status, "rb") as stream:
            content = json.loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def move_probe(root: Root, number: int) -> None:
    """Change the file by which the daemon sees that its watcher sees. Raises DiskFailure."""
    files.make_folder(root.probe)
    files.replace(f"{root.probe}/{PROBE}", str(number).encode("ascii"), scratch=root.state)
