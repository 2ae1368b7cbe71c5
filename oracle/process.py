"""What a process was started in: the encoding of its words and file names, its working directory. App room.

Only entry points ask, and only when something is odd, so that a usual start pays nothing.
"""

from __future__ import annotations

import contextlib
import os
import sys

from oracle.errors import UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def speak_utf8() -> None:
    """Become the same command in Python's UTF-8 mode; return when this is it already, or when that can't be.

    Where the locale says otherwise, Python takes the words of the command line and every file name that is not of that
    encoding for broken. Call it before standard input was read. A terminal keeps the encoding that it had.
    """
    if sys.flags.utf8_mode or not sys.executable:
        return
    if sys.stdout is not None and sys.stdout.isatty():
        os.environ.setdefault("PYTHONIOENCODING", f"{sys.stdout.encoding}:backslashreplace")
    with contextlib.suppress(OSError, ValueError):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - our own words, no shell


def require_text(words: Sequence[str]) -> None:
    """Raise UsageError when a word of the command line is not UTF-8."""
    for number, word in enumerate(words, 1):
        if any("\ud800" <= char <= "\udfff" for char in word):
            raise UsageError(
                say("Argument {number} is not UTF-8: {bytes}.", number=number, bytes=repr(os.fsencode(word)[:60])),
                hint=say("Send text in another encoding through a file, converted."),
            )


def lost_folder(error: BaseException) -> UsageError | None:
    """Return what a person is told when a file was not found because the working directory is gone; None otherwise."""
    if not isinstance(error, FileNotFoundError):
        return None
    try:
        os.getcwd()
    except FileNotFoundError:
        return UsageError(
            say("The working directory is gone."), hint=say("Change to a folder that is there, and try again.")
        )
    return None
