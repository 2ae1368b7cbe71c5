"""A pattern of a table that is compiled for a text with one of its words matches no text without them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain import tables

PROMPTS, SHAPES = tables.load("prompts"), tables.load("query")["shape"]
ROWS = {name: (PROMPTS["patterns"][name], words) for name, words in PROMPTS["words"].items()}
ROWS |= {name: (shape["question"], shape["words"]) for name, shape in SHAPES.items()}


@pytest.mark.parametrize("name", ROWS)
@given(data=st.data())
def test_a_text_that_matches_has_one_of_the_words(name: str, data: st.DataObject) -> None:
    pattern, words = ROWS[name]
    text = data.draw(st.from_regex(tables.expand(pattern)))
    assert any(word in text.lower() for word in words.split())
