"""Run the daemon without loading the command line. `oracle daemon start`, systemd and launchd run this module."""

from __future__ import annotations

import argparse
import logging
import sys

from oracle.app.context import Context
from oracle.daemon.serve import Daemon
from oracle.errors import OracleError


def main(words: list[str] | None = None) -> int:
    """Serve until stopped. Warnings and errors also go to standard error."""
    parser = argparse.ArgumentParser(prog="python -m oracle.daemon", description="Serve a Root until stopped.")
    parser.add_argument("--memory-dir", metavar="DIR", help="the Root; default: as for every command")
    parser.add_argument("--hold", action="store_true", help="keep unanswered questions open")
    given = parser.parse_args(words)
    try:
        daemon = Daemon(Context.open(given.memory_dir).root, hold=given.hold)
        daemon.log.addHandler(echo(logging.WARNING))
        daemon.run()
    except OracleError as error:
        sys.stderr.write(f"{error.sentence}\n" + (f"hint: {error.hint}\n" if error.hint else ""))
        return error.exit_code
    return 0


def echo(level: int) -> logging.Handler:
    """Return a handler that prints log lines on standard error."""
    handler = logging.StreamHandler()
    handler.setLevel(level)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    return handler


if __name__ == "__main__":
    sys.exit(main())
