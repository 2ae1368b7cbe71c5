"""The write lock of a Root: flock on `_state/lock`, with a timeout and the name of its holder."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sys
import time

from oracle.errors import LockTimeout, RootUnusable
from oracle.store.disk import files
from oracle.store.root.layout import Root
from oracle.wording import Sentence, say

DEFAULT_TIMEOUT = 30.0
"""Seconds to wait for the lock before giving up with exit code 75."""

_FIRST_PAUSE, _SHORTEST_PAUSE, _SHARE = 0.02, 0.001, 0.98
"""Seconds between two tries.

Each pause is a little shorter than the one before, so that the longest waiter is served first.
"""


class WriteLock:
    """The write lock of a Root, as a context manager. Not re-entrant."""

    def __init__(self, root: Root, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._root = root
        self._timeout = timeout
        self._handle = -1

    def __enter__(self) -> WriteLock:
        if not self.acquire():
            raise LockTimeout(
                say(
                    "The write lock of {path} is held by {holder}; waited {timeout:g} s.",
                    path=self._root.path,
                    holder=describe_holder(self._root),
                    timeout=self._timeout,
                ),
                hint=say("Try again in a moment. If the holder hangs, end that process."),
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self) -> bool:
        """Take the lock within the timeout (0: one try). Returns whether it is held. Raises RootUnusable without flock."""
        ensure_state(self._root)
        deadline = time.monotonic() + self._timeout
        pause = _FIRST_PAUSE
        while not self._try():
            if time.monotonic() >= deadline:
                return False
            time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
            pause = max(pause * _SHARE, _SHORTEST_PAUSE)
        self._name_holder()
        return True

    def release(self) -> None:
        """Release the lock by closing its file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _try(self) -> bool:
        try:
            handle = files.open_to_change(self._root.lock)
        except FileNotFoundError:  # `_state` was deleted meanwhile
            ensure_state(self._root)
            return False
        except OSError as error:
            raise files.disk_failure(self._root.lock, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
                return False
            raise RootUnusable(
                say(
                    "The file system of {path} does not support flock ({strerror}).",
                    path=self._root.path,
                    strerror=error.strerror,
                ),
                hint=say("Keep the Root on a local file system."),
            ) from error
        if files.is_named(self._root.lock, handle):  # otherwise `_state` was deleted between open and flock
            self._handle = handle
            return True
        os.close(handle)
        return False

    def _name_holder(self) -> None:
        command = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "python"
        note = json.dumps({"pid": os.getpid(), "command": command, "since": round(time.time(), 3)}).encode()
        try:
            os.pwrite(self._handle, note.ljust(128) + b"\n", 0)
        except OSError:  # a full disk must not make a read fail
            return


def describe_holder(root: Root) -> Sentence:
    """Return "process 12 (memory_write, for 3 s)" from the holder's note, or "another process"."""
    try:
        with open(root.lock, "rb") as stream:
            note = json.loads(stream.read(4096) or b"null")
        age = max(0.0, time.time() - float(note["since"]))
        return say("process {pid} ({command}, for {age:.0f} s)", pid=int(note["pid"]), command=note["command"], age=age)
    except (OSError, ValueError, TypeError, KeyError):
        return say("another process")


def is_held(path: str) -> bool:
    """Return whether a process holds the lock on a file, without waiting or disturbing. Raises OSError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # opening a pipe would wait
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def vouched_ns(root: Root) -> int:
    """Return up to when the daemon of the Root has followed every change, in ns since 1970; 0 if none runs."""
    try:
        if is_held(root.daemon_lock):
            with open(root.daemon_lock, "rb") as stream:
                return int(stream.read(64).split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return 0


def ensure_state(root: Root) -> None:
    """Create `_state/` with its `.gitignore` (`*`) under an existing Root."""
    if os.path.islink(root.state):
        raise RootUnusable(
            say("{state} is a symbolic link; nothing is written there.", state=root.state),
            hint=say("Remove the link; `_state` is created again."),
        )
    if os.path.isdir(root.scratch) and os.path.exists(f"{root.state}/.gitignore"):
        return
    root.require()
    files.make_folder(root.scratch)
    if not os.path.exists(f"{root.state}/.gitignore"):
        files.replace(f"{root.state}/.gitignore", b"*\n", scratch=root.scratch)
