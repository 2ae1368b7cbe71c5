"""`oracle backlinks`: list which records mention a record or an entity."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.cli.listing import chain_json, replaced_by
from oracle.cli.options import Fresh, Full, Target, Types, single
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.wording import say_each

_STATUSES = {"": "", "retires": "retired"}

app = single()


@app.add(example="oracle backlinks HARBOR-5 --type related-task")
def backlinks(call: Call, target: Target, *, types: Types = None, full: Full = False, fresh: Fresh = False) -> None:
    """List which records mention a record or an entity."""
    print_backlinks(call, target, types or (), is_full=full, fresh=fresh)


def print_backlinks(call: Call, target: str, types: Sequence[str], *, is_full: bool, fresh: bool) -> None:
    """Print which records mention a target. Raises NotInMemory when there is no such target."""
    from oracle.app.records import graph, naming, succession

    with call.context("backlinks") as context:
        name = naming.find(context, target, fresh=fresh)
        rows = graph.backlinks(context, name, types=types)
        chains = succession.chains(context, (source for source, *_ in rows))
    marks = [_STATUSES.get(how, "superseded") for *_, how in rows]
    edges = [
        {
            "from": source,
            "to": name,
            "type": kind,
            "line": line,
            "snippet": snippet,
            "path": path,
            **({"status": mark, "retired_by": by, **chain_json(chains.get(source, (by,)))} if by else {}),
        }
        for (source, kind, snippet, line, _, path, by, _), mark in zip(rows, marks, strict=True)
    ]
    cells = [
        (source, kind, str(line), mark, replaced_by(chains.get(source, ())), snippet)
        for (source, kind, snippet, line, *_), mark in zip(rows, marks, strict=True)
    ]
    faint = frozenset(index for index, mark in enumerate(marks) if mark)
    headings = say_each("source", "type", "line", "status", "replaced", "snippet")
    table = Table(headings, cells, faint, stacked=(0, 4, 5), names=(0, 4), is_full=is_full)
    call.answer({"target": name, "backlinks": edges, **call.standing}, table)
