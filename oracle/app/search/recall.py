"""One question to one state of the index, in two stages: records that may hold the answer, then their passages.

The index names the records; their files are read now, so what is ranked and shown is what stands on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from oracle.app.context import Context
from oracle.app.records.show import lines_of
from oracle.app.records.views import Hit, Summary
from oracle.app.search.ranking.anchors import Anchor, find_anchors
from oracle.app.search.ranking.links import (
    Neighbour,
    Relations,
    entities_named,
    find_neighbours,
    find_unfollowed,
    weigh_links,
)
from oracle.app.search.ranking.pages import Page, Shelf
from oracle.app.search.ranking.query import Question
from oracle.app.search.ranking.scoring import Ranking, Scored, Statistics
from oracle.app.search.ranking.turns import join_turns
from oracle.domain.links.entity_query import Asked
from oracle.domain.markdown.documents import Document
from oracle.domain.markdown.passages import MAX_CHARACTERS, Passage, join, widen
from oracle.domain.relations.relations import asks_for_links
from oracle.domain.values import replace
from oracle.index.db import Connection
from oracle.index.read import candidates, query
from oracle.index.read.holders import holders
from oracle.store.markdown import records
from oracle.wording import joined, say, say_each

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.search.ranking.semantic import Nearness

_CANDIDATES = 64
"""Records whose files are read for a search."""
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
_WORDS_SHOWN = 5


class Recall:
    """The records and pages that one question is asked of."""

    def __init__(
        self,
        context: Context,
        connection: Connection,
        question: Question,
        wanted: Mapping[str, str],
        *,
        shelf: Shelf,
        nearness: Nearness | None = None,
        entities: Sequence[Asked] = (),
        among: Sequence[str] = (),
    ) -> None:
        """Take a question, the filters, the entities that come first, and the slugs that alone are looked at, if any."""
        self._oracle = context
        self._connection = connection
        self._question = question
        self._condition = query.conditions({f"record.{name}": value for name, value in wanted.items()})
        self._entities = entities
        self._among = query.ids_of(connection, among) if among else []
        if among:
            self._condition = query.among(self._condition, self._among)
        self._shelf = shelf
        self._nearness = nearness
        self._within = f"projects/{wanted['project']}/" if "project" in wanted else ""
        self._counts: dict[str, int] = {}
        self._sources: dict[int, int] = {}
        self._records: list[Summary] = []
        self._pages: list[Page] = []

    def hits(self, limit: int, *, strict: bool = False) -> list[Hit]:
        """Return up to `limit` passages, those of retired records last, or not at all when `strict`."""
        if not self._question.terms:
            return []
        statistics, matched = self._look(max(_CANDIDATES, limit))
        anchors = find_anchors(self._connection, self._question, self._rare(statistics))
        asks = asks_for_links(self._question.text)
        neighbours = self._find_neighbours(anchors) if asks else []
        near = dict.fromkeys(neighbour.record for neighbour in neighbours)
        named = entities_named(self._connection, self._question)
        held = self._held()
        named += [*held, *self._among[:_CANDIDATES]]
        self._gather([*matched, *(anchor.record for anchor in anchors), *list(near)[:_NEIGHBOURS], *named])
        if asks:
            neighbours += find_unfollowed(anchors, self._pages_of(matched))
        by_words = len(self._pages)
        self._gather(self._near_in_meaning())
        ranking = Ranking(self._question, self._pages, statistics, stem=candidates.stemmer().stems)
        scored = ranking.score(self._boosts(matched))
        scored = self._add_meaning(ranking, scored, limit)
        scored += self._unscored(set(range(by_words)) - {one.source for one in scored})
        if neighbours:
            scored = self._put_answers_first(ranking, scored, anchors, neighbours)
        if held:
            scored = self._put_holders_first(ranking, scored, held)
        standing = [one for one in scored if not self._records[one.source].is_retired]
        retired = [] if strict else [one for one in scored if self._records[one.source].is_retired]
        hits = self._pick(ranking, standing, limit)
        hits += self._pick(ranking, retired, limit - len(hits))
        first = self._records[scored[0].source] if scored else None
        if hits and first is not None and first.is_retired:
            hits[0] = replace(hits[0], instead_of=first.slug)
        return hits

    def _look(self, limit: int) -> tuple[Statistics, list[int]]:
        """Return how rare the words are, and the records that match them best."""
        tokens = [token for term in self._question.terms for token in (*term.tokens, *term.also)]
        stems = candidates.stemmer().stems(tokens)
        frequencies = candidates.document_frequencies(self._connection, stems.values())
        alone = [term.tokens[0] for term in self._question.terms if term.expression.endswith("*")]
        frequencies |= candidates.beginning_frequencies(self._connection, alone)
        self._counts = {
            term.expression: min(frequencies[stems[token]][0] for token in term.tokens)
            + sum(frequencies[stem][0] for stem in {stems[token] for token in term.also})
            for term in self._question.terms
            if term.expression
        }
        found = candidates.candidates(self._connection, list(self._counts.items()), self._condition, limit=limit)
        statistics = Statistics(candidates.size(self._connection), frequencies)
        return statistics, [identifier for identifier, _ in found]

    def _near_in_meaning(self) -> list[int]:
        """Return the records that hold the passages nearest in meaning, whatever their words."""
        if self._nearness is None:
            return []
        paths = self._nearness.nearest(self._within, _NEAR_PATHS)
        rows = query.summaries(self._connection, query.ids_at(self._connection, paths), self._condition)
        return [int(str(row[0])) for row in rows[:_NEAR]]

    def _add_meaning(self, ranking: Ranking, scored: list[Scored], limit: int) -> list[Scored]:
        """Add what vectors say, when there are any, and join turns to the runs that make hits."""
        if self._nearness is None:
            return join_turns(ranking.whole, scored, limit)
        from oracle.app.search.ranking.semantic import add_meaning, keep_places

        titles = [record.title for record in self._records]
        near = add_meaning(self._nearness, ranking, scored, zip(titles, self._pages, strict=True))
        return keep_places(ranking, join_turns(ranking.whole, near, limit))

    def _rare(self, statistics: Statistics) -> list[str]:
        """Return the expressions of the rarest words, the rarest first: those that may name something."""
        most = max(_NAMED_BY, statistics.records // 50)
        return sorted((text for text, count in self._counts.items() if 0 < count <= most), key=self._counts.__getitem__)

    def _gather(self, identifiers: Sequence[int]) -> None:
        """Read the files of records; one that is gone since the index last looked is left out."""
        wanted = [identifier for identifier in dict.fromkeys(identifiers) if identifier not in self._sources]
        for identifier, *row in query.summaries(self._connection, wanted, self._condition):
            record = Summary.from_row(row)
            page = self._read(record)
            if page is not None:
                self._sources[int(str(identifier))] = len(self._records)
                self._records.append(record)
                self._pages.append(page)

    def _find_neighbours(self, anchors: Sequence[Anchor]) -> list[Neighbour]:
        self._gather([anchor.record for anchor in anchors])
        pages = self._pages_of(anchor.record for anchor in anchors)
        return find_neighbours(self._connection, anchors, lambda anchor: pages.get(anchor.record))

    def _pages_of(self, identifiers: Iterable[int]) -> dict[int, Page]:
        return {one: self._pages[self._sources[one]] for one in identifiers if one in self._sources}

    def _boosts(self, matched: Sequence[int]) -> dict[int, float]:
        """Return what the links between the candidates give to each, as a share of the heaviest word."""
        edges = candidates.relations(self._connection, list(self._sources))
        times = {identifier: self._records[source].sort_ts for identifier, source in self._sources.items()}
        points = weigh_links(edges, strong=matched[:_STRONG], times=times)
        return {self._sources[identifier]: value for identifier, value in points.items() if identifier in self._sources}

    def _put_answers_first(
        self, ranking: Ranking, scored: list[Scored], anchors: Sequence[Anchor], neighbours: Sequence[Neighbour]
    ) -> list[Scored]:
        """Lift the neighbours that answer over all that only holds the words, one passage of each."""
        linked = {*(anchor.record for anchor in anchors), *(one.record for one in neighbours)} & self._sources.keys()
        summaries = {identifier: self._records[self._sources[identifier]] for identifier in linked}
        found = Relations(self._question, anchors, summaries, self._pages_of(linked)).answers(neighbours)
        best: dict[int, Scored] = {}
        for one in scored:
            best.setdefault(one.source, one)
        places = {(one.source, one.at): one for one in scored}
        for identifier, fit, at in found:
            source = self._sources[identifier]
            one = places.get((source, at)) or best[source]
            if at >= 0 and one.at != at:
                one = Scored(source, self._pages[source], at, frozenset())
                scored.append(one)
            one.add("relation", (1 + fit) * _ABOVE_WORDS * (ranking.whole or 1))
        return sorted(scored, key=lambda one: one.order)

    def _held(self) -> dict[int, int]:
        """Return the newest records that hold an entity of the question, with how many of them they hold."""
        found: dict[int, int] = {}
        for asked in self._entities:
            for identifier in holders(self._connection, asked, self._condition, most=_HOLDERS):
                found[identifier] = found.get(identifier, 0) + 1
        best = sorted(found.items(), key=lambda item: (-item[1], -item[0]))
        return dict(best[:_CANDIDATES])

    def _put_holders_first(self, ranking: Ranking, scored: list[Scored], held: Mapping[int, int]) -> list[Scored]:
        """Lift the records that hold what the question names, those that hold all of it most."""
        counts = {self._sources[identifier]: count for identifier, count in held.items() if identifier in self._sources}
        for one in scored:
            one.add("entity", counts.get(one.source, 0) * _ABOVE_WORDS * (ranking.whole or 1))
        return sorted(scored, key=lambda one: one.order)

    def _read(self, record: Summary) -> Page | None:
        try:
            raw = records.read(self._oracle.root.join(record.path))
        except OSError:
            return None
        return self._shelf.page(record.path, raw, lambda: read_page(record, raw))

    def _unscored(self, sources: Iterable[int]) -> Iterable[Scored]:
        """Return the first passage of each candidate whose passages hold no word: a field or the file's name holds it."""
        return [Scored(source, self._pages[source], 0, frozenset()) for source in sorted(sources)]

    def _pick(self, ranking: Ranking, scored: Sequence[Scored], limit: int) -> list[Hit]:
        """Make hits of the best passages, each widened by its neighbours, no lines twice; half of them of different records."""
        worth = {(one.source, one.at): one.score for one in scored}
        taken: dict[int, set[int]] = {}
        found: list[Hit] = []
        rest: list[Scored] = []
        for one in scored:
            if len(found) == limit:
                break
            used = taken.get(one.source)
            if used is not None and limit - len(found) <= limit // 2 - len(taken):
                rest.append(one)
            elif used is None or used.isdisjoint(one.run or (one.at,)):
                found.append(self._take(ranking, one, worth, taken.setdefault(one.source, set())))
        found += [
            self._take(ranking, one, worth, taken[one.source])
            for one in rest[: limit - len(found)]
            if taken[one.source].isdisjoint(one.run or (one.at,))
        ]
        return found

    def _take(self, ranking: Ranking, one: Scored, worth: Mapping[tuple[int, int], float], used: set[int]) -> Hit:
        passage, members = self._widen(one, worth, used)
        used.update(members)
        return self._hit(ranking, one, passage, members)

    @staticmethod
    def _widen(one: Scored, worth: Mapping[tuple[int, int], float], used: set[int]) -> tuple[Passage, range]:
        page = one.page
        if not page.passages:
            return Passage(page.lines[0][:MAX_CHARACTERS], 1, 1), range(1)
        if one.run is not None:
            return join(page.passages, one.run, page.lines, at=one.at), one.run
        return widen(
            page.passages,
            one.at,
            page.lines,
            worth=lambda at: worth.get((one.source, at), 0.0),
            taken=used,
        )

    def _hit(self, ranking: Ranking, one: Scored, passage: Passage, members: range) -> Hit:
        record = self._records[one.source]
        terms = one.terms | ranking.covered(one.source, members)
        first, last = one.page.place(passage)
        chain = tuple(slug for slug, _ in query.retirers(self._connection, record.slug)) if record.retired_by else ()
        return Hit(
            record,
            one.score,
            passage.text,
            first,
            last,
            chain,
            coverage=ranking.bears(terms),
            why=self._why(ranking, one, terms, record),
            parts=tuple(one.parts.items()),
            known=ranking.known,
            nearness=self._nearness.share(one.parts.get("meaning", 0.0), ranking) if self._nearness else 0.0,
            missing=tuple(ranking.missing(terms)) if self._nearness else (),
        )

    def _why(self, ranking: Ranking, one: Scored, terms: Iterable[int], record: Summary) -> str:
        """Say in a few words why this passage is shown."""
        whole = [number for number in terms if self._question.terms[number].weight == 1]
        heaviest = sorted(whole, key=lambda number: -ranking.weights[number])[:_WORDS_SHOWN]
        words = [" ".join(self._question.terms[number].tokens) for number in sorted(heaviest)]
        reasons: list[str] = [say("words: {words}", words=words)] if words else []
        reasons += [
            name for name in say_each("entity", "relation", "speaker", "date", "shape", "graph") if one.parts.get(name)
        ]
        if one.parts.get("meaning", 0.0) > one.score / 2:
            reasons.insert(0, say("meaning"))
        if record.is_retired:
            by = say("{status} by {by}", status=record.effective_status, by=record.retired_by)
            reasons.append(by if record.retired_by else record.effective_status)
        return joined("; ", reasons) or say("a field of the record")


def read_page(record: Summary, raw: bytes) -> Page:
    """Cut a record's bytes into passages; when its body is empty, the frontmatter is what may hold the words."""
    document: Document = records.parse(record.path, raw)
    if record.path.endswith(".json"):  # its body is put together from several values
        return Page(document.body, record.title, whole=max(1, len(lines_of(raw))), dated=record.ts)
    if not document.body.strip():
        return Page("\n".join(lines_of(raw)), record.title, dated=record.ts)
    return Page(document.body, record.title, shift=document.body_line - 1, dated=f"{record.ts} {record.slug}")
