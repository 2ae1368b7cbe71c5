"""What a sentence remembers, and that its values stay what they are."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.wording import Sentence, from_json, joined, say, say_each, say_many, to_json

ODD = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("{}%\n\\!:"), max_size=30)


def test_a_sentence_is_its_english_and_knows_its_template():
    said = say("{path} has {count:,} lines.", path="a.md", count=1234)
    assert said == "a.md has 1,234 lines."
    assert isinstance(said, str)
    assert (said.template, dict(said.values)) == ("{path} has {count:,} lines.", {"path": "a.md", "count": 1234})


@given(ODD, ODD)
def test_values_are_data(one: str, other: str):
    assert say("{{{one}}} and {other!r}.", one=one, other=other) == f"{{{one}}} and {other!r}."


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((), ""),
        (["a"], "a"),
        (("a", "b"), "a, b"),
        (iter("ab"), "a, b"),
        ({"k": 1}.keys(), "k"),
        ([say("x"), 2], "x, 2"),
    ],
)
def test_a_list_is_told_with_commas(values: object, told: str):
    assert say("{names}.", names=values) == f"{told}."


@pytest.mark.parametrize(("n", "told"), [(0, "0 files of a"), (1, "1 file of a"), (2, "2 files of a")])
def test_one_and_many(n: int, told: str):
    said = say_many("{n} file of {where}", "{n} files of {where}", n=n, where="a")
    assert said == told
    assert (said.template, said.many) == ("{n} file of {where}", "{n} files of {where}")


@pytest.mark.parametrize(
    "said",
    [say("{a} and {b}", a="x", b=[say("y"), 1]), say_many("{n} one", "{n} many", n=3), joined("; ", [say("x"), "y"])],
)
def test_a_copy_remembers_as_much(said: Sentence):
    for again in (copy.copy(said), copy.deepcopy(said), pickle.loads(pickle.dumps(said))):  # noqa: S301
        assert (again, type(again), again.template, again.many) == (said, type(said), said.template, said.many)
    again = from_json(json.loads(json.dumps(to_json(said))))
    assert isinstance(again, Sentence)
    assert (again, type(again), again.template, again.many) == (said, type(said), said.template, said.many)
    assert (again.values, getattr(again, "parts", None)) == (said.values, getattr(said, "parts", None))


@pytest.mark.parametrize(
    "stored",
    [
        "plain text",
        7,
        {},
        {"template": 1, "values": {}},
        {"template": "{a}", "values": {}},
        {"template": "{a}", "values": 1},
        {"template": "{a.__class__}", "values": {"a": "x"}},
        {"template": "{a:>999999999}", "values": {"a": "x"}},
        {"template": "{a:{b}}", "values": {"a": "x", "b": ">9999999"}},
        {"template": "{", "values": {}},
        {"separator": 1, "parts": ["x"]},
        {"separator": "", "parts": 1},
    ],
)
def test_what_is_no_stored_sentence_is_plain_text(stored: object):
    assert from_json(stored) == str(stored)
    assert type(from_json(stored)) is str


def test_json_holds_the_english():
    assert (
        json.dumps({"message": say("{a}!", a="x"), "row": joined(", ", ["a", "b"])})
        == '{"message": "x!", "row": "a, b"}'
    )


def test_values_can_be_changed_all_the_way_down():
    said = say("{a}: {b}, {c}", a="x", b=[say("in {d}", d="y"), 1], c=joined("; ", ["z", say("t")]))
    assert said.map_text(str.upper) == "X: in Y, 1, Z; t"
    assert said.map_text(str.upper).template == said.template


def test_each_word_is_a_sentence_of_its_own():
    assert [word.template for word in say_each("slug", "when")] == ["slug", "when"]
