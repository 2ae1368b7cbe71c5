"""The one daemon of a Root: its lock, and the file in which it says how it is. Store room.

Whether a daemon runs is told by the lock alone; what the file says is as old as its time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from oracle.domain import timestamps
from oracle.errors import AlreadyRunning, LockTimeout
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root
from oracle.store.root.lock import ensure_state, is_held
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

PROBE = "alive"
"""The name of the file that is moved for the watcher."""

SILENT_AFTER = 60.0
"""Seconds without a word after which a daemon that runs is called silent."""

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
            raise already_running(self._root) from error
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
        return self._handle >= 0 and files.is_named(self._path, self._handle)


def already_running(root: Root) -> AlreadyRunning:
    """Return the failure that another daemon serves the Root."""
    return AlreadyRunning(
        say(
            "A daemon serves {path} already (process {holder}).",
            path=root.path,
            holder=holder(root) or say("unknown"),
        ),
        hint=say("See `oracle daemon status`; end it with `oracle daemon stop`."),
    )


def is_running(root: Root) -> bool:
    """Tell whether a daemon serves the Root now."""
    try:
        return is_held(root.daemon_lock)
    except OSError:
        return False


def serves(root: Root, now: float) -> bool:
    """Tell whether a daemon serves the Root and has said so lately; `now` in seconds since 1970.

    One that only began counts; one that was silent for long may hang, and does nothing.
    """
    if not is_running(root):
        return False
    said = read_status(root)
    written = timestamps.parse(str(said.get("written_at", "")))
    return said.get("pid") != holder(root) or written is None or now - written.timestamp() < SILENT_AFTER


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
