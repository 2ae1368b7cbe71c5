"""`verify_handoff`: print whether a handoff was assigned, notified and consumed, in the old program's words.

Exits 0 or 1.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from oracle.compat.door import add_profile, complain, emit, make_parser, open_context

_LINES = {
    "task_id": "task",
    **{key: key for key in ("source", "target", "assigned", "notified", "consumed", "verdict", "verdict_valid")},
    "consumed_ack": "ack",
    "healthy": "healthy",
}
"""The lines of the text form in their order: the key of each and its word."""

_NEEDS = {"verdict": "verdict", "verdict_valid": "verdict", "consumed_ack": "consumed_ack"}
"""The lines that are left out if another key has no value, and that key."""


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
        emit(json.dumps(found, ensure_ascii=False, indent=2, sort_keys=True))
    else:
        for key, word in _LINES.items():
            if key not in _NEEDS or found[_NEEDS[key]]:
                emit(f"{word}: {found[key]}")
    return 0 if found["healthy"] else 1


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("verify_handoff", "Check one handoff.")
    add_profile(parser)
    parser.add_argument("--task-id", required=True, metavar="ID")
    parser.add_argument("--source", required=True, metavar="SEAT")
    parser.add_argument("--target", required=True, metavar="SEAT")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser
