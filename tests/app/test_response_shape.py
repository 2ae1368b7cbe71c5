"""What is stored as a response is valid by its schema, and only an odd response makes a delivery load the schema checker."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from oracle.app import claims
from oracle.errors import UsageError
from oracle.store.root.layout import Root

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas/response.schema.json").read_text(encoding="utf-8"))
VALID = Draft202012Validator({**SCHEMA, "required": []})

SCALARS = st.none() | st.booleans() | st.integers(-2, 3) | st.text("a1-", max_size=3)
ANY = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab"), inner, max_size=2)
)
LINES = st.one_of(
    st.integers(-1, 3), st.sampled_from(["", "1", "L2-L3"]), st.lists(st.integers(0, 2) | st.just("1"), max_size=2), ANY
)
TEXT = st.sampled_from(["a.md", "x y"]) | ANY
EVIDENCE = st.fixed_dictionaries(
    {}, optional={"path": TEXT, "file": TEXT, "quote": TEXT, "lines": LINES, "expected_value": ANY}
)
CLAIM = st.fixed_dictionaries(
    {}, optional={"statement": TEXT, "claim": TEXT, "evidence": EVIDENCE | st.lists(EVIDENCE | ANY, max_size=2) | ANY}
)
RESPONSE = st.fixed_dictionaries(
    {},
    optional={
        "answer": ANY,
        "sources": ANY,
        "confidence": ANY,
        "claims": st.lists(CLAIM | ANY, max_size=2) | ANY,
        "all_verified": ANY,
        "claim_results": ANY,
        "extra": ANY,
    },
)


@given(RESPONSE)
@example({"claims": [{"claim": "s", "evidence": {"path": "a.md", "quote": "x", "lines": 1}}]})
@example({"claims": [{"statement": "s", "evidence": [{"path": "a.md", "file": 3, "quote": "x"}]}]})
@example({"claims": [{"statement": "s", "evidence": [{"file": "a", "path": "b", "quote": "x", "expected_value": 1}]}]})
def test_whatever_is_stored_is_valid(response: dict[str, Any]) -> None:
    try:
        stored = claims.verify(Root("/nowhere"), "", response).response
    except UsageError:
        return
    assert [error.message for error in VALID.iter_errors(dict(stored))] == []


@pytest.mark.parametrize(
    ("response", "place"),
    [
        ({"sources": "a"}, "sources"),
        ({"sources": {"a": 1}}, "sources"),
        ({"confidence": 1.9}, "confidence"),
        ({"claims": "a"}, "claims"),
        (
            {"claims": [{"statement": "s", "evidence": [{"path": "a.md", "quote": "x", "lines": ["1"]}]}]},
            "claims[0].evidence[0]",
        ),
    ],
)
def test_the_place_that_is_wrong_is_named(response: dict[str, Any], place: str) -> None:
    with pytest.raises(UsageError, match=r"^The response's ") as refused:
        claims.verify(Root("/nowhere"), "", response)
    assert place in str(refused.value)


@pytest.mark.parametrize(
    "response",
    [
        {"answer": "B.", "sources": ["a.md"], "confidence": "high"},
        {
            "answer": {"a": 1},
            "claims": [{"statement": "s", "evidence": [{"path": "a.md", "quote": "x", "lines": "1-2"}]}],
        },
    ],
)
def test_a_plain_response_loads_no_schema_checker(response: dict[str, Any]) -> None:
    program = (
        "import sys, json; from oracle.app import claims; from oracle.store.root.layout import Root;"
        " claims.verify(Root('/nowhere'), '', json.loads(sys.argv[1])); sys.exit('jsonschema' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program, json.dumps(response)], check=False).returncode == 0
