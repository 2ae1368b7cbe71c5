"""The order of memories before a prompt: relevance, then freshness, then reliability, by one formula.

The weights are in `data/memory_ranking.toml`. Pure.
"""

from __future__ import annotations

from functools import cache
from math import sqrt

from oracle.domain import tables
from oracle.domain.values import value

_NEAR, _NEAREST = 2.0, 5.0
"""Deviations of nearness in meaning at which a passage counts nothing, and in full."""


@value
class Signals:
    """What is known of a memory. `relevance` is from 0 to 1; `kind` is its type (`project`, `user` …), "" for a record."""

    relevance: float
    age_days: float = 0.0
    kind: str = ""
    has_evidence: bool = False
    confidence: str = ""
    is_verified: bool = False
    names_gone: bool = False
    claims_seat: bool = False


def worth(signals: Signals) -> float:
    """Return what a memory is worth before a prompt, from 0 to 1."""
    weights = _numbers("weights")
    return (
        weights["relevance"] * signals.relevance
        + weights["freshness"] * freshness(signals)
        + weights["reliability"] * reliability(signals)
    )


def freshness(signals: Signals) -> float:
    """Return how fresh a memory is: half after the half-life of its type."""
    half = _numbers("half_life")
    return float(0.5 ** (max(0.0, signals.age_days) / half.get(signals.kind, half["other"])))


def reliability(signals: Signals) -> float:
    """Return how far a memory may be believed by its evidence, its author's confidence, its seat and what it names."""
    given = _numbers("reliability")
    found = {
        "evidence": signals.has_evidence,
        "sure": signals.confidence == "high",
        "unsure": signals.confidence == "low",
        "verified": signals.is_verified,
        "gone": signals.names_gone,
        "claimed_seat": signals.claims_seat,
    }
    return min(1.0, max(0.0, given["base"] + sum(given[name] for name, is_so in found.items() if is_so)))


def relevance(coverage: float, of_known: float, *, shared: int, words: int) -> float:
    """Return how relevant a passage is to a prompt, from 0 to 1.

    `coverage` is the share of the prompt's topic in the passage, `of_known` the same among the words that any record holds.
    `shared` counts the words of both, `words` those of the prompt: of a long prompt nobody expects a large share.
    """
    rules = _numbers("relevance")
    expected = sqrt(max(1.0, words / rules["long_prompt"]))
    return min(1.0, sqrt(coverage * of_known) * expected) * min(1.0, shared / rules["shared_words"])


@cache
def _numbers(table: str) -> dict[str, float]:
    return {name: float(text) for name, text in tables.load("memory_ranking")[table].items()}


def by_meaning(nearness: float) -> float:
    """Return what nearness in meaning is worth as a relevance, from 0 to 1; it is in standard deviations."""
    return max(0.0, min(1.0, (nearness - _NEAR) / (_NEAREST - _NEAR)))
