"""`complete_handoff`: complete or acknowledge a handoff, with the options, output and exit codes of the old program.

Exit codes: 0 done, now or earlier; 1 refused by a rule of the team; 2 a wrong call; 3 the receipt could not be written.
"""

from __future__ import annotations

from oracle.compat.door import (
    TEST_POLICIES,
    add_notify,
    add_profile,
    add_secrets,
    complain,
    emit,
    make_parser,
    notifies,
    open_context,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from oracle.app.context import Context
    from oracle.app.delivery.complete import Completion

_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def main(argv: Sequence[str]) -> int:
    """Complete or acknowledge. Returns the exit codes of the module."""
    args = _parser().parse_args(argv)
    if not args.enforce_planner_self_closeout:
        complain(
            "warning: --enforce-planner-self-closeout=false is taken and changes nothing: what was asked for is done"
        )
    with open_context(args) as context:
        return _acknowledge(context, args) if args.ack_only else _complete(context, args)


def _acknowledge(context: Context, args: argparse.Namespace) -> int:
    from oracle.app.delivery import resume
    from oracle.app.delivery.acknowledge import acknowledge

    resume.before(context)
    done = acknowledge(context, "", args.task_id, source=args.source, target=args.target, path=args.profile)
    emit(done.line)
    emit(f"receipt: {done.receipt_path}")
    return 0


def _complete(context: Context, args: argparse.Namespace) -> int:
    from oracle.app.delivery import resume
    from oracle.app.delivery.complete import complete

    completion = _completion(args)
    resume.before(context, notifies=completion.notifies)
    done = complete(context, completion)
    name = done.name
    if not done.is_new:
        emit(f"already completed {name.task_id} -> {name.target}")
    else:
        emit(f"completed {name.task_id} -> {name.target}")
    emit(f"delivery: {done.delivery_path}")
    emit(f"receipt: {done.receipt_path}")
    if done.record:
        complain(f"PASS_NEEDS_INTEGRATION: the commit is not in the main line; noted in {done.record}")
    return 0


def _completion(args: argparse.Namespace) -> Completion:
    from oracle.app.delivery.complete import Completion

    fields = {
        "pr_number": args.pr_number,
        "ci_conclusion": args.ci_conclusion,
        "base_drift_acknowledged": args.base_drift_acknowledged or None,
        "drift_reason": args.drift_reason,
    }
    return Completion(
        "",
        args.task_id,
        args.source,
        args.target,
        profile=args.profile,
        status=args.status,
        title=args.title,
        summary=args.summary or f"{args.source} completed {args.task_id}.",
        verdict=args.verdict,
        commit=args.commit,
        branch=args.branch,
        test_policy=args.test_policy,
        user_summary=args.user_summary,
        next_action=args.next_action,
        disposition=args.frontstage_disposition,
        core_ux_gate=args.core_ux_gate,
        sweep=args.sweep_count,
        secrets=args.secrets,
        notifies=notifies(args),
        needs_lineage=args.strict_lineage,
        takes_stranger=True,
        is_any_branch=args.allow_branch_mismatch,
        is_unsolicited=args.unsolicited,
        fields={key: item for key, item in fields.items() if item},
    )


def _truth(word: str) -> bool:
    given = word.strip().lower()
    if given not in _YES + _NO:
        raise ValueError(word)
    return given in _YES


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("complete_handoff", "Complete a handoff, or acknowledge one.")
    add_profile(parser)
    parser.add_argument("--source", required=True, metavar="SEAT", help="the seat that did the work")
    parser.add_argument("--task-id", required=True, metavar="ID")
    parser.add_argument(
        "--target", default="", metavar="SEAT", help="the seat that gets it; default: the one that the dispatch names"
    )
    for name in ("branch", "pr-number", "ci-conclusion", "title", "summary", "verdict", "commit", "core-ux-gate"):
        parser.add_argument(f"--{name}", default="", metavar="TEXT")
    parser.add_argument("--status", default="completed", metavar="WORD")
    parser.add_argument("--sweep-count", type=int, metavar="N")
    parser.add_argument("--base-drift-acknowledged", action="store_true")
    parser.add_argument("--test-policy", choices=TEST_POLICIES, default="", help="default: that of the dispatch")
    for name in ("drift-reason", "frontstage-disposition", "user-summary", "next-action"):
        parser.add_argument(f"--{name}", default="", metavar="TEXT")
    parser.add_argument(
        "--strict-lineage", action="store_true", help="make a missing --user-summary or commit an error, not a warning"
    )
    parser.add_argument("--allow-branch-mismatch", action="store_true")
    parser.add_argument(
        "--enforce-planner-self-closeout", nargs="?", const=True, default=True, type=_truth, metavar="BOOL",
        help="accepted for compatibility; no effect",
    )  # fmt: skip
    parser.add_argument("--ack-only", action="store_true", help="only acknowledge that the target has it")
    parser.add_argument("--unsolicited", action="store_true", help="nobody asked, though a similar task waits")
    add_notify(parser)
    add_secrets(parser)
    return parser
