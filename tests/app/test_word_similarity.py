"""What a passage holds of a question: its words, and words of like meaning."""

from __future__ import annotations

import math

import pytest

from oracle.app.records.views import Hit, Summary
from oracle.app.search.ranking.word_similarity import read_words

pytest.importorskip("numpy")
import numpy

ANGLES = {"buy": 0.0, "purchase": 30.0, "sell": 80.0, "kettle": 90.0, "采购": 0.0, "采买": 55.0, "kitchen": 200.0}
RECORD = Summary.from_row(("projects/p/s/a", "projects/p/s/a.md", *[""] * 13))


class Model:
    """Stand for the quick model: words are directions in a plane."""

    def __init__(self):
        self.asked = []

    def read(self, texts):
        self.asked.append(list(texts))
        turns = [math.radians(ANGLES.get(text, 200.0)) for text in texts]
        return numpy.array([[math.cos(turn), math.sin(turn)] for turn in turns], numpy.float32)


def hit(text, missing, nearness=1.0):
    return Hit(RECORD, 1.0, text, 1, 1, missing=missing, nearness=nearness)


def held(text, missing, **more):
    return read_words(Model(), [hit(text, missing, **more)])[0].held


@pytest.mark.parametrize(
    ("text", "missing", "share"),
    [
        ("We purchase in the kitchen.", (), 1.0),
        ("We purchase in the kitchen.", (("buy", 0.5),), 1 - 0.5 * (1 - (math.cos(math.radians(30)) - 0.3) / 0.7)),
        ("We sell in the kitchen.", (("buy", 0.5),), 0.5),
        ("We sell.", (("buy", 0.5), ("kettle", 0.5)), 0.5 * (math.cos(math.radians(10)) - 0.3) / 0.7),
        ("在这里采买", (("采购", 1.0),), (math.cos(math.radians(55)) - 0.5) / 0.5),
        ("在这里采买", (("buy", 1.0),), (math.cos(math.radians(55)) - 0.3) / 0.7),
        ("!", (("buy", 0.25),), 0.75),
    ],
    ids=["all there", "alike", "unlike", "two", "pairs of characters", "across scripts", "no word"],
)
def test_a_word_that_is_missing_counts_as_far_as_one_is_like_it(text, missing, share):
    assert held(text, missing) == pytest.approx(share, abs=1e-3)


def test_what_no_model_found_near_is_not_looked_at():
    model = Model()
    hits = read_words(model, [hit("We purchase.", (("buy", 0.5),), nearness=0.0)])
    assert ([one.held for one in hits], model.asked) == ([0.0], [])


def test_every_word_is_read_once_for_all_passages_and_their_order_stays():
    model = Model()
    hits = read_words(model, [hit("We sell 12 of these.", (("buy", 1.0),)), hit("Sell, purchase!", (("buy", 1.0),))])
    assert model.asked == [["sell", "buy", "purchase"]]
    assert hits[0].held < hits[1].held
