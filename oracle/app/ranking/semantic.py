"""Search by meaning: how near a question's vector is to those of records' stretches, beside the words. Needs the semantic extra.

Every language has a direction of its own that says nothing about meaning, and some passages lie near all questions. So the mean
of the passages of a language is taken off them, and what all questions of a language have in common off the question.
"""

from __future__ import annotations

import hashlib
from weakref import WeakKeyDictionary

from oracle.app.embedding_model import Model, find_models
from oracle.app.oracle import Oracle
from oracle.app.ranking.scoring import Scored
from oracle.domain.stretches import Stretch, is_wide, stretches
from oracle.index.vectors import Damaged, Everything, Vectors
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy import bool_, float32, int64
    from numpy.typing import NDArray

    from oracle.app.ranking.pages import Page
    from oracle.app.ranking.scoring import Ranking

    Numbers = NDArray[float32]
    Places = NDArray[int64]

SIGNAL = "meaning"
LEAST = 0.15
"""Nearness that says nothing: two deviations of passages that have nothing to do with a question."""

_MANY = 4_000
"""Texts up to which every model is asked about all of them: what comes later with one is far with the other."""
_FEW = 200
"""Passages of a language from which their own mean counts as much as that of all."""
_WEIGHT = 1.5
"""What a passage that says just what is asked gets, as a share of the weight of all words of the question."""
_RECORD = 0.2
"""Share of a passage's points that come from the nearest passage of its record."""


class Meaning:
    """The vectors of a Root in memory, ready to be asked."""

    def __init__(self, readers: Sequence[Reader], everything: Everything) -> None:
        import numpy

        self._numpy = numpy
        self._readers = readers
        self._rows = {name: row for row, name in enumerate(everything.hashes)}
        self._paths = [path for path, _ in everything.places]
        self._places = numpy.array([row for _, row in everything.places], dtype=numpy.int64)

    def ask(self, text: str) -> Nearness:
        """Return how near each stretch is to a question: what the models say that have read it, each by its weight.

        Of a large Root only the first model is asked about everything, the others about what it finds nearest.
        """
        near = self._numpy.zeros(len(self._rows), self._numpy.float32)
        weights = self._numpy.zeros(len(self._rows), self._numpy.float32)
        among: Places | None = None
        for reader in self._readers:
            rows, weight, found = reader.ask(text, among)
            near[rows] += weight * found
            weights[rows] += weight
            if among is None and len(near) > _MANY:
                among = self._numpy.argpartition(-near, _MANY)[:_MANY]
        weights[weights == 0.0] = 1.0
        return Nearness(self, near / weights)

    def nearest(self, scores: Numbers, within: str, limit: int) -> list[str]:
        """Return the paths of the records that hold the nearest stretches, the nearest first; all begin with `within`."""
        if not len(self._places):
            return []
        found = scores[self._places]
        if within:
            inside = self._numpy.fromiter((path.startswith(within) for path in self._paths), bool, len(self._paths))
            found = self._numpy.where(inside, found, 0.0)
        most = min(len(found), 8 * limit)
        near = self._numpy.argpartition(-found, most - 1)[:most]
        order = near[self._numpy.argsort(-found[near], kind="stable")]
        return list(dict.fromkeys(self._paths[at] for at in order if found[at] >= LEAST))[:limit]

    def row(self, text: str) -> int:
        """Return the number of the vector of a text, -1 when it has none yet."""
        return self._rows.get(digest(text), -1)


class Reader:
    """What one model has read of a Root: the numbers of the texts, and their vectors, centred."""

    def __init__(self, model: Model, everything: Everything, about: Mapping[str, bytes]) -> None:
        import numpy

        self._numpy = numpy
        self.model = model
        numbers, data = everything.vectors.get(model.name, ((), b""))
        self.rows = numpy.array(numbers, dtype=numpy.int64)
        self._at = numpy.full(len(everything.hashes), -1, dtype=numpy.int64)
        self._at[self.rows] = numpy.arange(len(numbers))
        wide = self._wide = numpy.frombuffer(everything.wide, numpy.uint8).astype(bool)[self.rows]
        vectors = numpy.frombuffer(data, "<f2").astype(numpy.float32).reshape(-1, model.dimension)
        self._vectors = self._centre(vectors, wide)
        self._neutral = {name: numpy.frombuffer(about[f"{model.name} {name}"], "<f4") for name in ("latin", "wide")}

    def _centre(self, vectors: Numbers, wide: NDArray[bool_]) -> Numbers:
        if not len(vectors):
            return vectors
        whole = vectors.mean(axis=0)
        for group in (wide, ~wide):
            number = int(group.sum())
            if number:
                vectors[group] -= (vectors[group].sum(axis=0) + _FEW * whole) / (number + _FEW)
        vectors /= self._numpy.maximum(self._numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
        return vectors

    def ask(self, text: str, among: Places | None = None) -> tuple[Places | slice, Numbers, Numbers]:
        """Return the numbers of the texts asked about, what the model's word on each is worth, and how near each is."""
        question = self.model.ask([text])[0] - self._neutral["wide" if is_wide(text) else "latin"]
        question /= max(float(self._numpy.linalg.norm(question)), 1e-6)
        rows: Places | slice = slice(None) if len(self.rows) == len(self._at) else self.rows
        vectors, wide = self._vectors, self._wide
        if among is not None:
            rows = among[self._at[among] >= 0]
            vectors, wide = vectors[self._at[rows]], wide[self._at[rows]]
        own, across = self._numpy.float32(self.model.weight), self._numpy.float32(self.model.weight_across)
        weight: Numbers = self._numpy.where(wide == is_wide(text), own, across)
        near: Numbers = vectors @ question.astype(self._numpy.float32)
        return rows, weight, near


class Nearness:
    """One question's nearness to every stretch: -1 to 1, 0 for what has nothing to do with it."""

    def __init__(self, meaning: Meaning, scores: Numbers) -> None:
        self._meaning = meaning
        self._scores = scores

    def nearest(self, within: str, limit: int) -> list[str]:
        """Return the paths of records that may hold the answer, the nearest first; all begin with `within`."""
        return self._meaning.nearest(self._scores, within, limit)

    def of(self, stretches: Iterable[Stretch]) -> list[tuple[Stretch, float]]:
        """Return those of a record's stretches that have a vector, with their nearness; 0 for what says nothing."""
        rows = [(stretch, self._meaning.row(stretch.text)) for stretch in stretches]
        near = [(stretch, float(self._scores[row])) for stretch, row in rows if row >= 0]
        return [(stretch, score if score >= LEAST else 0.0) for stretch, score in near]

    def share(self, points: float, ranking: Ranking) -> float:
        """Return the nearness for which a passage was given `points`."""
        return points / (_WEIGHT * (ranking.whole or 1.0))


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
    for source, (title, page) in enumerate(records):
        found = nearness.of(stretches(title, page.passages)) if page.passages else []
        best = max((near for _, near in found), default=0.0)
        for stretch, near in found:
            points = share * ((1 - _RECORD) * near + _RECORD * best) if near else 0.0
            given = max(given, points)
            for at in range(stretch.first, stretch.last + 1):
                unread.discard((source, at))
                if points and not page.passages[at].is_heading:
                    places.setdefault((source, at), Scored(source, page, at, frozenset())).add(SIGNAL, points)
    for place in unread:
        places[place].add("unread", given * places[place].score / (best_by_words or 1.0))
    return sorted(places.values(), key=lambda one: (-one.score, one.source, one.at))


def digest(text: str) -> bytes:
    """Return the name under which the vector of a text is kept."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_KEPT: WeakKeyDictionary[Oracle, tuple[tuple[int, int, int], Meaning | None]] = WeakKeyDictionary()


def meaning_of(oracle: Oracle) -> Meaning | None:
    """Return the vectors of an Oracle's Root, read anew when they changed; None when there are none that can be used."""
    vectors = Vectors(oracle.root)
    state = vectors.state()
    kept = _KEPT.get(oracle)
    if kept is None or kept[0] != state:
        kept = _KEPT[oracle] = (state, _load(oracle, vectors))
    return kept[1]


def _load(oracle: Oracle, vectors: Vectors) -> Meaning | None:
    try:
        meta = vectors.meta()
        models = [model for model in find_models() if meta.get(f"{model.name} about") == model.about.encode()]
        if not models:
            return None
        everything = vectors.everything()
        return Meaning([Reader(model, everything, meta) for model in models], everything)
    except Damaged as error:
        oracle.warn(say("The vectors can't be used ({error}); the search is by words alone.", error=error))
        return None
    finally:
        vectors.close()
