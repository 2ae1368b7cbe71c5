"""What a file says, whoever wrote it."""

from __future__ import annotations

from typing import Any

import pytest

from oracle.domain.markdown.documents import Document, Problem
from oracle.domain.records.records import Record, interpret, understand


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
        ("projects/a/qa/x.md", "a", "qa", "note"),
        ("projects/a/QA/findings/x.md", "a", "qa", "finding"),
        ("projects/a/测试/x.md", "a", "测试", "note"),
        ("projects/a/cafe\u0301/x.md", "a", "caf\u00e9", "note"),
        ("projects/a/delivery/x.md", "a", "memory", "delivery"),
        ("projects/a/issues/x.json", "a", "memory", "issue"),
        ("projects/a/reflection/x.md", "a", "memory", "note"),
        ("projects/a/library_knowledge/x.md", "a", "memory", "library_knowledge"),
        ("projects/a/spec/x.md", "a", "memory", "note"),
        ("projects/a/pattern/x.md", "a", "memory", "pattern"),
        ("projects/a/derived/x.md", "a", "memory", "note"),
        ("projects/a/x.md", "a", "memory", "x"),
    ],
)
def test_what_the_path_says(path: str, project: str, seat: str, kind: str) -> None:
    record = read(path)
    assert (record.project, record.seat, record.kind) == (project, seat, kind)


def test_fields_win_over_the_path_except_for_the_seat() -> None:
    fields = {
        "project": "b",
        "seat": "planner",
        "kind": "decision",
        "status": "OPEN",
        "title": " two\n words ",
        "ts": "2026-01-01",
    }
    record = read("projects/a/builder/x.md", fields)
    assert (record.project, record.seat, record.kind, record.status) == ("b", "builder", "decision", "open")
    assert record.claims_seat == "planner"
    assert (record.title, record.sort_ts) == ("two words", "2026-01-01T00:00:00.000000Z")


@pytest.mark.parametrize("odd", ["", " ", "null", "~", ["a", "b"], [], {"a": "b"}])
def test_odd_fields_give_way_to_the_path(odd: Any) -> None:
    record = read("projects/a/builder/x.md", {"project": odd, "seat": odd, "kind": odd, "status": odd})
    assert (record.project, record.seat, record.kind, record.status) == ("a", "builder", "note", "")


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("Title", "title"), ("TITLE", "title"), ("Kind", "kind"), ("Status", "status"), ("Task_ID", "task_id"),
        ("taskId", "task_id"), ("task-id", "task_id"), ("Task ID", "task_id"), ("createdAt", "created_at"),
        ("Date", "date"), ("related-tasks", "related_task_ids"), ("relatedTaskIds", "related_task_ids"),
        ("supersede", "supersedes"), ("derivedFrom", "derived_from"), ("Derived-From", "derived_from"),
    ],
)  # fmt: skip
def test_a_field_is_known_by_other_spellings(key: str, name: str) -> None:
    document = Document({"other": "o", key: "v"}, "", 1, {"other": 2, key: 3}, ())
    known = understand(document)
    assert (known.fields, known.key_lines) == ({"other": "o", name: "v"}, {"other": 2, name: 3})
    assert document.fields == {"other": "o", key: "v"}


def test_the_field_itself_counts_more_than_its_spellings() -> None:
    document = Document({"Title": "b", "title": "a", "TITLE": "c", "kinds": "d"}, "", 1, {}, ())
    assert understand(document) is document
    first = understand(Document({"TASKID": "a", "taskId": "b"}, "", 1, {}, ()))
    assert first.fields == {"task_id": "a", "taskId": "b"}


def test_spelled_fields_are_the_records() -> None:
    fields = {"Title": "T", "Kind": "Plan", "Status": "Open", "taskId": "T-1", "Seat": "QA", "Date": "2026-01-01"}
    record = read("projects/a/notes/x.md", fields)
    assert (record.title, record.kind, record.status, record.task_id, record.seat) == ("T", "plan", "open", "T-1", "qa")
    assert record.sort_ts == "2026-01-01T00:00:00.000000Z"
    assert [relation.target for relation in record.relations] == ["entity:taskid:T-1"]
    assert record.document.fields == fields


@pytest.mark.parametrize("kind", ["Finding", "FINDING", ["finding"], [" Finding "]])
def test_a_kind_is_one_word_in_small_letters(kind: Any) -> None:
    assert read("projects/a/builder/x.md", {"kind": kind}).kind == "finding"


@pytest.mark.parametrize(
    ("kind", "told", "found"),
    [
        ("decision\nbad: indent", True, "note"),
        ("plan\nb", False, "note"),
        ("dec/ision <x>", False, "note"),
        ("dec/ision", True, "note"),
        ("..", False, "note"),
        ("-", False, "note"),
        ("test plan", False, "test plan"),
        ("会议纪要", False, "会议纪要"),
    ],
)
def test_a_kind_that_is_no_name_gives_way_to_the_path(kind: str, told: bool, found: str) -> None:
    problems = (Problem(2, "It is not valid YAML."),) if told else ()
    document = Document({"kind": kind, "seat": "a\nb"}, "", 9, {"kind": 2}, problems)
    record = interpret(document, "x", "projects/arena/builder/x.md", mtime_ns=0)
    assert (record.kind, record.seat) == (found, "builder")
    named = ["`kind` is not a valid name; the folder gives the kind."] if found == "note" and not told else []
    assert [problem.reason for problem in record.problems] == [problem.reason for problem in problems] + named


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("PAY-3, PAY-9", ["PAY-3", "PAY-9"]),
        ("PAY-3,PAY-9,", ["PAY-3", "PAY-9"]),
        ("PAY-3; #12", ["PAY-3", "#12"]),
        ("PAY-3、PAY-9，GH#4；T-1", ["PAY-3", "PAY-9", "GH#4", "T-1"]),
        (["PAY-3, PAY-9", "T-1"], ["PAY-3", "PAY-9", "T-1"]),
        ("PAY-3, then the rest", ["PAY-3, then the rest"]),
        (",", []),
    ],
)
def test_several_ids_in_one_text(text: Any, targets: list[str]) -> None:
    found = read("projects/a/builder/x.md", {"related_task_ids": text}).relations
    assert [relation.target for relation in found] == [f"entity:taskid:{target}" for target in targets]


def test_several_records_in_one_text() -> None:
    fields = {"supersedes": "projects/a/x, [[y]]", "extends": "a,b.md", "supports": "[[x|one, two]]"}
    found = read("projects/a/builder/x.md", fields).relations
    assert [relation.target for relation in found] == ["projects/a/x", "y", "a,b", "x"]


@pytest.mark.parametrize(
    ("fields", "reasons", "day"),
    [
        ({"date": "28 Nov 2026"}, [], "2026-11-28"),
        ({"date": "28.11.2026"}, ["numbers alone"], "2023-11-14"),
        ({"ts": "soon", "created_at": "2026-01-02"}, ["`ts` can't be read"], "2026-01-02"),
        ({"ts": "2026-01-02", "date": "03/04/2026"}, ["`date` has numbers alone"], "2026-01-02"),
        ({"ts": "null", "date": " "}, [], "2023-11-14"),
        ({"Date": ["x", "y"]}, ["`date` can't be read"], "2023-11-14"),
    ],
)
def test_times_that_cannot_be_read_are_problems(fields: dict[str, Any], reasons: list[str], day: str) -> None:
    lines = {key: number for number, key in enumerate(fields, 2)}
    document = Document(fields, "", 1, lines, (Problem(9, "old"),))
    record = interpret(document, "x", "projects/a/builder/x.md", mtime_ns=1_700_000_000_000_000_000)
    assert record.sort_ts[:10] == day
    assert record.problems[0] == Problem(9, "old")
    assert len(record.problems) == len(reasons) + 1
    for problem, reason in zip(record.problems[1:], reasons, strict=True):
        assert reason in problem.reason
        assert problem.line in lines.values()


NO_TITLES = (
    'import Tabs from "@theme/Tabs";',
    "export const a = 1;",
    "[![ci](https://a.test/b.svg)](https://a.test) ![c](d.png)",
    '<p align="center"><img src="a.png"></p>',
    "> **Resolved.** Two items",
    "> [!NOTE]\n> words",
    "> # quoted",
    ":::note Words\n# Inside\n:::",
    "!!! note\n    # Inside",
    "#tag1 #tag2",
    "---",
    "***",
    "| # a | b |\n| --- | --- |",
    "- a list\n---",
    "key: value\n---",
    "```\n# comment\n```",
    "[[toc]]",
    "plain words",
)
"""Lines at the head of a text that are no title."""

SAME_TITLES = (
    "A name",
    "[A name](https://a.test/b_(c))",
    "[A name][ref]",
    "A [[folder/page|name]]",
    "A [[name]]",
    "[![ci](a.svg)](b) A name",
    "A name {#anchor}",
    '<a name="a"></a>A name',
    "**A name**",
    "A name <!-- draft -->",
    "A name ##",
)


@pytest.mark.parametrize(
    ("fields", "body", "title"),
    [
        ({}, "# Heading\ntext", "Heading"),
        ({}, "\n\n  ## Second ##\n", "Second"),
        ({}, "# C#\n", "C#"),
        ({}, "# C# #\n", "C#"),
        ({}, "#Head\n", "Head"),
        ({}, "<!-- lint off -->\n# Head\n", "Head"),
        ({}, "<!--\na licence\n-->\n<!-- more -->\n\nWords first\n\n# Later\n", "Later"),
        ({}, "```sh\n# comment\n```\n<!-- lint off -->\n~~~\ncode\n~~~\n\n# Head\n", "Head"),
        ({}, "````\n```\n# comment\n```\n````\nWords first\n", "x"),
        ({}, "~~~ never closed\nWords first\n", "x"),
        ({}, "<!-- all of it -->\n", "x"),
        ({}, "<!-- never closed\n", "x"),
        ({}, "\n \nplain line\n", "x"),
        ({}, "", "x"),
        ({"title": ["a", "b"]}, "", "a, b"),
        ({"title": "  "}, "# Body", "Body"),
        ({"title": "t" * 400}, "", "t" * 300),
        ({"title": "[A](x.md) and [[b|B]]"}, "# Body", "A and B"),
        ({"title": "![shot](x.png)"}, "# Body", "![shot](x.png)"),
        ({"title": "数组[0](见下)"}, "", "数组0"),
        ({}, "---\nseat: x\n\n# The heading\n", "The heading"),
        ({}, "---\nseat: x\n", "x"),
        ({}, '+++\nauthor = "me"\n+++\n\n## Second\n', "Second"),
        ({}, "***\n\n=====\nwords\n# Later\n", "Later"),
        ({}, "---\n***\n", "x"),
        ({}, "标题\n", "x"),
        ({}, "# 标题\n", "标题"),
        *(({}, f"{line}\n\n# Head\n", "Head") for line in NO_TITLES),
        *(({}, f"{line}\n", "x") for line in NO_TITLES),
        *(({}, f"# {heading}\n", "A name") for heading in SAME_TITLES),
        ({}, "A name\n======\n", "A name"),
        ({}, "A name\n------\n\n# Later\n", "A name"),
        ({}, "two lines\nof words\n---\n", "x"),
        ({}, '<h1 align="center">A <b>name</b></h1>\n', "A name"),
        ({}, "# ![logo](a.svg)\n\n## A name\n", "A name"),
        ({}, "# Use `foo` with C#\n", "Use `foo` with C#"),
    ],
)
def test_titles(fields: dict[str, Any], body: str, title: str) -> None:
    assert read("projects/a/builder/x.md", fields, body).title == title


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
    ("written", "target"),
    [
        *((text, "") for text in ("", "~", "null", "None", "n/a", "-", "—", "false", "无", "/etc/passwd")),
        *(
            (text, "projects/a/x")
            for text in (
                *(
                    "projects/a/x#part",
                    "[[projects/a/x#Part of it|x]]",
                    "/projects/a/x.md",
                    "`projects/a/x`",
                    "<projects/a/x.md>",
                ),
                *("$HOME/.agents/memory/projects/a/x.md", "/root/.agents/memory/projects/a/x", "projects\\a\\x.md"),
                *("[x](projects/a/x.md)", "[x](<projects/a/x.md#part>)", " [[ projects/a/x ]] "),
            )
        ),
        ("[x](../b/x.md)", "../b/x"),
        ("C# for our tools", "C# for our tools"),
        ("entity:file:src/a.md", "entity:file:src/a.md"),
        ("https://x.example/y.md#part", "entity:url:https://x.example/y.md#part"),
        ("#12", "entity:taskid:#12"),
        ("GH#12", "entity:taskid:GH#12"),
    ],
)
def test_what_stands_around_a_reference(written: str, target: str) -> None:
    found = read("projects/a/builder/x.md", {"supersedes": written}).relations
    assert [relation.target for relation in found] == ([target] if target else [])


@pytest.mark.parametrize(
    ("written", "tasks"),
    [
        *((text, []) for text in ("", "none", "N/A", "-", "~", "無")),
        ("[[T-1]]", ["T-1"]),
        ("T-1 #2 GH#3", ["T-1", "#2", "GH#3"]),
        ("T-1 and T-2", ["T-1 and T-2"]),
    ],
)
def test_what_stands_around_a_task(written: str, tasks: list[str]) -> None:
    record = read("projects/a/builder/x.md", {"related_task_ids": written})
    assert [relation.target for relation in record.relations] == [f"entity:taskid:{task}" for task in tasks]
    assert read("projects/a/builder/x.md", {"task_id": written}).task_id == ("" if not tasks else written)
