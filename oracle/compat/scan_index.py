"""`scan_index`: print a project's `_index/` files, or list its records."""

from __future__ import annotations

import argparse

from oracle.app.context import Context
from oracle.app.records import publish
from oracle.compat.door import add_root, emit, make_parser, open_context, word
from oracle.compat.rendering import print_line
from oracle.domain.names import check_name, project_of
from oracle.errors import UsageError


def main(argv: list[str]) -> int:
    """Print the index of a project (rebuild, update), the catalogue (rebuild --all) or a list of records, as one line."""
    args = _parser().parse_args(argv)
    with open_context(args) as context:
        context.root.require()
        emit(print_line(_COMMANDS[args.command](context, args)))
    return 0


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    add_root(shared)
    parser = make_parser("scan_index", "Print a project's index files, or list its records.", allow_abbrev=True)
    commands = parser.add_subparsers(dest="command", required=True)
    rebuild = commands.add_parser("rebuild", parents=[shared], help="print the index files")
    what = rebuild.add_mutually_exclusive_group(required=True)
    what.add_argument("--project", metavar="P", help="of one project")
    what.add_argument("--all", action="store_true", help="of every project, and index.json")
    update = commands.add_parser("update", parents=[shared], help="print the index files of a file's project")
    update.add_argument("--file", required=True, metavar="PATH")
    listing = commands.add_parser("query", parents=[shared], help="list the records of a project")
    listing.add_argument("--project", required=True, metavar="P")
    for name in ("kind", "severity", "status"):
        listing.add_argument(f"--{name}", type=word, help=f"only records of this {name}")
    return parser


def _rebuild(context: Context, args: argparse.Namespace) -> object:
    if args.all:
        catalogue = publish.load_published(publish.publish_all(context)[-1])
        return {key: catalogue.get(key) for key in ("version", "last_built", "projects")}
    return _publish(context, args.project)


def _update(context: Context, args: argparse.Namespace) -> object:
    project = project_of(context.root.relative(args.file))
    if not project:
        raise UsageError(
            f"{args.file} belongs to no project.", hint=f"Name a file under {context.root.path}/projects/<project>/."
        )
    return _publish(context, project)


def _publish(context: Context, project: str) -> object:
    return publish.load_published(publish.publish_project(context, check_name(project, "project"))[0])


def _query(context: Context, args: argparse.Namespace) -> object:
    wanted = {name: getattr(args, name) for name in ("kind", "severity", "status") if getattr(args, name)}
    found = publish.list_filed(context, check_name(args.project, "project"))
    return [entry for entry in found if all(entry.get(name) == value for name, value in wanted.items())]


_COMMANDS = {"rebuild": _rebuild, "update": _update, "query": _query}
