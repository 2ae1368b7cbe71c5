"""Text of ours in files of others: in and out again, and nothing else moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain import owned

TEXTS = st.text(st.sampled_from("ab#`- \t\r\n") | st.characters(codec="utf-8"), max_size=60)


@given(TEXTS, st.text("ab \n", max_size=20), st.text("cd \n", max_size=20))
def test_what_was_there_comes_back(text: str, body: str, other: str):
    once = owned.put(text, "builder", body)
    assert owned.put(once, "builder", body) == once
    assert once.startswith(text)
    both = owned.put(owned.put(once, "memory", other), "builder", other)
    assert owned.take(owned.take(both, "memory"), "builder") == text
    assert [section.is_edited for section in owned.find(both)] == [False, False]


def test_section_keeps_its_place_and_the_line_ends_of_the_file():
    text = owned.put("first\r\n", "memory", "one\ntwo") + "last\r\n"
    renewed = owned.put(text, "memory", "three")
    assert text.count("\n") == text.count("\r\n") == 7
    assert renewed.startswith("first\r\n\r\n<!-- memory-oracle:begin memory sha256=")
    assert renewed.endswith(" -->\r\nthree\r\n<!-- memory-oracle:end memory -->\r\nlast\r\n")
    assert owned.take(renewed, "memory") == "first\r\nlast\r\n"


def test_change_by_hand_is_seen():
    text = owned.put("", "memory", "one\ntwo")
    assert not owned.find(text)[0].is_edited
    assert not owned.find(text.replace("\n", "\r\n"))[0].is_edited
    assert owned.find(text.replace("two", "2"))[0].is_edited


def test_file_that_is_all_ours_is_known_and_its_changes_are_seen():
    text = owned.sign("# Skill\n\nText.\n")
    assert (owned.is_signed(text), owned.is_edited(text)) == (True, False)
    assert owned.is_edited(text.replace("Text", "Mine"))
    assert not owned.is_signed(text + "more")
    assert not owned.is_signed("# Skill\n")


BEGIN, END = owned.put("", "memory", "x").splitlines()[::2]


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
    for act in (owned.find, lambda text: owned.put(text, "memory", "y"), lambda text: owned.take(text, "memory")):
        with pytest.raises(owned.BrokenMarks):
            act(text)


def test_talk_of_marks_is_no_mark():
    text = f"Write `{BEGIN}` and\n    {END}\n"
    assert owned.find(text) == []
