"""Memories of the four types: what states a type, the parts of a text, titles."""

from __future__ import annotations

import pytest

from oracle.domain.records import remembered
from oracle.domain.records.remembered import Parts
from oracle.store.markdown import records


def typed(frontmatter: str) -> str:
    document = records.parse("a.md", f"---\n{frontmatter}\n---\nText.\n".encode())
    return remembered.memory_type_in(document.fields)


@pytest.mark.parametrize(
    ("frontmatter", "memory_type"),
    [
        ("memory_type: feedback", "feedback"),
        ("memory_type: Feedback", "feedback"),
        ("name: role\ndescription: the user's role\ntype: user", "user"),
        ("name: freeze\ndescription: merge freeze\nmetadata:\n  type: project", "project"),
        ("memory_type: preference", ""),
        ("type: project", ""),  # a note of a vault
        ("name: a\ndescription: b\ntype: meeting", ""),
        ("title: nothing", ""),
    ],
)
def test_a_type_is_read_as_we_and_as_claude_code_write_it(frontmatter, memory_type):
    assert typed(frontmatter) == memory_type


@pytest.mark.parametrize(
    "body",
    [
        "Test on a real database.\n\n**Why:** mocks hid a broken migration.\n\n**How to apply:** in integration tests.",
        "Test on a real database.\nWhy: mocks hid a broken migration.\nHow to apply: in integration tests.",
        "Test on a real database.\n- **Why**: mocks hid a broken migration.\n- **How to apply**: in integration tests.",
        "Test on a real database.\n\n**原因：** mocks hid a broken migration.\n**如何应用：** in integration tests.",
        "Test on a real database.\nhow to apply: in integration tests.\nREASON: mocks hid a broken migration.",
    ],
)
def test_why_and_how_to_apply_are_read_in_every_spelling(body):
    parts = Parts("Test on a real database.", "mocks hid a broken migration.", "in integration tests.")
    assert remembered.parse_parts(body) == parts
    assert remembered.parse_parts(remembered.print_parts(parts)) == parts


def test_a_text_without_labels_is_all_statement():
    assert remembered.parse_parts("Say why, briefly.\n") == Parts("Say why, briefly.")
    assert remembered.print_parts(Parts("Say why.")) == "Say why."


@pytest.mark.parametrize(
    ("statement", "title"),
    [
        ("Prefer small commits. Large ones hide faults.", "Prefer small commits"),
        ("集成测试用真实数据库。不要用 mock。", "集成测试用真实数据库"),
        ("Bugs are tracked in Linear\nproject INGEST", "Bugs are tracked in Linear"),
        ("v1.2.3 is what the client runs; don't raise it", "v1.2.3 is what the client runs"),
    ],
)
def test_the_first_sentence_is_the_title(statement, title):
    assert remembered.title_of(statement) == title


def test_a_long_title_is_cut_between_words():
    title = remembered.title_of("word " * 40)
    assert title == "word " * 15 + "word…"
