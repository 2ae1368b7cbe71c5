"""`decision_log`: append a decision of a project, list the last ones, list the registered projects. Prints JSON."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from oracle.app.context import Context
from oracle.compat.door import add_root, emit, make_parser, open_context


def main(argv: Sequence[str]) -> int:
    """Append or list decisions. An empty argument is a wrong call (2)."""
    args = _parser().parse_args(argv)
    from oracle.compat.rendering import print_line

    with open_context(args) as context:
        emit(print_line(_COMMANDS[args.command](context, args)))
    return 0


def _append(context: Context, args: argparse.Namespace) -> object:
    from oracle.app.delivery import decision_log
    from oracle.app.delivery.decision_log import DecisionEntry

    entry = DecisionEntry(
        args.project,
        args.task_id,
        args.title,
        args.detail,
        seat=args.seat,
        decision_type=args.decision_type,
        reason=args.reason,
        is_auto=not args.manual,
    )
    return decision_log.append(context, entry)


def _list(context: Context, args: argparse.Namespace) -> object:
    from oracle.app.delivery.decision_log import read_log

    return read_log(context, args.project, limit=args.limit) if args.limit > 0 else []


def _projects(context: Context, _args: argparse.Namespace) -> object:
    from oracle.app.scans import projects

    return projects.list_names(context)


_COMMANDS = {"append": _append, "list": _list, "projects": _projects}


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("decision_log", "Append a decision, or list the last ones.")
    add_root(parser)
    commands = parser.add_subparsers(dest="command", required=True)
    append = commands.add_parser("append", help="record a decision")
    for name in ("project", "task_id", "title", "detail"):
        append.add_argument(name)
    append.add_argument("--seat", default="planner", metavar="SEAT", help="who decided")
    append.add_argument("--decision-type", default="auto", metavar="WORD")
    append.add_argument("--reason", default="", metavar="TEXT", help="default: the detail")
    append.add_argument("--manual", action="store_true", help="a person decided")
    listing = commands.add_parser("list", help="print the last decisions, oldest first")
    listing.add_argument("project")
    listing.add_argument("--limit", type=int, default=50, metavar="N", help="0 is all")
    commands.add_parser("projects", help="print the names of the registered projects")
    return parser
