"""Search: passages are read from their files at that moment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from oracle.app.context import Context
from oracle.app.records.listing import check_filters, require_present
from oracle.app.records.views import Hit
from oracle.app.search.entities import entities_of
from oracle.app.search.ranking.pages import Shelf
from oracle.app.search.ranking.query import understand
from oracle.app.search.recall import Recall
from oracle.errors import UsageError
from oracle.index.db import Connection
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.search.ranking.semantic import Nearness


def search(
    context: Context,
    text: str,
    filters: Mapping[str, str] | None = None,
    *,
    limit: int = 10,
    fresh: bool = False,
    strict: bool = False,
    lexical: bool = False,
    among: Sequence[str] = (),
) -> list[Hit]:
    """Return up to `limit` passages of at most 700 characters from the files as they are now, retired records last.

    `strict` leaves retired records out; `lexical` ranks by words alone, although there are vectors; `among` are the slugs
    of the records that alone are looked at. Records that hold an entity which the text names come first.
    """
    if limit < 1:
        raise UsageError(say("The limit {limit} is too small.", limit=limit), hint=say("Ask for 1 hit or more."))
    wanted = check_filters(filters or {})
    question = understand(text)
    shelf = _shelf(context)
    nearness = None if lexical else _nearness(context, text)
    entities = entities_of(context, question.text, wanted.get("project", ""))

    def look(connection: Connection) -> list[Hit]:
        recall = Recall(
            context, connection, question, wanted, shelf=shelf, nearness=nearness, entities=entities, among=among
        )
        return recall.hits(limit, strict=strict)

    hits = context.index.find(look, fresh=fresh)
    if not hits:
        require_present(context, wanted)
    return hits


def require_words(text: str) -> None:
    """Raise UsageError for a search for nothing, which a person or a client did not mean."""
    if not text.strip():
        raise UsageError(say("Say what to look for."), hint=say("Give words, as in `oracle search retry policy`."))


def _nearness(context: Context, text: str) -> Nearness | None:
    """Ask the vectors, when there are any and the extra that reads them; nothing of it is imported before."""
    if not os.path.exists(context.root.vectors):
        return None
    from oracle.app.search.ranking.semantic import meaning_of

    meaning = meaning_of(context)
    return meaning.ask(text) if meaning is not None else None


_SHELVES: WeakKeyDictionary[Context, Shelf] = WeakKeyDictionary()


def _shelf(context: Context) -> Shelf:
    """Return the pages that a context has read already."""
    return _SHELVES.setdefault(context, Shelf())
