"""The daemon of a Root: its lock and its status file.

Only the lock shows whether a daemon runs. The status file is as old as its timestamp.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping

from oracle.domain import timestamps
from oracle.errors import AlreadyRunning, LockTimeout
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root
from oracle.store.root.lock import ensure_state, is_held
from oracle.wording import say

PROBE = "alive"
"""The name of the file that is moved to test the watcher."""

SILENT_AFTER = 60.0
"""Seconds without a status after which a running daemon is called silent."""

PATIENCE = 2.0
"""Seconds to wait for the lock: the child of a killed daemon may hold it a moment longer."""


class Instance(steps.FileLock):
    """The daemon's lock, as a context manager. Raises AlreadyRunning, RootUnusable, DiskFailure."""

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
            os.pwrite(self._handle, b"%-20d %-20d\n" % (os.getpid(), 0), 0)
        except OSError as error:
            self.__exit__()
            raise files.disk_failure(self._root.daemon_lock, error) from error
        return self

    def vouch(self, moment_ns: int) -> None:
        """Write beside the process id up to when every change was followed, in ns since 1970. A failure is no harm."""
        with contextlib.suppress(OSError):
            os.pwrite(self._handle, b"%-20d %-20d\n" % (os.getpid(), moment_ns), 0)

    def renew(self) -> None:
        """Take the lock of a recreated `_state` in place of the held one. Raises AlreadyRunning, DiskFailure."""
        self.__exit__()
        self.__enter__()

    def __exit__(self, *error: object) -> None:
        if self._handle >= 0:  # no lock is held if renewing it failed
            super().__exit__(*error)

    @property
    def is_current(self) -> bool:
        """Return whether the held lock is still the file that others check: `_state` may have been deleted."""
        return self._handle >= 0 and files.is_named(self._path, self._handle)


def already_running(root: Root) -> AlreadyRunning:
    """Return the error that another daemon serves the Root."""
    return AlreadyRunning(
        say(
            "A daemon already serves {path} (process {holder}).",
            path=root.path,
            holder=holder(root) or say("unknown"),
        ),
        hint=say("See `oracle daemon status`, or stop it with `oracle daemon stop`."),
    )


def is_running(root: Root) -> bool:
    """Return whether a daemon serves the Root now."""
    try:
        return is_held(root.daemon_lock)
    except OSError:
        return False


def serves(root: Root, now: float) -> bool:
    """Return whether a daemon serves the Root and wrote its status lately. `now` is in seconds since 1970.

    A daemon that has just started counts. One that was silent for long may hang.
    """
    if not is_running(root):
        return False
    said = read_status(root)
    written = timestamps.parse(str(said.get("written_at", "")))
    return said.get("pid") != holder(root) or written is None or now - written.timestamp() < SILENT_AFTER


def holder(root: Root) -> int:
    """Return the process id that the holder of the lock wrote, 0 if there was none."""
    try:
        with open(root.daemon_lock, "rb") as stream:
            return int(stream.read(64).split()[0])
    except (OSError, ValueError, IndexError):
        return 0


def write_status(root: Root, content: Mapping[str, object]) -> None:
    """Write the daemon's status. Raises DiskFailure."""
    data = json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    files.replace(
        root.daemon_status, data, scratch=root.state
    )  # the common scratch folder belongs to the holder of the write lock


def read_status(root: Root) -> dict[str, object]:
    """Return the last status of the daemon, {} if there is none."""
    return steps.read_object(root.daemon_status) or {}


def move_probe(root: Root, number: int) -> None:
    """Change the file that tests the watcher. Raises DiskFailure."""
    files.make_folder(root.probe)
    files.replace(f"{root.probe}/{PROBE}", str(number).encode("ascii"), scratch=root.state)
