"""Options that the delivery programs share: the Root, the profile, and whether to wake the reader. Imports nothing heavy."""

from __future__ import annotations

import argparse

from oracle.app.context import Context
from oracle.compat.door import careful, warn


def make_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Return a parser whose help has the terminal's width. The width is only looked up for help."""
    import argparse
    import os

    def formatter(prog: str) -> argparse.HelpFormatter:
        columns = os.environ.get("COLUMNS", "")
        return argparse.HelpFormatter(prog, width=max(40, int(columns) - 2 if columns.isdecimal() else 98))

    parser = argparse.ArgumentParser(prog=name, allow_abbrev=False, description=description, formatter_class=formatter)
    return careful(parser)


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the options for the profile's file and the Root."""
    parser.add_argument("--profile", required=True, metavar="FILE", help="the profile of the project")
    parser.add_argument("--memory-dir", metavar="DIR", help="the Root; default: from the environment")


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
