"""Text of ours in files of others: in and out again, and nothing else moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.markdown import managed_block

TEXTS = st.text(st.sampled_from("ab#`- \t\r\n") | st.characters(codec="utf-8"), max_size=60)


@given(TEXTS, st.text("ab \n", max_size=20), st.text("cd \n", max_size=20))
def test_what_was_there_comes_back(text: str, body: str, other: str):
    once = managed_block.put(text, "builder", body)
    assert managed_block.put(once, "builder", body) == once
    assert once.startswith(text)
    both = managed_block.put(managed_block.put(once, "memory", other), "builder", other)
    assert managed_block.take(managed_block.take(both, "memory"), "builder") == text
    assert [section.is_edited for section in managed_block.find(both)] == [False, False]


def test_section_keeps_its_place_and_the_line_ends_of_the_file():
    text = managed_block.put("first\r\n", "memory", "one\ntwo") + "last\r\n"
    renewed = managed_block.put(text, "memory", "three")
    assert text.count("\n") == text.count("\r\n") == 7
    assert renewed.startswith("first\r\n\r\n<!-- memory-oracle:begin memory sha256=")
    assert renewed.endswith(" -->\r\nthree\r\n<!-- memory-oracle:end memory -->\r\nlast\r\n")
    assert managed_block.take(renewed, "memory") == "first\r\nlast\r\n"


def test_change_by_hand_is_seen():
    text = managed_block.put("", "memory", "one\ntwo")
    assert not managed_block.find(text)[0].is_edited
    assert not managed_block.find(text.replace("\n", "\r\n"))[0].is_edited
    assert managed_block.find(text.replace("two", "2"))[0].is_edited


def test_file_that_is_all_ours_is_known_and_its_changes_are_seen():
    text = managed_block.sign("# Skill\n\nText.\n")
    assert (managed_block.is_signed(text), managed_block.is_edited(text)) == (True, False)
    assert managed_block.is_edited(text.replace("Text", "Mine"))
    assert not managed_block.is_signed(text + "more")
    assert not managed_block.is_signed("# Skill\n")


BEGIN, END = managed_block.put("", "memory", "x").splitlines()[::2]


@pytest.mark.parametrize(
    "lines",
    [
        [BEGIN],
        [END],
        [END, BEGIN],
        [BEGIN, BEGIN, END, END],
        [BEGIN, END.replace("memory -", "builder -")],
        [BEGIN, END] * 2,
    ],
)
def test_marks_that_are_no_pairs_are_refused(lines: list[str]):
    text = "\n".join(["first", *lines, "last"])
    for act in (
        managed_block.find,
        lambda text: managed_block.put(text, "memory", "y"),
        lambda text: managed_block.take(text, "memory"),
    ):
        with pytest.raises(managed_block.BrokenMarks):
            act(text)


def test_talk_of_marks_is_no_mark():
    text = f"Write `{BEGIN}` and\n    {END}\n"
    assert managed_block.find(text) == []


@given(st.sampled_from(["", "\ufeff", "\n", "# R\n", "# R\n\n", "\ufeff# R\r\n"]), st.text("a #\n", max_size=8))
def test_what_was_written_above_the_section_since_stays(text: str, above: str):
    """Above all of a text, on lines of its own: a blank line at the top is a person's."""
    above += "\n" if above and not above.endswith("\n") else ""
    once = managed_block.put(text, "memory", "body")
    assert managed_block.take(above + managed_block.put(once, "memory", "new"), "memory") == above + text


def test_a_mark_of_the_byte_order_hides_no_section():
    """An editor may put it before a file that begins with the section."""
    text = "\ufeff" + managed_block.put("", "memory", "body")
    assert [(section.name, section.is_edited) for section in managed_block.find(text)] == [("memory", False)]
    assert managed_block.take(text, "memory") == "\ufeff"
    assert not managed_block.is_edited("\ufeff" + managed_block.sign("# Skill\n"))
