"""What a record names, by shape alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.links.code_names import names_in
from oracle.domain.links.links import DEFAULT_PATTERNS
from oracle.domain.markdown.documents import Document, Value


def names(body: str) -> list[tuple[str, str]]:
    found = names_in(Document({}, body, 1, {}, ()), DEFAULT_PATTERNS)
    return [(item.sort.value, item.name) for item in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see src/app.py:12", [("path", "src/app.py")]),
        ("见`core/x.py`的实现", [("path", "core/x.py")]),
        ("`oracle/app/`", [("path", "oracle/app/")]),
        ("`load_config` and load_more()", [("symbol", "load_config"), ("symbol", "load_more")]),
        ("the PhysicsView", [("symbol", "PhysicsView")]),
        ("`store::open`", [("symbol", "store::open")]),
        ("commit 1a2b3c4 `5d6e7f8`", [("commit", "1a2b3c4"), ("commit", "5d6e7f8")]),
        ("branch `main`, 在 feat/x 分支", [("branch", "feat/x"), ("branch", "main")]),
        ("the `wip` branch", [("branch", "wip")]),
        ("branch: dev", [("branch", "dev")]),
    ],
)
def test_named(text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(names(text)) == sorted(expected)


@pytest.mark.parametrize(
    "text",
    [
        "the branch is gone, we branched off",
        "and/or, yes/no, 3.14, e.g. this",
        "`Node.js` in `camelCase()x/y`",
        "`git add foo_bar`",
        "```\nsrc/app.py load_it()\n```",
        "https://example.org/a_b/c.py",
        "20260401 and deadbeef",
        "ARENA-228",
    ],
)
def test_not_named(text: str) -> None:
    assert names(text) == []


def test_an_open_fence_hides_its_own_line_alone() -> None:
    assert names("```\n`load_config`") == [("symbol", "load_config")]


def test_fields_and_evidence_are_read() -> None:
    fields = {"commit": "1a2b3c4", "branch": "wip", "files": ["a/b.py"], "evidence": [{"source_url": "src/c.py:4"}]}
    document = Document(fields, "", 9, dict.fromkeys(fields, 2), ())
    assert [(item.sort.value, item.name, item.line) for item in names_in(document, DEFAULT_PATTERNS)] == [
        ("branch", "wip", 2),
        ("commit", "1a2b3c4", 2),
        ("path", "a/b.py", 2),
        ("path", "src/c.py", 2),
    ]


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        ([{"trust": "medium", "source_url": "memory_router"}], []),
        ([{"trust": "medium", "source": "s_2026-11"}], []),
        (["memory_router"], []),
        ([{"source_url": "session sess_2026_11"}], []),
        ([{"source_url": "task retry_queue"}], []),
        ("memory_router", []),
        ([{"source_url": "see load_config"}], ["load_config"]),
        ([{"source_url": "load_config()"}], ["load_config"]),
        ([{"source_url": "src/load_config.py"}], ["src/load_config.py"]),
        ([{"source_url": "memory_router", "quote": "load_config"}], ["load_config"]),
    ],
)
def test_a_source_that_says_who_told_it_names_nothing(evidence: Value, found: list[str]) -> None:
    document = Document({"evidence": evidence}, "", 9, {"evidence": 2}, ())
    assert [item.name for item in names_in(document, DEFAULT_PATTERNS)] == found


@given(st.text(max_size=200), st.integers(1, 50))
def test_any_text_is_read_and_its_lines_are_there(text: str, first: int) -> None:
    for item in names_in(Document({}, text, first, {}, ()), DEFAULT_PATTERNS):
        assert first <= item.line <= first + len(text)
        assert item.name.strip()


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("a token like " + "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2, []),
        ("a token like `" + "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2 + "`", []),
        ("`ghp_abc…` and `sk_live...`", []),
        ("`ghp_xxxxxxxx`, `AKIA_XXXX`", []),
        (
            "`load_config` and then retry_twice_with_2_tries_of_each…",
            ["load_config", "retry_twice_with_2_tries_of_each"],
        ),
    ],
)
def test_a_token_is_no_symbol(text: str, symbols: list[str]) -> None:
    assert [item.name for item in names_in(Document({}, text, 1, {}, ()), DEFAULT_PATTERNS)] == symbols
