"""Search by meaning: how near a question's vector is to those of records' stretches, beside the words. Needs the semantic extra.

Every language has a direction of its own that says nothing about meaning, and some passages lie near all questions. So the mean
of the passages of a language is taken off them, and what all questions of a language have in common off the question. And since
one question lies nearer to everything than another, and one model finds everything nearer than another, nearness is counted in
deviations: how far a stretch stands out among all that a model has read, for this question.
"""

from __future__ import annotations

import hashlib
import math
from concurrent.futures import ThreadPoolExecutor
from weakref import WeakKeyDictionary

from oracle.app.context import Context
from oracle.app.search.models import Model, find_models
from oracle.app.search.ranking.query import said_by
from oracle.app.search.ranking.scoring import Scored
from oracle.domain.markdown.embedding_chunks import Stretch, is_wide
from oracle.domain.values import value
from oracle.index.vectors import Damaged, Everything, Vectors
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Future

    from numpy import bool_, float32, int64
    from numpy.typing import NDArray

    from oracle.app.search.ranking.pages import Page
    from oracle.app.search.ranking.query import Question
    from oracle.app.search.ranking.scoring import Ranking

    Numbers = NDArray[float32]
    Places = NDArray[int64]
    Mask = NDArray[bool_]

SIGNAL = "meaning"
LEAST = 1.5
"""Deviations from which a record is worth a look for its meaning alone."""

_MANY = 4_000
"""Texts up to which every model is asked about all of them; of more, about those that the first finds nearest by and large."""
_AMONG = 1_000
"""How many these are."""
_AXES = 64
"""Numbers of a vector that are left when it is looked at by and large."""
_FEW = 200
"""Passages of a language from which their own mean counts as much as that of all."""
_USUAL = 0.075
"""Deviation of the cosines of passages that have nothing to do with a question; weighs as `_FEW` passages do."""
_WEIGHT = 0.27
"""What a passage gets for a deviation, as a share of the weight of all words of the question."""
_RECORD, _BEST = 0.2, 3
"""Share of a passage's points that come from its record, and of how many of its nearest stretches."""
_CHANCE = 0.45
"""Deviations that the nearest of e times as many stretches is nearer by chance; taken off the points of a record."""
_COVERED, _LOOK = 0.4, 5
"""Coverage of the question by one of so many passages from which words are believed beside meaning."""
_FIRST, _LIFTED = 3, 2
"""Records that come first by all signals, and those behind them by meaning alone, where words cover less."""
_TURN, _AROUND, _NEAREST = 0.44, 0.3, 0.26
"""Shares of a turn's points that come from its own vector, the stretch around it, and the nearest turn of its record."""
_WORDS_OF_TURN = 0.3
"""Share of the points for its words that is left to a turn whose vectors were read: the turns around hold them too."""
_CHUNK = 8_192


class Meaning:
    """The vectors of a Root in memory, ready to be asked."""

    def __init__(self, readers: Sequence[Reader], everything: Everything) -> None:
        import numpy

        self._numpy = numpy
        self.readers = readers
        self._rows = {name: row for row, name in enumerate(everything.hashes)}
        self._paths = [path for path, _ in everything.places]
        self._places = numpy.array([row for _, row in everything.places], dtype=numpy.int64)
        self._inside: tuple[str, Mask | None] = ("", None)
        self._worker = ThreadPoolExecutor(1)  # questions are read while the words are looked for

    def ask(self, text: str) -> Nearness:
        """Have the models read a question; they may still be at it when this returns."""
        return Nearness(self, [self._worker.submit(reader.question, text) for reader in self.readers])

    def reader_of_words(self) -> Model | None:
        """Return the model that reads single words, hundreds for an answer; None when it is not there."""
        return next((reader.model for reader in self.readers if reader.model.reads_words), None)

    def candidates(self, asked: Asked, within: str) -> Places:
        """Return the numbers of the texts that may be nearest, of records whose paths begin with `within`."""
        inside = self._within(within)
        if len(self._rows) <= _MANY:
            rows: Places = self._numpy.arange(len(self._rows))
            return rows if inside is None else rows[inside]
        return self.readers[0].nearest(asked, inside)

    def _within(self, within: str) -> Mask | None:
        if within and self._inside[0] != within:
            inside = self._numpy.zeros(len(self._rows), bool)
            held = [row for path, row in zip(self._paths, self._places, strict=True) if path.startswith(within)]
            inside[held] = True
            self._inside = (within, inside)
        return self._inside[1] if within else None

    def paths(self, rows: Places) -> list[str]:
        """Return the paths of the records that hold these texts, in their order."""
        first = self._numpy.searchsorted(self._places, rows)
        last = self._numpy.searchsorted(self._places, rows, side="right")
        return [path for start, end in zip(first, last, strict=True) for path in self._paths[start:end]]

    def row(self, text: str) -> int:
        """Return the number of the vector of a text, -1 when it has none yet."""
        return self._rows.get(digest(text), -1)


@value
class Asked:
    """A question as one model has read it, and where passages usually lie from it."""

    vector: Numbers
    wide: bool
    usual: float
    deviation: float


class Reader:
    """What one model has read of a Root: the numbers of the texts, and their vectors, centred.

    Of a large Root the vectors stay in 16 bits, as they are kept.
    """

    def __init__(self, model: Model, everything: Everything, about: Mapping[str, bytes]) -> None:
        import numpy

        self._numpy = numpy
        self.model = model
        numbers, data = everything.vectors.get(model.name, ((), bytearray()))
        self._rows: Places = numpy.array(numbers, dtype=numpy.int64)
        self._at = numpy.full(len(everything.hashes), -1, dtype=numpy.int64)
        self._at[self._rows] = numpy.arange(len(numbers))
        self._wide: Mask = numpy.frombuffer(everything.wide, numpy.uint8).astype(bool)
        kept = numpy.frombuffer(data, "<f2").reshape(-1, model.dimension)
        self._vectors: Numbers = self._centre(kept if len(kept) > _MANY else kept.astype(numpy.float32))
        self._sample: Numbers = self._vectors[:: 1 + len(kept) // _MANY].astype(numpy.float32)
        self._neutral = {name: numpy.frombuffer(about[f"{model.name} {name}"], "<f4") for name in ("latin", "wide")}
        self._axes: Numbers | None = None
        self._coarse: Numbers | None = None

    def _centre(self, vectors: Numbers) -> Numbers:
        """Take the mean of its language off each vector, in place."""
        if not len(vectors):
            return vectors
        wide = self._wide[self._rows]
        whole = vectors.mean(axis=0, dtype=self._numpy.float32)
        for group in (wide, ~wide):
            places = self._numpy.flatnonzero(group)
            if not len(places):
                continue
            chunks = [places[at : at + _CHUNK] for at in range(0, len(places), _CHUNK)]
            total = sum(vectors[chunk].sum(axis=0, dtype=self._numpy.float32) for chunk in chunks)
            mean = (total + _FEW * whole) / (len(places) + _FEW)
            for chunk in chunks:
                moved = vectors[chunk].astype(self._numpy.float32) - mean
                moved /= self._numpy.maximum(self._numpy.linalg.norm(moved, axis=1, keepdims=True), 1e-6)
                vectors[chunk] = moved
        return vectors

    def question(self, text: str) -> Asked:
        """Read a question."""
        wide = is_wide(text)
        vector = self.model.ask([text])[0] - self._neutral["wide" if wide else "latin"]
        vector = (vector / max(float(self._numpy.linalg.norm(vector)), 1e-6)).astype(self._numpy.float32)
        near = self._sample @ vector
        mean = float(near.sum()) / (len(near) + _FEW)
        square = float((near * near).sum()) + _FEW * _USUAL**2
        return Asked(vector, wide, mean, (square / (len(near) + _FEW) - mean**2) ** 0.5)

    def nearest(self, asked: Asked, inside: Mask | None) -> Places:
        """Return the numbers of the texts that are nearest by and large, in no order; of those `inside` alone."""
        if self._coarse is None or self._axes is None:
            _, axes = self._numpy.linalg.eigh(self._sample.T @ self._sample)
            self._axes = axes[:, -_AXES:].astype(self._numpy.float32)
            chunks = [self._vectors[at : at + _CHUNK] for at in range(0, len(self._vectors), _CHUNK)]
            parts = [chunk.astype(self._numpy.float32) @ self._axes for chunk in chunks]
            self._coarse = self._numpy.concatenate(parts) if parts else self._sample @ self._axes
        near = self._coarse @ (asked.vector @ self._axes)
        if inside is not None:
            near[~inside[self._rows]] = -1.0
        if len(near) > _AMONG:
            found = self._numpy.argpartition(near, -_AMONG)[-_AMONG:]
            return self._rows[found if inside is None else found[near[found] > -1.0]]
        return self._rows

    def near(self, asked: Asked, rows: Places) -> tuple[Numbers, Numbers]:
        """Return how many deviations each text is nearer than usual, and what the model's word on it is worth: 0 unread."""
        at = self._at[rows]
        cosines = self._vectors[at].astype(self._numpy.float32) @ asked.vector if len(self._vectors) else at * 0.0
        same = self._wide[rows] == asked.wide
        weight = self._numpy.where(same, self.model.weight, self.model.weight_across) * (at >= 0)
        return (cosines - asked.usual) / asked.deviation, weight


class Nearness:
    """One question's nearness to every stretch, in deviations; what is not above the usual has nothing to do with it."""

    def __init__(self, meaning: Meaning, asked: Sequence[Future[Asked]]) -> None:
        self._meaning = meaning
        self._asked = asked

    def nearest(self, within: str, limit: int) -> list[str]:
        """Return the paths of up to `limit` records that may hold the answer, the nearest first; all begin with `within`."""
        rows = self._meaning.candidates(self._asked[0].result(), within)
        near, _ = self._near(rows)
        order = (-near).argsort(kind="stable")
        order = order[near[order] >= LEAST]
        paths = dict.fromkeys(self._meaning.paths(rows[order]))
        return [path for path in paths if path.startswith(within)][:limit]

    def ask(self, text: str) -> Nearness:
        """Return the nearness of another question, as `Meaning.ask` does."""
        return self._meaning.ask(text)

    def of(self, stretches: Iterable[Stretch]) -> list[float | None]:
        """Return the nearness of each stretch, 0 or more, and None where no model has read it yet."""
        import numpy

        rows = numpy.array([self._meaning.row(stretch.text) for stretch in stretches], dtype=numpy.int64)
        near, weights = self._near(rows)
        known = (rows >= 0) & (weights > 0)
        return [max(0.0, float(one)) if is_known else None for one, is_known in zip(near, known, strict=True)]

    def _near(self, rows: Places) -> tuple[Numbers, Numbers]:
        """Return what the models that have read a text say together, each by its weight, and the weight of them all."""
        found = [
            reader.near(one.result(), rows) for reader, one in zip(self._meaning.readers, self._asked, strict=True)
        ]
        weights: Numbers = sum(weight for _, weight in found)  # type: ignore[assignment]
        near: Numbers = sum(weight * one for one, weight in found)  # type: ignore[assignment]
        weights = weights + 1e-9
        return near / weights, weights - 1e-9

    def share(self, points: float, ranking: Ranking) -> float:
        """Return the nearness for which a passage was given `points`, in usual deviations, whatever this question's are.

        A question about nothing that was read lies about as far from all of it: its own deviations are small.
        """
        own = [one.result().deviation for one in self._asked]
        return points / (_WEIGHT * (ranking.whole or 1.0)) * sum(own) / (len(own) * _USUAL)


def add_meaning(
    nearness: Nearness, ranking: Ranking, scored: Sequence[Scored], records: Iterable[tuple[str, Page]]
) -> list[Scored]:
    """Add the nearness of passages to their scores, and passages that hold no word but are near; best first.

    `records` are (title, page) in the order of the numbers that passages have as their `source`. A passage that no model has
    read is taken to be as near as its words say, so that a set that is half built hides nothing.
    """
    places = {(one.source, one.at): one for one in scored}
    unread = set(places)
    share = _WEIGHT * (ranking.whole or 1.0)
    given = 0.0
    best_by_words = max((one.score for one in scored), default=0.0)
    cut = [(source, page, page.stretches(title)) for source, (title, page) in enumerate(records) if page.passages]
    near = iter(_near(nearness, ranking.question, cut))
    for source, page, found in cut:
        points_of = _points_of_turns if page.is_conversation else _points
        for at, points in points_of(page, [(stretch, next(near)) for stretch in found]).items():
            unread.discard((source, at))
            if page.is_conversation and (source, at) in places:
                places[source, at].add("words", (_WORDS_OF_TURN - 1) * places[source, at].parts.get("words", 0.0))
            if points:
                given = max(given, share * points)
                places.setdefault((source, at), Scored(source, page, at, frozenset())).add(SIGNAL, share * points)
    for place in unread:
        places[place].add("unread", given * places[place].score / (best_by_words or 1.0))
    return sorted(places.values(), key=lambda one: one.order)


def keep_places(ranking: Ranking, scored: Sequence[Scored]) -> list[Scored]:
    """Put the records nearest in meaning behind the first few, where no passage covers much of the question.

    Words that cover little stand in a passage by chance as often as not, and hide what meaning alone has found.
    """
    sources = list(dict.fromkeys(one.source for one in scored))
    if len(sources) <= _FIRST or any(ranking.coverage(one.terms) >= _COVERED for one in scored[:_LOOK]):
        return list(scored)
    near: dict[int, float] = {}
    best: dict[int, Scored] = {}
    for one in scored:
        near[one.source] = max(near.get(one.source, 0.0), one.parts.get(SIGNAL, 0.0))
        best.setdefault(one.source, one)
    rest = [source for source in sources[_FIRST:] if near[source]]
    lifted = [best[source] for source in sorted(rest, key=lambda source: -near[source])[:_LIFTED]]
    end = scored.index(best[sources[_FIRST]])
    return [*scored[:end], *lifted, *(one for one in scored[end:] if one not in lifted)]


def _near(
    nearness: Nearness, question: Question, cut: Sequence[tuple[int, Page, Sequence[Stretch]]]
) -> Iterable[float | None]:
    """Return the nearness of all stretches in order, of turns to the question as their speakers would put it.

    Who speaks says "I" where a question says his name, and models that read names find other places where these stand.
    """
    wide = iter(nearness.of(stretch for _, _, found in cut for stretch in found if not stretch.is_turn))
    names = {word for _, page, _ in cut for word in page.parties()} & set(question.words)
    said = nearness.ask(said_by(question.text, names)) if names else nearness
    turns = iter(said.of(stretch for _, _, found in cut for stretch in found if stretch.is_turn))
    return [next(turns if stretch.is_turn else wide) for _, _, found in cut for stretch in found]


def _points_of_turns(page: Page, found: Iterable[tuple[Stretch, float | None]]) -> dict[int, float]:
    """Return the nearness of each turn that a model has read, a part of it that of what is around, a part the nearest turn's."""
    own: dict[int, float] = {}
    around: dict[int, float] = {}
    for stretch, near in found:
        if near is not None:
            (own if stretch.is_turn else around).update(dict.fromkeys(range(stretch.first, stretch.last + 1), near))
    nearest = max(own.values(), default=0.0)
    return {
        at: _TURN * own.get(at, around.get(at, 0.0)) + _AROUND * around.get(at, own.get(at, 0.0)) + _NEAREST * nearest
        for at in own.keys() | around.keys()
        if not page.passages[at].is_heading
    }


def _points(page: Page, found: Iterable[tuple[Stretch, float | None]]) -> dict[int, float]:
    """Return the nearness of each passage of a record that a model has read, a part of it the record's own."""
    points: dict[int, float] = {}
    wider: list[float] = []
    for stretch, near in found:
        if near is None:
            continue
        wider.append(near)
        for at in range(stretch.first, stretch.last + 1):
            if not page.passages[at].is_heading:
                points[at] = near
    best = sorted(wider, reverse=True)[:_BEST]
    record = sum(best) / len(best) if best else 0.0
    chance = _CHANCE * math.log(len(wider) or 1)
    return {at: max(0.0, (1 - _RECORD) * near + _RECORD * record - chance) for at, near in points.items()}


def digest(text: str) -> bytes:
    """Return the name under which the vector of a text is kept."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_KEPT: WeakKeyDictionary[Context, tuple[tuple[int, int, int], Meaning | None]] = WeakKeyDictionary()


def meaning_of(context: Context) -> Meaning | None:
    """Return the vectors of an Oracle's Root, read anew when they changed; None when there are none that can be used."""
    vectors = Vectors(context.root)
    state = vectors.state()
    kept = _KEPT.get(context)
    if kept is None or kept[0] != state:
        kept = _KEPT[context] = (state, _load(context, vectors))
    return kept[1]


def _load(context: Context, vectors: Vectors) -> Meaning | None:
    try:
        meta = vectors.meta()
        models = [model for model in find_models() if meta.get(f"{model.name} about") == model.about.encode()]
        if not models:
            return None
        everything = vectors.everything()
        return Meaning([Reader(model, everything, meta) for model in models], everything)
    except Damaged as error:
        context.warn(say("The vectors can't be used ({error}); the search is by words alone.", error=error))
        return None
    finally:
        vectors.close()
