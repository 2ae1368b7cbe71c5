"""How probable it is that a passage holds the answer: what raises and what lowers it, and the words for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.answers.probability import is_answer, probability, read_signals
from oracle.app.answers.question import read_question
from oracle.domain import tables

PAGE = Path(__file__).resolve().parents[2] / "references/answers.md"
BUILDER = "projects/arena/builder"
RETRY = "Webhooks are retried five times with exponential backoff."
QUESTION = "How many times are webhooks retried with exponential backoff?"


@pytest.fixture
def oracle(root: Path) -> Oracle:
    texts = {
        f"note-{topic}": f"# About {topic}\n\nWe ordered more {topic}."
        for topic in ("lunch", "paper", "plants", "badges")
    }
    for name, text in {**texts, "retry": f"# Attempts\n\n{RETRY}"}.items():
        path = root / f"{BUILDER}/{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    return Oracle.open(str(root))


def likely(oracle: Oracle, question: str) -> float:
    return max((item.probability for item in oracle.answer(question, fresh=True).claims), default=0.0)


def test_a_claim_says_how_probable_it_is(oracle: Oracle) -> None:
    (claim,) = oracle.answer(QUESTION).claims
    assert 0.5 < claim.probability < 1
    assert claim.as_json()["probability"] == round(claim.probability, 2)


def test_a_passage_that_says_it_in_one_sentence_is_more_probable(root: Path, oracle: Oracle) -> None:
    before = likely(oracle, QUESTION)
    scattered = "Webhooks exist. Backoff exists. Five things were retried. Growth is exponential. We count times."
    (root / f"{BUILDER}/retry.md").write_text(f"# Attempts\n\n{scattered}\n", encoding="utf-8")
    assert 0 < likely(oracle, QUESTION) < before


def test_another_record_that_holds_as_much_makes_both_less_probable(root: Path, oracle: Oracle) -> None:
    before = likely(oracle, QUESTION)
    other = "Webhooks are retried with exponential backoff many times, or so they say."
    (root / f"{BUILDER}/other.md").write_text(f"# Rumours\n\n{other}\n", encoding="utf-8")
    assert likely(oracle, QUESTION) < before


def test_a_record_that_was_replaced_makes_its_successor_no_less_probable(root: Path, oracle: Oracle) -> None:
    before = likely(oracle, QUESTION)
    (root / f"{BUILDER}/retry.md").write_text(f"# Attempts\n\n{RETRY.replace('five', 'two')}\n", encoding="utf-8")
    assert likely(oracle, QUESTION) == pytest.approx(before, abs=0.02)
    replaces = f'---\nsupersedes: ["{BUILDER}/retry"]\n---\n# Attempts of today\n\n{RETRY}\n'
    (root / f"{BUILDER}/today.md").write_text(replaces, encoding="utf-8")
    (claim, *_) = oracle.answer(QUESTION, fresh=True).claims
    assert claim.record.slug == f"{BUILDER}/today"
    assert claim.probability > before - 0.1


@pytest.mark.parametrize(("likely", "expected"), [(0.8451, True), (0.844, False)])
def test_what_is_shown_as_the_bar_counts(likely: float, expected: bool) -> None:
    assert is_answer(likely) is expected


def test_a_passage_without_the_type_that_is_asked_for_is_less_probable(oracle: Oracle) -> None:
    signals = {}
    for question in (
        "When are webhooks retried with exponential backoff?",
        "Why are webhooks retried with exponential backoff?",
    ):
        asked = read_question(oracle, question, {})
        (hit, *_) = oracle.search(question)
        (signals[question[:4]],) = read_signals(asked, [hit])
    assert (signals["When"]["untyped"], signals["Why "]["untyped"]) == (1.0, 0.0)
    assert probability({**signals["Why "], "untyped": 1.0}) < probability(signals["Why "])


def test_every_signal_has_a_weight_and_a_line_in_the_page(oracle: Oracle) -> None:
    (hit, *_) = oracle.search(QUESTION)
    (signals,) = read_signals(read_question(oracle, QUESTION, {}), [hit])
    weights = tables.load("probability")["weights"]
    assert weights.keys() == {"bias", *signals}
    assert set(re.findall(r"(?m)^\| `(\w+)` \| (?:the|1) ", PAGE.read_text(encoding="utf-8"))) >= signals.keys()


@pytest.mark.parametrize(("likely", "status"), [(0.0, "candidates"), (0.84, "candidates"), (0.85, "answered")])
def test_an_answer_is_what_is_probable_enough(
    oracle: Oracle, likely: float, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oracle.app.answers.choosing.probability", lambda signals: likely)
    reply = oracle.answer(QUESTION)
    document = reply.as_json()
    assert (reply.status, reply.confidence, document["confidence"]) == (status, likely, likely)
    quoted = [item["handle"] for item in document["candidates" if status == "candidates" else "claims"]]
    assert quoted == [item.handle for item in reply.claims] != []
    assert document["claims" if status == "candidates" else "candidates"] == []
    assert "from a probability of 0.85" in PAGE.read_text(encoding="utf-8")
