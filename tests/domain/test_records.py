"""What a file says, whoever wrote it, and what Memory may write."""

from __future__ import annotations

from typing import Any

import pytest

from oracle.domain.documents import Document
from oracle.domain.records import Draft, Evidence, Record, interpret, name_of
from oracle.errors import InvalidRecord, OracleError, OwnershipError


def read(path: str, fields: dict[str, Any] | None = None, body: str = "") -> Record:
    return interpret(
        Document(fields or {}, body, 1, {}, ()), path.rsplit(".", 1)[0], path, mtime_ns=1_700_000_000_000_000_000
    )


@pytest.mark.parametrize(
    ("path", "project", "seat", "kind"),
    [
        ("projects/a/decision/x.md", "a", "memory", "decision"),
        ("projects/a/decisions/x.json", "a", "memory", "decision"),
        ("projects/a/builder/x.md", "a", "builder", "note"),
        ("projects/a/builder-2/findings/x.md", "a", "builder-2", "finding"),
        ("projects/a/reviewer/findings/x.md", "a", "reviewer", "finding"),
        ("projects/a/patrol/doc-code-alignment/x.md", "a", "patrol", "alignment"),
        ("projects/a/patrol/test-results/x.md", "a", "patrol", "test_result"),
        ("projects/a/patrol/task-commit-gaps/x.md", "a", "patrol", "observation"),
        ("projects/a/dev_env.json", "a", "memory", "dev_env"),
        ("shared/patterns/p.json", "", "memory", "pattern"),
        ("shared/library_knowledge/p.json", "", "memory", "library_knowledge"),
        ("learnings/x.md", "", "memory", "note"),
    ],
)
def test_what_the_path_says(path: str, project: str, seat: str, kind: str) -> None:
    record = read(path)
    assert (record.project, record.seat, record.kind) == (project, seat, kind)


def test_fields_win_over_the_path() -> None:
    fields = {
        "project": "b",
        "seat": "planner",
        "kind": "decision",
        "status": "OPEN",
        "title": " two\n words ",
        "ts": "2026-01-01",
    }
    record = read("projects/a/builder/x.md", fields)
    assert (record.project, record.seat, record.kind, record.status) == ("b", "planner", "decision", "open")
    assert (record.title, record.sort_ts) == ("two words", "2026-01-01T00:00:00.000000Z")


@pytest.mark.parametrize("odd", ["", " ", "null", "~", ["a", "b"], [], {"a": "b"}])
def test_odd_fields_give_way_to_the_path(odd: Any) -> None:
    record = read("projects/a/builder/x.md", {"project": odd, "seat": odd, "kind": odd, "status": odd})
    assert (record.project, record.seat, record.kind, record.status) == ("a", "builder", "note", "")


@pytest.mark.parametrize(
    ("fields", "body", "title"),
    [
        ({}, "# Heading\ntext", "Heading"),
        ({}, "\n\n  ## Second ##\n", "Second ##"),
        ({}, "\n \nplain line\n", "plain line"),
        ({}, "", "x"),
        ({"title": ["a", "b"]}, "", "a, b"),
        ({"title": "  "}, "# Body", "Body"),
        ({"title": "t" * 400}, "", "t" * 300),
    ],
)
def test_titles(fields: dict[str, Any], body: str, title: str) -> None:
    assert read("projects/a/builder/x.md", fields, body).title in (title, f"## {title}")


def test_dates_from_field_name_and_mtime() -> None:
    named = "projects/a/builder/2026-04-27T18-30-00Z-x.md"
    assert read(named, {"ts": "2026-01-01"}).sort_ts.startswith("2026-01-01")
    assert read(named, {"ts": "nonsense"}).sort_ts.startswith("2026-04-27T18:30")
    assert read(named, {"created_at": "2026-02-02"}).sort_ts.startswith("2026-02-02")
    assert read("projects/a/builder/x.md").sort_ts.startswith("2023-11-14")


def test_relations() -> None:
    fields = {
        "supersedes": ["[[projects/a/x|the old]]", "~/.agents/memory/projects/a/y.md", "null", "", "/etc/passwd", "z\nz"],
        "derived_from": "w.json", "derived-from": "v", "contradicts": '["a", "b"]', "supports": {"k": "v"},
        "task_id": "T-1", "related_task_ids": ["#12", "entity:taskid:T-2", " "], "other": "x",
    }  # fmt: skip
    found = [(relation.type, relation.target) for relation in read("projects/a/builder/x.md", fields).relations]
    assert found == [
        ("supersedes", "projects/a/x"), ("supersedes", "projects/a/y"), ("supersedes", "z z"), ("derived-from", "w"),
        ("derived-from", "v"), ("contradicts", "a"), ("contradicts", "b"), ("supports", "k: v"),
        ("related-task", "entity:taskid:T-1"), ("related-task", "entity:taskid:#12"), ("related-task", "entity:taskid:T-2"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (Draft("delivery", "a", "t"), OwnershipError),
        (Draft("decision", "a", "\n"), InvalidRecord),
        (Draft("decision", "a", "t", confidence=""), InvalidRecord),
        (Draft("decision", "a", "t", status="x"), InvalidRecord),
        (Draft("finding", "a", "t"), InvalidRecord),
        (Draft("finding", "a", "t", evidence=(Evidence("", "s"),)), InvalidRecord),
        (Draft("plan", "a", "t", evidence=(Evidence("low", ""),)), InvalidRecord),
    ],
)
def test_rules(draft: Draft, error: type[OracleError]) -> None:
    with pytest.raises(error) as caught:
        draft.check()
    assert caught.value.hint


def test_fields_in_their_order_without_the_empty_ones() -> None:
    fields = Draft(
        "decision", "a", " a\tb ", supersedes=("x",), extra={"title": "no", "more": "yes", "none": ""}
    ).fields("ID", "TS")
    assert list(fields) == [
        "schema_version", "id", "project", "seat", "kind", "title", "author", "status", "ts", "confidence", "source",
        "supersedes", "more",
    ]  # fmt: skip
    assert (fields["title"], fields["supersedes"], fields["more"]) == ("a b", ["x"], "yes")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Use One Lock!", "use-one-lock"),
        ("修复 锁", "修复-锁"),
        ("ＡＲＥＮＡ", "arena"),
        ("--", "untitled"),
        ("", "untitled"),
        ("a" * 200, "a" * 80),
        ("../..", "untitled"),
        ("字" * 40, "字" * 26),
    ],
)
def test_names(title: str, name: str) -> None:
    assert name_of(title) == name
