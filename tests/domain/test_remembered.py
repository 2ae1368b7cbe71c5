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


@pytest.mark.parametrize("memory_type", ["feedback", "project"])
@pytest.mark.parametrize(
    ("parts", "missing"),
    [
        (Parts("a"), ("why", "how_to_apply")),
        (Parts("a", "b"), ("how_to_apply",)),
        (Parts("a", "", "c"), ("why",)),
        (Parts("a", "b", "c"), ()),
    ],
)
def test_feedback_and_project_need_a_reason_and_a_use(memory_type, parts, missing):
    assert remembered.missing_parts(memory_type, parts) == missing
    assert remembered.missing_parts("user", parts) == remembered.missing_parts("reference", parts) == ()


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("The retry handler is in src/billing/retry.py.", "code"),
        ("`parse_config` is defined in config.py", "code"),
        ("src/api holds the HTTP handlers", "code"),
        ("Project structure: api, web and worker", "code"),
        ("The repository layout is src, tests, docs", "code"),
        ("登录逻辑位于 src/auth/login.ts", "code"),
        ("项目结构如下：前端、后端", "code"),
        ("Commit 3f9c2ab1 removed the old middleware", "Git"),
        ("Merged the payments branch", "Git"),
        ("PR #42 was merged and adds retries", "Git"),
        ("Recent commits: retry, timeout, logging", "Git"),
        ("git blame shows Ann wrote it", "Git"),
        ("最近的提交包括重试和日志", "Git"),
        ("PR #42 已合并", "Git"),
        ("The login bug was fixed by clearing the cache", "fix"),
        ("The fix for the crash is to pin numpy", "fix"),
        ("修复方法是重启服务", "fix"),
        ("The user is lazy", "person"),
        ("Bob is incompetent", "person"),
        ("She is bad at testing", "person"),
        ("Their manager is really very annoying", "person"),
        ("Alice's code is terrible", "person"),
        ("用户很懒", "person"),
        ("这个同事水平很差", "person"),
    ],
)
def test_what_the_repository_says_and_judgements_are_refused(statement, word):
    found = remembered.find_objection(statement)
    assert found is not None
    assert word in found.why
    assert found.instead.startswith("Keep ")


@pytest.mark.parametrize(
    "statement",
    [
        "The user is a data scientist who looks at logging",
        "Ten years of Go, new to React and this project's frontend",
        "Integration tests must hit a real database, not mocks",
        "No summaries at the end of a response: the diff is enough",
        "For refactors in this area, prefer one bundled PR over many small ones",
        "The merge freeze begins 2026-03-05 for the mobile release",
        "Legal flagged the auth middleware in src/auth for storing session tokens",
        "Pipeline bugs are tracked in Linear project INGEST",
        "The on-call dashboard is at grafana.internal/d/api-latency",
        "API documentation is at docs.rs and https://example.com/src/index.md",
        "Integration tests run at night because they are slow",
        "Evaluation is lazy, Postgres is slow on cold start",
        "The reviewer is slow to wake after a restart",
        "集成测试必须用真实数据库",
        "用户是数据科学家，偏好简短回答",
        "线上问题在 Linear 的 INGEST 项目里跟踪",
    ],
)
def test_what_helps_later_is_kept(statement):
    assert remembered.find_objection(statement) is None


PAGE = """# Rules

- Use tabs in Go files.
- Never push to main without a review.

Run the linter before each commit,
and the tests too.

提交前必须运行测试。
"""


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("Use tabs in Go files", 3),
        ("In Go files, please use tabs.", 3),
        ("never push to main without review", 4),
        ("Run the linter and the tests before each commit", 6),
        ("提交前必须运行测试", 9),
        ("Do not use tabs in Go files", 0),
        ("Push to main without a review", 0),
        ("Use tabs in Rust files of the old service", 0),
        ("Use tabs", 0),
    ],
)
def test_what_a_page_says_is_found_on_it(statement, line):
    assert remembered.find_in_page(statement, PAGE) == line
