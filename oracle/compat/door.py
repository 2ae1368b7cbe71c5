"""What every front shares: run, print, report a failure, end. On the way of every query, so it imports nothing heavy.

Standard output is UTF-8 whatever the locale says; what UTF-8 can't hold is printed as a JSON escape.
"""

from __future__ import annotations

import os
import sys

from oracle.errors import OracleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

INTERRUPTED = 130


def serve(main: Callable[[list[str]], int]) -> int:
    """Run a front on the process's arguments and return its exit code; no failure leaves a traceback.

    130 on an interrupt, quiet success when the reader of a pipe has gone, 70 for what nobody foresaw. A library that is
    not installed is left to whoever started the front.
    """
    try:
        code = main(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _hush()
        return 0
    except OracleError as error:
        return report(error)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - the one place where a front ends
        _hush()
        return report(OracleError(f"Something unexpected happened: {_place(error)}.", hint="Run `oracle doctor`."))
    return code


def end(code: int) -> NoReturn:
    """End the process here: all is printed and closed, and taking thousands of values apart one by one takes its time."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    os._exit(code)


def _place(error: Exception) -> str:
    """Name an unforeseen error with the line it came from, which is what a bug report needs."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({trace.tb_frame.f_code.co_filename.rpartition(os.sep)[2]}:{trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}: {error}{where}"


def _hush() -> None:
    """Send what is still buffered for standard output nowhere, or the interpreter complains about it at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return


def report(error: OracleError) -> int:
    """Print the sentence and the hint of a failure on standard error and return its exit code."""
    complain(f"error: {error.sentence}")
    if error.hint:
        complain(f"hint: {error.hint}")
    return error.exit_code


def emit(text: str) -> None:
    """Print `text` and a line end on standard output."""
    if sys.stdout is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(f"{text}\n".encode("utf-8", "backslashreplace"))


def complain(text: str) -> None:
    """Print `text` and a line end on standard error, which Python escapes as needed."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
