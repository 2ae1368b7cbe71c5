"""Search by meaning: how near a question's vector is to those of records' chunks, beside the words. Needs the semantic extra.

Every language has a direction of its own that says nothing about meaning, and some passages are near all questions. So the mean
of the passages of a language is taken off them, and what all questions of a language have in common off the question. One
question is nearer to everything than another, and so is one model. So nearness is counted in deviations: how far a chunk is from
the usual among all that a model has read, for this question.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy

from oracle.app.context import Context
from oracle.app.search.models import Model, find_models
from oracle.app.search.ranking.scoring import WEIGHT_OF_MEANING
from oracle.domain.markdown.passages import EmbeddingChunk
from oracle.domain.values import value
from oracle.index.fold import is_wide_text
from oracle.index.vectors import Damaged, Everything, Vectors, text_hash
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Future

    from numpy import bool_, float32, int64
    from numpy.typing import NDArray

    from oracle.app.search.ranking.scoring import Ranking

    Numbers = NDArray[float32]
    Places = NDArray[int64]
    Mask = NDArray[bool_]
    Near = tuple[EmbeddingChunk, float | None]

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
_CHUNK = 8_192
_REMEMBERED = 16
"""Questions whose vectors are kept: an answer asks the same one several times."""


class Meaning:
    """The vectors of a Root in memory, ready to be asked."""

    def __init__(self, readers: Sequence[Reader], everything: Everything) -> None:
        self.readers = readers
        self._rows = {name: row for row, name in enumerate(everything.hashes)}
        self._paths = [path for path, _ in everything.places]
        self._places = numpy.array([row for _, row in everything.places], dtype=numpy.int64)
        self._inside: tuple[tuple[str, ...], Mask | None] = ((), None)
        self._asked: dict[str, list[Future[EmbeddedQuestion]]] = {}
        self._worker = ThreadPoolExecutor(1)  # questions are read while the words are looked for

    def ask(self, text: str) -> Nearness:
        """Have the models read a question, once; they may still be at it when this returns."""
        if text not in self._asked:
            for old in list(self._asked)[: 1 - _REMEMBERED]:
                del self._asked[old]
            self._asked[text] = [self._worker.submit(reader.question, text) for reader in self.readers]
        return Nearness(self, self._asked[text])

    def reader_of_words(self) -> Model | None:
        """Return the model that reads single words, hundreds for an answer; None when it is not installed."""
        return next((reader.model for reader in self.readers if reader.model.reads_words), None)

    def candidates(self, asked: EmbeddedQuestion, within: tuple[str, ...]) -> Places:
        """Return the numbers of the texts that may be nearest, of records whose paths begin with one of `within`."""
        inside = self._within(within)
        if len(self._rows) <= _MANY:
            rows: Places = numpy.arange(len(self._rows))
            return rows if inside is None else rows[inside]
        return self.readers[0].nearest(asked, inside)

    def _within(self, within: tuple[str, ...]) -> Mask | None:
        if within and self._inside[0] != within:
            inside = numpy.zeros(len(self._rows), bool)
            inside[[row for path, row in zip(self._paths, self._places, strict=True) if path.startswith(within)]] = True
            self._inside = (within, inside)
        return self._inside[1] if within else None

    def paths(self, rows: Places) -> list[str]:
        """Return the paths of the records that hold these texts, in their order."""
        first = numpy.searchsorted(self._places, rows)
        last = numpy.searchsorted(self._places, rows, side="right")
        return [path for start, end in zip(first, last, strict=True) for path in self._paths[start:end]]

    def rows(self, texts: Iterable[str]) -> Places:
        """Return the numbers of the vectors of texts, -1 for one that has none yet."""
        return numpy.array([self._rows.get(text_hash(text), -1) for text in texts], dtype=numpy.int64)


@value
class EmbeddedQuestion:
    """A question as one model has read it, and how far passages usually are from it."""

    vector: Numbers
    wide: bool
    usual: float
    deviation: float


class Reader:
    """What one model has read of a Root: the numbers of the texts, and their vectors, centred.

    The vectors of a large Root stay in 16 bits, as they are kept.
    """

    def __init__(self, model: Model, everything: Everything, about: Mapping[str, bytes]) -> None:
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
        self._coarse: tuple[Numbers, Numbers] | None = None

    def _centre(self, vectors: Numbers) -> Numbers:
        """Take the mean of its language off each vector, in place."""
        if not len(vectors):
            return vectors
        wide = self._wide[self._rows]
        whole = vectors.mean(axis=0, dtype=numpy.float32)
        for places in (numpy.flatnonzero(group) for group in (wide, ~wide) if group.any()):
            chunks = [places[at : at + _CHUNK] for at in range(0, len(places), _CHUNK)]
            total = sum(vectors[chunk].sum(axis=0, dtype=numpy.float32) for chunk in chunks)
            mean = (total + _FEW * whole) / (len(places) + _FEW)
            for chunk in chunks:
                moved = vectors[chunk].astype(numpy.float32) - mean
                moved /= numpy.maximum(numpy.linalg.norm(moved, axis=1, keepdims=True), 1e-6)
                vectors[chunk] = moved
        return vectors

    def question(self, text: str) -> EmbeddedQuestion:
        """Read a question."""
        wide = is_wide_text(text)
        vector = self.model.ask([text])[0] - self._neutral["wide" if wide else "latin"]
        vector = (vector / max(float(numpy.linalg.norm(vector)), 1e-6)).astype(numpy.float32)
        near = self._sample @ vector
        mean = float(near.sum()) / (len(near) + _FEW)
        square = float((near * near).sum()) + _FEW * _USUAL**2
        return EmbeddedQuestion(vector, wide, mean, (square / (len(near) + _FEW) - mean**2) ** 0.5)

    def nearest(self, asked: EmbeddedQuestion, inside: Mask | None) -> Places:
        """Return the numbers of the texts that are nearest by and large, in no order; only of those `inside`."""
        if self._coarse is None:
            axes = numpy.linalg.eigh(self._sample.T @ self._sample)[1][:, -_AXES:].astype(numpy.float32)
            chunks = [self._vectors[at : at + _CHUNK] for at in range(0, len(self._vectors), _CHUNK)]
            parts = [chunk.astype(numpy.float32) @ axes for chunk in chunks]
            self._coarse = axes, numpy.concatenate(parts) if parts else self._sample @ axes
        axes, coarse = self._coarse
        near = coarse @ (asked.vector @ axes)
        if inside is not None:
            near[~inside[self._rows]] = -1.0
        if len(near) > _AMONG:
            found = numpy.argpartition(near, -_AMONG)[-_AMONG:]
            return self._rows[found if inside is None else found[near[found] > -1.0]]
        return self._rows

    def near(self, asked: EmbeddedQuestion, rows: Places) -> tuple[Numbers, Numbers]:
        """Return how many deviations each text is nearer than usual, and the weight of the model for it: 0 for unread."""
        at = self._at[rows]
        cosines = self._vectors[at].astype(numpy.float32) @ asked.vector if len(self._vectors) else at * 0.0
        same = self._wide[rows] == asked.wide
        weight = numpy.where(same, self.model.weight, self.model.weight_across) * (at >= 0)
        return (cosines - asked.usual) / asked.deviation, weight


class Nearness:
    """One question's nearness to every chunk, in deviations; what is not nearer than usual has nothing to do with it."""

    def __init__(self, meaning: Meaning, asked: Sequence[Future[EmbeddedQuestion]]) -> None:
        self._meaning = meaning
        self._asked = asked

    def nearest(self, within: tuple[str, ...], limit: int) -> list[str]:
        """Return the paths of up to `limit` records that may hold the answer, the nearest first.

        All begin with one of `within`, if given.
        """
        rows = self._meaning.candidates(self._asked[0].result(), within)
        near, _ = self._near(rows)
        order = (-near).argsort(kind="stable")
        paths = dict.fromkeys(self._meaning.paths(rows[order[near[order] >= LEAST]]))
        return [path for path in paths if not within or path.startswith(within)][:limit]

    def ask(self, text: str) -> Nearness:
        """Return the nearness of another question, as `Meaning.ask` does."""
        return self._meaning.ask(text)

    def of(self, chunks: Iterable[EmbeddingChunk]) -> list[float | None]:
        """Return the nearness of each chunk, 0 or more, and None where no model has read it yet."""
        rows = self._meaning.rows(chunk.text for chunk in chunks)
        near, weights = self._near(rows)
        known = (rows >= 0) & (weights > 0)
        return [max(0.0, float(one)) if is_known else None for one, is_known in zip(near, known, strict=True)]

    def _near(self, rows: Places) -> tuple[Numbers, Numbers]:
        """Return what the models that have read a text say together, each by its weight, and the weight of them all."""
        readers = zip(self._meaning.readers, self._asked, strict=True)
        found = [reader.near(one.result(), rows) for reader, one in readers]
        weights: Numbers = sum(weight for _, weight in found)  # type: ignore[assignment]
        near: Numbers = sum(weight * one for one, weight in found)  # type: ignore[assignment]
        weights = weights + 1e-9
        return near / weights, weights - 1e-9

    def share(self, points: float, ranking: Ranking) -> float:
        """Return the nearness for which a passage was given `points`, in usual deviations rather than this question's.

        A question about nothing that was read is about as far from all of it: its own deviations are small.
        """
        own = [one.result().deviation for one in self._asked]
        return points / (WEIGHT_OF_MEANING * (ranking.whole or 1.0)) * sum(own) / (len(own) * _USUAL)


def meaning_of(context: Context) -> Meaning | None:
    """Return the vectors of a Root, read again when they changed; None when there are none that can be used."""
    vectors = Vectors(context.root)
    state = vectors.state()
    kept: tuple[object, Meaning | None] = context.kept.get(Meaning, (None, None))
    if kept[0] != state:
        kept = context.kept[Meaning] = (state, _load(context, vectors))
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
