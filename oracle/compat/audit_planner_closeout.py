"""`audit_planner_closeout`: check the three artifacts of a planner's closeout. Exits 0 if they exist, else 1.

With `--relaxed`, a missing consumed receipt is a warning.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from oracle.compat.door import add_profile, complain, emit, make_parser, open_context


def main(argv: Sequence[str]) -> int:
    """Check the closeout of one task. Returns 0 if it is complete, else 1."""
    from oracle.app.delivery.acknowledge import audit_closeout

    args = _parser().parse_args(argv)
    with open_context(args) as context:
        absent = audit_closeout(context, "", args.task_id, path=args.profile)
    soft = [line for line in absent if args.relaxed and line.startswith(".consumed missing")]
    hard = [line for line in absent if line not in soft]
    for line in soft:
        complain(f"warning: {line}")
    for line in hard:
        emit(line)
    if hard:
        return 1
    emit("2 authoritative artifacts present (receipt + DELIVERY)" if args.relaxed else "all 3 artifacts present")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("audit_planner_closeout", "Check the artifacts of a planner's closeout.")
    add_profile(parser)
    parser.add_argument("--task-id", required=True, metavar="ID")
    parser.add_argument("--relaxed", action="store_true", help="receipt and DELIVERY.md are enough")
    return parser
