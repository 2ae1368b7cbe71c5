"""Run a program of Python in a fork of the test: a process of its own that has imported all and starts in no time.

It gets what a new interpreter would: its words, streams, environment and folder. Each door has tests that start it for real.
"""

from __future__ import annotations

import io
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PATIENCE = 120


class Forked:
    """A process that was forked, with the methods of `subprocess.Popen` that tests use."""

    def __init__(
        self,
        work: Callable[[], Any],
        *,
        streams: Sequence[int] = (),
        environ: Mapping[str, str] | None = None,
        cwd: Any = "",
    ) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            _be_child(work, streams, environ, cwd)

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float = PATIENCE) -> int:
        end = time.monotonic() + timeout
        rest = 0.0005
        while self.poll() is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("a fork", timeout)
            time.sleep(rest)
            rest = min(2 * rest, 0.01)
        return self.returncode or 0

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run_python(
    words: Sequence[str], *, stdin: str = "", env: Mapping[str, str] | None = None, cwd: Any = ""
) -> subprocess.CompletedProcess[str]:
    """Do what `python WORDS…` does: run `-c CODE`, or a file, with words."""
    done = run_bytes(words, stdin=stdin.encode(), env=env, cwd=cwd)
    return subprocess.CompletedProcess(words, done.returncode, _text(done.stdout), _text(done.stderr))


def run_bytes(
    words: Sequence[str], *, stdin: bytes, env: Mapping[str, str] | None = None, cwd: Any = ""
) -> subprocess.CompletedProcess[bytes]:
    """Do what `run_python` does, with streams of bytes."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        streams = [stream.fileno() for stream in (given, out, err)]
        child = Forked(lambda: _run(list(words)), streams=streams, environ=env, cwd=cwd)
        try:
            code = child.wait()
        finally:
            child.kill()
        for stream in (out, err):
            stream.seek(0)
        return subprocess.CompletedProcess(words, code, out.read(), err.read())


def _text(data: bytes) -> str:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8").read()


def _run(words: list[str]) -> None:
    if words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102
    else:
        sys.argv = words
        sys.path.insert(0, str(Path(words[0]).parent))
        runpy.run_path(words[0], run_name="__main__")


def _be_child(work: Callable[[], Any], streams: Sequence[int], environ: Mapping[str, str] | None, cwd: Any) -> NoReturn:
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        if environ is not None:
            os.environ.clear()
            os.environ.update(environ)
        if cwd:
            os.chdir(cwd)
        code = _code_of(work)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - the child must never return into the test runner
        traceback.print_exc()
    finally:
        os._exit(code)


def _code_of(work: Callable[[], Any]) -> int:
    """Run; return the code that an interpreter would end with."""
    try:
        work()
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)  # noqa: T201
            return 1
        return int(ended.code or 0)
    return 0
