"""Commands that follow edges: links, backlinks, graph, entities, orphans, unresolved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing, graphs
from oracle.cli.options import Fresh, Json, MemoryDir, Project, Slug, Target, Types, begin
from oracle.cli.printing import Table, print_table, write_out
from oracle.cli.reading import records_table
from oracle.cli.session import chain_json, record_json, replaced_by, with_chains
from oracle.errors import NotInMemory, UsageError
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from collections.abc import Sequence


def links(
    context: typer.Context,
    slug: Slug,
    *,
    types: Types = None,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """Show what a record links to."""
    wanted = _check_types(types)
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle("links") as oracle:
        name = oracle.target(slug)
        rows = oracle.links(name, types=wanted, fresh=fresh)
        if not rows:
            name = oracle.show(slug, last_line=1).record.slug
            rows = oracle.links(name, types=wanted)
        chains = oracle.chains(target for _, target, *_ in rows)
        standing = oracle.standing() if call.as_json else {}
    if call.as_json:
        edges = [
            {
                "from": name,
                "to": target,
                "type": kind,
                "line": line,
                "snippet": snippet,
                "resolved": bool(there),
                **chain_json(chains.get(target, ())),
            }
            for kind, target, snippet, line, there in rows
        ]
        call.print_json({"slug": name, "links": edges, **standing})
        return
    cells = [
        (kind, target, str(line), "" if there else say("missing"), replaced_by(chains.get(target, ())), snippet)
        for kind, target, snippet, line, there in rows
    ]
    print_table(Table(say_each("type", "target", "line", "missing", "replaced", "snippet"), cells, stacked=(1, 4, 5)))


def backlinks(
    context: typer.Context,
    target: Target,
    *,
    types: Types = None,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """Show which records point at a record or an entity."""
    wanted = _check_types(types)
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle("backlinks") as oracle:
        name = oracle.target(target)
        rows = oracle.backlinks(name, types=wanted, fresh=fresh)
        if not rows:
            name = oracle.find(name)
            rows = oracle.backlinks(name, types=wanted)
        chains = oracle.chains(source for source, *_ in rows)
        standing = oracle.standing() if call.as_json else {}
    statuses = {"": "", "retires": "retired"}
    marks = [statuses.get(how, "superseded") for *_, how in rows]
    if call.as_json:
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
        call.print_json({"target": name, "backlinks": edges, **standing})
        return
    cells = [
        (source, kind, str(line), mark, replaced_by(chains.get(source, ())), snippet)
        for (source, kind, snippet, line, *_), mark in zip(rows, marks, strict=True)
    ]
    faint = frozenset(index for index, mark in enumerate(marks) if mark)
    print_table(
        Table(say_each("source", "type", "line", "status", "replaced", "snippet"), cells, faint, stacked=(0, 4, 5))
    )


def graph(
    context: typer.Context,
    target: Target,
    *,
    depth: Annotated[int, typer.Option("--depth", metavar="N", help="How many steps to walk.", show_default=True)] = 1,
    direction: Annotated[
        str,
        typer.Option(
            "--direction",
            metavar="out|in|both",
            help="Which way to walk (default out; in from an entity).",
            autocompletion=completing.words("out", "in", "both"),
        ),
    ] = "",
    types: Types = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="text|json|mermaid|dot",
            help="How to print it.",
            show_default=True,
            autocompletion=completing.words("text", "json", "mermaid", "dot"),
        ),
    ] = "text",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """Walk the graph from a record or an entity."""
    from oracle.domain.names.slugs import is_entity

    wanted = _check_types(types)
    call = begin(context, memory_dir=memory_dir, as_json=as_json or form == "json")
    if form not in ("json", *graphs.FORMS):
        raise UsageError(
            say("The format {form!r} is unknown.", form=form), hint=say("Choose text, json, mermaid or dot.")
        )
    with call.oracle("edges") as oracle:
        name = oracle.target(target)
        direction = direction or ("in" if is_entity(name) else "out")  # nothing leads out of an entity
        walk = oracle.graph(name, depth=depth, direction=direction, types=wanted, fresh=fresh)
        if not walk.edges:
            name = oracle.find(name)
            walk = oracle.graph(name, depth=depth, direction=direction, types=wanted)
        chains, marks = oracle.chains(walk.nodes), oracle.marks(walk.nodes)
        standing = oracle.standing() if call.as_json else {}
    if call.as_json:
        call.print_json({**graphs.as_json(walk, chains, marks), **standing})
    else:
        write_out(graphs.FORMS[form](walk, chains, marks))


def entities(
    context: typer.Context,
    *,
    namespace: Annotated[
        str,
        typer.Option(
            "--namespace",
            metavar="NS",
            help="Only this namespace, as in taskid.",
            autocompletion=completing.namespaces,
        ),
    ] = "",
    top: Annotated[
        int, typer.Option("--top", "--limit", metavar="N", min=1, help="The N most mentioned.", show_default=True)
    ] = 20,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """List the entities that most records mention."""
    from oracle.domain.names.slugs import NAMESPACES

    if namespace and namespace not in NAMESPACES:
        raise UsageError(
            say("There is no namespace {namespace!r}.", namespace=namespace),
            hint=say("Choose one of {choices}.", choices=NAMESPACES),
        )
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle("entities") as oracle:
        rows = oracle.entities(namespace, top=top, fresh=fresh)
        if not rows:
            absent = say("not_in_memory_db: no record mentions any entity.")
            if namespace:
                absent = say("not_in_memory_db: no record mentions any entity of the namespace {name}.", name=namespace)
            raise NotInMemory(absent, hint=say("See `oracle status`."))
        standing = oracle.standing() if call.as_json else {}
    if call.as_json:
        call.print_json({"entities": [{"entity": name, "records": count} for name, count in rows], **standing})
    else:
        print_table(Table(say_each("records", "entity"), [(str(count), name) for name, count in rows]))


def orphans(
    context: typer.Context,
    *,
    project: Project = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """List records without links to or from others, newest first."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle("records") as oracle:
        records = with_chains(oracle, oracle.orphans(project, fresh=fresh)[::-1])
        standing = oracle.standing() if call.as_json else {}
    if call.as_json:
        call.print_json({"records": [record_json(*item) for item in records], **standing})
    elif records:
        print_table(records_table(records))
    else:
        call.note(say("no record stands alone"))


def unresolved(
    context: typer.Context,
    *,
    project: Project = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """List the links to records that are not there (yet)."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle("links") as oracle:
        rows = oracle.unresolved(project, fresh=fresh)
        if not rows and project:
            oracle.records({"project": project}, limit=1)  # raises when there is no such project
        titled = oracle.titled(ref for _, _, _, ref, _, _ in rows)
        standing = oracle.standing() if call.as_json else {}
    if call.as_json:
        names = ("from", "path", "type", "ref", "line", "to", "titled")
        found = [dict(zip(names, (*row, titled.get(row[3]) or None), strict=True)) for row in rows]
        call.print_json({"links": found, **standing})
    elif rows:
        cells = [(slug, str(line), kind, ref, to, titled.get(ref, "")) for slug, _, kind, ref, line, to in rows]
        headings = say_each("source", "line", "type", "as written", "target", "titled so")
        print_table(Table(headings, cells, stacked=(0, 4, 3, 5)))
    else:
        call.note(say("every link to a record leads somewhere"))


def _check_types(types: Sequence[str] | None) -> tuple[str, ...]:
    from oracle.domain.links.links import EDGE_TYPES

    for name in types or ():
        if name not in EDGE_TYPES:
            raise UsageError(
                say("There is no edge type {name!r}.", name=name),
                hint=say("Choose of {choices}.", choices=EDGE_TYPES),
            )
    return tuple(types or ())
