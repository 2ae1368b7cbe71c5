"""Search and show: what is printed of a record is read from its file at that moment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from oracle.api import Oracle
from oracle.app.answers import subjects
from oracle.app.records import naming
from oracle.app.records.listing import check_filters, require_present
from oracle.app.records.views import Hit, Shown, Summary
from oracle.app.search.ranking.pages import Shelf
from oracle.app.search.ranking.query import understand
from oracle.app.search.recall import Recall, lines_of
from oracle.errors import NotInMemory, UsageError
from oracle.index.db import Connection
from oracle.index.read import query
from oracle.store.markdown import records
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.search.ranking.semantic import Nearness


def search(
    oracle: Oracle,
    text: str,
    filters: Mapping[str, str],
    *,
    limit: int,
    fresh: bool,
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
    wanted = check_filters(filters)
    question = understand(text)
    shelf = _shelf(oracle)
    nearness = None if lexical else _nearness(oracle, text)
    entities = subjects.entities_of(oracle, question.text, wanted.get("project", ""))

    def look(connection: Connection) -> list[Hit]:
        recall = Recall(
            oracle, connection, question, wanted, shelf=shelf, nearness=nearness, entities=entities, among=among
        )
        return recall.hits(limit, strict=strict)

    hits = oracle.index.find(look, fresh=fresh)
    if not hits:
        require_present(oracle, wanted)
    return hits


def require_words(text: str) -> None:
    """Raise UsageError for a search for nothing, which a person or a client did not mean."""
    if not text.strip():
        raise UsageError(say("Say what to look for."), hint=say("Give words, as in `oracle search retry policy`."))


def _nearness(oracle: Oracle, text: str) -> Nearness | None:
    """Ask the vectors, when there are any and the extra that reads them; nothing of it is imported before."""
    if not os.path.exists(oracle.root.vectors):
        return None
    from oracle.app.search.ranking.semantic import meaning_of

    meaning = meaning_of(oracle)
    return meaning.ask(text) if meaning is not None else None


_SHELVES: WeakKeyDictionary[Oracle, Shelf] = WeakKeyDictionary()


def _shelf(oracle: Oracle) -> Shelf:
    """Return the pages that an Oracle has read already."""
    return _SHELVES.setdefault(oracle, Shelf())


def show(oracle: Oracle, slug: str, *, first_line: int, last_line: int, fresh: bool) -> Shown:
    """Return lines of a record; any name of a record will do. Raises NotInMemory, UsageError."""
    name = oracle.target(slug)

    def find(
        connection: Connection,
    ) -> tuple[Summary, tuple[str, ...], tuple[str, ...], tuple[tuple[int, str], ...]]:
        record = Summary.from_row(query.summary(connection, naming.find_record(oracle, connection, name)) or ())
        chain = tuple(by for by, _ in query.retirers(connection, record.slug))
        found = tuple(
            (line, reason) for path, line, reason in query.problems(connection, record.path) if path == record.path
        )
        return record, chain, tuple(query.retired_by(connection, record.slug)), found

    record, chain, supersedes, problems = oracle.index.find(find, fresh=fresh)
    try:
        raw = records.read(oracle.root.join(record.path))
    except OSError as error:
        raise NotInMemory(
            say("not_in_memory_db: {path} can't be read: {strerror}.", path=record.path, strerror=error.strerror),
            hint=say("Run `oracle doctor`."),
        ) from error
    lines = lines_of(raw)
    last = min(last_line or len(lines), len(lines))
    if first_line < 1 or (lines and first_line > last):
        raise UsageError(
            say(
                "{slug} has lines 1 to {count}, not {first_line}:{last_line}.",
                slug=record.slug,
                count=len(lines),
                first_line=first_line,
                last_line=last_line,
            ),
            hint=say("Choose lines inside it, as in --lines 1:20."),
        )
    text = "\n".join(lines[first_line - 1 : last])
    return Shown(record, text, first_line, last, len(lines), chain, supersedes, problems)
