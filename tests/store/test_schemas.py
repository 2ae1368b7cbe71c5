"""Try the published schemas of receipts and responses against what is written, here and by other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from oracle.domain.delivery.receipts import ReceiptKind, ReceiptName, new_receipt
from oracle.domain.records import verdicts
from oracle.domain.records.responses import read_claims
from oracle.store.delivery import responses
from oracle.store.root.layout import Root

SCHEMAS = Path(__file__).parents[2] / "schemas"
NAME = ReceiptName("T-1", "planner", "memory")


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("kind", [ReceiptKind.DISPATCH, ReceiptKind.COMPLETION])
def test_what_we_write_fits(kind: ReceiptKind) -> None:
    fields = dict(new_receipt(kind, NAME, {"notified_at": "2026-11-27T21:38:05+00:00"}).fields)
    schema = validator(f"receipt-{kind}")
    schema.validate(fields)
    assert set(fields) <= set(schema.schema["properties"])  # type: ignore[index]


@pytest.mark.parametrize("name", ["项目", "v0.8", "T_001", "builder-1", "MEMORY-QUERY-1-2"])
def test_names_of_any_script_fit(name: str) -> None:
    receipt = {"kind": "dispatch", "task_id": name, "source": "planner", "target": "memory"}
    assert [error.message for error in validator("receipt-dispatch").iter_errors(receipt)] == []


OLD: dict[str, Any] = {
    "kind": "completion",
    "task_id": "T1",
    "source": "builder",
    "target": "planner",
    "verdict": None,
    "new_key": [1],
}


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"pr_number": 12, "head_contains_commit": None, "delivered_at": "2026-11-27T21:38:05+00:00"}, True),
        ({"kind": "dispatch"}, False),
        ({"task_id": "../x"}, False),
        ({"task_id": "a/b"}, False),
        ({"source": ""}, False),
        ({"status": 5}, False),
        ({"delivered_at": "yesterday"}, False),
    ],
)
def test_a_completion_of_another_tool_fits_when_it_can_be_used(change: dict[str, Any], fits: bool) -> None:
    assert validator("receipt-completion").is_valid(OLD | change) is fits


def test_a_stored_response_fits_with_all_its_verdicts(root: Path) -> None:
    given = {
        "answer": "Option B.",
        "claims": [
            {
                "statement": "S",
                "evidence": [
                    {"path": "a.md", "lines": [1, 2], "quote": "x"},
                    {"path": "gone.md", "quote": "x", "lines": "1-2"},
                    {"file": "f.json", "path": "$.a", "expected_value": None},
                ],
            },
            {"statement": "bare"},
        ],
    }
    sources = {"a.md": verdicts.CitedFile(b"y\ny\nx"), "f.json": verdicts.CitedFile(b'{"a": null}')}
    report = verdicts.check(read_claims(given), sources)
    responses.put(Root(str(root)), "T-1", given | report.as_json() | {"delivered_at": "2026-11-27T21:38:05+00:00"})
    stored = responses.read(Root(str(root)), "T-1")
    bare = {"query_id": "T-1", "answer": "x", "claims": [], "sources": [], "confidence": "medium"}
    assert [error.message for one in (stored, bare) for error in validator("response").iter_errors(one)] == []


@pytest.mark.parametrize(
    "change",
    [
        {"query_id": None},
        {"claims": [{"evidence": []}]},
        {"claims": [{"statement": "s", "evidence": [{"path": "p"}]}]},
        {"claims": [{"statement": "s", "evidence": [{"quote": "q"}]}]},
        {"claims": [{"statement": "s", "evidence": [{"path": "p", "quote": "q", "lines": [0]}]}]},
        {"claims": [{"statement": "s", "evidence": [{"file": "p", "expected_value": 1}]}]},
        {"claim_results": [{"statement": "s", "verdict": "perhaps", "evidence": []}]},
    ],
)
def test_a_response_that_can_not_be_checked_does_not_fit(change: dict[str, Any]) -> None:
    assert not validator("response").is_valid({"query_id": "T-1", "answer": "x"} | change)
