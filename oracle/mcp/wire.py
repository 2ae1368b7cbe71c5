"""Reserve the standard streams for JSON-RPC before anything else runs, whatever a library prints or reads.

This module does not import the SDK: importing a library may already print.
"""

from __future__ import annotations

import fcntl
import os
import sys
from dataclasses import dataclass

_FIRST_FREE = 3


@dataclass(frozen=True, slots=True)
class Wire:
    """The file descriptors of the connection to the client."""

    reader: int
    writer: int


def take() -> Wire:
    """Move the connection to new descriptors. Descriptor 0 then reads nothing; descriptor 1 prints to standard error."""
    if sys.stdout is not None:
        sys.stdout.flush()
    reader, writer = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE) for number in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2 if _is_open(2) else nothing, 1)
    if nothing >= _FIRST_FREE:
        os.close(nothing)
    return Wire(reader, writer)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
