"""What counts for a passage beside its words: its record, who speaks, the day, the shape of the answer, words in a row.

And which turns of a conversation make up a hit. Pure.

Most signals give a share of the weight of the question's heaviest word, so that none outweighs two words that match.
"""

from __future__ import annotations

from itertools import pairwise
from math import exp, log
from operator import attrgetter

from oracle.app.search.ranking.pages import Scored, best_first
from oracle.app.search.ranking.query import nearness, shapes_of
from oracle.app.search.ranking.scoring import MEANING
from oracle.domain.compiling import compiled
from oracle.domain.markdown.passages import Passage, spans
from oracle.index.fold import count_row, is_run, lower

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from oracle.app.search.ranking.scoring import Ranking

_RECORD, _RECORD_OF_TURN = 0.3, 0.45
"""Weights of the record's own score."""
_LENGTH, _SHORT = 0.02, 100
"""Penalty per e-fold of record length over so many words: their best of many passages is inflated by chance."""
_TITLE_FROM = 0.5
"""Share of the question that a title must hold; it gives what it holds beyond. Whoever types a title wants its record."""
_SPEAKER, _DAY, _SHAPE, _PAIR, _QUESTION, _MARKED = 0.4, 1.0, 0.2, 0.3, 0.1, 0.5
_PHRASE = 2.0
"""Times that a whole Chinese word counts beside its pairs: more than repeating the pairs apart can give."""
_CLOSE_LOOK = 240
"""Passages whose text is looked at."""

# A turn of a conversation is short: its words say less than the turns around it.
_TURN_SPEAKER, _TURN_REPLY, _TURN_QUESTION, _TURN_AROUND, _TURN_LENGTH = 0.5, 0.38, 0.2, 0.3, 0.1
"""Shares of the weight of all words of the question."""
_TURN_DAY, _TURN_SHAPE = 2.5, 0.5
"""Shares of the weight of the heaviest word."""
_REACH = 3
"""Turns before and after in which words of the question count for a turn."""
_USUAL = 30
"""Words of a usual turn: what tells something is longer than what agrees."""


def rank(ranking: Ranking, boost: Mapping[int, float]) -> list[Scored]:
    """Return the passages that hold or are beside what is asked for, best first; `boost` is what links give to records."""
    found: list[Scored] = []
    phrases = _phrases(ranking)
    words = set(ranking.question.words)
    for source, (page, share) in enumerate(zip(ranking.pages, ranking.record_shares(), strict=True)):
        passages = list(ranking.score(source, _points_of_record(ranking, source, share, boost.get(source, 0.0))))
        for number, phrase, weight in phrases:
            is_in_title = bool(count_row(page.title, phrase))
            for one in passages:
                one.add("phrase", _PHRASE * weight * (is_in_title or number in one.terms))
        _add_speakers(ranking, source, passages, words)
        found += passages
    by_score = attrgetter("score")  # equal ones stay in the order of records and places
    _look_closely(ranking, sorted(found, key=by_score, reverse=True)[:_CLOSE_LOOK])
    return sorted(found, key=by_score, reverse=True)


def _points_of_record(ranking: Ranking, source: int, share: float, boost: float) -> dict[str, float]:
    """Return what all passages of a record get, by signal: for its title, its own score, its length, its links."""
    page = ranking.pages[source]
    title = max(0.0, ranking.coverage(ranking.titles[source]) - _TITLE_FROM) * ranking.whole
    record = (_RECORD_OF_TURN if page.is_conversation else _RECORD) * ranking.whole * share
    length = 0.0 if page.is_conversation else _LENGTH * ranking.whole * log(max(1.0, sum(page.lengths) / _SHORT))
    return {"title": title, "record": record, "length": -length, "graph": boost * ranking.heaviest}


def _add_speakers(ranking: Ranking, source: int, passages: Sequence[Scored], words: Set[str]) -> None:
    """Add what the speaker that the question names and its dates give, and to a turn what is around it."""
    page, is_turn = ranking.pages[source], ranking.is_turn(source)
    near = nearness(ranking.question.days, page.days()) if ranking.question.days else 0.0
    speaks = [name != "" and not words.isdisjoint(name.split()) for name in page.speakers]
    for one in passages if is_turn or near or any(speaks) else ():
        if is_turn:
            _add_turn(ranking, one, is_speaker=speaks[one.at], near=near)
        else:
            one.add("speaker", _SPEAKER * ranking.heaviest * speaks[one.at])
            one.add("date", _DAY * near * ranking.heaviest)


def _add_turn(ranking: Ranking, one: Scored, *, is_speaker: bool, near: float) -> None:
    page, at, whole = one.page, one.at, ranking.whole
    around = ranking.covered(one.source, range(at - _REACH, at + _REACH + 1))
    one.add("speaker", _TURN_SPEAKER * whole * is_speaker)
    one.add("date", _TURN_DAY * near * ranking.heaviest)
    one.add("around", _TURN_AROUND * whole * ranking.coverage(around))
    one.add("length", _TURN_LENGTH * whole * log(page.lengths[at] / _USUAL))
    if ranking.asks_before(one.source, at):
        one.add("reply", _TURN_REPLY * whole * ranking.coverage(ranking.covered(one.source, (at - 1,))))
    if page.asks[at]:
        one.add("asks", -_TURN_QUESTION * whole)


def _look_closely(ranking: Ranking, found: Sequence[Scored]) -> None:
    """Add what needs the text: the shape of the answer, and words of the question side by side; take from what only asks."""
    shapes = [compiled(shapes_of("answer")[name]) for name in sorted(ranking.question.shapes)]
    pairs, marked = _pairs(ranking), ranking.question.marked
    for one in found:
        text = one.page.passages[one.at].text
        is_turn = ranking.is_turn(one.source)
        if one.page.asks[one.at] and not is_turn:
            one.add("asks", -_QUESTION * one.score)
        if any(shape.search(text) for shape in shapes):
            one.add("shape", (_TURN_SHAPE if is_turn else _SHAPE) * ranking.heaviest)
        if marked and marked.search("\n".join((one.page.name, *one.page.passages[one.at].headings, text)).lower()):
            one.add("marked", _MARKED * ranking.heaviest)
        if pairs:
            small = lower(text)
            one.add("pairs", _PAIR * sum(weight for pair, weight in pairs if pair in small))


def _phrases(ranking: Ranking) -> list[tuple[int, tuple[str, ...], float]]:
    """Return the number and the pairs of each Chinese phrase of the question, with the weight of its pairs and characters."""
    terms = list(enumerate(ranking.question.terms))
    weights = {term.tokens[0]: ranking.weights[number] for number, term in terms if len(term.tokens) == 1}
    return [
        (number, term.tokens, _weigh_phrase(ranking, number, weights))
        for number, term in terms
        if len(term.tokens) > 1 and is_run(term.tokens[0])
    ]


def _weigh_phrase(ranking: Ranking, number: int, weights: Mapping[str, float]) -> float:
    tokens = ranking.question.terms[number].tokens
    weight = sum(weights.get(word, 0.0) for word in {*tokens, *"".join(tokens)})
    return weight * min(1.0, weight / (ranking.whole or 1.0))


def _pairs(ranking: Ranking) -> list[tuple[str, float]]:
    """Return the neighbouring words of the question with the weight of the lighter of the two."""
    singles = [
        (term.tokens[0], weight)
        for term, weight in zip(ranking.question.terms, ranking.weights, strict=False)
        if len(term.tokens) == 1 and term.tokens[0].isascii()
    ]
    return [(f"{one} {two}", min(weight, other)) for (one, weight), (two, other) in pairwise(singles)]


# Turns of a conversation

_SOFT, _FURTHER = 0.18, 0.06
"""Shares of all words: how far below the best turn of a run another one adds to it, and what a further run of a record loses."""
_BEYOND, _BEYOND_READ = 0.45, 0.3
"""What is taken off runs, by words alone and with vectors: by so much they get more than passages of documents."""
_TURNS = 32
"""Turns for each hit that is wanted whose runs are looked at."""


def join_turns(whole: float, scored: Sequence[Scored], limit: int) -> list[Scored]:
    """Replace turns by runs of turns, best first. Passages of other records stay.

    A run is kept at its best turn, as its `run`. `whole` is the weight of all words of the question.
    """
    places: dict[int, dict[int, Scored]] = {}
    found: list[Scored] = []
    if not any(one.page.is_conversation for one in scored):
        return list(scored)
    for one in scored:
        if one.page.is_conversation and not one.page.passages[one.at].is_heading:
            places.setdefault(one.source, {})[one.at] = one
        else:
            found.append(one)
    least = scored[_TURNS * limit].score if len(scored) > _TURNS * limit else float("-inf")
    for turns in places.values():
        found += _runs(turns, whole or 1.0, least)
    return best_first(found)


def _runs(turns: dict[int, Scored], whole: float, least: float) -> Iterable[Scored]:
    """Yield the runs of a record that are worth most, none touching another, down to the score `least`."""
    page = next(iter(turns.values())).page
    best = max(turn.score for turn in turns.values())
    worth = [0.0] * (len(page.passages) + 1)  # of all passages before
    for at in range(len(page.passages)):
        worth[at + 1] = worth[at] + (exp((turns[at].score - best) / (_SOFT * whole)) if at in turns else 0.0)
    free = spans(page.passages, page.lines)
    lost = whole * (_BEYOND_READ if any(MEANING in turn.parts for turn in turns.values()) else _BEYOND)
    while free:
        run = max(free, key=lambda span: (worth[span.stop] - worth[span.start], -span.start))
        held = [turns[at] for at in run if at in turns]
        mass = worth[run.stop] - worth[run.start]
        score = best + _SOFT * whole * log(mass) - lost if held and mass > 0 else float("-inf")
        if score < least or not held or mass <= 0:
            return
        turn = max(held, key=lambda one: one.score)
        turn.run = run
        turn.add("run", score - turn.score)
        yield turn
        lost += _FURTHER * whole
        free = [_outside(span, run, page.passages) for span in free if span.start not in run]


def _outside(span: range, run: range, passages: Sequence[Passage]) -> range:
    """Return the part of a span before a run, without a heading at its end; all of it when it begins behind the run."""
    stop = span.stop if span.start > run.start else min(span.stop, run.start)
    while passages[stop - 1].is_heading:
        stop -= 1
    return range(span.start, stop)
