"""Run a program of others: without a shell, in a session of its own, for a bounded time. Store room.

When its time is over the whole session ends, so that a child that it left behind holds nobody up by an open pipe.
"""

from __future__ import annotations

import os
import signal

from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LAST_WORDS = 1.0
"""Seconds that a program's pipes are waited for once its session was ended."""


class OutOfPatience(Exception):
    """The program was not done in its time; what it had done by then is not known."""


@value
class Ran:
    """How a program ended, and what it said."""

    code: int
    output: bytes
    errors: bytes


def run(words: Sequence[str], *, environ: Mapping[str, str], patience: float, given: bytes = b"") -> Ran:
    """Run a program to its end with `given` on standard input. Raises OutOfPatience, OSError, ValueError."""
    import subprocess

    with subprocess.Popen(
        list(words),
        env=dict(environ),
        stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(given or None, timeout=patience)
        except BaseException as error:
            _end(process.pid)
            try:
                process.communicate(timeout=_LAST_WORDS)
            except subprocess.TimeoutExpired:  # a child of it went into a session of its own
                for stream in (process.stdout, process.stderr):
                    if stream is not None:
                        stream.close()
            if isinstance(error, subprocess.TimeoutExpired):
                raise OutOfPatience from error
            raise
    return Ran(process.returncode, output, errors)


def _end(session: int) -> None:
    try:
        os.killpg(session, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
