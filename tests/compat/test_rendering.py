"""The printer agrees with the standard library's, byte for byte."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from oracle.compat.rendering import print_backlinks, print_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.booleans(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_json_is_printed_as_the_standard_library_prints_it(value: object):
    assert print_json(value) == json.dumps(value, ensure_ascii=False, indent=2)


TEXT = st.text()
ROWS = st.lists(
    st.tuples(
        TEXT,
        TEXT,
        TEXT,
        st.integers(0, 2**62),
        st.none() | st.text(min_size=1),
        st.sampled_from(["supersedes", "retires"]),
    )
)


@given(TEXT, ROWS)
def test_backlinks_are_printed_as_the_standard_library_prints_them(target: str, rows: list):
    printed = print_backlinks(target, rows)
    found = json.loads(printed)
    assert printed == json.dumps(found, ensure_ascii=False, indent=2)
    assert (found["target"], found["incoming_count"]) == (target, len(rows))
    for entry, (slug, kind, snippet, _, by, how) in zip(found["incoming"], rows, strict=True):
        assert list(entry)[:5] == ["from", "to", "type", "snippet", "extracted_at"]
        assert (entry["from"], entry["to"], entry["type"], entry["snippet"]) == (slug, target, kind, snippet)
        assert entry.get("retired_by") == by
        assert entry.get("status") == (by and {"supersedes": "superseded", "retires": "retired"}[how])
