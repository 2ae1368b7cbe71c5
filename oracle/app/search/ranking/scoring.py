"""The second stage of a search: the passages of candidate records, ranked by BM25F and what else speaks for them. Pure.

Fields are the passage's text, its headings, the record's title and, at a lower weight, the passages beside it: an answer
stands next to the words of the question as often as among them. Collection statistics are handed in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from oracle.app.search.ranking import signals, turns
from oracle.app.search.ranking.pages import Page
from oracle.app.search.ranking.query import Question
from oracle.domain.values import value
from oracle.index.read.tokens import count_row, is_wide, tokens

_K1, _B = 1.2, 0.4
_TITLE, _HEADING = 0.7, 0.45
_BEFORE, _AFTER, _FARTHER = 0.4, 0.18, 0.12
"""Weights of the words of the passages beside: the one before, the one after, those two before and after."""
_RECORD = 0.3
"""Weight of the record's own score."""
_LENGTH, _SHORT = 0.02, 100
"""What is taken off, as a share of the weight of all words, each time that a record is e times as long as one of so many words: it
has more passages, and the best of many is good by chance."""
_NAME = 0.4
"""Weight of the name of one who speaks: others say it too, and what its bearer says is lifted by itself."""
_NAMED_FROM = 0.5
"""Share of the question's words from which a title that holds them gives what it holds beyond: whoever types it wants it."""
SMALL = 50
"""Records of a Root in which the absence of a word says half of what it says in a large one."""
_CLOSE_LOOK = 240
"""Passages that are looked at closely for what costs more than counting words."""


@value
class Statistics:
    """Of the whole Root: the number of records, and of each stem how often it stands in how many of them."""

    records: int
    frequencies: Mapping[str, tuple[int, int]]


class Scored:
    """A passage of a page with what each signal gave it; `terms` are the numbers of the terms that stand in its text or title.

    `run` are the passages that make a hit with it, where these are chosen already.
    """

    __slots__ = ("at", "page", "parts", "run", "score", "source", "terms")

    def __init__(self, source: int, page: Page, at: int, terms: frozenset[int]) -> None:
        self.source = source
        self.page = page
        self.at = at
        self.terms = terms
        self.parts: dict[str, float] = {}
        self.score = 0.0
        self.run: range | None = None

    @property
    def order(self) -> tuple[float, int, int]:
        """Sort by this, best first; equal ones by record and place, so that the order is always the same."""
        return -self.score, self.source, self.at

    def add(self, signal: str, points: float) -> None:
        """Add what a signal gives or takes."""
        if points:
            self.parts[signal] = self.parts.get(signal, 0.0) + points
            self.score += points


class Ranking:
    """One question over some pages: made once, asked for its passages and for how much of the question words cover."""

    def __init__(
        self, question: Question, pages: Sequence[Page], statistics: Statistics, *, stem: Callable[..., dict[str, str]]
    ) -> None:
        self.question = question
        self._pages = pages
        self._statistics = statistics
        keys = stem(word for term in question.terms for word in (*term.tokens, *term.also) if not is_wide(word))
        self._keys = [tuple(keys.get(word) or word for word in term.tokens) for term in question.terms]
        self._also = [
            frozenset(keys[word] for word in term.also) - set(self._keys[n]) for n, term in enumerate(question.terms)
        ]
        self._meaning = self._read_words(stem)
        self._counts = [self._count(page) for page in pages]
        self.weights = self._weigh()
        self.heaviest = max(self.weights, default=0.0)
        self.whole = sum(self.weights)
        self._about = question.about
        self.known = self.bears(self._held()) or 1.0

    def _read_words(self, stem: Callable[..., dict[str, str]]) -> dict[str, int]:
        """Say of each word of the pages which term it is: a stem begins as its words do, but for its last letter."""
        singles = {key: number for number, keys in enumerate(self._also) for key in keys}
        singles.update((key[0], number) for number, key in reversed(list(enumerate(self._keys))) if len(key) == 1)
        beginnings = tuple(key[:-1] if len(key) > 2 else key for key in singles if not is_wide(key))
        words: set[str] = set()
        for page in self._pages:
            found = page.words()
            words.update(found & singles.keys())
            if beginnings:
                words.update(word for word in found if word.startswith(beginnings))
        wide = {word for word in words if is_wide(word)}
        stems = stem(words - wide) | {word: word for word in wide}
        return {word: singles[key] for word, key in stems.items() if key in singles}

    def _count(self, page: Page) -> dict[int, dict[int, int]]:
        """Return of each passage how often which term stands in it."""
        found: dict[int, dict[int, int]] = {}
        for word in page.postings.keys() & self._meaning.keys():
            number = self._meaning[word]
            for at in page.postings[word]:
                terms = found.setdefault(at, {})
                terms[number] = terms.get(number, 0) + 1
        for number, term in enumerate(self.question.terms):
            if len(term.tokens) > 1:
                for at, times in _count_row(page, term.tokens):
                    found.setdefault(at, {})[number] = times
        return found

    def _weigh(self) -> list[float]:
        """Return the weight of each term: how rare it is, half among these passages, half in the whole Root."""
        passages = sum(len(page.passages) for page in self._pages) or 1
        here = Counter(number for counts in self._counts for terms in counts.values() for number in terms)
        everywhere = max(passages, self._statistics.records * passages / max(1, len(self._pages)))
        speakers = {word for page in self._pages for name in set(page.speakers) for word in name.split()}
        weights = []
        for number, term in enumerate(self.question.terms):
            times = self._frequency(number)[1]
            rare = _rareness(here[number], passages)
            if term.expression or len(term.tokens[0]) > 1:  # the index does not count the characters of a longer run
                rare = (rare + _rareness(times, everywhere)) / 2
            weights.append(term.weight * rare * (_NAME if term.tokens[0] in speakers else 1.0))
        return weights

    def score(self, boost: Mapping[int, float]) -> list[Scored]:
        """Return the passages that hold or stand beside what is asked for, best first; `boost` is the records' own score."""
        average = sum(map(sum, (page.lengths for page in self._pages))) / max(
            1, sum(len(page.passages) for page in self._pages)
        )
        found: list[Scored] = []
        records = self._record_scores()
        best = max(records, default=0.0) or 1.0
        for source, page in enumerate(self._pages):
            named = max(0.0, self.coverage(self._field(page.title)) - _NAMED_FROM) * self.whole
            length = _LENGTH * self.whole * math.log(max(1.0, sum(page.lengths) / _SHORT))
            weight = turns.RECORD if page.is_conversation else _RECORD
            for scored in self._score_page(source, page, average):
                scored.add("title", named)
                scored.add("record", weight * self.whole * records[source] / best)
                scored.add("length", 0.0 if page.is_conversation else -length)
                scored.add("graph", boost.get(source, 0.0) * self.heaviest)
                found.append(scored)
        signals.add_cheap(self, found)
        found.sort(key=lambda scored: -scored.score)
        signals.add_close(self, found[:_CLOSE_LOOK])
        return sorted(found, key=lambda one: one.order)

    def _record_scores(self) -> list[float]:
        """Return the BM25 score of each page as a whole, its title counted three times."""
        lengths = [sum(page.lengths) for page in self._pages]
        average = sum(lengths) / max(1, len(lengths))
        scores = []
        for page, counts, length in zip(self._pages, self._counts, lengths, strict=True):
            times: Counter[int] = Counter()
            for terms in counts.values():
                times.update(terms)
            for word in page.title:
                if word in self._meaning:
                    times[self._meaning[word]] += 2
            ease = _K1 * (0.25 + 0.75 * length / (average or 1))
            scores.append(sum(self._rareness_of_record(number) * n * 2.2 / (n + ease) for number, n in times.items()))
        return scores

    def _rareness_of_record(self, number: int) -> float:
        term = self.question.terms[number]
        if term.weight < 1:
            return 0.0
        return _rareness(self._frequency(number)[0], self._statistics.records)

    def _held(self) -> list[int]:
        """Return the terms that stand in a record, or that the index does not count."""
        return [number for number, keys in enumerate(self._keys) if is_wide(keys[0]) or self._frequency(number)[0]]

    def _frequency(self, number: int) -> tuple[int, int]:
        """Return in how many records of the Root a term stands, and how often, whatever it is written like; at most."""
        known = self._statistics.frequencies
        keys = [known.get(key, (0, 0)) for key in self._keys[number]]
        also = [known.get(key, (0, 0)) for key in self._also[number]]
        records = min(count for count, _ in keys) + sum(count for count, _ in also)
        return records, min(times for _, times in keys) + sum(times for _, times in also)

    def _score_page(self, source: int, page: Page, average: float) -> Iterable[Scored]:
        counts = self._counts[source]
        title = self._field(page.title)
        headings = {above: self._field(words) for above, words in page.headings.items()}
        for at, passage in enumerate(page.passages):
            if passage.is_heading and len(page.passages) > 1:
                continue
            heading = headings[passage.headings]
            sides = [
                (weight, counts[near])
                for near, weight in ((at - 1, _BEFORE), (at + 1, _AFTER), (at - 2, _FARTHER), (at + 2, _FARTHER / 2))
                if near in counts
            ]
            own = counts.get(at)
            if not (own or sides or title or heading):
                continue
            times: dict[int, float] = {number: _TITLE * n for number, n in title.items()}
            for number, n in heading.items():
                times[number] = times.get(number, 0.0) + _HEADING * n
            ease = 1 - _B + _B * page.lengths[at] / average
            for number, n in (own or {}).items():
                times[number] = times.get(number, 0.0) + n / ease
            for weight, terms in sides:
                for number, n in terms.items():
                    times[number] = times.get(number, 0.0) + weight * n
            scored = Scored(source, page, at, frozenset({*(own or ()), *title, *heading}))
            scored.add("words", sum(self.weights[number] * x * (_K1 + 1) / (x + _K1) for number, x in times.items()))
            yield scored

    def _field(self, words: Iterable[str]) -> dict[int, int]:
        found: dict[int, int] = {}
        for word in words:
            number = self._meaning.get(word)
            if number is not None:
                found[number] = found.get(number, 0) + 1
        return found

    def covered(self, source: int, numbers: Iterable[int]) -> frozenset[int]:
        """Return the terms that stand in the passages `numbers` of a page."""
        counts = self._counts[source]
        return frozenset(term for number in numbers for term in counts.get(number, ()))

    def coverage(self, terms: Iterable[int]) -> float:
        """Return the share of the question's words that `terms` are, each by its weight: 0 to 1."""
        held = sum(self.weights[number] for number in terms)
        return min(1.0, held / self.whole) if self.whole else 0.0

    def bears(self, terms: Iterable[int]) -> float:
        """Return the same of the words alone that say what the question is about."""
        whole = sum(self.weights[number] for number in self._about)
        held = sum(self.weights[number] for number in terms if number in self._about)
        return min(1.0, held / whole) if whole else 0.0

    def missing(self, terms: Container[int]) -> Iterable[tuple[str, float]]:
        """Yield the whole words that say what the question is about and are none of `terms`, each with its share of them all."""
        held = set(self._held())
        rarely = self._statistics.records / (self._statistics.records + SMALL)
        weights = {
            number: self.weights[number] * (1.0 if number in held else rarely)
            for number in sorted(self._about)
            if self.question.terms[number].weight == 1
        }
        whole = sum(weights.values()) or 1.0
        for number, weight in weights.items():
            if number not in terms:
                yield " ".join(self.question.terms[number].tokens), weight / whole


def _rareness(count: float, total: float) -> float:
    count = min(count, total)
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def _count_row(page: Page, row: tuple[str, ...]) -> Iterable[tuple[int, int]]:
    """Yield the passages in which the words of `row` stand one after the other, and how often."""
    places = [page.postings.get(word) for word in row]
    if not all(places):
        return
    for at in set.intersection(*(set(place or ()) for place in places)):
        times = count_row(tokens(page.passages[at].text), row)
        if times:
            yield at, times
