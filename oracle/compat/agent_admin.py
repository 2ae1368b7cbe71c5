"""`agent_admin task`: create a task's workflow, list pending steps, change a step, supersede old tasks.

Exits 0, 1, or 2 for a wrong call and a project that seems mistyped.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from oracle.app.context import Context
from oracle.compat.door import add_new_project, add_root, emit, make_parser, open_context, report
from oracle.errors import MistypedProject, OracleError

STATUSES = ("pending", "in_progress", "done", "blocked")


def main(argv: Sequence[str]) -> int:
    """Run one command on the tasks of a project. Returns 1 if it is refused."""
    args = _parser().parse_args(argv)
    try:
        with open_context(args) as context:
            _COMMANDS[args.command](context, args)
    except OracleError as error:
        report(error)
        return error.exit_code if isinstance(error, MistypedProject) else 1
    return 0


def _create(context: Context, args: argparse.Namespace) -> None:
    from oracle.app.teamwork.workflow import create_task

    folder, _ = create_task(
        context, args.project, args.task_id, template=args.workflow_template, new_project=args.new_project
    )
    emit(folder)


def _list_pending(context: Context, args: argparse.Namespace) -> None:
    from oracle.app.teamwork.workflow import list_pending

    for task_id, step in list_pending(context, args.project, args.owner_role):
        emit(f"{task_id}\t{step}")


def _update(context: Context, args: argparse.Namespace) -> None:
    from oracle.app.teamwork.workflow import update_step

    done = update_step(context, args.project, args.task_id, args.step, status=args.status)
    emit(f"{done.task_id}\t{done.step.name}\t{done.step.status}")


def _supersede(context: Context, args: argparse.Namespace) -> None:
    from oracle.app.teamwork.workflow import supersede_old

    found = supersede_old(context, args.project, days=args.age_days)
    for seat, task_id in found:
        emit(f"superseded\t{seat}\t{task_id}")
    emit(f"AUTO_SUPERSEDE project={args.project} count={len(found)}")


_COMMANDS = {"create": _create, "list-pending": _list_pending, "update-status": _update, "auto-supersede": _supersede}


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("agent_admin", "Manage the workflows of tasks.")
    add_root(parser)
    areas = parser.add_subparsers(dest="area", required=True, metavar="task")
    commands = areas.add_parser("task", help="workflows and their steps").add_subparsers(dest="command", required=True)
    create = commands.add_parser("create", help="create workflow.md and STATUS.md if they do not exist")
    create.add_argument("task_id")
    create.add_argument("--workflow-template", default="brief-driven", metavar="NAME")
    add_new_project(create)
    listing = commands.add_parser("list-pending", help="print the steps that a role may start")
    listing.add_argument("--owner-role", required=True, metavar="ROLE")
    update = commands.add_parser("update-status", help="change the status of a step")
    update.add_argument("task_id")
    update.add_argument("step", help="its name or its number")
    update.add_argument("status", choices=STATUSES)
    old = commands.add_parser("auto-supersede", help="supersede open tasks without a delivery")
    old.add_argument("--age-days", type=float, default=3.0, metavar="N")
    for command in (create, listing, update, old):
        command.add_argument("--project", required=True, metavar="P")
    return parser
