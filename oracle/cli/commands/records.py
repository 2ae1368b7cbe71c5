"""`oracle list` and `oracle check`: list records or entities, and what people should look at. Nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion, plain_list
from oracle.cli.completion import CHECK_NAMES
from oracle.cli.listing import record_json, records_table, with_chains
from oracle.cli.options import Filters, Fresh, Full, Project, option, single
from oracle.cli.output import Table, emphasise, on_terminal, print_table, write_out
from oracle.cli.session import Call
from oracle.domain.spelling import suggest
from oracle.errors import NotInMemory, UsageError
from oracle.wording import say, say_each, say_many, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.context import Context

    Found = tuple[object, Table, str]
    """What a check found: its JSON, its table and a note."""


_MENTIONED = 20
"""How many entities are listed unless it is said."""

list_app = single()


@list_app.add(example="oracle list --project shop --kind decision --limit 20", has_hub=True)
def list_records(
    call: Call,
    filters: Filters,
    *,
    limit: Annotated[int, option("--limit N", "The newest N records; 0 is all.", min=0)] = 0,
    timeline: Annotated[bool, option("--timeline", "Oldest first, one line each.")] = False,
    entities: Annotated[bool, option("--entities", "List the most mentioned entities instead.")] = False,
    namespace: Annotated[
        str, option("--namespace NS", "--entities: only these, as in taskid.", completion.namespaces)
    ] = "",
    top: Annotated[int | None, option("--top N", "--entities: the first N (default 20).", min=1)] = None,
    full: Full = False,
    fresh: Fresh = False,
) -> None:
    """List records, newest first."""
    if entities:
        if filters or limit or timeline:
            raise UsageError(
                say("--entities takes no filter of records."), hint=say("Give --namespace and --top with it.")
            )
        _list_entities(call, namespace, top or _MENTIONED, fresh=fresh)
        return
    if namespace or top:
        raise UsageError(say("--namespace and --top belong to --entities."), hint=say("Add --entities."))
    plain_list.list_records(call, filters, limit=limit, timeline=timeline, full=full, fresh=fresh)


def _list_entities(call: Call, namespace: str, top: int, *, fresh: bool) -> None:
    from oracle.app.records import graph

    with call.context("entities") as context:
        rows = graph.entities(context, namespace, top=top, fresh=fresh)
        if not rows:
            absent = say("not_in_memory_db: no record mentions any entity.")
            if namespace:
                absent = say("not_in_memory_db: no record mentions any entity of the namespace {name}.", name=namespace)
            raise NotInMemory(absent, hint=say("See `oracle index status`."))
    found = [{"entity": name, "records": count} for name, count in rows]
    table = Table(say_each("records", "entity"), [(str(count), name) for name, count in rows])
    call.answer({"entities": found, **call.standing}, table)


check_app = single()


@check_app.add(example="oracle check --only orphans,stale --project shop")
def check(
    call: Call,
    *,
    only: Annotated[
        list[str] | None,
        option(
            "--only CHECK", "orphans, unresolved, stale or review; repeatable.", completion.listed(completion.checks)
        ),
    ] = None,
    project: Project = "",
    full: Full = False,
    fresh: Fresh = False,
) -> None:
    """List orphans, broken links, stale records and open reviews."""
    names = [name.strip() for text in only or ["orphans,unresolved,stale,review"] for name in text.split(",")]
    for name in names:
        if name not in CHECKS:
            raise UsageError(
                say("Unknown check {name!r}.", name=name),
                hint=suggest(name, CHECKS),
            )
    found: dict[str, Found] = {}
    with call.context(names[0] if len(names) == 1 else "checks") as context:
        for name in dict.fromkeys(names):
            found[name] = CHECKS[name](call, context, project, fresh)
    if call.as_json:
        call.print_json({**{name: document for name, (document, *_) in found.items()}, **call.standing})
        return
    for at, (name, (_, table, note)) in enumerate(found.items()):
        if len(found) > 1:
            write_out("\n" * bool(at) + emphasise(visible(f"{name} ({len(table.rows)})")) + "\n")
        print_table(Table(*(table.headings, table.rows, table.faint, table.stacked, table.names, full)))
        if note:
            call.note(note)


def _orphans(call: Call, context: Context, project: str, fresh: bool) -> Found:
    """Find records without links to or from others, newest first."""
    from oracle.app.records import listing

    records = with_chains(context, listing.list_orphans(context, project, fresh=fresh)[::-1])
    note = "" if records else say("every record is linked")
    return [record_json(*item) for item in records], records_table(records), note


def _unresolved(call: Call, context: Context, project: str, fresh: bool) -> Found:
    """Find links to records that do not exist."""
    from oracle.app.records import graph, listing, naming

    rows = graph.unresolved(context, project, fresh=fresh)
    if not rows and project:
        listing.list_records(context, {"project": project}, limit=1)  # raises when there is no such project
    titled = naming.titled(context, (ref for _, _, _, ref, _, _ in rows))
    names = ("from", "path", "type", "ref", "line", "to", "titled")
    found = [dict(zip(names, (*row, titled.get(row[3]) or None), strict=True)) for row in rows]
    cells = [(slug, str(line), kind, ref, to, titled.get(ref, "")) for slug, _, kind, ref, line, to in rows]
    headings = say_each("source", "line", "type", "as written", "target", "titled so")
    note = "" if rows else say("every link to a record leads somewhere")
    return found, Table(headings, cells, stacked=(0, 4, 3, 5), names=(0, 5)), note


def _stale(call: Call, context: Context, project: str, fresh: bool) -> Found:
    """Find records that name what their repository no longer has."""
    from oracle.app.codebase import stale_names

    found = stale_names.stale(context, project, fresh=fresh)
    if missing := [name for name, path in found.repositories if not path]:
        call.warn(
            say(
                "no repository of {names} exists: neither `repo_path` in projects.json nor `repo_root` in the "
                "profile names a folder; `oracle project add` does",
                names=missing,
            )
        )
    rows = [
        (
            item.record.slug,
            str(one.named.line),
            one.named.sort.value,
            one.named.name,
            on_terminal(one.liveness.shown),
            one.detail,
        )
        for item in found.records
        for one in item.worst_names
    ]
    note = say_many(
        "{n} name looked up, {unchecked} unchecked",
        "{n} names looked up, {unchecked} unchecked",
        n=found.looked_up,
        unchecked=found.unchecked,
    )
    headings = say_each("slug", "line", "what", "name", "it is", "detail")
    return found.as_json(), Table(headings, rows, stacked=(3, 0, 5), names=(0,)), note


def _review(call: Call, context: Context, project: str, fresh: bool) -> Found:
    """Find records between which people should decide."""
    from oracle.app.records import review

    found = review.review(context, project, fresh=fresh)
    rows = [
        (
            *(item.sort.value, item.record.slug, item.other.slug),
            *("" if item.likeness is None else f"{item.likeness:.2f}", item.sentence),
        )
        for item in found
    ]
    note = "" if found else say("nothing waits for a decision")
    headings = say_each("what", "record", "other", "alike", "it")
    return [item.as_json() for item in found], Table(headings, rows, stacked=(1, 2, 4), names=(1, 2, 4)), note


CHECKS: dict[str, Callable[[Call, Context, str, bool], Found]] = dict(
    zip(CHECK_NAMES, (_orphans, _unresolved, _stale, _review), strict=True)
)
