"""Credentials that no text of a call holds alone: named in one and given in another, or cut into parts."""

from __future__ import annotations

from typing import Any

import pytest

from oracle.domain.records.drafts import Evidence
from oracle.domain.safety.together import clean_together

TOKEN = "gh" + "p_" + "q7Rk2Zp9Lx4V" * 3
FIRST, REST = TOKEN[:15], TOKEN[15:]
PW = "Kv9mR2" + "tQ7xLw"
SHA = "9f86d081e84c7d659a2f" + "eaa0c55ad0153f4b1b2c"
TOKEN_MARK, MARK = "[REDACTED:github-token]", "[REDACTED:assignment]"
KEY = ["-----BEGIN RSA PRIVATE " + "KEY-----", *["MIIEpAIBAAKCAQEA7v3Qk9xWz"] * 2, "-----END RSA PRIVATE " + "KEY-----"]

FOUND: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"title": "DB password", "body": f"{PW}\n"}, {"title": "DB password", "body": f"{MARK}\n"}),
    ({"title": "数据库密码", "objective": PW}, {"title": "数据库密码", "objective": MARK}),
    ({"title": "The token", "response": {"answer": PW}}, {"title": "The token", "response": {"answer": MARK}}),
    ({"title": f"use {FIRST}", "body": f"{REST} now"}, {"title": f"use {TOKEN_MARK}", "body": f"{TOKEN_MARK} now"}),
    ({"body": REST, "verdict": FIRST}, {"body": TOKEN_MARK, "verdict": TOKEN_MARK}),
    ({"steps": ["password", PW]}, {"steps": ["password", MARK]}),
    ({"steps": ("use " + FIRST, REST)}, {"steps": (f"use {TOKEN_MARK}", TOKEN_MARK)}),
    ({"steps": [TOKEN[:9], TOKEN[9:20], TOKEN[20:]]}, {"steps": [TOKEN_MARK] * 3}),
    ({"keys": KEY}, {"keys": ["[REDACTED:private-key]"] * 4}),
    ({"r": {"a": [{"name": "DB_PASSWORD", "value": PW}]}}, {"r": {"a": [{"name": "DB_PASSWORD", "value": MARK}]}}),
    (
        {"evidence": (Evidence("high", f"see {FIRST}", REST),)},
        {"evidence": (Evidence("high", f"see {TOKEN_MARK}", TOKEN_MARK),)},
    ),
]


@pytest.mark.parametrize(("fields", "cleaned"), FOUND)
def test_what_several_texts_hold_together_is_found(fields: dict[str, Any], cleaned: dict[str, Any]) -> None:
    values, parts = clean_together(fields)
    assert values == cleaned
    assert {part.path[0] for part in parts} <= set(fields)
    assert clean_together(values) == (values, [])


CLEAN: list[dict[str, Any]] = [
    {"title": "Rotate the API token", "body": f"Done in {SHA}.", "task_id": "rotate-token", "commit": SHA},
    {"fields": {"task": "rotate-token", "commit": SHA}},
    {"related": ["fix-the-token", "2026-11-29T14-20-00-000000Z-what-was-found", "ARENA-228"]},
    {"title": "The prefix is ghp_", "body": "Tokens of GitHub begin so."},
    {"title": "Password", "body": "It must have twelve characters."},
    {"title": "", "body": "\n", "steps": ["", " "]},
    {"body": PW, "number": 3, "none": None},
    {"response": {"answer": "It closes at 18:00.", "claims": [{"evidence": [{"sha256": SHA + SHA[:24]}]}]}},
]


@pytest.mark.parametrize("fields", CLEAN)
def test_texts_that_only_lie_beside_each_other_are_left_alone(fields: dict[str, Any]) -> None:
    assert clean_together(fields) == (fields, [])
