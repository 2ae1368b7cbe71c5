"""Cutting Markdown into passages: whole lines, never across a fence, the headings above; and widening what was found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.markdown.passages import MAX_CHARACTERS, Passage, cut, join, spans, widen

LINES = st.sampled_from(["", "# One", "## Two", "a line", "- item", "```", "~~~", "x" * 200, "y" * 900, "中文一行"])


def stretch(text: str, passage: Passage) -> str:
    return "\n".join(text.split("\n")[passage.first_line - 1 : passage.last_line])


@given(st.lists(LINES, max_size=40).map("\n".join))
def test_passages_are_short_whole_and_where_they_say(text: str) -> None:
    passages = cut(text)
    for passage in passages:
        whole = stretch(text, passage)
        assert len(passage.text) <= MAX_CHARACTERS
        assert passage.text == whole or (passage.first_line == passage.last_line and passage.text in whole)
    covered = {line for passage in passages for line in range(passage.first_line, passage.last_line + 1)}
    assert {number for number, line in enumerate(text.split("\n"), 1) if line.strip()} <= covered


@given(st.lists(LINES, max_size=40).map("\n".join), st.integers(0, 39))
def test_a_wider_passage_is_still_short_and_whole(text: str, at: int) -> None:
    passages = cut(text)
    if not passages:
        return
    at %= len(passages)
    passage, members = widen(passages, at, text.split("\n"), worth=lambda _: 0.0, taken=set())
    assert len(passage.text) <= MAX_CHARACTERS
    assert at in members
    assert passages[at].text in passage.text
    assert all(not passages[number].fenced for number in members if number != at)


def test_headings_are_the_path_above() -> None:
    text = "# One\n\nfirst\n\n## Two ##\n\nsecond\n\n# Three\n\nthird"
    above = {passage.text: passage.headings for passage in cut(text)}
    assert above["first"] == ("One",)
    assert above["second"] == ("One", "Two")
    assert above["third"] == ("Three",)


def test_a_fence_is_a_passage_of_its_own() -> None:
    text = "before\n```sh\nrun\n\n# no heading\n```\nafter"
    assert [(p.first_line, p.last_line, p.fenced) for p in cut(text)] == [(1, 1, False), (2, 6, True), (7, 7, False)]


def test_a_fence_that_is_never_closed_is_a_line_of_text() -> None:
    assert [p.fenced for p in cut("before\n\n```\nafter\n\n# Heading")] == [False, False, False]


def test_a_passage_takes_the_better_neighbour_first_and_no_heading_at_its_edge() -> None:
    text = "\n\n".join(["# Head", "a" * 300, "b" * 300, "c" * 300])
    passages = cut(text)
    passage, members = widen(passages, 2, text.split("\n"), worth=lambda at: float(at == 3), taken=set())
    assert (passage.first_line, passage.last_line) == (5, 7)
    assert list(members) == [2, 3]
    passage, _ = widen(passages, 2, text.split("\n"), worth=lambda at: float(at == 3), taken={3})
    assert (passage.first_line, passage.last_line) == (3, 5)


def test_spans_are_the_longest_runs_within_the_limit_and_end_in_text() -> None:
    text = f"# A\n\n{'a' * 300}\n\n{'b' * 300}\n\n## B\n\n{'c' * 300}\n\n```\ncode\n```\n\nd\n"
    passages = cut(text)
    found = spans(passages, text.split("\n"))
    assert [(span.start, span[-1]) for span in found] == [(1, 2), (2, 4), (4, 4), (5, 5), (6, 6)]
    for span in found:
        assert len(join(passages, span, text.split("\n"), at=span.start).text) <= MAX_CHARACTERS
