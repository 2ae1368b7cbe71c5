"""`check_compact_marker`: does a planner ask to be condensed? Prints `marker=present` or `marker=absent`; always 0."""

from __future__ import annotations

from oracle.compat.door import complain, emit, serve
from oracle.compat.teamwork import make_parser
from oracle.errors import OracleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def run() -> int:
    """Run on the process's own arguments."""
    return serve(main)


def main(argv: Sequence[str]) -> int:
    """Look for the marker; a file that can't be read holds none."""
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
    parser = make_parser("check_compact_marker", "Tell whether a planner asks to be condensed.")
    parser.add_argument("--relay-text-file", default="", metavar="FILE", help="what the planner relayed")
    parser.add_argument("--text", default="", metavar="TEXT", help="the same, given here")
    return parser
