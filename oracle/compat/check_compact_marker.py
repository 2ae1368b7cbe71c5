"""`check_compact_marker`: check whether a planner asks for compaction.

Prints `marker=present` or `marker=absent`; exits 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from oracle.compat.door import complain, emit, make_parser
from oracle.errors import OracleError


def main(argv: Sequence[str]) -> int:
    """Look for the marker. An unreadable file counts as one without it."""
    args = _parser().parse_args(argv)
    from oracle.app.teamwork import compaction
    from oracle.domain.delivery.compaction import has_marker

    text = args.text
    try:
        text += compaction.read_text(args.relay_text_file, "--relay-text-file") if args.relay_text_file else ""
    except OracleError as error:
        complain(f"warning: {error.sentence}")
    emit(f"marker={'present' if has_marker(text) else 'absent'}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("check_compact_marker", "Check whether a planner asks for compaction.")
    parser.add_argument("--relay-text-file", default="", metavar="FILE", help="the file with the planner's text")
    parser.add_argument("--text", default="", metavar="TEXT", help="the text itself")
    return parser
