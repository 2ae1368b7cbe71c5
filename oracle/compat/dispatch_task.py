"""`dispatch_task`: give a seat a task, with the options, output and exit codes of the old program.

Exit codes: 0 dispatched; 1 unknown seat, or refused by `--strict-lineage`; 2 refused or already queued; 3 no seat with
the role.
"""

from __future__ import annotations

import os

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
    report,
)
from oracle.errors import OracleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from oracle.app.context import Context
    from oracle.app.delivery.order import Order
    from oracle.app.delivery.team import Team

NO_SEAT = 3
MANY_FIXES = 3


def main(argv: Sequence[str]) -> int:
    """Dispatch one task. Returns the exit codes of the module."""
    from oracle.app.delivery.dispatch import least_busy
    from oracle.app.delivery.team import open_team

    args = _parser().parse_args(argv)
    if args.intent:
        from oracle.compat.intents import expand

        args.objective, args.skill_refs = expand(args.intent, args.objective, tuple(args.skill_refs), os.environ)
    refused = _refuse(args)
    if refused:
        return refused
    with open_context(args) as context:
        if args.target_role:
            try:
                args.target = least_busy(context, "", args.target_role, path=args.profile)
            except OracleError as error:
                if error.code != "blocked":
                    raise
                report(error)
                return NO_SEAT
            complain(f"target-role resolved: {args.target_role} -> {args.target}")
        team = open_team(context, "", path=args.profile)
        seats = team.profile.seats
        if args.target not in seats:
            complain(f"error: target {args.target!r} is not a declared seat: there are {', '.join(seats) or 'none'}")
            return 1
        return _dispatch(context, args, team)


def _refuse(args: argparse.Namespace) -> int:
    """Return the exit code of a call that is refused before the profile is read, else 0."""
    if args.task_type == "external-integration" and not (args.docs_consulted or args.docs_skip_reason):
        complain("error: an external integration needs --docs-consulted or --docs-skip-reason")
        return 2
    if args.target == "memory" and args.kind != "query":
        complain(
            "error: refusing to dispatch: dispatch_task.py does not support --target memory, which answers and does no tasks."
        )
        complain("hint: Look with query_memory.py, ask with `oracle ask`, or add --kind query.")
        return 2
    if not args.user_summary.strip():
        if args.strict_lineage:
            complain("error: --strict-lineage needs a --user-summary")
            return 1
        complain("warn: no --user-summary")
    return 0


def _dispatch(context: Context, args: argparse.Namespace, team: Team) -> int:
    from oracle.app.delivery import resume
    from oracle.app.delivery.dispatch import dispatch

    if args.reply_to == args.target:  # older briefs name the planner for both
        complain(f"warn: {args.target} is asked and can't get its own answer; {args.source} gets it")
        args.reply_to = ""
    order = _order(args, {**_base(team, args.target), **_counter(context, team, args)})
    resume.before(context, notifies=order.notifies)
    made = dispatch(context, order)
    emit(f"dispatched {made.name.task_id} -> {made.name.target}")
    emit(f"todo: {made.todo_path}")
    emit(f"receipt: {made.receipt_path}")
    return 0


def _base(team: Team, target: str) -> dict[str, object]:
    """Return the commit that a builder starts from, if the repository knows a remote: its completion names the branch then."""
    from oracle.app import git

    base = git.remote_main(team.profile.repo_root) if team.profile.role(target) == "builder" else ""
    return {"expected_base_sha": base} if base else {}


def _counter(context: Context, team: Team, args: argparse.Namespace) -> dict[str, object]:
    """Return how often this seat was sent the same finding before, and warn when that is often."""
    from oracle.app.delivery.handoffs import of_team

    if not args.finding_id:
        return {}
    dispatches = [item.dispatch for item in of_team(context, team).handoffs if item.answerer == args.target]
    count = sum(1 for one in dispatches if one is not None and one.text("finding_id") == args.finding_id)
    if count >= MANY_FIXES and not args.rca_override:
        complain(
            f"warning: hypothesis_fix_counter exceeded: {args.finding_id} was sent {count} times to {args.target};"
            " find its cause first, and say so with --rca-override"
        )
    return {"hypothesis_fix_counter": count, "hypothesis_fix_counter_exceeded": count >= MANY_FIXES}


def _order(args: argparse.Namespace, found: dict[str, object]) -> Order:
    from oracle.app.delivery.order import Order

    queue = {"core_ux": "true" if args.core_ux else "", "finding_id": args.finding_id}
    queue |= {key: str(item).lower() for key, item in found.items() if key.startswith("hypothesis")}
    queue |= {"rca_override": "true" if args.rca_override else "", "intent": args.intent}
    receipt = {
        **found,
        "docs_consulted": args.docs_consulted,
        "docs_skip_reason": args.docs_skip_reason,
        "expected_branch": args.expected_branch,
        "expected_worktree_path": args.expected_worktree,
        "finding_id": args.finding_id,
        "rca_override": args.rca_override,
        "core_ux": args.core_ux or None,
        "spec_path": args.spec_path,
        "intent": args.intent,
    }
    return Order(
        "",
        args.task_id or "",
        args.source,
        args.target,
        args.objective,
        title=args.title or "",
        reply_to=args.reply_to or "",
        test_policy=args.test_policy,
        user_summary=args.user_summary,
        notes=_notes(args),
        kind=args.kind,
        profile=args.profile,
        task_type=args.task_type,
        needs_review=args.review_required,
        skill_refs=tuple(args.skill_refs),
        secrets=args.secrets,
        notifies=notifies(args),
        stacks=args.force_parallel_builder or bool(args.finding_id),  # a finding goes to its builder again
        queue={key: text for key, text in queue.items() if text},
        receipt={key: item for key, item in receipt.items() if item not in (None, "")},
    )


def _notes(args: argparse.Namespace) -> str:
    """Return the note of the task table, with the docs that were read or the reason why none were."""
    docs = f"docs_consulted:{args.docs_consulted}" if args.docs_consulted else ""
    docs = docs or (f"docs_skip_reason:{args.docs_skip_reason}" if args.docs_skip_reason else "")
    return f"{args.notes}; {docs}" if docs and docs not in args.notes else str(args.notes)


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("dispatch_task", "Give a seat a task.")
    add_profile(parser)
    parser.add_argument("--source", default="planner", metavar="SEAT", help="who asks")
    to = parser.add_mutually_exclusive_group(required=True)
    to.add_argument("--target", default="", metavar="SEAT", help="who is asked")
    to.add_argument("--target-role", default="", metavar="ROLE", help="the least busy seat with this role")
    parser.add_argument("--task-id", metavar="ID", help="default: a new one is generated")
    parser.add_argument("--title", metavar="TEXT")
    parser.add_argument("--objective", required=True, metavar="TEXT", help="what is asked")
    parser.add_argument("--test-policy", required=True, choices=TEST_POLICIES)
    parser.add_argument("--kind", choices=("task", "query"), default="task", help="memory accepts only queries")
    parser.add_argument("--reply-to", metavar="SEAT", help="the seat that gets the answer; default: --source")
    parser.add_argument("--user-summary", default="", metavar="TEXT")
    parser.add_argument(
        "--strict-lineage", action="store_true", help="make a missing --user-summary an error, not a warning"
    )
    parser.add_argument("--notes", default="dispatched via gstack-harness", metavar="TEXT")
    parser.add_argument("--docs-consulted", default="", metavar="TEXT")
    parser.add_argument("--docs-skip-reason", default="", metavar="TEXT")
    parser.add_argument("--status-note", metavar="TEXT", help="accepted for compatibility; no effect")
    parser.add_argument("--task-type", default="unspecified", metavar="WORD")
    parser.add_argument("--review-required", action="store_true")
    parser.add_argument("--skill-refs", nargs="*", default=[], metavar="PATH")
    parser.add_argument("--intent", default="", metavar="KEY")
    parser.add_argument("--expected-branch", metavar="NAME")
    parser.add_argument("--expected-worktree", metavar="DIR")
    parser.add_argument("--finding-id", default="", metavar="ID")
    parser.add_argument(
        "--rca-override", nargs="?", const=True, metavar="TEXT", help="the cause of the finding is known"
    )
    parser.add_argument("--core-ux", action="store_true")
    parser.add_argument("--spec-path", metavar="PATH")
    parser.add_argument("--force-parallel-builder", action="store_true", help="even while the builder has a task")
    add_notify(parser)
    add_secrets(parser)
    return parser
