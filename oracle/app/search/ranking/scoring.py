"""The words of a question in the passages of candidate records: BM25F. Pure.

Fields are the passage's text, its headings, the record's title and, at a lower weight, the passages beside it: an answer is
often next to the words of the question rather than among them. The statistics of the whole Root are handed in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from oracle.app.search.ranking.pages import Scored
from oracle.domain.values import value
from oracle.index.fold import count_row, is_run, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from oracle.app.search.ranking.pages import RecordPage
    from oracle.app.search.ranking.query import SearchQuery, Term, Translation


_K1, _B, _B_RECORD = 1.2, 0.4, 0.75
_TITLE, _HEADING = 0.7, 0.45
_BESIDE = ((-1, 0.4), (1, 0.18), (-2, 0.12), (2, 0.06))
"""Weights of the words of the passages beside: before and after, and the next ones."""
_THERE = 0.9
"""Times, beside passages included, from which a word is said itself, so that words in the other language add nothing."""
_NAME = 0.4
"""Weight of a speaker's name: others use it too, and a signal lifts what its owner says."""
MEANING = "meaning"
"""The signal of the vectors."""
WEIGHT_OF_MEANING = 0.27
"""What a passage gets for a deviation of nearness, as a share of the weight of all words of the question."""
_SOME = 20
"""Records of a Root from which a word that no record holds weighs more with each further record."""
SMALL = 50
"""Records of a Root in which the absence of a word says half of what it says in a large one."""


@value
class Statistics:
    """Of the whole Root: the number of records, and for each stem in how many records it occurs and how often.

    `rows` tell in how many records some words follow one another.
    """

    records: int
    frequencies: Mapping[str, tuple[int, int]]
    rows: Mapping[tuple[str, ...], int] = {}


class Ranking:
    """One question over some pages: the score of each passage by words, and how much of the question some words cover."""

    def __init__(
        self,
        question: SearchQuery,
        pages: Sequence[RecordPage],
        statistics: Statistics,
        stem: Callable[..., dict[str, str]],
        beside: Mapping[int, Mapping[int, int]] = {},
    ) -> None:
        self.question = question
        self.pages = pages
        self._beside = beside
        """For each short page those beside it, by the steps to them."""
        self._records = statistics.records
        self._own = len(question.terms)
        self._means = {number: one.of for number, one in enumerate(question.translations, self._own)}
        """For each word in the other language the terms that it means."""
        asked = [*(term.forms for term in question.terms), *((one.tokens,) for one in question.translations)]
        words = [word for forms in asked for form in forms for word in form if not is_run(word)]
        keys = stem([*words, *(one.token for one in question.joined)])
        forms_of = [[tuple(keys.get(word) or word for word in form) for form in forms] for forms in asked]
        self._keys = [own for own, *_ in forms_of]
        self._also = [frozenset(also) - {own} for own, *also in forms_of]
        self._joined = {keys[one.token]: one.of for one in question.joined}
        self._tokens = [own for own, *_ in asked]
        self._frequencies = [self._frequency(statistics, number) for number in range(len(asked))]
        self._rows = [
            (number, form)
            for number, own in enumerate(self._keys)
            for form in (own, *sorted(self._also[number]))
            if len(form) > 1
        ]
        self._key_of: dict[str, str] = {}
        self._terms_of = self._read_words(stem)
        self._forms: dict[str, list[str]] = {}
        for word, key in self._key_of.items():
            self._forms.setdefault(key, []).append(word)
        self._counts = [self._count(page) for page in pages]
        self._around = [self._with_beside(source) for source in range(len(pages))]
        self.titles = [self.terms_in(page.title) for page in pages]
        """How often each term occurs in the title of each page."""
        self._lengths = [sum(page.lengths) for page in pages]
        self._passages = sum(len(page.passages) for page in pages) or 1
        self._average = sum(self._lengths) / self._passages
        self._here = Counter(number for counts in self._counts for terms in counts.values() for number in terms)
        self._speakers = {word for page in pages for name in set(page.speakers) for word in name.split()}
        self.weights = self._weigh(self._records)
        self._weights = (self.weights, self._weigh(len(pages)))
        """Rarity in the whole Root, and as if it had no records but these: see `topic_coverage`."""
        self._wide_weights = (self._weigh(max(_SOME, self._records)), self._weigh(max(_SOME, len(pages))))
        self._of_words = [*self.weights[: self._own], *(0.0 for _ in question.translations)]
        self.heaviest = max(self._of_words, default=0.0)
        self.whole = sum(self._of_words)
        self._about = question.about
        self._known = frozenset(
            number
            for number, own in enumerate(self._keys[: self._own])
            if is_run(own[0]) or self._frequencies[number][0]
        )
        """The terms that occur in a record, or that the index does not count."""

    def _frequency(self, statistics: Statistics, number: int) -> tuple[int, int]:
        """Return in how many records of the Root a term occurs, and how often, however it is written; at most."""
        row = statistics.rows.get(self._tokens[number])
        if row is not None:
            return row, row
        forms = [
            [statistics.frequencies.get(key, (0, 0)) for key in form]
            for form in (self._keys[number], *self._also[number])
        ]
        return sum(min(count for count, _ in form) for form in forms), sum(
            min(times for _, times in form) for form in forms
        )

    def _read_words(self, stem: Callable[..., dict[str, str]]) -> dict[str, tuple[int, ...]]:
        """Return the terms that each word means. A stem begins as its words do, but for its last letter."""
        singles = {form[0]: (number,) for number, forms in enumerate(self._also) for form in forms if len(form) == 1}
        singles.update((key[0], (number,)) for number, key in reversed(list(enumerate(self._keys))) if len(key) == 1)
        singles.update((key, tuple(sorted({*singles.get(key, ()), *of}))) for key, of in self._joined.items())
        wanted = {*singles, *(key for _, row in self._rows for key in row)}
        whole = {key for key in wanted if len(key) == 1 or is_run(key)}
        beginnings = sorted({key[:-1] if len(key) > 2 else key for key in wanted - whole})
        words = {word for page in self.pages for word in page.words_from(beginnings)} - whole
        self._key_of = stem(sorted(words)) | {key: key for key in sorted(whole)}
        return {word: singles[key] for word, key in self._key_of.items() if key in singles}

    def _count(self, page: RecordPage) -> dict[int, dict[int, int]]:
        """Return for each passage how often each term occurs in it."""
        found: dict[int, dict[int, int]] = {}
        postings = page.postings
        for word, numbers in self._terms_of.items():
            if word not in postings:
                continue
            for number in numbers:
                for at in page.holding(word):
                    terms = found.setdefault(at, {})
                    terms[number] = terms.get(number, 0) + 1
        for number, row in self._rows:
            places = [{at for word in self._forms.get(key, ()) for at in page.holding(word)} for key in row]
            for at in set.intersection(*places) if all(places) else ():
                if times := self._times(tokens(page.passages[at].text), row):
                    terms = found.setdefault(at, {})
                    terms[number] = terms.get(number, 0) + times
        return found

    def _with_beside(self, source: int) -> dict[int, dict[int, int]]:
        """Return the terms of each passage, around the one of a short page those of the pages beside it."""
        counts, only = self._counts[source], self.pages[source].only
        others = {only + step: other for step, other in self._beside.get(source, {}).items()}
        return counts | {at: self._counts[other].get(self.pages[other].only, {}) for at, other in others.items()}

    def _times(self, words: Iterable[str], row: tuple[str, ...]) -> int:
        """Return how often the words of a row follow one another, in whatever form."""
        return count_row([self._key_of.get(word, "") for word in words], row)

    def _weigh(self, records: int) -> list[float]:
        """Return the weight of each term: how rare it is, half among these passages, half in a Root of so many records."""
        everywhere = max(self._passages, records * self._passages / max(1, len(self.pages)))
        weights = []
        terms: list[Term | Translation] = [*self.question.terms, *self.question.translations]
        for number, term in enumerate(terms):
            rare = _rareness(self._here[number], self._passages)
            if term.expression or len(term.tokens[0]) > 1:  # the index does not count the characters of a longer run
                rare = (rare + _rareness(self._frequencies[number][1], everywhere)) / 2
            weights.append(term.weight * rare * (_NAME if term.tokens[0] in self._speakers else 1.0))
        return weights

    def _points_for_translations(self, times: Mapping[int, float]) -> float:
        """Return the points for words in the other language: the best for each word that is not there itself."""
        best: dict[tuple[int, ...], float] = {}
        for number in times.keys() & self._means.keys():
            own = self._means[number]
            if not any(times.get(one, 0.0) >= _THERE for one in own):
                points = self.weights[number] * times[number] * (_K1 + 1) / (times[number] + _K1)
                best[own] = max(best.get(own, 0.0), points)
        return sum(sorted(best.values()))

    def translated(self, terms: Container[int]) -> float:
        """Return the share of the topic that only words in the other language say, each by its likeness: 0 to 1."""
        said: dict[int, float] = {}
        for number, one in enumerate(self.question.translations, self._own):
            for own in one.of if number in terms else ():
                if own not in terms:
                    said[own] = max(said.get(own, 0.0), one.weight)
        weights, _ = self._wide_weights
        whole = sum(weights[number] for number in sorted(self._about))
        return sum(weights[own] * likeness for own, likeness in said.items()) / whole if whole else 0.0

    def record_shares(self) -> list[float]:
        """Return the BM25 score of each page as a whole, its title counted three times, as a share of the best."""
        average = sum(self._lengths) / max(1, len(self._lengths))
        rare = [
            _rareness(self._frequencies[number][0], self._records) if term.weight >= 1 else 0.0
            for number, term in enumerate(self.question.terms)
        ]
        scores = []
        for title, counts, length in zip(self.titles, self._counts, self._lengths, strict=True):
            times = _added({}, chain.from_iterable(terms.items() for terms in counts.values()), 1)
            _added(times, title.items(), 2)
            ease = _K1 * (1 - _B_RECORD + _B_RECORD * length / (average or 1))
            own = ((number, n) for number, n in times.items() if number < self._own)
            scores.append(sum(rare[number] * n * (_K1 + 1) / (n + ease) for number, n in own))
        best = max(scores, default=0.0) or 1.0
        return [score / best for score in scores]

    def score(self, source: int, given: Mapping[str, float]) -> Iterable[Scored]:
        """Yield the passages of a page that hold what is asked for or are beside it, with the points for their words.

        `given` are the points of its record, by signal.
        """
        page, counts = self.pages[source], self._around[source]
        near = self._words_near(page, counts)
        needs_own = source in self._beside and not self.is_turn(source)
        given = {signal: points for signal, points in given.items() if points}
        title = {number: _TITLE * n for number, n in self.titles[source].items()}
        untold = title, self._points(title) | given, frozenset(title)
        above = {}
        for headings, words in page.headings.items():
            told = self.terms_in(words)
            if told:
                times = _added(title.copy(), told.items(), _HEADING)
                above[headings] = times, self._points(times) | given, frozenset(times)
        for at, passage in enumerate(page.passages):
            times, parts, terms = above.get(passage.headings, untold)
            if at in counts:
                terms = terms.union(counts[at])
            beside = near.get(at)
            if not (terms or (beside is not None and not needs_own)) or (passage.is_heading and len(page.passages) > 1):
                continue
            if beside is not None:
                parts = self._points(_added(times.copy(), beside.items(), 1)) | given
            yield Scored(source, page, at, terms, parts.copy())

    def _words_near(self, page: RecordPage, counts: Mapping[int, Mapping[int, int]]) -> dict[int, dict[int, float]]:
        """Return for each passage how often each term is in it or beside it, by the weight of the place."""
        found: dict[int, dict[int, float]] = {}
        for at, terms in counts.items():
            length = page.lengths[at] if 0 <= at < len(page.lengths) else 0  # beside a short record are others
            own = 1 / (1 - _B + _B * length / self._average)
            for step, weight in ((0, own), *_BESIDE):
                times = found.setdefault(at - step, {})
                for number, n in terms.items():
                    times[number] = times.get(number, 0.0) + weight * n
        return found

    def _points(self, times: Mapping[int, float]) -> dict[str, float]:
        """Return what words that occur so often give to a passage: the question's own, and those of the other language."""
        own = self._of_words
        words = sum([own[n] * x * (_K1 + 1) / (x + _K1) for n, x in times.items()])
        found = {"words": words} if words else {}
        if self._means and (translated := self._points_for_translations(times)):
            found["translation"] = translated
        return found

    def terms_in(self, words: Sequence[str]) -> dict[int, int]:
        """Return how often each term occurs among some words, those of several words in a row too: `retry_count`."""
        found: dict[int, int] = {}
        if self._key_of.keys().isdisjoint(words):
            return found
        for word in words:
            for number in self._terms_of.get(word, ()):
                found[number] = found.get(number, 0) + 1
        for number, row in self._rows:
            if len(words) >= len(row) and (times := self._times(words, row)):
                found[number] = found.get(number, 0) + times
        return found

    def covered(self, source: int, numbers: Iterable[int]) -> frozenset[int]:
        """Return the terms in the passages `numbers` of a page, or in the records beside a short one."""
        counts = self._around[source]
        return frozenset(term for number in numbers for term in counts.get(number, ()))

    def asks_before(self, source: int, at: int) -> bool:
        """Return whether what is before a passage asks something."""
        before = self._beside.get(source, {}).get(-1, -1)
        if before >= 0:
            return self.pages[before].asks[self.pages[before].only]
        return at > 0 and self.pages[source].asks[at - 1]

    def is_turn(self, source: int) -> bool:
        """Return whether the passages of a page are turns of a conversation, or it is one itself."""
        page = self.pages[source]
        return page.is_conversation or bool(self._beside.get(source) and page.speakers[page.only])

    def coverage(self, terms: Iterable[int]) -> float:
        """Return the share of the question's words that `terms` are, each by its weight: 0 to 1."""
        held = sum(self.weights[number] for number in terms if number < self._own)
        return min(1.0, held / self.whole) if self.whole else 0.0

    def topic_coverage(self, terms: Iterable[int]) -> tuple[float, float]:
        """Return the same for the words alone that say what the question is about, and as a share of those that occur.

        It is the less of two: in the whole Root, and as if it had no records but those at hand. So a record without a word
        of the question never raises it. In the first, a word that no record holds counts as it does in a Root of some size.
        """
        held = self._about.intersection(terms)
        of_all = _least_share(held, self._about, self._wide_weights)
        return of_all, _least_share(held, self._about & self._known, self._weights)

    def missing(self, terms: Container[int]) -> Iterable[tuple[str, float]]:
        """Yield the whole words of the topic that `terms` lack, each with its share of them all."""
        rarely = self._records / (self._records + SMALL)
        weights = {
            number: self.weights[number] * (1.0 if number in self._known else rarely)
            for number in sorted(self._about)
            if self.question.terms[number].weight == 1
        }
        whole = sum(weights.values()) or 1.0
        for number, weight in weights.items():
            if number not in terms:
                yield " ".join(self.question.terms[number].tokens), weight / whole


def _added(times: dict[int, float], terms: Iterable[tuple[int, float]], weight: float) -> dict[int, float]:
    """Add how often terms occur in a field, by its weight, and return the sums."""
    for number, n in terms:
        times[number] = times.get(number, 0.0) + weight * n
    return times


def _least_share(held: frozenset[int], wanted: frozenset[int], scales: Iterable[Sequence[float]]) -> float:
    shares = []
    for weights in scales:
        whole = sum(weights[number] for number in sorted(wanted))
        shares.append(sum(weights[number] for number in sorted(held)) / whole if whole else 0.0)
    return min(1.0, *shares)


def _rareness(count: float, total: float) -> float:
    count = min(count, total)
    return math.log(1 + (total - count + 0.5) / (count + 0.5))
