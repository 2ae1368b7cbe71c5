"""A rehearsal of the chain: begun once, and held only when every seat did its part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.app.teamwork.rehearsal import rehearse, verify
from oracle.app.teamwork.workflow import list_pending
from oracle.errors import Blocked, NotFound
from tests.app.squad import Squad

if TYPE_CHECKING:
    from pathlib import Path

REPORT = "My role is {seat}. My boundary is my folder. Closeout by complete_handoff. Fan-out: none. Relay: to planner."


def missing(squad: Squad, task_id: str = "R1") -> list[str]:
    _, signs = verify(squad.oracle, "demo", task_id=task_id)
    return [sign.name for sign in signs if not sign.held]


def report(squad: Squad, seat: str, text: str = REPORT) -> None:
    squad.ask("R1", source="planner", target=seat, kind="task", stacks=True)
    squad.complete(
        "R1", seat, "planner", summary=text.format(seat=seat), verdict="APPROVED" if seat == "reviewer" else ""
    )


def test_rehearsal_has_a_step_a_seat(squad: Squad):
    begun = rehearse(squad.oracle, "demo", task_id="R1")
    assert begun.seats == ("builder", "reviewer")
    assert list_pending(squad.oracle, "demo", "builder") == [("R1", "self-report builder")]
    assert squad.text("R1/workflow.md").count("notify_on_done: [planner]") == 2
    brief = squad.text("R1/brief.md")
    topics = [line.split(":")[0] for line in brief.splitlines() if line.startswith("- ")]
    assert topics == ["- its role;", "- its boundary", "- its closeout", "- when it starts a fan-out;", "- its relay"]
    assert "`[R1] all-seats-online` and the verdict PASS" in brief
    assert ("planner", "R1") in squad.recorder.woken()
    assert not any("no workflow.md" in line for line in squad.warnings)
    assert not rehearse(squad.oracle, "demo", task_id="R1").is_new


def test_rehearsal_holds_once_every_seat_reported(squad: Squad):
    rehearse(squad.oracle, "demo", task_id="R1")
    assert missing(squad) == [
        *("receipt planner", "receipt builder", "receipt reviewer", "delivery planner"),
        *("self-report builder", "self-report reviewer"),
    ]
    report(squad, "builder")
    assert missing(squad) == ["receipt planner", "receipt reviewer", "delivery planner", "self-report reviewer"]
    report(squad, "reviewer", "角色: reviewer。边界：只写自己的目录。收尾两步。分发：无。接力：交给 planner。")
    squad.complete("R1", "planner", "memory", summary="all-seats-online", verdict="PASS")
    assert missing(squad) == []


def test_report_that_leaves_something_out_is_named(squad: Squad):
    rehearse(squad.oracle, "demo", task_id="R1")
    report(squad, "builder", "My role is planner. Boundary: mine.")
    _, signs = verify(squad.oracle, "demo", task_id="R1")
    said = {sign.name: sign.detail for sign in signs}
    assert said["self-report builder"] == "it does not say closeout, fan-out, relay, that it is a builder"


def test_verdict_other_than_pass_does_not_hold(squad: Squad):
    rehearse(squad.oracle, "demo", task_id="R1")
    squad.complete("R1", "planner", "memory", summary="one is missing", verdict="BLOCKED")
    assert "delivery planner" in missing(squad)


def test_last_rehearsal_is_meant_when_none_is_named(squad: Squad):
    with pytest.raises(NotFound):
        verify(squad.oracle, "demo")
    begun = rehearse(squad.oracle, "demo")
    assert begun.task_id.startswith("chain-rehearsal-")
    assert verify(squad.oracle, "demo")[0] == begun.task_id


def test_team_without_planner_rehearses_nothing(tmp_path: Path):
    squad = Squad(tmp_path, seats=("memory", "builder"))
    before = squad.snapshot()
    with pytest.raises(Blocked):
        rehearse(squad.oracle, "demo")
    assert squad.snapshot() == before
