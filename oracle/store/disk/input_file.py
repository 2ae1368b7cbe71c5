"""Read what a caller names or pipes in: a regular file, a pipe, standard input. The size is limited.

Every option that takes a file uses this, so that none of them reads a device, a folder or an endless file.
"""

from __future__ import annotations

import os
import stat
import sys

from oracle.errors import UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

STANDARD_INPUT = "-"
MOST_BYTES = 16 << 20
"""The largest input in bytes."""

_PIPED = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""The paths that a shell passes for `<(command)`.

They are open already, so reading them does not wait for a new writer.
"""


def read(name: str, option: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`. Errors name the option. Raises UsageError."""
    if name == STANDARD_INPUT:
        if sys.stdin is None:
            raise UsageError(say("Standard input is closed."), hint=say("Pass a file with {option}.", option=option))
        return _bounded(sys.stdin.buffer, say("standard input"), option)
    try:
        with open(_open(os.path.expanduser(name)), "rb") as stream:
            return _bounded(stream, name, option)
    except _NotPlain as error:
        raise _unreadable(name, say("it is not a regular file"), option) from error
    except (OSError, ValueError) as error:
        raise _unreadable(name, getattr(error, "strerror", None) or str(error), option) from error


class _NotPlain(Exception):
    """A folder, a device, or a pipe without a writer."""


def _open(path: str) -> int:
    is_piped = path.startswith(_PIPED)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if is_piped else os.O_NONBLOCK))
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode) or (is_piped and not stat.S_ISDIR(mode)):
        return handle
    os.close(handle)
    raise _NotPlain


def _bounded(stream: BinaryIO, name: str, option: str) -> bytes:
    raw = stream.read(MOST_BYTES + 1) or b""  # None if there is no data, as in /proc/kmsg
    if len(raw) > MOST_BYTES:
        raise _unreadable(name, say("it is larger than 16 MiB"), option)
    return raw


def _unreadable(name: str, reason: str, option: str) -> UsageError:
    return UsageError(
        say("{path} can't be read: {reason}.", path=name, reason=reason), hint=say("Check {option}.", option=option)
    )
