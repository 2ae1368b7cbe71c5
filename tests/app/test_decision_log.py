"""The decision log: entries are records, whoever wrote them, and a dispatch by memory leaves one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.app.delivery.decision_log import DecisionEntry, append, read_log
from oracle.errors import InvalidName, SecretFound, UsageError

if TYPE_CHECKING:
    from tests.app.squad import Squad

OLD = """---
issue_id: 6f36a869-8ec8-4c85-99ff-295260d45468
ts: "2020-11-27T21:43:12Z"
task_id: T-9
project: demo
seat: planner
kind: decision
title: "a: quoted # title"
status: open
detail: "why: because"
decision_type: auto
auto_mode: true
reason: "why: because"
---

why: because
"""


def test_entry_is_found_by_every_question(squad: Squad):
    made = append(
        squad.oracle, DecisionEntry("demo", "ARENA-228", 'a "quoted": title', "Because.\nAnd so.", seat="planner")
    )
    assert (made["seat"], made["detail"], made["decision_type"], made["auto_mode"], made["reason"]) == (
        "planner",
        "Because.\nAnd so.",
        "auto",
        True,
        "Because.\nAnd so.",
    )
    [found] = squad.oracle.records({"project": "demo", "kind": "decision", "since": "2020-01-01"})
    assert found.title == 'a "quoted": title'
    assert [row[0] for row in squad.oracle.backlinks("entity:taskid:ARENA-228")] == [found.slug]


def test_log_holds_old_entries_and_survives_a_broken_one(squad: Squad):
    folder = squad.path / "projects" / "demo" / "decision"
    folder.mkdir(parents=True)
    (folder / "2020-11-27T21-43-12Z-old.md").write_text(OLD, encoding="utf-8")
    (folder / "2020-11-28T21-43-12Z-broken.md").write_bytes(b'---\ntitle: "unclosed\n---\n\xff')
    append(squad.oracle, DecisionEntry("demo", "T-10", "new", "so", is_auto=False, seat="memory"))
    log = read_log(squad.oracle, "demo")
    assert [entry["task_id"] for entry in log] == ["T-9", "", "T-10"]
    assert log[0] == {
        "issue_id": "6f36a869-8ec8-4c85-99ff-295260d45468",
        "ts": "2020-11-27T21:43:12.000000Z",
        "task_id": "T-9",
        "project": "demo",
        "seat": "planner",
        "kind": "decision",
        "title": "a: quoted # title",
        "status": "open",
        "detail": "why: because",
        "decision_type": "auto",
        "auto_mode": True,
        "reason": "why: because",
    }
    assert log[-1]["auto_mode"] is False
    assert [entry["task_id"] for entry in read_log(squad.oracle, "demo", limit=1)] == ["T-10"]
    assert read_log(squad.oracle, "nowhere") == []


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("", "T", "t", "d"), UsageError),
        (("demo", " ", "t", "d"), UsageError),
        (("demo", "T", "", "d"), UsageError),
        (("demo", "T", "t", ""), UsageError),
        (("../x", "T", "t", "d"), InvalidName),
        (("demo", "T", "t", "API_KEY=" + "q7Rk2Zp9Lx4V" + "m8Nw3Tb6"), SecretFound),
    ],
)
def test_entry_that_fails_writes_nothing(squad: Squad, words: tuple[str, str, str, str], error: type[Exception]):
    with pytest.raises(error):
        append(squad.oracle, DecisionEntry(*words))
    assert read_log(squad.oracle, "demo") == []


def test_dispatch_by_memory_is_a_decision_and_one_by_planner_is_none(squad: Squad):
    squad.ask("T-1", source="memory", target="planner", objective="Plan the release.", kind="task")
    squad.ask("T-2", source="planner", target="builder", objective="Build it.", kind="task")
    [entry] = read_log(squad.oracle, "demo")
    assert (entry["task_id"], entry["seat"], entry["decision_type"]) == ("T-1", "memory", "dispatch")
    assert entry["title"] == "Dispatch T-1 to planner: Plan the release."


def test_dispatch_that_can_not_be_written_down_stands(squad: Squad):
    (squad.path / "projects").mkdir()
    (squad.path / "projects" / "demo").write_text("no folder", encoding="utf-8")
    squad.ask("T-1", source="memory", target="planner", objective="Plan it.", kind="task")
    assert "T-1__memory__planner.json" in squad.receipts()
    assert any("could not be written down" in line for line in squad.warnings)
