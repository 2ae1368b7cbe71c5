"""What the fronts of delivery share: which Root, which profile, whether to wake somebody. Imports nothing heavy."""

from __future__ import annotations

from oracle.compat.door import careful, warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from oracle.app.context import Context


def make_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Return a parser whose help is as wide as the terminal says; it does not load what looks that up until it is asked."""
    import argparse
    import os

    def formatter(prog: str) -> argparse.HelpFormatter:
        columns = os.environ.get("COLUMNS", "")
        return argparse.HelpFormatter(prog, width=max(40, int(columns) - 2 if columns.isdecimal() else 98))

    parser = argparse.ArgumentParser(prog=name, allow_abbrev=False, description=description, formatter_class=formatter)
    return careful(parser)


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where: the profile's file and the Root."""
    parser.add_argument("--profile", required=True, metavar="FILE", help="the profile of the project")
    parser.add_argument("--memory-dir", metavar="DIR", help="the Root; else the one that the environment names")


def add_notify(parser: argparse.ArgumentParser) -> None:
    """Add the options that say whether the reader is woken."""
    parser.add_argument("--notify", action="store_true", help="wake the reader, which is what happens by default")
    parser.add_argument("--no-notify", action="store_true", help="this call wakes nobody")
    parser.add_argument("--skip-notify", action="store_true", help="the old name of --no-notify")
    parser.add_argument(
        "--allow-notify-failure", action="store_true", help="taken: a wake-up that fails is a warning in any case"
    )


def add_secrets(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what becomes of what looks like a secret in what is handed over."""
    parser.add_argument(
        "--secrets",
        choices=("refuse", "redact", "allow"),
        default="refuse",
        help="what happens to a text that looks like a credential",
    )


def notifies(args: argparse.Namespace) -> bool:
    """Tell whether somebody is to be woken."""
    return not (args.no_notify or args.skip_notify)


def open_context(args: argparse.Namespace) -> Context:
    """Open the Root that the call means; warnings go to standard error."""
    from oracle.app.context import Context

    return Context.open(args.memory_dir, warn=warn)
