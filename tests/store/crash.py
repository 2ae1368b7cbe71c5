"""Run an action in a child process that is killed at one file operation after another, or in many processes at once.

The kernel outlives a process, so what a death leaves is what stood on the disk at that moment: a copy of it will do.
"""

from __future__ import annotations

import fcntl
import io
import itertools
import os
import shutil
import signal
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPERATIONS = ("open", "write", "link", "rename", "unlink", "fsync", "mkdir", "chmod", "utime")
"""What may change a disk. To open a folder does not, and is not counted."""

MOST = 500


def run_and_die(action: Callable[[], Any], at: int) -> bool:
    """Run `action` in a child that gets SIGKILL at its file operation number `at`; tell whether it lived to the end.

    A write that dies leaves the first half of its bytes.
    """
    child = os.fork()
    if child == 0:
        try:
            _arm(at)
            action()
            os._exit(0)
        finally:
            os._exit(3)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), f"the action failed by itself ({status})"
    return status == 0


def each_crash(action: Callable[[int], Any]) -> Iterator[int]:
    """Yield 0, 1, 2 … after `action(number)` was killed at the operation of that number, until it lives to the end."""
    for at in range(MOST):
        if run_and_die(lambda at=at: action(at), at):
            assert at > 3, "the action has no file operations to die at"
            return
        yield at
    raise AssertionError(f"the action never ended in {MOST} operations")


def _arm(at: int) -> None:
    left = [at]

    def dying(name: str, plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if left[0] == 0:
            if name == "write":
                plain(args[0], _half(args[1]))
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return plain(*args, **kwargs)

    _wrap_operations(dying)


def _half(content: Any) -> bytes:
    return bytes(content)[: len(content) // 2]


def _wrap_operations(around: Callable[..., Any]) -> None:
    """Have `around(name, plain, …)` called in place of each operation."""

    def wrapped(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if name == "open" and args[1] & os.O_DIRECTORY:
                return plain(*args, **kwargs)
            return around(name, plain, *args, **kwargs)

        return call

    for name in OPERATIONS:
        setattr(os, name, wrapped(name, getattr(os, name)))
    fcntl.flock = wrapped("flock", fcntl.flock)


class Camera:
    """Copies a folder before each change, unless the same files stand in it as in the last copy."""

    def __init__(self, folder: Path, copies: Path) -> None:
        self.folder = folder
        self.copies = copies
        self.numbers = itertools.count()
        self.last: dict[str, tuple[int, bytes]] = {}
        self.is_busy = False  # copying makes files too

    def around(self, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        self.copy()
        return call(*args, **named)

    def write(self, name: str, plain: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Copy before an operation, and in the middle of a write."""
        self.copy()
        if name != "write" or self.is_busy:
            return plain(*args, **named)
        file, content = args
        written = plain(file, _half(content))
        self.copy()
        return written + plain(file, bytes(content)[written:])

    def copy(self) -> None:
        if self.is_busy:
            return
        self.is_busy = True
        now = _contents(self.folder)
        if now != self.last:
            self.last = now
            shutil.copytree(self.folder, self.copies / f"{next(self.numbers):04}", symlinks=True)
        self.is_busy = False


def _contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return all that a later process reads: SQLite makes its file of shared memory anew."""
    found: dict[str, tuple[int, bytes]] = {}
    for place, _, names in os.walk(folder):
        found[place] = os.stat(place).st_mode, b""  # noqa: PTH116 - it runs before each change of hundreds
        for name in names:
            if not name.endswith("-shm"):
                path = f"{place}/{name}"
                with io.FileIO(path) as file:
                    found[path] = os.fstat(file.fileno()).st_mode, file.readall()
    return found


def laid_out(folder: Path, copies: Path, run: Callable[[Camera], object]) -> Iterator[int]:
    """Run in a fork what `run` does with a camera; lay `folder` out as each of its copies, and yield their numbers.

    Deaths that leave the same files are one: what comes after them can't differ.
    """
    copies.mkdir()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            camera = Camera(folder, copies)
            run(camera)
            camera.copy()
            code = 0
        except BaseException:  # noqa: BLE001 - the child must never return into the test runner
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0, "the action failed; its traceback is on stderr"
    for number, copy in enumerate(sorted(copies.iterdir())):
        shutil.rmtree(folder)
        copy.rename(folder)
        yield number


def left_by_crashes(folder: Path, copies: Path, action: Callable[[], Any]) -> Iterator[int]:
    """Lay `folder` out as each death of `each_crash` leaves it, and at last as `action` does; yield their numbers."""

    def run(camera: Camera) -> None:
        _wrap_operations(camera.write)
        action()

    return laid_out(folder, copies, run)


def run_at_once(count: int, action: Callable[[int], int]) -> list[int]:
    """Run `action(number)` in that many processes, all let go at the same moment; return their results (0 to 99)."""
    gate_out, gate_in = os.pipe()
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            code = 100
            try:
                os.close(gate_in)
                os.read(gate_out, 1)
                code = action(number)
            finally:
                os._exit(code)
        children.append(child)
    os.close(gate_out)
    os.close(gate_in)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
