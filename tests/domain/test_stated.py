"""Evidence as it is stated on a command line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.records.drafts import Evidence, parse_evidence
from oracle.errors import UsageError


@pytest.mark.parametrize(
    ("words", "evidence"),
    [
        (["high:src/app.py:12"], [Evidence("high", "src/app.py:12")]),
        (["LOW: https://example.org/?a=b:c "], [Evidence("low", "https://example.org/?a=b:c")]),
        (['{"trust": "high", "source": "a"}'], [Evidence("high", "a")]),
        (['{"trust": "high", "source": "b", "source_url": "a"}'], [Evidence("high", "a", "", {"source": "b"})]),
        (
            ['[{"trust": "low", "source_url": "a", "quote": "q", "page": 3, "tags": ["x"], "none": null}]', "high:z"],
            [Evidence("low", "a", "q", {"page": "3", "tags": '["x"]'}), Evidence("high", "z")],
        ),
        (["[]"], []),
    ],
)
def test_evidence(words, evidence):
    assert list(parse_evidence(words)) == evidence


@pytest.mark.parametrize("word", ["", "high", "{", "[1]", '["high:a"]', "{]", "[" * 100_000])
def test_evidence_that_is_none(word):
    with pytest.raises(UsageError):
        parse_evidence([word])


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8)))
def test_unknown_keys_survive(extra):
    known = {"trust", "source", "source_url", "quote"}
    extra = {key: value for key, value in extra.items() if key not in known}
    (item,) = parse_evidence([json.dumps({"trust": "high", "source_url": "a", **extra})])
    assert item.extra == extra


@pytest.mark.parametrize(
    ("word", "lack"), [("src/net.py", "no trust before its source"), ("high", "no source"), ("LOW", "no source")]
)
def test_what_is_lacking_is_named(word, lack):
    with pytest.raises(UsageError, match=lack):
        parse_evidence([word])
