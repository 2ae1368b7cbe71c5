"""What nearness in meaning adds to the scores of passages and to the order of records."""

from __future__ import annotations

import math

from oracle.app.search.ranking.pages import Scored, best_first
from oracle.app.search.ranking.query import said_by
from oracle.app.search.ranking.scoring import MEANING, WEIGHT_OF_MEANING
from oracle.domain.markdown.passages import EmbeddingChunk, embedding_chunks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oracle.app.search.ranking.pages import RecordPage
    from oracle.app.search.ranking.query import SearchQuery
    from oracle.app.search.ranking.scoring import Ranking
    from oracle.app.search.ranking.semantic import Nearness

    Near = tuple[EmbeddingChunk, float | None]


_RECORD, _BEST = 0.2, 3
"""Share of a passage's points that come from its record, and from how many of its nearest chunks."""
_CHANCE = 0.45
"""Deviations that the nearest of e times as many chunks is nearer by chance; taken off the points of a record."""
_COVERED, _LOOK = 0.4, 5
"""Coverage of the question by one of so many passages from which words are believed beside meaning."""
_FIRST, _LIFTED = 3, 2
"""Records that come first by all signals, and those behind them by meaning alone, where words cover less."""
_TURN, _AROUND, _NEAREST = 0.44, 0.3, 0.26
"""Shares of a turn's points that come from its own vector, the chunk around it, and the nearest turn of its record."""
_WORDS_OF_TURN = 0.3
"""Share of the points for its words that is left to a turn with vectors: the turns around hold them too."""


def add_meaning(nearness: Nearness, ranking: Ranking, scored: Sequence[Scored], titles: Sequence[str]) -> list[Scored]:
    """Add the nearness of passages to their scores, and passages that hold no word but are near; best first.

    `titles` are those of the records. A passage that no model has read is taken to be as near as its words say, so that
    vectors which are half made hide nothing.
    """
    places = {(one.source, one.at): one for one in scored}
    unread = set(places)
    share = WEIGHT_OF_MEANING * (ranking.whole or 1.0)
    given = 0.0
    best_by_words = max((one.score for one in scored), default=0.0)
    for page, title in zip(ranking.pages, titles, strict=True):
        page.chunks = page.chunks or embedding_chunks(title, page.passages)
    near = iter(_near(nearness, ranking.question, ranking.pages))
    for source, page in enumerate(ranking.pages):
        if not page.passages:
            continue
        points_of = _points_of_turns if page.is_conversation else _points
        for at, points in points_of(page, [(chunk, next(near)) for chunk in page.chunks]).items():
            unread.discard((source, at))
            if page.is_conversation and (source, at) in places:
                places[source, at].add("words", (_WORDS_OF_TURN - 1) * places[source, at].parts.get("words", 0.0))
            if points:
                given = max(given, share * points)
                places.setdefault((source, at), Scored(source, page, at)).add(MEANING, share * points)
    for place in unread:
        places[place].add("unread", given * places[place].score / (best_by_words or 1.0))
    return best_first(list(places.values()))


def keep_places(ranking: Ranking, scored: Sequence[Scored]) -> list[Scored]:
    """Put the records nearest in meaning behind the first few, where no passage covers much of the question.

    Words that cover little are in a passage by chance as often as not, and hide what meaning alone has found.
    """
    sources = list(dict.fromkeys(one.source for one in scored))
    if len(sources) <= _FIRST or any(ranking.coverage(one.terms) >= _COVERED for one in scored[:_LOOK]):
        return list(scored)
    near: dict[int, float] = {}
    best: dict[int, Scored] = {}
    for one in scored:
        near[one.source] = max(near.get(one.source, 0.0), one.parts.get(MEANING, 0.0))
        best.setdefault(one.source, one)
    rest = [source for source in sources[_FIRST:] if near[source]]
    lifted = [best[source] for source in sorted(rest, key=lambda source: -near[source])[:_LIFTED]]
    end = scored.index(best[sources[_FIRST]])
    return [*scored[:end], *lifted, *(one for one in scored[end:] if one not in lifted)]


def _near(nearness: Nearness, question: SearchQuery, pages: Sequence[RecordPage]) -> Iterable[float | None]:
    """Return the nearness of all chunks in order, of turns to the question as their speakers would put it.

    A speaker says "I" where a question says his name, and models that read names find other places with these.
    """
    chunks = [chunk for page in pages if page.passages for chunk in page.chunks]
    wide = iter(nearness.of(chunk for chunk in chunks if not chunk.is_turn))
    names = {word for page in pages if page.passages for word in page.parties()} & set(question.words)
    said = nearness.ask(said_by(question.text, names)) if names else nearness
    turns = iter(said.of(chunk for chunk in chunks if chunk.is_turn))
    return [next(turns if chunk.is_turn else wide) for chunk in chunks]


def _points_of_turns(page: RecordPage, found: Iterable[Near]) -> dict[int, float]:
    """Return the nearness of each turn with a vector: shares of its own, of the chunk around it, and of the nearest turn."""
    own: dict[int, float] = {}
    around: dict[int, float] = {}
    for chunk, near in found:
        if near is not None:
            (own if chunk.is_turn else around).update(dict.fromkeys(range(chunk.first, chunk.last + 1), near))
    nearest = max(own.values(), default=0.0)
    return {
        at: _TURN * own.get(at, around.get(at, 0.0)) + _AROUND * around.get(at, own.get(at, 0.0)) + _NEAREST * nearest
        for at in own.keys() | around.keys()
        if not page.passages[at].is_heading
    }


def _points(page: RecordPage, found: Iterable[Near]) -> dict[int, float]:
    """Return the nearness of each passage with a vector, a share of it that of the record."""
    read = [(chunk, near) for chunk, near in found if near is not None]
    best = sorted((near for _, near in read), reverse=True)[:_BEST]
    record = sum(best) / len(best) if best else 0.0
    chance = _CHANCE * math.log(len(read) or 1)
    return {
        at: max(0.0, (1 - _RECORD) * near + _RECORD * record - chance)
        for chunk, near in read
        for at in range(chunk.first, chunk.last + 1)
        if not page.passages[at].is_heading
    }
