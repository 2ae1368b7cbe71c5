"""The three lanes for a commit that passed outside of the main line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.app.teamwork.integration import integrate
from oracle.errors import Blocked, NotFound, UsageError
from tests.app.gitbox import GitBox
from tests.app.squad import Squad

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def passed(tmp_path: Path) -> Squad:
    """Give a team whose builder delivered T1 from a branch that was not merged."""
    return pass_outside(Squad(tmp_path), tmp_path)


def pass_outside(squad: Squad, folder: Path) -> Squad:
    repo = GitBox(folder / "repo")
    repo.git("checkout", "-q", "-b", "feat/T1")
    commit = repo.commit("aside")
    repo.git("checkout", "-q", "main")
    squad.ask("T1", target="builder", source="operator", stacks=True)
    squad.complete("T1", "builder", "operator", commit=commit)
    return squad


def titles(squad: Squad) -> dict[str, str]:
    found = squad.oracle.records({"project": "demo", "kind": "decision", "task": "T1"})
    return {item.title: item.effective_status for item in found}


def test_memory_lands_it(passed: Squad, tmp_path: Path):
    landed = GitBox.__new__(GitBox)
    landed.folder = tmp_path / "repo"
    commit = landed.commit("land it")
    done = integrate(passed.oracle, "demo", "T1", lane="light", commit=commit)
    assert passed.receipt("T1__operator__builder.json.consumed")["memory_commit"] == commit
    assert integrate(passed.oracle, "demo", "T1", lane="light", commit=commit).record == done.record
    assert titles(passed) == {"Integrate T1 by the light lane": "resolved"}
    [extended] = [target for kind, target, *_ in passed.oracle.links(done.record) if kind == "extends"]
    assert "pass-needs-integration-t1" in extended


def test_planner_has_it_repaired_once(passed: Squad):
    done = integrate(passed.oracle, "demo", "T1", lane="medium")
    integrate(passed.oracle, "demo", "T1", lane="medium")
    assert done.repair == "T1-repair"
    assert "T1-repair__memory__planner.json" in passed.receipts()
    assert "owner_role: builder" in passed.text("T1-repair/workflow.md")
    assert [seat for seat, task in passed.recorder.woken() if task == "T1-repair"] == ["planner"]


def test_operator_decides_and_a_later_lane_supersedes(passed: Squad):
    done = integrate(passed.oracle, "demo", "T1", lane="heavy", reason="Two schemas differ.")
    assert done.report.startswith("BLOCKED: T1 of demo passed with ")
    assert done.report.endswith("Two schemas differ.")
    integrate(passed.oracle, "demo", "T1", lane="medium")
    assert titles(passed) == {
        "Integrate T1 by the heavy lane": "superseded",
        "Integrate T1 by the medium lane": "resolved",
    }


@pytest.mark.parametrize(
    ("task_id", "words", "error"),
    [
        ("T1", {"lane": "fast"}, UsageError),
        ("T1", {"lane": "light"}, UsageError),
        ("T1", {"lane": "medium", "commit": "abc1234"}, UsageError),
        ("T2", {"lane": "heavy"}, NotFound),
    ],
)
def test_wrong_lanes_write_nothing(passed: Squad, task_id: str, words: dict[str, str], error: type[Exception]):
    before = passed.snapshot()
    with pytest.raises(error):
        integrate(passed.oracle, "demo", task_id, **words)
    assert passed.snapshot() == before


def test_commit_that_did_not_land_is_refused(passed: Squad):
    commit = passed.receipt("T1__builder__operator.json")["commit"]
    with pytest.raises(UsageError, match="does not contain"):
        integrate(passed.oracle, "demo", "T1", lane="light", commit=commit)


def test_without_a_planner_the_operator_is_left(tmp_path: Path):
    squad = pass_outside(Squad(tmp_path, seats=("memory", "builder")), tmp_path)
    with pytest.raises(Blocked):
        integrate(squad.oracle, "demo", "T1", lane="medium")
