"""Search: the best passages for a person's words, from the files as they are now, as hits."""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import chain, groupby, tee

from oracle.app.context import Context
from oracle.app.records.listing import check_filters, require_present
from oracle.app.records.views import Hit
from oracle.app.search.ranking.pages import Shelf
from oracle.app.search.ranking.query import parse_query
from oracle.app.search.ranking.scoring import MEANING
from oracle.app.search.recall import CANDIDATES, PreparedQuery, Recall
from oracle.domain.links.entity_query import EntityQuery, entities_in
from oracle.domain.values import replace
from oracle.errors import UsageError
from oracle.index.read.query import retirers
from oracle.wording import joined, say, say_each

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from oracle.app.records.views import Summary
    from oracle.app.search.ranking.pages import Scored
    from oracle.app.search.ranking.semantic import Nearness
    from oracle.app.search.recall import Ranked
    from oracle.index.db import Connection
    from oracle.wording import Sentence

_WORDS_SHOWN = 5


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
        if not query.terms:
            return []
        with _uncollected():
            recall = Recall(context, connection, asked)
            found = [
                _Picker(connection, recall.rank(filters, limit), nearness).pick(limit, strict=strict)
                for filters, limit in rounds
            ]
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


class _Picker:
    """The best passages of one round, made hits."""

    def __init__(self, connection: Connection, ranked: Ranked, nearness: Nearness | None) -> None:
        self._connection = connection
        self._ranking, self._records, self._scored = ranked.ranking, ranked.records, ranked.scored
        self._terms = ranked.ranking.question.terms
        self._nearness = nearness

    def pick(self, limit: int, *, strict: bool) -> list[Hit]:
        """Return up to `limit` hits, of equal passages the newest, those of retired records last, or not at all when `strict`.

        The first one says which retired record would be there.
        """
        equals = (list(some) for _, some in groupby(self._scored, key=lambda one: round(one.score, 9)))
        found, others, newest = tee(chain.from_iterable(map(self._newest_first, equals)), 3)
        first = next(newest, None)
        hits = self._pick((one for one in found if not self._records[one.source].is_retired), limit)
        if len(hits) < limit and not strict:
            retired = (one for one in others if self._records[one.source].is_retired)
            hits += self._pick(retired, limit - len(hits))
        record = self._records[first.source] if first is not None else None
        if hits and record is not None and record.is_retired:
            hits[0] = replace(hits[0], instead_of=record.slug)
        return hits

    def _newest_first(self, some: list[Scored]) -> list[Scored]:
        return sorted(some, key=lambda one: self._records[one.source].sort_ts, reverse=True) if len(some) > 1 else some

    def _pick(self, best: Iterable[Scored], limit: int) -> list[Hit]:
        """Make hits of the best passages, each with its neighbours, no lines twice; half of them of different records."""
        taken: dict[int, set[int]] = {}
        found: list[Hit] = []
        rest: list[Scored] = []
        for one in best:
            if len(found) == limit:
                break
            used = taken.get(one.source)
            if used is not None and limit - len(found) <= limit // 2 - len(taken):
                rest.append(one)
            elif used is None or used.isdisjoint(one.run or (one.at,)):
                found.append(self._hit(one, taken.setdefault(one.source, set())))
        found += [
            self._hit(one, taken[one.source])
            for one in rest[: limit - len(found)]
            if taken[one.source].isdisjoint(one.run or (one.at,))
        ]
        return found

    def _hit(self, one: Scored, used: set[int]) -> Hit:
        """Make a hit of a passage and what fits beside it; its passages are `used` from now on."""
        record = self._records[one.source]
        ranking, nearness = self._ranking, self._nearness
        worth = {other.at: other.score for other in self._scored if other.source == one.source}
        passage, members = one.page.widen(one.at, one.run, lambda at: worth.get(at, 0.0), used)
        used.update(members)
        terms = one.terms | ranking.covered(one.source, members)
        coverage, of_known = ranking.topic_coverage(terms)
        by = tuple(slug for slug, _ in retirers(self._connection, record.slug)) if record.retired_by else ()
        return Hit(
            record,
            one.score,
            passage.text,
            *one.page.place(passage),
            by,
            coverage=coverage,
            translated=ranking.translated(terms),
            why=self._why(one, terms, record),
            parts=tuple(one.parts.items()),
            known=coverage / of_known if of_known else 1.0,
            nearness=nearness.share(one.parts.get(MEANING, 0.0), ranking) if nearness else 0.0,
            missing=tuple(ranking.missing(terms)) if nearness else (),
        )

    def _why(self, one: Scored, terms: Iterable[int], record: Summary) -> str:
        """Say in a few words why this passage is shown."""
        own = [number for number in terms if number < len(self._terms)]
        whole = [number for number in own if self._terms[number].weight == 1]
        heaviest = sorted(whole, key=lambda number: -self._ranking.weights[number])[:_WORDS_SHOWN]
        words = [" ".join(self._terms[number].tokens) for number in sorted(heaviest)]
        reasons: list[str] = [say("words: {words}", words=words)] if words else []
        reasons += [
            name for name in say_each("entity", "relation", "speaker", "date", "shape", "graph") if one.parts.get(name)
        ]
        if one.parts.get(MEANING, 0.0) > one.score / 2:
            reasons.insert(0, say("meaning"))
        if record.is_retired:
            by = say("{status} by {by}", status=record.effective_status, by=record.retired_by)
            reasons.append(by if record.retired_by else record.effective_status)
        return joined("; ", reasons) or say("a field of the record")
