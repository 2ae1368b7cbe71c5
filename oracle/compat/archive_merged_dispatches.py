"""`archive_merged_dispatches`: move merged entries out of a MEMORY.md.

Exit codes: 0 done; 1 still too long after `--commit`; 2 an error.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from oracle.compat.door import complain, emit, make_parser, open_context, report
from oracle.errors import OracleError

TOO_LONG, FAILED = 1, 2


def main(argv: Sequence[str]) -> int:
    """Show the move, or make it with `--commit`. Prints JSON."""
    args = _parser().parse_args(argv)
    from oracle.app.teamwork import compaction

    try:
        with open_context(args) as context:
            done = compaction.archive_merged(context, args.memory_path, period=args.default_period, commit=args.commit)
    except OracleError as error:
        report(error)
        return FAILED
    emit(json.dumps(done, ensure_ascii=False, indent=2, sort_keys=True))
    if args.commit and not done["within_200_lines"]:
        complain(f"error: {done['memory_path']} is over 200 lines still: {done['line_count_after']}")
        return TOO_LONG
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("archive_merged_dispatches", "Move merged entries of a MEMORY.md into archives beside it.")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--dry-run", action="store_true", help="change nothing (default)")
    mode.add_argument("--commit", action="store_true", help="move it")
    parser.add_argument(
        "--memory-path", default="", metavar="FILE", help="default: CLAWSEAT_MEMORY_MD, else ./MEMORY.md"
    )
    parser.add_argument(
        "--default-period",
        default="",
        metavar="YYYY_MM",
        help="the month of entries without a date; default: this month",
    )
    parser.add_argument("--memory-dir", metavar="DIR", help="the Root whose home folder is searched")
    return parser
