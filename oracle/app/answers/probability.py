"""How probable it is that a passage holds the answer to a question: one logistic score.

The signals say how much of the question the passage holds, and how much in one sentence. They say how far it leads before other
records, whether the search found it first, and whether it has a value of the type that is asked for beside what fits best. Their
weights are in `data/probability.toml`; `benchmarks/confidence.py` fits them. Pure.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from math import exp, log

from oracle.app.answers.question import stem_of
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
_LEAST = 3
"""Characters with which another form of a counted thing begins too, at the least: `tri` for `tries`."""
_NEARLY = 0.8
"""The share of the most that a sentence holds of a question, from which it fits as well as the best."""


def probability(signals: Mapping[str, float]) -> float:
    """Return the probability, 0 to 1, that a passage with these signals holds the answer."""
    weights = {name: float(text) for name, text in tables.load("probability")["weights"].items()}
    points = weights["bias"] + sum(weights[name] * signal for name, signal in signals.items())
    return 1 / (1 + exp(-points))


def is_answer(likely: float) -> bool:
    """Return whether a passage with this probability, as it is shown, is an answer, and not only a candidate."""
    return round(likely, 2) >= float(tables.load("probability")["bars"]["answer"])


def is_candidate(likely: float) -> bool:
    """Return whether a passage with this probability is worth being judged."""
    return likely >= float(tables.load("probability")["bars"]["candidate"])


def read_signals(asked: Question, hits: Sequence[Hit]) -> list[dict[str, float]]:
    """Return the signals of each hit, best first. Each is from 0 to 1, but for `asking`, which may be more, and `lead`."""
    patterns = patterns_asked(asked.text)
    best: dict[str, float] = {}
    for hit in hits:
        best[hit.record.slug] = max(hit.coverage, best.get(hit.record.slug, 0.0))
    first = sorted(((coverage, slug) for slug, coverage in best.items()), reverse=True)[:2]
    asking = log(1 + asked.asking)
    found = []
    for number, hit in enumerate(hits):
        beside = next((coverage for coverage, slug in first if slug != hit.record.slug), 0.0)
        sentences = [one for one in compiled(_SENTENCE).split(hit.snippet) if one.strip()]
        shares = [asked.share_in(sentence) for sentence in sentences]
        found.append(
            {
                "known": min(1.0, hit.coverage / (hit.known or 1.0) + hit.translated),
                "asking": asking,
                "sentence": max(shares, default=0.0),
                "rows": _share_of_rows(asked.text, hit.snippet),
                "untyped": float(lacks_value(patterns, _around_best(sentences, shares))),
                "lead": (hit.coverage - beside) * asking,
                "first": float(number == 0),
            }
        )
    return found


def _around_best(sentences: Sequence[str], shares: Sequence[float]) -> str:
    """Return the sentences that hold about the most of the question, and those beside them."""
    least = _NEARLY * max(shares, default=0.0)
    best = [at for at, share in enumerate(shares) if share >= least]
    kept = {near for at in best for near in (at - 1, at, at + 1)}
    return "\n".join(sentence for at, sentence in enumerate(sentences) if at in kept)


def _share_of_rows(question: str, text: str) -> float:
    """Return the share of the neighbouring words of a question that are neighbours in a text too."""
    rows, held = _rows(question), _rows(text)
    return sum(row in held for row in rows) / len(rows) if rows else 0.0


def _rows(text: str) -> set[tuple[str, str]]:
    words = [stem_of(word) for word in re.findall(_WORD, fold.fold(text).lower()) if word not in fold.STOP_WORDS]
    return set(pairwise(words))


# The types of values that a question asks for -------------------------------------------------------------------------


def patterns_asked(question: str) -> list[str]:
    """Return the pattern of each type of value that a question asks for."""
    small = question.lower()
    found = []
    for words, asking, answer in _types():
        if any(word in small for word in words) and (match := compiled(asking).search(small)):
            thing = match.groupdict().get("thing") or ""
            found.append(tables.expand(answer, {**tables.load("probability")["part"], "thing": _beginning(thing)}))
    return found


def lacks_value(patterns: Sequence[str], text: str) -> bool:
    """Return whether a text has no value of one of the types."""
    return not all(compiled(pattern).search(text) for pattern in patterns)


@cache
def _types() -> tuple[tuple[tuple[str, ...], str, str], ...]:
    """Return of each type the words of which a question has one, the pattern of the question, and that of the value."""
    table = tables.load("probability")
    return tuple(
        (tuple(one["words"].split()), tables.expand(one["question"], table["part"]), one["answer"])
        for one in table["type"].values()
    )


def _beginning(thing: str) -> str:
    """Return a pattern of what a counted thing, by its last word, begins with in its other forms."""
    word = thing.split()[-1] if thing else ""
    return re.escape(word[: max(_LEAST, len(word) - 3)])
