"""How probable it is that a passage holds the answer to a question: one logistic score.

The signals say how much of the question the passage holds, and how much in one sentence, how far it leads before other records,
and whether it has a value of the type that is asked for. Their weights are in `data/probability.toml`; `benchmarks/confidence.py`
fits them. Pure.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import exp, log

from oracle.app.answers.question import stem_of
from oracle.app.search.ranking.query import parse_query, shapes_of
from oracle.domain import tables
from oracle.domain.compiling import compiled
from oracle.index import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.app.answers.question import Question
    from oracle.app.records.views import Hit

_SENTENCE = r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+"
_WORD = r"[^\W_]+"


def probability(signals: Mapping[str, float]) -> float:
    """Return the probability, 0 to 1, that a passage with these signals holds the answer."""
    weights = {name: float(text) for name, text in tables.load("probability")["weights"].items()}
    points = weights["bias"] + sum(weights[name] * signal for name, signal in signals.items())
    return 1 / (1 + exp(-points))


def is_answer(likely: float) -> bool:
    """Return whether a passage with this probability is an answer, and not only a candidate."""
    shown = round(likely, 2)  # what a person reads is what counts
    return shown >= float(tables.load("probability")["bars"]["answer"])


def is_candidate(likely: float) -> bool:
    """Return whether a passage with this probability is worth being judged."""
    return likely >= float(tables.load("probability")["bars"]["candidate"])


def read_signals(asked: Question, hits: Sequence[Hit]) -> list[dict[str, float]]:
    """Return the signals of each hit. Each is from 0 to 1, but for `asking`, which may be more, and `lead`, which may be less."""
    shapes = parse_query(asked.text).shapes
    best: dict[str, float] = {}
    for hit in hits:
        if hit.record.is_retired:  # it is not quoted, so it is no other answer beside the record that replaced it
            continue
        best[hit.record.slug] = max(hit.coverage, best.get(hit.record.slug, 0.0))
    first = sorted(((coverage, slug) for slug, coverage in best.items()), reverse=True)[:2]
    return [
        {
            **_of_words(asked, hit),
            "untyped": float(_lacks_type(shapes, hit.snippet)),
            "lead": hit.coverage - next((coverage for coverage, slug in first if slug != hit.record.slug), 0.0),
        }
        for hit in hits
    ]


def _of_words(asked: Question, hit: Hit) -> dict[str, float]:
    sentences = [one for one in compiled(_SENTENCE).split(hit.snippet) if one.strip()]
    return {
        "known": min(1.0, hit.coverage / (hit.known or 1.0) + hit.translated),
        "asking": log(1 + asked.asking),
        "sentence": max(map(asked.share_in, sentences), default=0.0),
        "rows": _share_of_rows(asked.text, hit.snippet),
    }


def _lacks_type(shapes: frozenset[str], text: str) -> bool:
    """Return whether the question asks for a type of value, as a time or a number, that the text has none of."""
    patterns = shapes_of("answer")
    return not all(compiled(patterns[shape]).search(text) for shape in sorted(shapes) if shape in patterns)


def _share_of_rows(question: str, text: str) -> float:
    """Return the share of the neighbouring words of a question that are neighbours in a text too."""
    rows, held = _rows(question), _rows(text)
    return sum(row in held for row in rows) / len(rows) if rows else 0.0


def _rows(text: str) -> set[tuple[str, str]]:
    words = [stem_of(word) for word in re.findall(_WORD, fold.fold(text).lower()) if word not in fold.STOP_WORDS]
    return set(pairwise(words))
