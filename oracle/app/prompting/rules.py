"""The rules of people that hold for a session: those that it begins with, and those that changed since."""

from __future__ import annotations

from oracle.app.memories.packets import read_memory
from oracle.app.records.views import Summary
from oracle.domain.injection.envelope import ContextItem
from oracle.domain.records import memories
from oracle.index.read import memories as places
from oracle.index.read import query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.prompting.sessions import SessionGiven

_RULES = memories.type_keys(memories.PREFERENCE)
_MOST = 4


def find_rules(context: Context, project: str) -> list[ContextItem]:
    """Return the rules of people that were written or linked to last: preferences, corrections, who they are."""
    rows = context.index.read(lambda connection: places.last_used(connection, project, _RULES, limit=_MOST))
    read = [(record, read_memory(context, record)) for record in map(Summary.from_row, rows)]
    return [
        ContextItem(memory.text, path=record.path, date=record.sort_ts, seat=record.seat, slug=record.slug)
        for record, memory in read
        if memory is not None
    ]


def find_changed(context: Context, project: str, given: SessionGiven) -> tuple[ContextItem, ...]:
    """Return the rules that a session was given with another text, or in place of which it was given an older record."""
    rules = given.new(find_rules(context, project))
    connection = context.index.database.connect()
    return tuple(
        rule for rule in rules if not given.slugs.isdisjoint((rule.slug, *query.retired_by(connection, rule.slug)))
    )
