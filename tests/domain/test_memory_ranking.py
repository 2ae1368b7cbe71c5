"""The order of memories before a prompt."""

from __future__ import annotations

import pytest

from oracle.domain import tables
from oracle.domain.injection.ranking import Signals, freshness, relevance, reliability, worth

ORDINARY = Signals(0.6, age_days=200.0)


def test_the_weights_add_up_to_one_in_the_order_of_the_rule() -> None:
    weights = {name: float(text) for name, text in tables.load("memory_ranking")["weights"].items()}
    assert sum(weights.values()) == pytest.approx(1.0)
    assert weights["relevance"] > weights["freshness"] > weights["reliability"]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Signals(0.9, age_days=400.0), Signals(0.5, age_days=1.0)),
        (Signals(0.6, age_days=10.0), Signals(0.6, age_days=300.0)),
        (Signals(0.6, has_evidence=True), Signals(0.6)),
        (Signals(0.6, confidence="high"), Signals(0.6)),
        (Signals(0.6), Signals(0.6, confidence="low")),
        (Signals(0.6, is_verified=True), Signals(0.6)),
        (Signals(0.6), Signals(0.6, names_gone=True)),
        (Signals(0.6), Signals(0.6, claims_seat=True)),
        (Signals(0.6, age_days=1.0), Signals(0.6, age_days=200.0, has_evidence=True)),
        (Signals(0.6, 90.0, "user"), Signals(0.6, 90.0, "project")),
        (Signals(0.6, 90.0), Signals(0.6, 90.0, "project")),
    ],
)
def test_what_comes_first(better: Signals, worse: Signals) -> None:
    assert worth(better) > worth(worse)


@pytest.mark.parametrize("kind", ["project", "user", "feedback", "reference", "", "unknown"])
def test_freshness_halves(kind: str) -> None:
    days = {name: float(text) for name, text in tables.load("memory_ranking")["half_life"].items()}
    half = days.get(kind, days["other"])
    assert freshness(Signals(0.0, 0.0, kind)) == 1.0
    assert freshness(Signals(0.0, half, kind)) == pytest.approx(0.5)
    assert freshness(Signals(0.0, -5.0, kind)) == 1.0


def test_shares_stay_shares() -> None:
    best = Signals(1.0, has_evidence=True, confidence="high", is_verified=True)
    worst = Signals(0.0, 99999.0, "project", confidence="low", names_gone=True, claims_seat=True)
    assert 0.0 <= reliability(worst) <= reliability(best) <= 1.0
    assert 0.0 <= worth(worst) <= worth(best) <= 1.0


@pytest.mark.parametrize(
    ("coverage", "of_known", "shared", "words"), [(1.0, 1.0, 1, 1), (0.2, 1.0, 1, 3), (0.9, 0.9, 0, 4)]
)
def test_one_shared_word_is_little(coverage: float, of_known: float, shared: int, words: int) -> None:
    assert relevance(coverage, of_known, shared=shared, words=words) <= 0.5


def test_a_long_prompt_shares_less() -> None:
    assert relevance(0.2, 0.3, shared=5, words=40) > 0.35 > relevance(0.2, 0.3, shared=5, words=8)
    assert relevance(0.9, 0.9, shared=9, words=400) == 1.0
