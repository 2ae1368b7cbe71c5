"""`oracle show` and `oracle backlinks`: print a record, an entity or a fact, and its links in both directions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion
from oracle.cli.listing import chain_json
from oracle.cli.options import Fresh, Full, Target, Types, argument, option, parse_lines, single, split_place
from oracle.cli.output import Table, write_out
from oracle.cli.session import Call
from oracle.domain.records.chains import replaced_by
from oracle.errors import NotInMemory, UsageError
from oracle.wording import say, say_each, visible_lines

if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.records.views import Shown


show_app = single()


@show_app.add(example="oracle show retry-webhooks --lines 1:20", has_hub=True)
def show(
    call: Call,
    name: Annotated[
        str, argument("NAME", "A record, an entity (HARBOR-5) or a fact (network.endpoints.0).", completion.shown)
    ],
    *,
    lines: Annotated[str | None, option("--lines A:B", "Only these lines: A:B, A-B, A:, :B or A.")] = None,
    links: Annotated[bool, option("--links", "List what the record links to.")] = False,
    types: Types = None,
    project: Annotated[str, option("--project P", "A fact: look in this project first.", completion.projects)] = "",
    reveal: Annotated[bool, option("--reveal", "A fact: read the value of a credential from its file.")] = False,
    full: Full = False,
    fresh: Fresh = False,
) -> None:
    """Print a record, an entity or a fact, read from disk now."""
    from oracle.app.delivery.task_names import pointing_to_task
    from oracle.app.records import naming

    if types and not links:
        raise UsageError(say("--type belongs to --links."), hint=say("Add --links."))
    if links:
        _print_links(call, name, types or (), is_full=full, fresh=fresh)
        return
    if project or reveal:
        _print_fact(call, name, project, reveal=reveal)
        return
    with call.context() as context, pointing_to_task(context, name):
        target, span = _place(context, name, lines)
        is_record = bool(target) and not target.startswith("entity:")
        shown = naming.show(context, target, first_line=span[0], last_line=span[1], fresh=fresh) if is_record else None
    if shown is not None:
        _print_record(call, shown)
    elif target:
        print_backlinks(call, target, (), is_full=full, fresh=fresh)
    else:
        _print_fact(call, name, project, reveal=reveal)


def _place(context: Context, text: str, lines: str | None) -> tuple[str, tuple[int, int]]:
    """Return the target that is meant, "" for a fact, and its lines, which may follow the name as in NAME:12-20."""
    from oracle.app.overview import status
    from oracle.app.records import naming

    name, place = split_place(text)
    is_path = bool(place) and name.endswith((".md", ".json"))
    if not is_path:
        try:
            return naming.find(context, text), parse_lines(lines)
        except NotInMemory:
            if status.is_fact(context, text):
                return "", (1, 0)
            if not place or name.startswith("entity"):
                raise
    if lines is not None:
        raise UsageError(
            say("The lines are given twice, as {place} and as {lines}.", place=place, lines=lines),
            hint=say("Write `oracle show {name} --lines {lines}`.", name=name, lines=lines),
        )
    return naming.find(context, name), parse_lines(place)


def _print_record(call: Call, shown: Shown) -> None:
    if call.as_json:
        call.print_json(shown.as_json())
        return
    for note in shown.notes:
        call.note(note)
    write_out(visible_lines(shown.text) + "\n" if shown.text else "")


def _print_fact(call: Call, key: str, project: str, *, reveal: bool) -> None:
    from oracle.app.overview import status
    from oracle.app.scans import machine

    with call.context() as context:
        fact = machine.reveal(context, key, project) if reveal else status.find_fact(context, key, project)
    if fact.legacy:
        call.warn(say("{path} is of the old flat layout; machine/ wins once it has the file.", path=fact.path))
    if call.as_json:
        call.print_json({"key": key, "value": fact.value, "path": fact.path, "legacy": fact.legacy})
        return
    text = fact.value if isinstance(fact.value, str) else json.dumps(fact.value, ensure_ascii=False, indent=2)
    write_out(visible_lines(text) + "\n")


def _print_links(call: Call, text: str, types: Sequence[str], *, is_full: bool, fresh: bool) -> None:
    from oracle.app.delivery.task_names import pointing_to_task
    from oracle.app.records import graph, listing, naming

    with call.context("links") as context, pointing_to_task(context, text):
        name = naming.show(context, text, last_line=1, fresh=fresh).record.slug
        rows = graph.links(context, name, types=types)
        chains = listing.chains(context, (target for _, target, *_ in rows))
    edges = [
        {
            "from": name,
            "to": target,
            "type": kind,
            "line": line,
            "snippet": snippet,
            "resolved": bool(exists),
            **chain_json(chains.get(target, ())),
        }
        for kind, target, snippet, line, exists in rows
    ]
    cells = [
        (kind, target, str(line), "" if exists else say("missing"), replaced_by(chains.get(target, ())), snippet)
        for kind, target, snippet, line, exists in rows
    ]
    headings = say_each("type", "target", "line", "missing", "replaced", "snippet")
    table = Table(headings, cells, stacked=(1, 4, 5), names=(1, 4), is_full=is_full)
    call.answer({"slug": name, "links": edges, **call.standing}, table)
    if not edges:
        call.note(
            say("{name} has no link of the type {types}", name=name, types=types)
            if types
            else say("{name} links to nothing", name=name)
        )


backlinks_app = single()


@backlinks_app.add(example="oracle backlinks HARBOR-5 --type related-task", has_hub=True)
def backlinks(call: Call, target: Target, *, types: Types = None, full: Full = False, fresh: Fresh = False) -> None:
    """List which records mention a record or an entity."""
    print_backlinks(call, target, types or (), is_full=full, fresh=fresh)


def print_backlinks(call: Call, target: str, types: Sequence[str], *, is_full: bool, fresh: bool) -> None:
    """Print which records mention a target. Raises NotInMemory when there is no such target."""
    from oracle.app.delivery.task_names import pointing_to_task
    from oracle.app.records import graph, listing, naming, views

    with call.context("backlinks") as context, pointing_to_task(context, target):
        graph.check_types(types)
        name = naming.find(context, target, fresh=fresh)
        rows = graph.backlinks(context, name, types=types)
        chains = listing.chains(context, (source for source, *_ in rows))
    marks = [views.status_by(how) if by else "" for *_, by, how in rows]
    edges = [views.backlink_json(name, row, chains.get(row[0], ())) for row in rows]
    cells = [
        (source, kind, str(line), mark, replaced_by(chains.get(source, ())), snippet)
        for (source, kind, snippet, line, *_), mark in zip(rows, marks, strict=True)
    ]
    faint = frozenset(index for index, mark in enumerate(marks) if mark)
    headings = say_each("source", "type", "line", "status", "replaced", "snippet")
    table = Table(headings, cells, faint, stacked=(0, 4, 5), names=(0, 4), is_full=is_full)
    call.answer({"target": name, "backlinks": edges, **call.standing}, table)
    if not edges:
        call.note(
            say("no link of the type {types} leads to {name}", name=name, types=types)
            if types
            else say("nothing links to {name}", name=name)
        )
