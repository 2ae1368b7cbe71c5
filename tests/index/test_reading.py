"""What the index keeps of one file: its links wherever they are stated, and what was wrong with it."""

from __future__ import annotations

import json

import pytest

from oracle.domain.links.links import DEFAULT_PATTERNS
from oracle.index.write.reading import Reading, read_bytes
from oracle.store.disk.folders import Stat


def read(frontmatter: str, body: str = "", path: str = "projects/a/builder/x.md") -> Reading:
    text = frontmatter if path.endswith(".json") else f"---\n{frontmatter}\n---\n\n{body}"
    slug = path.rsplit(".", 1)[0]
    return read_bytes(path, slug, Stat(1, 1, 1, 1), text.encode(), patterns=DEFAULT_PATTERNS)


def targets(reading: Reading) -> list[tuple[str, str, int]]:
    found = [(kind, target, line) for kind, target, _, line in reading.edges]
    return found + [(kind, ref, line) for kind, ref, _, _, line in reading.references]


FILE = ("references-file", "entity:file:src/net.py", 3)


@pytest.mark.parametrize(
    "evidence",
    [
        'evidence:\n  - trust: "high"\n    source_url: "src/net.py:12"',
        "evidence:\n  - {trust: low, path: src/net.py, lines: 3-4}",
        "evidence:\n  source: src/net.py",
        "evidence: [src/net.py]",
        "evidence: high:src/net.py:12",
        "Evidence: src/net.py",
        'evidence:\n  - trust: "low"\n    quote: "    seen in src/net.py"',
        'evidence: "[{\\"trust\\": \\"low\\"}] in src/net.py"',
    ],
)
def test_evidence_links(evidence: str) -> None:
    assert targets(read(f"title: t\n{evidence}")) == [FILE]


def test_evidence_names_tasks_urls_and_records() -> None:
    items = ["#12", "PAY-3", "https://example.org/a", "[[foo]]", "projects/b/decision/d"]
    found = targets(read("kind: finding\nevidence:\n" + "\n".join(f'  - "{item}"' for item in items)))
    assert found == [
        ("references-task", "entity:taskid:#12", 3), ("references-task", "entity:taskid:PAY-3", 3),
        ("references-url", "entity:url:https://example.org/a", 3), ("references-record", "foo", 3),
        ("references-record", "projects/b/decision/d", 3),
    ]  # fmt: skip


def test_the_words_of_the_body_win_over_evidence() -> None:
    reading = read("evidence: src/net.py", "Seen in src/net.py today.")
    assert [(snippet, line) for _, _, snippet, line in reading.edges] == [("Seen in src/net.py today.", 5)]
    (edge,) = read("evidence: src/net.py").edges
    assert edge[2] == "evidence: src/net.py"


@pytest.mark.parametrize("field", ["reason", "detail", "title", "Reason"])
def test_fields_of_prose_link(field: str) -> None:
    assert targets(read(f"kind: finding\n{field}: broken by src/net.py")) == [FILE]


@pytest.mark.parametrize("field", ["content_source", "source", "filename_stamp", "other", "summary"])
def test_other_fields_do_not(field: str) -> None:
    assert targets(read(f"kind: finding\n{field}: src/net.py PAY-3")) == []


@pytest.mark.parametrize("key", ["trust", "lines", "note"])
def test_nor_do_other_keys_of_evidence(key: str) -> None:
    assert targets(read(f"kind: finding\nevidence:\n  - {{{key}: src/net.py}}")) == []


def test_evidence_of_json_links_once() -> None:
    content = json.dumps({"title": "t", "evidence": [{"source_url": "src/net.py:3"}]})
    assert targets(read(content, path="projects/a/findings/x.json")) == [
        ("references-file", "entity:file:src/net.py", 1)
    ]


def test_a_time_that_cannot_be_read_is_a_problem_with_its_line() -> None:
    ((line, reason, _),) = read("title: t\nDate: 03/04/2026").problems
    assert line == 3
    assert "`date`" in reason


def test_spelled_filters_are_no_words_of_the_text() -> None:
    reading = read("Kind: Finding\nStatus: Open\nDetail: three of five", "Body.")
    assert reading.body.split() == ["Body.", "three", "of", "five"]
