"""`oracle list`: list records, or the entities that they mention."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion
from oracle.cli.listing import known_words, mark, record_json, records_table, seat_of, with_chains
from oracle.cli.options import Filters, Fresh, Full, option, single
from oracle.cli.output import Table, is_terminal, visible, write_out
from oracle.cli.session import Call
from oracle.errors import NotInMemory, UsageError
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from oracle.cli.listing import Record

_MENTIONED = 20
"""How many entities are listed unless it is said."""

app = single()


@app.add(example="oracle list --project shop --kind decision --limit 20")
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
    from oracle.app.records import listing

    if entities:
        if filters or limit or timeline:
            raise UsageError(
                say("--entities takes no filter of records."), hint=say("Give --namespace and --top with it.")
            )
        _list_entities(call, namespace, top or _MENTIONED, fresh=fresh)
        return
    if namespace or top:
        raise UsageError(say("--namespace and --top belong to --entities."), hint=say("Add --entities."))
    with call.context("records") as context:
        found = listing.list_records(context, filters, limit=limit, newest_first=True, fresh=fresh)
        if not found:
            raise _none(filters, context.root.path, known_words(context, filters))
        records = with_chains(context, found[::-1] if timeline else found)
    document = {"records": [record_json(*item) for item in records], **call.standing}
    if not timeline:
        call.answer(document, records_table(records, is_full=full))
    elif call.as_json or is_terminal(sys.stdout):
        call.answer(document, _timeline(records, is_full=full))
    else:
        write_out("".join("\t".join(filter(None, map(visible, row))) + "\n" for row in _timeline(records).rows))


def _timeline(records: list[Record], *, is_full: bool = False) -> Table:
    rows = [
        (record.sort_ts, record.kind, seat_of(record), record.title, record.slug, mark(record, chain))
        for record, chain in records
    ]
    faint = frozenset(index for index, (record, _) in enumerate(records) if record.retired_by)
    headings = say_each("when", "kind", "seat", "title", "slug", "replaced")
    return Table(headings, rows, faint, stacked=(3, 4, 5), names=(4, 5), is_full=is_full)


def _none(filters: Filters, root: str, known: str) -> NotInMemory:
    if filters:
        sentence = say("not_in_memory_db: no record passes these filters.")
        return NotInMemory(sentence, hint=known or say("See `oracle index status`."))
    hint = say("Write one with `oracle write`, or name another Root with --memory-dir.")
    return NotInMemory(say("not_in_memory_db: the Root {path} holds no records.", path=root), hint=hint)


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
