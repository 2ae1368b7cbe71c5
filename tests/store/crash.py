"""Run an action in a child process that is killed at one file operation after another, or in many processes at once."""

from __future__ import annotations

import fcntl
import os
import signal
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

    def dying(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if name == "open" and args[1] & os.O_DIRECTORY:
                return plain(*args, **kwargs)
            if left[0] == 0:
                if name == "write":
                    plain(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return plain(*args, **kwargs)

        return call

    for name in OPERATIONS:
        setattr(os, name, dying(name, getattr(os, name)))
    fcntl.flock = dying("flock", fcntl.flock)


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
