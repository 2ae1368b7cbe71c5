"""Which turns of a conversation make up a hit. Pure."""

from __future__ import annotations

from math import exp, log

from oracle.app.search.ranking.scoring import MEANING, Scored, best_first
from oracle.domain.markdown.passages import Passage, spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
