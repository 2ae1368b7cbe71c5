"""List records: their rows, what replaced them, their JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from oracle.cli.output import Table, is_terminal, on_terminal
from oracle.domain.records.chains import replaced_by
from oracle.wording import say, say_each, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.context import Context
    from oracle.app.records.views import Summary

    Record = tuple[Summary, tuple[str, ...]]
    """A record with the chain of records that replaced it, nearest first."""


def with_chains(context: Context, records: Sequence[Summary]) -> list[tuple[Summary, tuple[str, ...]]]:
    """Return each record with the chain of records that replaced it."""
    from oracle.app.records import listing

    chains = listing.chains(context, (record.slug for record in records if record.retired_by))
    return [(record, chains.get(record.slug, ())) for record in records]


def chain_json(chain: Sequence[str]) -> dict[str, object]:
    """Return the chain of a record for its JSON; what makes it is loaded when a command has one to print."""
    from oracle.app.records import views

    return views.chain_json(chain)


def record_json(record: Summary, chain: Sequence[str]) -> dict[str, object]:
    """Return the JSON of a record in a listing; `chain` only where it is retired."""
    return {**record.as_json(), **chain_json(chain)}


def records_table(records: Sequence[Record], *, is_full: bool = False) -> Table:
    """Return the table of a listing: slug, when, kind, seat, status, title, and by what a record was replaced."""
    rows = [
        (
            *(
                record.slug,
                record.sort_ts,
                record.kind,
                seat_of(record),
                on_terminal(record.status_shown),
                record.title,
            ),
            replaced_by(chain),
        )
        for record, chain in records
    ]
    faint = frozenset(index for index, (record, _) in enumerate(records) if record.retired_by)
    headings = say_each("slug", "when", "kind", "seat", "status", "title", "replaced")
    return with_projects(Table(headings, rows, faint, stacked=(5, 0, 6), names=(0, 6), is_full=is_full), records)


def with_projects(table: Table, records: Sequence[Record]) -> Table:
    """Put the project in front of each row on a terminal, where slugs are shortened, if the rows are of several projects."""
    if not is_terminal(sys.stdout) or len({record.project for record, _ in records}) < 2:
        return table
    return Table(
        (say("project"), *table.headings),
        [(record.project or "-", *row) for (record, _), row in zip(records, table.rows, strict=True)],
        table.faint,
        stacked=tuple(at + 1 for at in table.stacked),
        names=tuple(at + 1 for at in table.names),
        is_full=table.is_full,
    )


def mark(record: Summary, chain: Sequence[str]) -> str:
    """Return what is printed behind a record that no longer holds, as in `[superseded by A, then B]`."""
    if record.retired_by:
        return say("[{status} {by}]", status=record.status_shown, by=replaced_by(chain))
    return say("[{status}]", status=record.status_shown) if record.status in ("superseded", "retired") else ""


def seat_of(record: Summary) -> str:
    """Return the seat of a record as it is printed."""
    return visible(record.seat_shown) or "-"
