"""Run another program: without a shell, in its own session, for a limited time.

When the time is over, the whole session is ended, so that a leftover child cannot keep the pipes open.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence

from oracle.domain.values import value

_LAST_WORDS = 1.0
"""Seconds to wait for the pipes of a program after its session was ended."""


class OutOfPatience(Exception):
    """The program did not finish in time. What it did until then is unknown."""


@value
class Ran:
    """The exit code and the output of a program."""

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
            except subprocess.TimeoutExpired:  # a child has moved to its own session
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
