"""Conversations in the ranking: what speaks for a turn, and which turns make a hit. Pure.

A turn is short: its words say less than where it stands. What is asked of a conversation stands in several places of it, so
runs of turns are ranked rather than single ones, and each further run of a record counts a little less.
"""

from __future__ import annotations

from math import exp, log

from oracle.domain.markdown.passages import Passage, spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oracle.app.search.ranking.scoring import Ranking, Scored

RECORD = 0.45
"""Weight of the record's own score for its turns."""
_SPEAKER, _REPLY, _ASKS, _AROUND, _LENGTH = 0.5, 0.38, 0.2, 0.3, 0.1
"""Shares of the weight of all words of the question."""
_DAY, SHAPE = 2.5, 0.5
"""Shares of the weight of the heaviest word."""
_REACH = 3
"""Turns before and after in which words of the question count for a turn."""
_USUAL = 30
"""Words of a usual turn: what tells something is longer than what agrees."""
_SOFT, _FURTHER = 0.18, 0.06
"""How far below the best turn of a run another one adds to it, and what a further run of its record loses; of all words."""
_BEYOND, _BEYOND_READ = 0.45, 0.3
"""What is taken off runs, of all words, by words alone and with vectors: so much more than passages of documents they get."""
_TURNS = 32
"""Turns for each hit that is wanted whose runs are looked at."""


def add_turn(ranking: Ranking, one: Scored, *, is_speaker: bool, near: float) -> None:
    """Add what speaks for a turn: its speaker, how `near` its day is (0 to 1), the words around it, what it replies to."""
    page, whole = one.page, ranking.whole
    before = ranking.covered(one.source, (one.at - 1,))
    around = ranking.covered(one.source, range(one.at - _REACH, one.at + _REACH + 1))
    one.add("speaker", _SPEAKER * whole * is_speaker)
    one.add("date", _DAY * near * ranking.heaviest)
    one.add("around", _AROUND * whole * ranking.coverage(around))
    one.add("length", _LENGTH * whole * log(page.lengths[one.at] / _USUAL))
    if one.at and page.asks[one.at - 1]:
        one.add("reply", _REPLY * whole * ranking.coverage(before))
    if page.asks[one.at]:
        one.add("asks", -_ASKS * whole)


def join_turns(whole: float, scored: Sequence[Scored], limit: int) -> list[Scored]:
    """Put runs of turns in the place of turns, best first; passages of other records stay as they are.

    A run is kept at the best turn of it, as its `run`. `whole` is the weight of all words of the question.
    """
    places: dict[int, dict[int, Scored]] = {}
    found: list[Scored] = []
    for one in scored:
        if one.page.is_conversation and not one.page.passages[one.at].is_heading:
            places.setdefault(one.source, {})[one.at] = one
        else:
            found.append(one)
    least = scored[_TURNS * limit].score if len(scored) > _TURNS * limit else float("-inf")
    for turns in places.values():
        found += _runs(turns, whole or 1.0, least)
    return sorted(found, key=lambda one: one.order) if places else found


def _runs(turns: dict[int, Scored], whole: float, least: float) -> Iterable[Scored]:
    """Yield the runs of a record that are worth most, none touching another, down to the score `least`."""
    page = next(iter(turns.values())).page
    best = max(turn.score for turn in turns.values())
    worth = [0.0] * (len(page.passages) + 1)  # of all passages before
    for at in range(len(page.passages)):
        worth[at + 1] = worth[at] + (exp((turns[at].score - best) / (_SOFT * whole)) if at in turns else 0.0)
    free = spans(page.passages, page.lines)
    is_read = any("meaning" in turn.parts for turn in turns.values())
    lost = whole * (_BEYOND_READ if is_read else _BEYOND)
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
    """Return what of a span lies before a run, without a heading at its end; all of it when it lies behind."""
    stop = span.stop if span.start > run.start else min(span.stop, run.start)
    while passages[stop - 1].is_heading:
        stop -= 1
    return range(span.start, stop)
