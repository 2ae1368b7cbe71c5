"""`query_memory`: query a Root, with the flags, output and exit codes that running teams rely on.

Start-up time matters: each mode imports only what it needs.
"""

from __future__ import annotations

import argparse
import os

from oracle.compat.door import complain, emit, make_parser, report, run_once, warn, word
from oracle.domain.names import check_name
from oracle.errors import NotFound, NotInMemory, RootUnusable, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NoReturn

    from oracle.app.context import Context
    from oracle.app.overview.status import Fact

MODES = ("key", "file", "search", "ask", "status", "backlinks", "graph")
FILTERS = ("project", "seat", "kind", "since")
NOTHING, USAGE = 1, 2
LONGEST_ECHO = 200
"""Characters of the search text that are repeated when nothing is found."""


def run() -> NoReturn:
    """Run with the process's arguments and end the process with the exit code."""
    run_once(main)


def main(argv: list[str]) -> int:
    """Answer one query. Returns 0 if something was found, 1 if not, 2 for a wrong query."""
    parser = _parser()
    args = parser.parse_args(argv)
    mode = next((name for name in MODES if getattr(args, name) not in (None, False)), "")
    if mode == "ask":
        complain("error: --ask is deprecated and no longer served here.")
        complain("hint: Ask a seat with `oracle ask`, or search the records with `oracle search`.")
        return USAGE
    if not mode and not any(getattr(args, name) for name in FILTERS):
        parser.print_help()
        complain(f"error: specify one of: {', '.join(f'--{name}' for name in (*MODES, *FILTERS))}")
        return USAGE
    from oracle.app.context import Context

    with Context.open(args.memory_dir, warn=warn) as context:
        try:
            return _MODES[mode](context, args)
        except RootUnusable as error:
            return _say_no_root(mode, error)


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("query_memory", "Ask the memory of a team of agents.", allow_abbrev=True)
    parser.add_argument(
        "--memory-dir", metavar="DIR", help="the Root (default: ORACLE_ROOT, or .agents/memory in the home folder)"
    )
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--key", metavar="FILE.A.B", help="print the fact at a dotted key")
    modes.add_argument("--file", metavar="NAME", help="print a fact file, or its --section")
    modes.add_argument(
        "--search", metavar="TEXT", help="search facts and records; --files restricts it to these fact files"
    )
    modes.add_argument("--ask", metavar="TEXT", help="removed: see `oracle ask` and `oracle search`")
    modes.add_argument("--status", action="store_true", help="print what the Root contains")
    modes.add_argument("--backlinks", metavar="TARGET", help="print what links to a slug or entity:<namespace>:<value>")
    modes.add_argument("--graph", metavar="TARGET", help="print what a slug links to, up to --depth steps away")
    parser.add_argument("--section", metavar="A.B", help="with --file: a dotted key inside it")
    parser.add_argument("--files", metavar="A,B", help="with --search: names of fact files")
    parser.add_argument("--depth", type=int, default=1, help="with --graph (default 1)")
    parser.add_argument("--profile", help=argparse.SUPPRESS)
    parser.add_argument("--timeout", type=float, default=60.0, help=argparse.SUPPRESS)
    parser.add_argument("--project", type=word, help="list: records of this project; _shared for those without one")
    parser.add_argument("--seat", type=word, help="list: records of this seat")
    parser.add_argument("--kind", type=word, help="list: records of this kind; event for the journal")
    parser.add_argument("--since", type=word, metavar="DATE", help="list: records since this time")
    parser.add_argument("--fresh", action="store_true", help="scan every file first")
    return parser


def _say_no_root(mode: str, error: RootUnusable) -> int:
    """Report that the Root does not exist. It is not created, and the exit code is that of an empty answer."""
    report(error)
    if not mode:
        emit("[]")
    return NOTHING


# -- facts -------------------------------------------------------------------------------------------------------------


def _key(context: Context, args: argparse.Namespace) -> int:
    if args.key.startswith("credentials.keys."):
        from oracle.app.scans.machine import reveal as read
    else:
        from oracle.app.overview.status import find_fact as read
    return _print_fact(lambda: read(context, args.key, args.project or ""), args.key, indented=False)


def _file(context: Context, args: argparse.Namespace) -> int:
    from oracle.app.overview.status import find_fact

    name = check_name(args.file.removeprefix("machine/").removesuffix(".json"), "fact file")
    key = f"{name}.{args.section}" if args.section else name
    return _print_fact(lambda: find_fact(context, key, args.project or ""), key, indented=True)


def _print_fact(read: Callable[[], Fact], key: str, *, indented: bool) -> int:
    """Print the fact at a key. A text is printed without quotes unless `indented`; null counts as not found."""
    from oracle.compat.rendering import print_json

    try:
        fact = read()
    except NotInMemory as error:
        reason = error.sentence.removeprefix(f"{error.code}: ")
        complain(f"error: {reason}" if reason.startswith("memory file") else f"not_found: {key}")
        complain(f"{error.code}: {key}")
        return NOTHING
    _mark_legacy(fact)
    is_scalar = not isinstance(fact.value, dict | list)
    emit(str(fact.value) if is_scalar and not indented else print_json(fact.value))
    return 0


def _mark_legacy(fact: Fact) -> None:
    if fact.legacy:
        complain(f"legacy: {fact.path} is of the old flat layout; machine/{fact.path} would win over it")


def _search(context: Context, args: argparse.Namespace) -> int:
    from oracle.app.search.federated import search_everything
    from oracle.compat.rendering import print_json

    names = [name.strip().removesuffix(".json") for name in (args.files or "").split(",") if name.strip()]
    context.root.require()
    if not args.search.strip():
        raise UsageError("--search is empty.", hint="Use a word that occurs in a fact or a record.")
    try:
        matches = search_everything(context, args.search, names, project=args.project or "", fresh=args.fresh)
    except NotFound as error:
        report(error)
        return NOTHING
    flat = sorted(
        {str(match["file"]) for match in matches if match["match"] != "record" and "/" not in str(match["file"])}
    )
    for name in flat:
        complain(f"legacy: {name}.json is of the old flat layout; machine/{name}.json would win over it")
    for match in matches if names else ():  # a file that is asked for by its name goes by it
        bare = str(match["file"]).removeprefix("machine/")
        match["file"] = bare if bare in names else match["file"]
    if not matches:
        complain(f"no matches for: {args.search[:LONGEST_ECHO]}")
        return NOTHING
    emit(print_json({"term": args.search, "count": len(matches), "matches": matches}))
    return 0


def _status(context: Context, _: argparse.Namespace) -> int:
    from oracle.app.overview.status import take_inventory
    from oracle.compat.rendering import print_json

    found = take_inventory(context.root)
    emit(print_json(found))
    if found["exists"] and found["index"] is None and os.path.exists(context.root.catalogue):
        complain("note: index.json can't be read; `oracle index reconcile --publish` writes it again")
    return 0 if found["exists"] else NOTHING


# -- links -------------------------------------------------------------------------------------------------------------


def _backlinks(context: Context, args: argparse.Namespace) -> int:
    from oracle.app.records.graph import backlink_lines, resolve
    from oracle.compat.rendering import print_backlinks

    target = resolve(context, args.backlinks)
    rows = backlink_lines(context, target, fresh=args.fresh)
    if not rows:
        target = _find(context, target)
        rows = backlink_lines(context, target)
    emit(print_backlinks(target, rows))
    return 0


def _graph(context: Context, args: argparse.Namespace) -> int:
    from oracle.app.records.graph import graph
    from oracle.compat.rendering import print_json

    walk = graph(context, args.graph, depth=args.depth, fresh=args.fresh)
    if not walk.edges:
        walk = graph(context, _find(context, args.graph), depth=args.depth)
    edges = [
        {"from": step.source, "to": step.target, "type": step.type, "snippet": step.snippet, "depth": step.depth}
        for step in walk.edges
    ]
    emit(
        print_json(
            {
                "root": walk.root,
                "depth": walk.depth,
                "node_count": len(walk.nodes),
                "edge_count": len(edges),
                "nodes": walk.nodes,
                "edges": edges,
            }
        )
    )
    return 0


def _find(context: Context, target: str) -> str:
    """Return the target for a name. If nothing has that name, or several have, print a note; the answer is empty then."""
    from oracle.app.records.graph import resolve
    from oracle.app.records.naming import find

    try:
        return find(context, target)
    except (NotInMemory, UsageError) as error:
        complain(error.sentence)
        complain(f"hint: {error.hint}")
        return resolve(context, target)


# -- listings ----------------------------------------------------------------------------------------------------------


def _list(context: Context, args: argparse.Namespace) -> int:
    from oracle.app.records.listing import list_problems
    from oracle.app.search.federated import list_whole
    from oracle.compat.rendering import print_json
    from oracle.domain.names import SHARED

    filters = {name: getattr(args, name) or "" for name in FILTERS}
    try:
        found = list_whole(context, filters, fresh=args.fresh)
    except NotFound as error:
        report(error)
        emit("[]")
        return NOTHING
    project = filters["project"]
    odd = len(list_problems(context, f"projects/{project}/" if project not in ("", SHARED) else ""))
    emit(print_json(found))
    if odd:
        noun = "problem" if odd == 1 else "problems"
        complain(f"note: {odd} {noun} in files of these records; `oracle doctor` names them")
    return 0 if found else NOTHING


_MODES = {
    "key": _key,
    "file": _file,
    "search": _search,
    "status": _status,
    "backlinks": _backlinks,
    "graph": _graph,
    "": _list,
}


def verify_claims(response: Mapping[str, object], memory_dir: str | os.PathLike[str]) -> dict[str, object]:
    """Check the claims of a response against the facts under `memory_dir`. See `oracle.app.claims.verify_claims`."""
    from oracle.app import claims

    return claims.verify_claims(response, os.fspath(memory_dir))
