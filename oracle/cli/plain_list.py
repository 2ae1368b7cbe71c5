"""List records. Plain words are read without the parser of the command line, as those of a search are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from oracle.cli import plain_search
from oracle.cli.listing import mark, record_json, records_table, seat_of, with_chains, with_projects
from oracle.cli.output import Table, is_terminal, write_out
from oracle.errors import NotInMemory
from oracle.wording import say, say_each, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.cli.listing import Record
    from oracle.cli.session import Call

_SWITCHES = ("--timeline", "--full", "--fresh")


def run(call: Call, words: Sequence[str]) -> bool:
    """Run `oracle list` if the words are as plain as most: False for a case that only the parser knows."""
    given = plain_search.read(words, "list", _SWITCHES, least=0)
    if given is None or given["text"] or "" in words:
        return False
    call.memory_dir = given.get("--memory-dir")
    call.is_fresh = "--fresh" in given
    switches = {name[2:]: name in given for name in _SWITCHES}
    list_records(call, plain_search.filters_of(given), limit=int(given.get("--limit", "0")), **switches)
    return True


def list_records(call: Call, filters: dict[str, str], *, limit: int, timeline: bool, full: bool, fresh: bool) -> None:
    """Print the records that pass the filters, newest first. Raises NotInMemory where there are none."""
    from oracle.app.records import listing

    with call.context("records") as context:
        found = listing.list_records(context, filters, limit=limit, newest_first=True, fresh=fresh)
        if not found:
            from oracle.app.overview import completion

            raise _none(filters, context.root.path, completion.known_words(context, filters))
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
    return with_projects(Table(headings, rows, faint, stacked=(3, 4, 5), names=(4, 5), is_full=is_full), records)


def _none(filters: dict[str, str], root: str, known: str) -> NotInMemory:
    if filters:
        sentence = say("not_in_memory_db: no record passes these filters.")
        return NotInMemory(sentence, hint=known or say("See `oracle index status`."))
    hint = say("Write one with `oracle write`, or name another Root with --memory-dir.")
    return NotInMemory(say("not_in_memory_db: the Root {path} holds no records.", path=root), hint=hint)
