"""Run another program: without a shell, in its own session, for a limited time and with limited output.

At either limit the whole session is ended, so that a leftover child cannot keep the pipes open.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence

from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BytesIO
    from subprocess import Popen
    from typing import IO

MOST = 1 << 20
"""Bytes that a program may print on each of its two outputs, unless the caller says otherwise."""

_PART = 1 << 16
_LOOK_EVERY = 0.5


class Stopped(Exception):
    """The program was ended at a limit. What it did until then is unknown."""


class OutOfPatience(Stopped):
    """The program did not finish in time."""


class TooMuchOutput(Stopped):
    """The program printed more than it may."""


@value
class Ran:
    """The exit code and the output of a program."""

    code: int
    output: bytes
    errors: bytes


def run(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    patience: float,
    given: bytes = b"",
    most: int = MOST,
    is_over: Callable[[], bool] = lambda: False,
) -> Ran:
    """Run a program to its end with `given` on standard input. `patience` is in seconds, `most` in bytes.

    `is_over` is asked twice a second, and stops the program early. Raises OutOfPatience, TooMuchOutput, Stopped, OSError,
    ValueError.
    """
    import subprocess

    with subprocess.Popen(
        list(words),
        bufsize=0,
        env=dict(environ),
        stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            until = time.monotonic() + patience
            output, errors = _exchange(process, given, until, most, is_over)
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            _end(process.pid)
            raise OutOfPatience from error
        except BaseException:
            _end(process.pid)
            raise
    return Ran(process.returncode, output, errors)


def _exchange(
    process: Popen[bytes], given: bytes, until: float, most: int, is_over: Callable[[], bool]
) -> tuple[bytes, bytes]:
    """Feed a program and read both its outputs until they are closed. Raises OutOfPatience, TooMuchOutput, Stopped."""
    from functools import partial
    from io import BytesIO
    from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

    output, errors = bytearray(), bytearray()
    with DefaultSelector() as pipes:
        for stream, heard in ((process.stdout, output), (process.stderr, errors)):
            if stream:
                pipes.register(stream, EVENT_READ, partial(_hear, stream, heard))
        if process.stdin:
            os.set_blocking(process.stdin.fileno(), False)
            pipes.register(process.stdin, EVENT_WRITE, partial(_feed, process.stdin, BytesIO(given)))
        while pipes.get_map():
            ready = pipes.select(min(_LOOK_EVERY, max(0.0, until - time.monotonic())))
            if time.monotonic() >= until:
                raise OutOfPatience
            if is_over():
                raise Stopped
            for key, _ in ready:
                if not key.data():
                    pipes.unregister(key.fileobj)
            if max(len(output), len(errors)) > most:
                raise TooMuchOutput
    return bytes(output), bytes(errors)


def _hear(stream: IO[bytes], heard: bytearray) -> bool:
    """Read what is there. Returns whether more may come."""
    part = stream.read(_PART)
    heard += part
    return bool(part)


def _feed(stream: IO[bytes], given: BytesIO) -> bool:
    """Write what fits, and close the pipe after the last of it. Returns whether more is left."""
    part = given.read(_PART)
    try:
        given.seek((stream.write(part) or 0) - len(part), os.SEEK_CUR)
    except BrokenPipeError:
        part = b""
    if part and given.tell() < len(given.getbuffer()):
        return True
    stream.close()
    return False


def _end(session: int) -> None:
    try:
        os.killpg(session, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
