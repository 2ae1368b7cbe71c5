"""`verify_handoff`: print whether a handoff was assigned, notified and consumed, in the old program's words.

Exits 0 or 1.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from oracle.compat.door import add_profile, complain, emit, make_parser, open_context


def main(argv: Sequence[str]) -> int:
    """Verify one handoff. Returns 0 if it is healthy, else 1."""
    from oracle.app.delivery.acknowledge import verify

    args = _parser().parse_args(argv)
    with open_context(args) as context:
        found = verify(context, "", args.task_id, source=args.source, target=args.target, path=args.profile)
    problems = found.pop("problems")
    for line in problems if isinstance(problems, list) else ():
        complain(f"warning: {line}")
    if args.json:
        emit(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        for key, item in found.items():
            emit(f"{key}: {item}")
    return 0 if found["healthy"] else 1


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("verify_handoff", "Check one handoff.")
    add_profile(parser)
    parser.add_argument("--task-id", required=True, metavar="ID")
    parser.add_argument("--source", required=True, metavar="SEAT")
    parser.add_argument("--target", required=True, metavar="SEAT")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser
