"""Files that come from outside are checked as jsonschema checks them, without loading it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from oracle.domain import schemas

FOLDER = Path(__file__).parents[2] / "schemas"
NAMES = {"kind": "dispatch", "task_id": "Q-1", "source": "planner", "target": "memory"}
EVIDENCE = {"path": "a.md", "quote": "x", "lines": [1, 2]}
RESULT = {
    "statement": "S",
    "verdict": "verified",
    "evidence": [{"path": "a.md", "verdict": "moved", "sha256": "0" * 64, "lines": [1, 2]}],
}
VALID: dict[str, list[dict[str, Any]]] = {
    "receipt-dispatch": [
        {**NAMES, "status": "open", "notified_at": None, "core_ux": True, "hypothesis_fix_counter": 1, "reply_to": "x"}
    ],
    "receipt-completion": [
        {
            **NAMES,
            "kind": "completion",
            "delivered_at": "2026-05-01",
            "pr_number": 7,
            "unsolicited": True,
            "verdict": "x",
        }
    ],
    "response": [
        {
            "query_id": "Q-1",
            "answer": "B.",
            "claims": [{"statement": "S", "evidence": [EVIDENCE]}],
            "claim_results": [RESULT],
        },
        {"query_id": "Q-1", "claims": [{"claim": "S", "evidence": {"file": "a", "path": "$.b", "expected_value": 1}}]},
    ],
    "receipt-peer": [
        {"task_id": "T-1", "verdict": "SUBMITTED", "acknowledged_at": "2026-05-01T12:30:00Z", "notes": ""}
    ],
    "inbox-entry": [
        {
            "kind": "wake",
            "subject": ["demo", "Q-1"],
            "due_at": 1.5,
            "tries": 0,
            "last_error": "",
            "fields": {
                "folder": "x",
                "task_id": "Q-1",
                "source": "planner",
                "target": "memory",
                "owner": {},
                "content": {},
            },
        }
    ],
}
"""Valid files by schema."""

VALUES: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 1.0, 1.5, 10**30, 1e300, "", "x", "Q-1", "yesterday", "2026-05-01T12:30:00+08:00"),
    *("2026-05-01\n", "../x", "a/b", "x" * 129, "项目", "L1-L2", "f" * 64, "completion", "intent", "verified"),
    *([], ["a"], [1], [0, 1], [1, 2, 3], {}, {"a": "b"}, {"statement": "s"}, {"path": "a", "quote": "q"}, [[]], [{}]),
)
ABSENT = object()


def places(schema: dict[str, Any], item: object, whole: dict[str, Any]) -> list[tuple[str | int, ...]]:
    """Return every place of a value, and those that its schema names and it lacks."""
    found: list[tuple[str | int, ...]] = []
    if isinstance(item, dict):
        for key in (*item, *(key for key in schema.get("properties", ()) if key not in item)):
            inner = schema.get("properties", {}).get(key, {})
            found += [(key,), *((key, *rest) for rest in places(inner, item.get(key), whole))]
    for number, one in enumerate(item if isinstance(item, list) else ()):
        found += [(number,), *((number, *rest) for rest in places({}, one, whole))]
    return found


@st.composite
def mutants(draw: st.DrawFn, name: str, valid: dict[str, Any]) -> dict[str, Any]:
    """Return a valid file with one place changed: another value, or none."""
    made: Any = copy.deepcopy(valid)
    schema = schemas.load(name)
    *way, last = draw(st.sampled_from(places(schema, made, schema)))
    parent = made
    for step in way:
        parent = parent[step]
    value = draw(st.sampled_from((ABSENT, *VALUES)))
    if value is not ABSENT:
        parent[last] = value
    elif isinstance(parent, list) or last in parent:
        del parent[last]
    return made  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", VALID)
@given(data=st.data())
def test_a_file_is_malformed_here_when_jsonschema_says_so(name: str, data: st.DataObject) -> None:
    content = data.draw(mutants(name, data.draw(st.sampled_from(VALID[name]))))
    fault = schemas.find_fault(name, content)
    errors = list(Draft202012Validator(schemas.load(name)).iter_errors(content))
    assert (fault is None) is (errors == []), (fault, [error.message for error in errors])
    assert fault is None or (fault[1] and (fault[0] or not isinstance(content, dict)))


@pytest.mark.parametrize("name", VALID)
def test_a_file_of_the_product_is_valid(name: str) -> None:
    assert [schemas.find_fault(name, one) for one in VALID[name]] == [None] * len(VALID[name])
    assert schemas.find_fault(name, [1]) == ("", "must be an object")


@pytest.mark.parametrize("name", VALID)
def test_every_keyword_of_a_schema_is_checked_or_only_describes(name: str) -> None:
    describing = {"$schema", "$id", "$defs", "title", "description", "additionalProperties"}

    def walk(schema: object) -> set[str]:
        if isinstance(schema, list):
            return {key for one in schema for key in walk(one)}
        if not isinstance(schema, dict):
            return set()
        named = [schema[key] for key in ("properties", "$defs") if key in schema]
        inner = [one for group in named for one in group.values()]
        inner += [schema[key] for key in ("items", "anyOf", "oneOf", "not") if key in schema]
        return set(schema) | {key for one in inner for key in walk(one)}

    found = walk(json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")))
    assert found - describing <= set(schemas._KEYWORDS)
