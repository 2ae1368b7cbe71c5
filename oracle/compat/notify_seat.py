"""`notify_seat`: send a seat a notice, with the options and output of the old program. Exits 1 if it was not delivered.

Its receipt goes to `notices/` beside the handoffs and never replaces a dispatch. A notice to memory with a new task id is a
question: it is dispatched, so that it is answered exactly once.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from oracle.compat.door import add_profile, complain, emit, make_parser, open_context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.delivery.panes import Notified


def main(argv: Sequence[str]) -> int:
    """Send one notice. Returns 0 if it was delivered, or if failure is allowed."""
    from oracle.app.delivery.panes import notify

    args = _parser().parse_args(argv)
    from oracle.app.delivery.panes import Notice

    notice = Notice(
        "",
        args.source,
        args.target,
        args.message,
        task_id=args.task_id,
        reply_to=args.reply_to,
        kind=args.kind,
        profile=args.profile,
        leaves_receipt=not args.skip_receipt,
    )
    with open_context(args) as context:
        done = _ask(context, args) if _is_question(context, args) else notify(context, notice)
    if done.receipt_path:
        emit(f"receipt: {done.receipt_path}")
    if done.sent:
        emit(f"notified {args.target}")
        return 0
    complain(f"not notified {args.target}: {done.detail}")
    return 0 if args.allow_notify_failure else 1


def _is_question(context: Context, args: argparse.Namespace) -> bool:
    """Return whether memory is sent a task id that it was not asked before."""
    from oracle.app.delivery.dispatches import dispatches_to
    from oracle.app.delivery.team import is_memory, open_team

    if not args.task_id or args.skip_receipt:
        return False
    team = open_team(context, "", path=args.profile)
    return is_memory(team, args.target) and not any(dispatches_to(team.folder, args.task_id, args.target))


def _ask(context: Context, args: argparse.Namespace) -> Notified:
    """Dispatch the message as a question. A failed wake-up waits and is tried again."""
    from oracle.app.delivery import resume
    from oracle.app.delivery.dispatch import dispatch
    from oracle.app.delivery.order import QUERY, Order
    from oracle.app.delivery.panes import Notified

    resume.before(context)
    order = Order(
        "",
        args.task_id,
        args.source,
        args.target,
        args.message,
        reply_to=args.reply_to,
        kind=QUERY,
        profile=args.profile,
    )
    made = dispatch(context, order)
    is_sent = made.wake_up.result in ("sent", "attended")
    return Notified(is_sent, made.wake_up.detail or "the question is open", made.receipt_path)


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("notify_seat", "Send a seat a notice.")
    add_profile(parser)
    parser.add_argument("--source", required=True, metavar="SEAT")
    parser.add_argument("--target", required=True, metavar="SEAT")
    parser.add_argument("--message", required=True, metavar="TEXT", help="one line; line ends are shown as ⏎")
    parser.add_argument("--task-id", default="", metavar="ID", help="the task it is about; writes a receipt")
    parser.add_argument("--reply-to", default="", metavar="SEAT")
    parser.add_argument("--kind", default="notice", metavar="WORD")
    parser.add_argument("--skip-receipt", action="store_true")
    parser.add_argument("--allow-notify-failure", action="store_true", help="exit 0 even if it was not delivered")
    return parser
