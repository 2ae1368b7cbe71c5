"""The environment of the process: encoding, working directory, standard streams, what a caller names or pipes in, safe text."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections import namedtuple

from oracle.errors import UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO, NamedTuple

    class Streams(NamedTuple):
        """The file descriptors of a connection over standard streams."""

        reader: int
        writer: int

else:
    Streams = namedtuple("Streams", "reader writer")

_FIRST_FREE = 3


def speak_utf8() -> None:
    """Restart the same command in Python's UTF-8 mode.

    Returns if it runs in that mode already, or if that is impossible.

    Under another locale, Python would take arguments and file names in UTF-8 for broken. Call this before anything
    reads standard input. A terminal keeps its encoding.
    """
    if sys.flags.utf8_mode or not sys.executable:
        return
    if sys.stdout is not None and sys.stdout.isatty():
        os.environ.setdefault("PYTHONIOENCODING", f"{sys.stdout.encoding}:backslashreplace")
    with contextlib.suppress(OSError, ValueError):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - our own words, no shell


def require_text(words: Sequence[str]) -> None:
    """Raise UsageError if an argument is not UTF-8."""
    for number, word in enumerate(words, 1):
        if any("\ud800" <= char <= "\udfff" for char in word):
            raise UsageError(
                say("Argument {number} is not UTF-8: {bytes}.", number=number, bytes=repr(os.fsencode(word)[:60])),
                hint=say("Put text in another encoding into a file and convert it."),
            )


def lost_folder(error: BaseException) -> UsageError | None:
    """Return the error to print if a file was not found because the working directory is gone."""
    if not isinstance(error, FileNotFoundError):
        return None
    try:
        os.getcwd()
    except FileNotFoundError:
        return UsageError(
            say("The working directory is gone."), hint=say("Change to an existing folder and try again.")
        )
    return None


def take_streams() -> Streams:
    """Reserve the standard streams for a connection, before a library reads or prints anything.

    The connection moves to new descriptors. Descriptor 0 then reads nothing; descriptor 1 prints to standard error.
    """
    import fcntl

    if sys.stdout is not None:
        sys.stdout.flush()
    reader, writer = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE) for number in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2 if _is_open(2) else nothing, 1)
    if nothing >= _FIRST_FREE:
        os.close(nothing)
    return Streams(reader, writer)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


# What a caller names or pipes in --------------------------------------------------------------------------------------

STANDARD_INPUT = "-"
MOST_BYTES = 16 << 20
"""The largest input in bytes."""

_PIPED = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""The paths that a shell passes for `<(command)`.

They are open already, so reading them does not wait for a new writer.
"""


def read_input(name: str, option: str = "") -> bytes:
    """Return the bytes of a regular file or a pipe, or of standard input for `-`. Raises UsageError.

    Errors about a file name the option; `-` may be an argument too.

    Every option that takes a file uses this, so that none of them reads a device, a folder or an endless file.
    """
    if name == STANDARD_INPUT:
        if sys.stdin is None:
            raise UsageError(
                say("Standard input is closed."),
                hint=say("Pipe the text in, or give it without `-`."),
            )
        return _bounded(sys.stdin.buffer, say("standard input"), "")
    try:
        with open(_open(os.path.expanduser(name)), "rb") as stream:
            return _bounded(stream, name, option)
    except _NotPlain as error:
        raise _unreadable(name, say("it is not a regular file"), option) from error
    except (OSError, ValueError) as error:
        raise _unreadable(name, getattr(error, "strerror", None) or str(error), option) from error


def read_text_input(name: str, option: str = "") -> str:
    """Return what `read_input` reads as text, without a byte-order mark. Raises UsageError, also for other encodings than UTF-8."""
    try:
        return read_input(name, option).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        source = say("standard input") if name == STANDARD_INPUT else name
        raise UsageError(
            say("{source} is not UTF-8: byte {at} can't be read.", source=source, at=error.start),
            hint=say("Convert it first, as in `iconv -t UTF-8`."),
        ) from error


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
        say("{path} can't be read: {reason}.", path=name, reason=reason),
        hint=say("Check {option}.", option=option) if option else say("Give less of it."),
    )
