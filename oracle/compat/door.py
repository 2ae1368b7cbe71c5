"""What all these programs share: run, print, report a failure, exit.

Every query runs this, so it imports nothing heavy. Standard output is always UTF-8: what UTF-8 cannot encode is printed as a
JSON escape.
"""

from __future__ import annotations

import os
import sys

from oracle.errors import DiskFailure, OracleError, RootUnusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import NoReturn

    from oracle.app.context import Context

INTERRUPTED = 130
_GARBAGE = 200_000
"""Values that may become garbage before it is looked for: no query makes so many, but a rebuild of the index does."""
TEST_POLICIES = ("UPDATE", "FREEZE", "EXTEND", "N/A")
_ROOT_FLAG = "--memory-dir"


def serve(main: Callable[[list[str]], int]) -> int:
    """Run a program with the process's arguments and return its exit code. No failure prints a traceback.

    Returns 130 on an interrupt, 70 for an unexpected error, and ends quietly if the reader of a pipe is gone. A missing
    library is left to the caller.
    """
    try:
        code = _call(main, sys.argv[1:])
        _print(b"")
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _silence_output()
        return 0
    except OracleError as error:
        return report(error)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - the one place where a front ends
        _silence_output()
        from oracle.app.root import unexpected
        from oracle.app.settings import root_in
        from oracle.process import lost_folder

        return report(lost_folder(error) or unexpected(root_in(sys.argv), error))
    return code


def run_once(main: Callable[[list[str]], int]) -> NoReturn:
    """Run a program with the process's arguments as `serve` does, and end the process with its exit code.

    What one command does not need takes a fifth of its time: garbage collection, argparse's lookup of translated headings,
    which imports `locale`, and freeing thousands of values one by one.
    """
    import argparse
    import gc

    gc.set_threshold(_GARBAGE)
    vars(argparse)["_"] = str
    end(serve(main))


def run(name: str) -> int:
    """Run the program of a name with the process's arguments and return its exit code."""
    from importlib import import_module

    program = import_module(f"oracle.compat.{name}")
    code: int = program.run() if hasattr(program, "run") else serve(program.main)
    return code


def _call(main: Callable[[list[str]], int], words: list[str]) -> int:
    """Run a program. The parser's own exits, after help or a wrong call, become exit codes."""
    if sys.getfilesystemencoding() != "utf-8":
        from oracle.process import speak_utf8

        speak_utf8()
    if not all(map(str.isascii, words)):
        from oracle.process import require_text

        require_text(words)
    try:
        return main(words)
    except SystemExit as ended:
        if not isinstance(ended.code, int):
            raise
        return ended.code


def end(code: int) -> NoReturn:
    """Flush all output, and end the process now."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    os._exit(code)


def _silence_output() -> None:
    """Discard buffered standard output: otherwise the interpreter complains at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return


def report(error: OracleError) -> int:
    """Print an error with its mark and its hint on standard error and return its exit code."""
    complain(f"error: {without_secrets(': '.join(filter(None, (error.mark, error.sentence))))}")
    if error.hint:
        complain(f"hint: {without_secrets(error.hint)}")
    return error.exit_code


def without_secrets(sentence: str) -> str:
    """Return a sentence with secrets replaced by their kind. It may quote a value of the caller."""
    from oracle.domain.safety.secrets import redact

    return redact(sentence)[0]


def on_one_line(text: str) -> str:
    r"""Return text on one line with control characters escaped (`\n`, `\x1b`). It may quote a value of the caller."""
    return "".join(map(_spelled, text))


def _spelled(char: str) -> str:
    is_plain = char.isprintable() or (char >= "\xa0" and char.isspace() and char not in "\u2028\u2029")
    return char if is_plain else ascii(char)[1:-1]


def careful(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return a parser whose messages contain no secrets and no control characters."""
    usual = parser.error

    def error(message: str) -> NoReturn:
        usual(on_one_line(without_secrets(message)))

    parser.error = error  # type: ignore[method-assign]
    return parser


def word(given: str) -> str:
    """Return the value of a filter. An empty one, such as an unset variable, is refused: it would filter nothing."""
    if not given:
        import argparse

        raise argparse.ArgumentTypeError("it is empty; give it a value, or leave it out")
    return given


def emit(text: str) -> None:
    """Print `text` and a line end on standard output. Raises DiskFailure, BrokenPipeError."""
    _print(f"{text}\n".encode("utf-8", "backslashreplace"))


def _print(data: bytes) -> None:
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _silence_output()
        raise DiskFailure(f"The answer could not be printed: {error.strerror}.") from error


def complain(text: str, *, keeps_lines: bool = False) -> None:
    """Print text on standard error with control characters escaped, on one line unless `keeps_lines`."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text if keeps_lines else on_one_line(text)}\n")


def warn(line: str) -> None:
    """Print a warning on standard error."""
    complain(f"warning: {line}")


def make_root(context: Context) -> None:
    """Create the Root if it does not exist, and say so."""
    try:
        context.root.require()
    except RootUnusable:
        from oracle.app.root import init

        init(context)
        complain(f"note: made the Root {context.root.path}")


# Options that several programs share -----------------------------------------------------------------------------------


def format_help(prog: str) -> argparse.HelpFormatter:
    """Format help to the width of the terminal, without shutil, which argparse would import for every argument."""
    import argparse

    try:
        width = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size().columns
    except (OSError, ValueError):
        width = 80
    return argparse.HelpFormatter(prog, width=max(width - 2, 40))


def make_parser(name: str, description: str, *, allow_abbrev: bool = False) -> argparse.ArgumentParser:
    """Return a parser. `allow_abbrev` takes the beginning of an option for it, as long as it is the only one."""
    import argparse

    return careful(
        argparse.ArgumentParser(
            prog=name, allow_abbrev=allow_abbrev, description=description, formatter_class=format_help
        )
    )


def add_root(parser: argparse.ArgumentParser) -> None:
    """Add the option for the Root."""
    parser.add_argument(_ROOT_FLAG, metavar="DIR", help="the Root (default: from the environment)")


def add_new_project(parser: argparse.ArgumentParser) -> None:
    """Add the option for a new project with a name like another's."""
    parser.add_argument(
        "--new-project", action="store_true", help="the project is new, though one of a similar name exists"
    )


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the options for the profile's file and the Root."""
    parser.add_argument("--profile", required=True, metavar="FILE", help="the profile of the project")
    add_root(parser)


def add_notify(parser: argparse.ArgumentParser) -> None:
    """Add the options for waking the reader."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--notify", action="store_true", help="wake the reader (default)")
    either.add_argument("--no-notify", action="store_true", help="wake nobody")
    parser.add_argument("--skip-notify", action="store_true", help="the old name of --no-notify")
    parser.add_argument(
        "--allow-notify-failure",
        action="store_true",
        help="accepted for compatibility: a failed wake-up is always a warning",
    )


def add_secrets(parser: argparse.ArgumentParser) -> None:
    """Add the option for text that looks like a secret."""
    parser.add_argument(
        "--secrets",
        choices=("refuse", "redact", "allow"),
        default="refuse",
        help="what happens to a text that looks like a credential",
    )


def notifies(args: argparse.Namespace) -> bool:
    """Return whether to wake the reader."""
    return not (args.no_notify or args.skip_notify)


def open_context(args: argparse.Namespace) -> Context:
    """Open the Root of the call. Warnings go to standard error."""
    from oracle.app.context import Context

    return Context.open(args.memory_dir, warn=warn)
