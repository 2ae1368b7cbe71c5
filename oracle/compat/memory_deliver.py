"""`memory_deliver`: deliver an answer of the memory seat, with the options, output and exit codes of the old program.

Exit codes: 0 delivered, now or earlier; 2 a wrong call; 3 the response was written but the handoff failed; 6 another
answer exists.
"""

from __future__ import annotations

import argparse
import shlex

from oracle.compat.door import (
    add_notify,
    add_profile,
    add_secrets,
    complain,
    emit,
    make_parser,
    notifies,
    open_context,
    report,
    run_once,
)
from oracle.domain.records.responses import parse_response
from oracle.errors import HandoffFailed
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def run() -> NoReturn:
    """Run with the process's arguments and end the process with the exit code."""
    run_once(main)


def main(argv: Sequence[str]) -> int:
    """Deliver once. Returns the exit codes of the module."""
    args = _parser().parse_args(argv)
    response = _response(args)
    from oracle.app.delivery import resume
    from oracle.app.delivery.deliver import Delivery, deliver

    delivery = Delivery(
        "",
        args.task_id,
        args.target,
        response,
        source=args.source,
        profile=args.profile,
        summary=args.summary,
        notifies=notifies(args),
        supersedes=args.supersede,
        is_strict=args.strict,
        is_unsolicited=args.unsolicited,
        secrets=args.secrets,
        takes_stranger=True,
    )
    with open_context(args) as context:
        resume.before(context, notifies=delivery.notifies)
        try:
            done = deliver(context, delivery)
        except HandoffFailed as error:
            report(error)
            complain(f"retry: {shlex.join(['memory_deliver', *argv])}", keeps_lines=True)
            return error.exit_code
    name = done.name
    if done.is_new:
        emit(f"response_written: {done.response_path}")
        emit(f"completed {name.task_id} -> {name.target}")
    else:
        emit(f"already delivered {name.task_id} -> {name.target}: {done.response_path}")
    emit(f"delivery: {done.delivery_path}")
    emit(f"receipt: {done.receipt_path}")
    if done.redacted:
        from oracle.domain.safety.telling import tell_replaced

        for line in tell_replaced(done.redacted, again=say("If that was no secret, add --supersede --secrets allow.")):
            complain(line)
    if done.all_verified is False:
        complain("warning: not every claim is verified; the response says which")
    return 0


def _response(args: argparse.Namespace) -> dict[str, object]:
    """Return the response from the arguments. Raises UsageError."""
    from oracle.process import read_input

    is_inline = args.response_inline is not None
    return parse_response(args.response_inline if is_inline else read_input(args.response_file, "--response-file"))


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("memory_deliver", "Deliver an answer of the memory seat, exactly once.")
    add_profile(parser)
    parser.add_argument("--task-id", required=True, metavar="ID")
    parser.add_argument("--target", required=True, metavar="SEAT", help="the seat that gets the answer")
    parser.add_argument("--source", default="memory", metavar="SEAT", help="who answers")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--response-inline", metavar="JSON")
    what.add_argument("--response-file", metavar="FILE", help="- is standard input")
    parser.add_argument("--summary", default="", metavar="TEXT", help="a summary for the receipt")
    parser.add_argument("--strict", action="store_true", help="deliver nothing if a claim does not hold")
    parser.add_argument("--supersede", action="store_true", help="replace the earlier answer, which is kept")
    parser.add_argument("--unsolicited", action="store_true", help="nobody asked, though a similar task waits")
    add_notify(parser)
    add_secrets(parser)
    return parser
