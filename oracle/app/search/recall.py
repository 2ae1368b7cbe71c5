"""One question to one state of the index: the records that may hold the answer, then the order of their passages.

The index names the records. Their files are read now, so what is ranked and shown is what is on disk.
"""

from __future__ import annotations

from itertools import chain

from oracle.app.records.views import Summary
from oracle.app.search.ranking.anchors import find_anchors
from oracle.app.search.ranking.links import (
    Relations,
    entities_named,
    find_neighbours,
    find_unfollowed,
    put_linked_behind,
    weigh_links,
)
from oracle.app.search.ranking.pages import Scored, best_first
from oracle.app.search.ranking.scoring import Ranking, Statistics
from oracle.app.search.ranking.signals import join_turns, rank
from oracle.domain.names import FOREIGN, is_scanned
from oracle.domain.relations.relations import asks_for_links
from oracle.domain.values import replace, value
from oracle.index.read import candidates, query
from oracle.store.markdown import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oracle.app.context import Context
    from oracle.app.search.ranking.anchors import Anchor
    from oracle.app.search.ranking.links import Neighbour
    from oracle.app.search.ranking.pages import RecordPage, Shelf
    from oracle.app.search.ranking.query import SearchQuery
    from oracle.app.search.ranking.semantic import Nearness
    from oracle.domain.links.entity_query import EntityQuery
    from oracle.index.db import Connection

CANDIDATES = 64
"""Records whose files are read for a search."""
_SELDOM, _TRANSLATED = 0.1, 16
"""The share of the records that may hold a word which is translated, and how many of those that are read translations find."""
_SHORT, _REACH = 32, 2
"""Best matches beside which short records are read, and how many before and after each."""
_NEIGHBOURS = 100
"""Neighbours of what the question names whose files are read."""
_NAMED_BY = 500
"""Records that may hold a word by which a record is named; a fiftieth of a large Root."""
_HOLDERS = 200
"""Records that hold an entity of the question, among which those that hold most are read."""
_NEAR, _NEAR_PATHS = 24, 200
"""Records that are looked at for their meaning alone, and among how many of the nearest those that pass the filters."""
_STRONG = 3
"""Best matches by words whose neighbours are lifted."""
_ABOVE_WORDS = 4


@value
class PreparedQuery:
    """A question with what its searches share. Records that hold one of `entities` come first.

    `among` are the slugs that alone are looked at; without them, all. `with_shared` adds the records of no project to those
    of one. `most` is how many records are read for their words.
    """

    query: SearchQuery
    shelf: Shelf
    nearness: Nearness | None = None
    entities: Sequence[EntityQuery] = ()
    among: Sequence[str] = ()
    with_shared: bool = False
    most: int = CANDIDATES


@value
class Ranked:
    """The passages of the records that were read, best first; `source` of each is the number of its record."""

    ranking: Ranking
    records: Sequence[Summary]
    scored: Sequence[Scored]


class Recall:
    """A question to one state of the index: records are gathered, and their passages ranked."""

    def __init__(self, context: Context, connection: Connection, asked: PreparedQuery) -> None:
        self._context = context
        self._connection = connection
        self._asked = asked
        self._question = asked.query
        self._counts, self._statistics = self._count_words()
        self._among = query.ids_of(connection, asked.among)

    def rank(self, filters: Mapping[str, str], limit: int) -> Ranked:
        """Return the passages of the records that pass, for `limit` hits."""
        self._start(filters)
        matched = self._matched(max(self._asked.most, limit))
        anchors = find_anchors(self._connection, self._question, self._rare())
        held = self._held()
        neighbours = self._gather_all(matched, anchors, held)
        by_words = len(self._pages)
        self._gather(self._near_in_meaning())
        beside = self._gather_beside(matched)
        ranking = Ranking(self._question, self._pages, self._statistics, candidates.stemmer().stems, beside)
        scored = self._add_meaning(ranking, rank(ranking, self._boosts(matched)), limit)
        # candidates whose passages hold no word: a field or the file's name holds it
        unscored = sorted(set(range(by_words)) - {one.source for one in scored})
        scored += [Scored(source, self._pages[source], 0) for source in unscored]
        if neighbours:
            scored = self._put_answers_first(ranking, scored, anchors, neighbours)
        if held:
            scored = self._put_holders_first(ranking, scored, held)
        retired = {source for source, record in enumerate(self._records) if record.is_retired}
        return Ranked(ranking, self._records, put_linked_behind(ranking, scored, self._edges, retired))

    def _start(self, filters: Mapping[str, str]) -> None:
        columns = {f"record.{name}": wanted for name, wanted in filters.items()}
        self._condition = query.conditions(columns, with_shared=self._asked.with_shared)
        if self._asked.among:
            self._condition = query.among(self._condition, self._among)
        project = filters.get("project", "")
        shared = ("shared/",) if self._asked.with_shared else ()
        self._within = (f"projects/{project}/", f"{FOREIGN}{project}/", *shared) if project else ()
        self._sources: dict[int, int] = {}
        self._records: list[Summary] = []
        self._pages: list[RecordPage] = []
        self._edges: list[tuple[int, int]] = []

    # -- the records -----------------------------------------------------------------------------------------------

    def _count_words(self) -> tuple[dict[str, int], Statistics]:
        """Return how many records match each expression of the question, and how rare its words are."""
        terms, joined = self._question.terms, self._question.joined
        words = [*(token for term in terms for form in term.forms for token in form), *(one.token for one in joined)]
        stems = candidates.stemmer().stems(words)
        characters = [term.tokens[0] for term in terms if term.expression.endswith("*")]
        frequencies = candidates.frequencies(self._connection, stems.values(), characters)
        counts: dict[str, int] = {}
        rows: dict[tuple[str, ...], int] = {}
        for term in terms:
            forms = {tuple(stems[token] for token in form) for form in term.forms}
            count = sum(min(frequencies[stem][0] for stem in form) for form in forms)
            if count and term.weight == 1 and any(len(form) > 1 for form in forms):
                count = rows[term.tokens] = candidates.holding(self._connection, term.expression)
            if term.expression:
                counts[term.expression] = count
        self._question = replace(
            self._question, joined=tuple(one for one in joined if frequencies[stems[one.token]][0])
        )
        counts.update((one.expression, frequencies[stems[one.token]][0]) for one in self._question.joined)
        records = candidates.size(self._connection)
        return counts, Statistics(records, frequencies | self._translate(counts, records), rows)

    def _translate(self, counts: Mapping[str, int], records: int) -> dict[str, tuple[int, int]]:
        """Add words in the other language for what few records hold; return how often they occur. Models need none."""
        query, self._translated = self._question, []
        if self._asked.nearness is not None or (query.text.isascii() and not candidates.holds_wide(self._connection)):
            return {}
        from oracle.app.search.ranking.translations import translate

        held = [counts.get(term.expression, records) for term in query.terms]
        wanted = [one for one in translate(query) if min(held[number] for number in one.of) <= _SELDOM * records]
        stems = candidates.stemmer().stems(token for one in wanted for token in one.tokens)
        found = candidates.frequencies(self._connection, stems.values())
        rows = {one: min(found[stems[token]][0] for token in one.tokens) for one in wanted}
        self._question = replace(query, translations=tuple(one for one, count in rows.items() if count))
        self._translated = [(one.expression, count) for one, count in rows.items() if count]
        return found

    def _matched(self, most: int) -> list[int]:
        """Return the records that the words of the question find, then those that words in the other language find."""
        found = candidates.candidates(self._connection, list(self._counts.items()), self._condition, limit=most)
        if not self._translated:
            return found
        others = candidates.candidates(self._connection, self._translated, self._condition, limit=_TRANSLATED)
        others = [one for one in others if one not in found]
        return [*found[: most - len(others)], *others]

    def _rare(self) -> list[str]:
        """Return the expressions of the rarest words, the rarest first: those that may name something."""
        most = max(_NAMED_BY, self._statistics.records // 50)
        rare = (text for text, count in self._counts.items() if 0 < count <= most)
        return sorted(rare, key=self._counts.__getitem__)

    def _held(self) -> dict[int, int]:
        """Return the newest records that hold an entity of the question, with how many of them they hold."""
        if not self._asked.entities:
            return {}
        from oracle.index.read.holders import holders

        found: dict[int, int] = {}
        for entity in self._asked.entities:
            for record in holders(self._connection, entity, self._condition, most=_HOLDERS):
                found[record] = found.get(record, 0) + 1
        best = sorted(found.items(), key=lambda item: (-item[1], -item[0]))
        return dict(best[:CANDIDATES])

    def _gather_all(self, matched: Sequence[int], anchors: Sequence[Anchor], held: Iterable[int]) -> list[Neighbour]:
        """Read the records that may hold the answer; return those that the links of the question's records lead to."""
        named = [anchor.record for anchor in anchors]
        neighbours: list[Neighbour] = []
        asks = asks_for_links(self._question.text)
        if asks:
            self._gather(named)
            neighbours = find_neighbours(self._connection, anchors, self._pages_of(named))
        near = list(dict.fromkeys(one.record for one in neighbours))[:_NEIGHBOURS]
        entities = entities_named(self._connection, self._question)
        self._gather([*matched, *named, *near, *entities, *held, *self._among[:CANDIDATES]])
        return neighbours + find_unfollowed(anchors, self._pages_of(matched)) if asks else []

    def _near_in_meaning(self) -> list[int]:
        """Return the records that hold the passages nearest in meaning, whatever their words."""
        if self._asked.nearness is None:
            return []
        paths = self._asked.nearness.nearest(self._within, _NEAR_PATHS)
        rows = query.summaries(self._connection, query.ids_at(self._connection, paths), self._condition)
        return [int(str(row[0])) for row in rows[:_NEAR]]

    def _gather_beside(self, matched: Sequence[int]) -> dict[int, dict[int, int]]:
        """Read the short records beside the best short ones; return the sources of what is beside each, by the steps to it."""
        self._gather(chain.from_iterable(one.values() for one in self._beside(matched[:_SHORT]).values()))
        found = self._beside(self._sources)
        short = {one: self._sources[one] for one in found}
        return {short[one]: {n: short[by] for n, by in places.items() if by in short} for one, places in found.items()}

    def _beside(self, records: Iterable[int]) -> dict[int, dict[int, int]]:
        short = [one for one in records if one in self._sources and self._pages[self._sources[one]].only >= 0]
        return candidates.beside(self._connection, short, _REACH)

    def _gather(self, identifiers: Iterable[int]) -> None:
        """Read the files of records, but for facts of scans; one that is gone since the index last looked is left out."""
        wanted = [identifier for identifier in dict.fromkeys(identifiers) if identifier not in self._sources]
        for identifier, *row in query.summaries(self._connection, wanted, self._condition):
            record = Summary.from_row(row)
            if is_scanned(record.path):
                continue
            is_foreign = record.path.startswith(FOREIGN)
            known = query.digest_of(self._connection, record.path) if is_foreign else b""
            try:
                raw = records.load(self._context.root, record.path, known=known)
            except OSError:
                continue
            self._sources[int(str(identifier))] = len(self._records)
            self._records.append(record)
            self._pages.append(self._asked.shelf.page(record, raw))

    def _pages_of(self, identifiers: Iterable[int]) -> dict[int, RecordPage]:
        return {one: self._pages[self._sources[one]] for one in identifiers if one in self._sources}

    # -- their passages --------------------------------------------------------------------------------------------

    def _boosts(self, matched: Sequence[int]) -> dict[int, float]:
        """Return what the links between the candidates give to each, as a share of the heaviest word."""
        edges = candidates.relations(self._connection, list(self._sources))
        ends = ((self._sources.get(source, -1), self._sources.get(target, -1)) for source, _, target, _ in edges)
        self._edges = list(dict.fromkeys(ends))
        times = {identifier: self._records[source].sort_ts for identifier, source in self._sources.items()}
        points = weigh_links(edges, strong=matched[:_STRONG], times=times)
        return {self._sources[record]: given for record, given in points.items() if record in self._sources}

    def _add_meaning(self, ranking: Ranking, scored: list[Scored], limit: int) -> list[Scored]:
        """Add what vectors say, when there are any, and join turns to the runs that make hits."""
        if self._asked.nearness is None:
            return join_turns(ranking.whole, scored, limit)
        from oracle.app.search.ranking.nearness_points import add_meaning, keep_places

        near = add_meaning(self._asked.nearness, ranking, scored, [record.title for record in self._records])
        return keep_places(ranking, join_turns(ranking.whole, near, limit))

    def _put_answers_first(
        self, ranking: Ranking, scored: list[Scored], anchors: Sequence[Anchor], neighbours: Sequence[Neighbour]
    ) -> list[Scored]:
        """Lift the neighbours that answer over all that only holds the words, one passage of each."""
        linked = {*(anchor.record for anchor in anchors), *(one.record for one in neighbours)} & self._sources.keys()
        summaries = {identifier: self._records[self._sources[identifier]] for identifier in linked}
        found = Relations(self._question, anchors, summaries, self._pages_of(linked)).answers(neighbours)
        best = {one.source: one for one in reversed(scored)}
        places = {(one.source, one.at): one for one in scored}
        for identifier, fit, at in found:
            source = self._sources[identifier]
            one = places.get((source, at)) or best[source]
            if at >= 0 and one.at != at:
                one = Scored(source, self._pages[source], at)
                scored.append(one)
            one.add("relation", (1 + fit) * _ABOVE_WORDS * (ranking.whole or 1))
        return best_first(scored)

    def _put_holders_first(self, ranking: Ranking, scored: list[Scored], held: Mapping[int, int]) -> list[Scored]:
        """Lift the records that hold what the question names, those that hold all of it most."""
        counts = {self._sources[identifier]: count for identifier, count in held.items() if identifier in self._sources}
        for one in scored:
            one.add("entity", counts.get(one.source, 0) * _ABOVE_WORDS * (ranking.whole or 1))
        return best_first(scored)
