"""Kill a process at its n-th change to the disk: in a fork of the test, so that hundreds of deaths cost little.

A change is a call that could leave something behind: opening for writing, writing, linking, renaming, removing, making a
folder, and the begin and commit of the index (a death inside a transaction is one before its commit). Forcing to disk is
none: the kernel outlives the process, so a death before it leaves what one before the next change leaves. For the same
reason a copy of the disk, taken before a change, is what a death there leaves: `left_by_deaths` takes all in one run.
"""

from __future__ import annotations

import errno
import itertools
import os
import signal
import sqlite3
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from oracle.index import db
from oracle.store.disk import steps
from tests.guard import WRITE_FLAGS
from tests.store.crash import Camera, laid_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CALLS = ("open", "write", "pwrite", "link", "rename", "replace", "unlink", "mkdir", "rmdir")


@dataclass(frozen=True)
class Outcome:
    """How the child ended: `killed` or untouched, with the lines it had acknowledged before."""

    killed: bool
    acknowledged: list[str]


class _Fuse:
    """Counts changes and ends the process before or after the n-th."""

    def __init__(self, number: int, *, after: bool) -> None:
        self.number = number
        self.after = after
        self.turns = itertools.count(1)  # threads change files too

    def around(self, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        is_last = next(self.turns) == self.number
        if is_last and not self.after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = call(*args, **named)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


def left_by_deaths(folder: Path, copies: Path, work: Callable[[], object]) -> Iterator[int]:
    """Lay `folder` out as a death before each change of `work` leaves it, and at last as its end does; yield their numbers."""

    def run(camera: Camera) -> None:
        _arm(camera)
        work()

    return laid_out(folder, copies, run)


class _Refusal:
    """A disk that is full (ENOSPC) or read-only (EROFS) from its n-th change on."""

    def __init__(self, number: int, refusal: int) -> None:
        self.refusal = refusal
        self.turns = itertools.count(-number)

    def around(self, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        name = call.__name__
        needs_room = name in ("write", "pwrite", "link", "mkdir", "execute") or (
            name == "open" and args[1] & os.O_CREAT
        )
        is_elsewhere = args[0] == os.devnull or (name == "write" and args[0] <= 2)
        if is_elsewhere or (self.refusal == errno.ENOSPC and not needs_room) or next(self.turns) < 0:
            return call(*args, **named)
        if name != "execute":
            raise OSError(self.refusal, os.strerror(self.refusal), args[0] if isinstance(args[0], str) else None)
        full = self.refusal == errno.ENOSPC
        error = sqlite3.OperationalError("database or disk is full" if full else "attempt to write a readonly database")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL if full else sqlite3.SQLITE_READONLY
        raise error


def run_refused(number: int, refusal: int, work: Callable[[], int]) -> tuple[int, str]:
    """Run `work` in a fork with a disk that refuses from its `number`-th change on. Return its code and its output."""

    def run(output: TextIO) -> int:
        sys.stdout = sys.stderr = output
        _arm(_Refusal(number, refusal))
        return work()

    return _in_fork(run)


def count_changes(work: Callable[[], object]) -> int:
    """Run `work` in a fork undisturbed, and return how many changes it makes."""

    def run(output: TextIO) -> int:
        fuse = _Fuse(0, after=False)
        _arm(fuse)
        work()
        output.write(str(next(fuse.turns) - 1))
        return 0

    return int(_in_fork(run)[1])


def _in_fork(work: Callable[[TextIO], int]) -> tuple[int, str]:
    """Run `work` in a fork. Return its code, and what it writes to the stream that it gets."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        with os.fdopen(writer, "w", encoding="utf-8") as output:
            try:
                code = work(output)
            except BaseException:  # noqa: BLE001 - the child must never return into the test runner
                traceback.print_exc(file=output)
            output.flush()
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as stream:
        said = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def run_until(number: int, work: Callable[[Callable[[str], None]], None], *, after: bool) -> Outcome:
    """Fork, run `work` and kill it around its `number`-th change; `work` gets the function by which it acknowledges."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _be_child(number, work, writer, after=after)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as stream:
        acknowledged = stream.read().splitlines()
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert killed or status == 0, "the child failed; its traceback is on stderr"
    return Outcome(killed, acknowledged)


def _be_child(number: int, work: Callable[[Callable[[str], None]], None], writer: int, *, after: bool) -> None:
    really_write = os.write
    try:
        _arm(_Fuse(number, after=after))
        work(lambda line: really_write(writer, f"{line}\n".encode()) and None)
    except BaseException:  # noqa: BLE001 - the child must never return into the test runner
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _arm(fuse: _Fuse | _Refusal | Camera) -> None:
    for name in CALLS:
        setattr(os, name, _wrap(fuse, getattr(os, name), reads=name == "open"))
    steps.exchange = _wrap(fuse, steps.exchange, reads=False)
    really_connect = sqlite3.connect

    def connect(path: str) -> sqlite3.Connection:
        class Fused(sqlite3.Connection):
            def execute(self, statement: str, *args: Any) -> sqlite3.Cursor:  # type: ignore[override]
                if statement.startswith(("BEGIN IMMEDIATE", "COMMIT")):
                    return fuse.around(super().execute, statement, *args)  # type: ignore[no-any-return]
                return super().execute(statement, *args)

        return really_connect(path, timeout=30, isolation_level=None, check_same_thread=False, factory=Fused)

    db._connect = connect


def _wrap(fuse: _Fuse | _Refusal | Camera, call: Callable[..., Any], *, reads: bool) -> Callable[..., Any]:
    def wrapped(*args: Any, **named: Any) -> Any:
        if reads and not args[1] & WRITE_FLAGS:
            return call(*args, **named)
        return fuse.around(call, *args, **named)

    return wrapped
