"""Chunkes: every passage but headings in one, never across a heading, each with its title and headings before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.markdown.passages import MAX_CHARACTERS, cut, embedding_chunks
from oracle.index.fold import is_wide_text

TEXT = "# Retries\n\nFive times.\n\nThen never.\n\n## Why\n\nThe peer is slow.\n"


def test_a_chunk_begins_with_title_and_headings_and_ends_where_they_change():
    found = embedding_chunks("Retries", cut(TEXT))
    assert [chunk.text for chunk in found] == [
        "Retries\nFive times.\nThen never.",
        "Retries > Why\nThe peer is slow.",
    ]
    assert [(chunk.first, chunk.last) for chunk in found] == [(1, 2), (4, 4)]


def test_a_record_without_text_is_its_title():
    assert [chunk.text for chunk in embedding_chunks("Retries", cut(""))] == ["Retries"]
    assert [chunk.text for chunk in embedding_chunks("Retries", cut("# Only a heading"))] == ["Retries"]


TALK = "# A talk\n\nAnna: Where did you go?\n\nBen: To the sea.\n\nThey laughed.\n"


def test_where_most_passages_are_said_by_somebody_each_of_these_is_a_chunk_besides():
    found = embedding_chunks("A talk", cut(TALK))
    assert [(chunk.text, chunk.is_turn) for chunk in found] == [
        ("A talk\nAnna: Where did you go?\nBen: To the sea.\nThey laughed.", False),
        ("Anna: Where did you go?", True),
        ("Ben: To the sea.", True),
    ]
    assert len(embedding_chunks("Settings", cut("# Settings\n\nNote: it is slow.\n\nOne.\n\nTwo.\n"))) == 1


@given(st.text(alphabet="#` \nab錯", max_size=3000))
def test_every_passage_but_headings_is_in_one_chunk(text):
    passages = cut(text)
    held = [number for one in embedding_chunks("t", passages) for number in range(one.first, one.last + 1)]
    texts = [number for number, passage in enumerate(passages) if not passage.is_heading]
    assert [number for number in held if passages and not passages[number].is_heading] == texts
    for one in embedding_chunks("t", passages):
        size = sum(len(passages[number].text) for number in range(one.first, one.last + 1)) if passages else 0
        assert one.first == one.last or size < 2 * MAX_CHARACTERS


def test_a_text_is_wide_when_a_fifth_of_its_letters_is():
    assert is_wide_text("为什么选择 PostgreSQL？")
    assert not is_wide_text("The 数据库 is PostgreSQL, since the team knows how to run it in production")
    assert not is_wide_text("")
