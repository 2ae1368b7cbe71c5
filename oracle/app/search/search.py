"""Search: the best passages for a person's words, from the files as they are now."""

from __future__ import annotations

import os
from contextlib import contextmanager

from oracle.app.context import Context
from oracle.app.records.listing import check_filters, require_present
from oracle.app.search.ranking.pages import Shelf
from oracle.app.search.ranking.query import parse_query
from oracle.app.search.recall import CANDIDATES, PreparedQuery, Recall
from oracle.domain.links.entity_query import EntityQuery, entities_in
from oracle.errors import UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oracle.app.records.views import Hit
    from oracle.app.search.ranking.semantic import Nearness
    from oracle.index.db import Connection
    from oracle.wording import Sentence


def search(
    context: Context,
    text: str,
    filters: Mapping[str, str] | None = None,
    *,
    limit: int = 10,
    fresh: bool = False,
    strict: bool = False,
    lexical: bool = False,
    with_shared: bool = False,
    most: int = CANDIDATES,
    among: Sequence[str] = (),
) -> list[Hit]:
    """Return up to `limit` passages of at most 700 characters from the files as they are now, retired records last.

    `strict` leaves retired records out; `lexical` ranks by words alone, although there are vectors; `among` are the slugs
    of the records that alone are looked at. Records that hold an entity which the text names come first. `with_shared` adds
    the records of no project to those of one. `most` is how many records are read for their words.
    """
    if limit < 1:
        raise UsageError(say("The limit {limit} is too small.", limit=limit), hint=say("Ask for 1 hit or more."))
    rounds = [(check_filters(filters or {}), limit)]
    found = _search(
        context,
        text,
        rounds,
        fresh=fresh,
        strict=strict,
        lexical=lexical,
        with_shared=with_shared,
        most=most,
        among=among,
    )
    return found[0]


def search_by_status(
    context: Context, text: str, filters: Mapping[str, str], limits: Mapping[str, int], *, among: Sequence[str] = ()
) -> list[list[Hit]]:
    """Return up to so many passages of the records of each status in `limits` ("" for all), from one state of the index."""
    wanted = check_filters(filters)
    rounds = [({**wanted, "status": status}, limit) for status, limit in limits.items()]
    return _search(context, text, rounds, among=among)


def _search(
    context: Context,
    text: str,
    rounds: Sequence[tuple[Mapping[str, str], int]],
    *,
    fresh: bool = False,
    strict: bool = False,
    lexical: bool = False,
    with_shared: bool = False,
    most: int = CANDIDATES,
    among: Sequence[str] = (),
) -> list[list[Hit]]:
    """Read the question once, and return the hits of each round: the filters, checked, and the limit."""
    wanted = rounds[0][0]
    query = parse_query(text)
    nearness = None if lexical else _nearness(context, text)
    entities = entities_of(context, query.text, wanted.get("project", ""))
    asked = PreparedQuery(query, shelf_of(context), nearness, entities, among, with_shared, most)

    def look(connection: Connection) -> list[list[Hit]]:
        with _uncollected():
            recall = Recall(context, connection, asked)
            found = [recall.hits(filters, limit, strict=strict) for filters, limit in rounds]
        return found if any(found) else []

    hits = context.index.find(look, fresh=fresh)
    if not hits or not hits[0]:
        require_present(context, wanted)
    return hits or [[] for _ in rounds]


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no garbage while the block runs: a search makes no cycles, and among its values the looks take a fifth of it."""
    import gc

    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def shelf_of(context: Context) -> Shelf:
    """Return the pages that a context has read already."""
    shelf: Shelf = context.kept.setdefault(Shelf, Shelf())
    return shelf


def entities_of(context: Context, text: str, project: str = "") -> list[EntityQuery]:
    """Return the entities that a text names, by the link patterns of the project."""
    if not entities_in(text):
        return []
    from oracle.store.root.configuration import patterns_of

    return entities_in(text, patterns_of(context.root, project, report=lambda path, reason: None))


def has_meaning(context: Context) -> bool:
    """Return whether the Root has vectors, and the extra that reads them is installed."""
    if not os.path.exists(context.root.vectors):
        return False
    from oracle.app.search.models import find_models

    return bool(find_models())


def why_no_meaning(context: Context) -> Sentence | str:
    """Return why no search of the Root can be by meaning, and the way out; "" if it can."""
    from oracle.app.search.models import find_models, installing
    from oracle.index.vectors import Vectors

    models = find_models()
    if not models:
        return say("the semantic extra is not installed; `{install}` installs it", install=installing())
    vectors = Vectors(context.root)
    try:
        about = vectors.meta()
    finally:
        vectors.close()
    if any(about.get(f"{model.name} about") == model.about.encode() for model in models):
        return ""
    return say(
        "the Root {path} has no vectors of these models; `oracle index embed` makes them", path=context.root.path
    )


def _nearness(context: Context, text: str) -> Nearness | None:
    """Ask the vectors, if there are any and their models may be loaded; nothing of it is imported before."""
    if not (context.loads_models and has_meaning(context)):
        return None
    from oracle.app.search.ranking.semantic import meaning_of

    meaning = meaning_of(context)
    return meaning.ask(text) if meaning is not None else None
