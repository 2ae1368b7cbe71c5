"""Responses from outside: what every reader of JSON takes is taken, all else is refused in a sentence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.records.responses import KEYS, parse_response, require_answer, require_json
from oracle.domain.schemas import load
from oracle.errors import UsageError

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(st.dictionaries(st.text(), TREES))
def test_what_is_json_is_taken_as_it_is(content: dict[str, object]):
    assert parse_response(json.dumps(content)) == content


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"answer":NaN}', "no number NaN"),
        ('{"a":[-Infinity]}', "no number -Infinity"),
        ('{"answer":1e999}', "1e999 is too large"),
        ('{"a":{"b":1,"b":1}}', "one object has the key 'b' twice"),
        ("1" * 5000, "a number of 5000 digits is too large"),
        ("[" * 100_000, "nested too deeply"),
        ('{"answer"', "Expecting"),
        ('["B."]', "not a JSON object"),
        (b'{"a":"\xff"}', "not UTF-8"),
    ],
)
def test_what_others_refuse_is_refused_with_the_reason(text: str | bytes, reason: str):
    with pytest.raises(UsageError) as caught:
        parse_response(text)
    assert reason in caught.value.sentence
    assert "sys." not in caught.value.sentence
    assert "recursion" not in caught.value.sentence


def test_a_value_that_can_not_be_printed_is_refused():
    require_json({"answer": 1.5})
    with pytest.raises(UsageError, match="NaN"):
        require_json({"answer": [float("nan")]})


@pytest.mark.parametrize("depth", [3, 900])
def test_few_bytes_that_would_be_printed_as_many_are_refused(depth: int):
    response: object = [0] * 10_000
    for _ in range(depth):
        response = [response]
    if depth < 10:
        require_json({"answer": "x", "more": response})
    else:
        with pytest.raises(UsageError, match="nested too deeply"):
            require_json({"answer": "x", "more": response})


def refusal(response: dict[str, object]) -> str:
    """Return why a response is refused, "" if it passes."""
    before = dict(response)
    try:
        require_answer(response)
    except UsageError as error:
        return str(error)
    assert response == before
    return ""


@pytest.mark.parametrize(
    "response",
    [
        {},
        {"answer": ""},
        {"answer": " \t\n\u3000\u200b"},
        {"answer": None},
        {"answer": {}},
        {"answer": ["", None, {}]},
        {"answer": "", "claims": [{"statement": "x"}]},
        {"claims": [], "sources": []},
        {"answer": json.loads("[" * 900 + "]" * 900)},
    ],
)
def test_response_that_says_nothing_is_refused(response: dict[str, object]):
    with pytest.raises(UsageError, match="holds no answer; nothing was delivered"):
        require_answer(response)


@pytest.mark.parametrize(
    "response",
    [{"answer": "B."}, {"answer": "好"}, {"answer": 0}, {"answer": False}, {"result": "B."}, {"answer": None, "n": 1}],
)
def test_response_that_says_something_passes(response: dict[str, object]):
    assert refusal(response) == ""


@pytest.mark.parametrize(
    ("response", "key", "meant"),
    [
        ({"answr": "x"}, "answr", "answer"),
        ({"Answer": "x"}, "Answer", "answer"),
        ({"answers": ["x"]}, "answers", "answer"),
        ({"anwser": "x", "claims": []}, "anwser", "answer"),
        ({"answer": "x", "claim": []}, "claim", "claims"),
        ({"answer": "x", "CLAIMS": []}, "CLAIMS", "claims"),
        ({"answer": "x", "confidense": "high"}, "confidense", "confidence"),
        ({"result": "x", "souces": []}, "souces", "sources"),
        ({"text": "x"}, "text", "answer"),
        ({"query_id": "Q-1", "reply": "x"}, "reply", "answer"),
        ({"k" * 200: "x"}, "k" * 60 + "…", "answer"),
        ({"": "x"}, "", "answer"),
    ],
)
def test_response_with_a_mistyped_key_or_no_known_one_is_refused(response: dict[str, object], key: str, meant: str):
    with pytest.raises(UsageError, match=f"has the unknown key {key!r}; did you mean {meant}[?]"):
        require_answer(response)


@pytest.mark.parametrize(
    "more",
    [
        {"answers": ["y"]},
        {"source": "memory"},
        {"notes": "y", "query_id": "Q-1", "用户": 1},
        {"claim_results": [], "claims": []},
        {"status": "answered", "candidates": [], "replaced": [], "nearest": [], "unknown": [], "searched": {}},
    ],
)
def test_other_keys_pass_beside_a_known_one(more: dict[str, object]):
    assert refusal({"answer": "x", **more}) == ""


def test_keys_are_those_of_the_schema():
    assert {*KEYS, "source"} < {*load("response")["properties"]}
