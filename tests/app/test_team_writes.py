"""What decisions, workflows, rehearsals, integration, peers and the checks write: their places and nothing else (Law 2)."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.app.codebase import ownership
from oracle.app.decisions.handover import resolve, send
from oracle.app.delivery.acknowledge import check
from oracle.app.delivery.decision_log import DecisionEntry, append, read_log
from oracle.app.teamwork import compaction, workspaces
from oracle.app.teamwork.integration import integrate
from oracle.app.teamwork.peers import list_peers, synthesise
from oracle.app.teamwork.rehearsal import rehearse, verify
from oracle.app.teamwork.workflow import create_task, list_pending, supersede_old, update_step
from tests.app.gitbox import GitBox
from tests.app.test_decisions import ID, payload
from tests.laws.recorder import judge, recording

if TYPE_CHECKING:
    from tests.app.squad import Squad

ALLOWED = re.compile(
    r"tasks(/demo)?"
    r"|tasks/demo/(TASKS|STATUS)\.md(\.lock)?"
    r"|tasks/demo/[^/]+(/(TODO|DELIVERY)\.md(\.lock)?)?"
    r"|tasks/demo/[^/]+/((workflow|STATUS)\.md(\.lock)?|brief\.md)"
    r"|tasks/demo/patrol/handoffs(/[^/]+\.json(\.(claim|consumed|superseded-[0-9a-f]{12}))?)?"
    r"|tasks/demo/patrol/handoffs/\.receipts\.lock"
    r"|tasks/demo/(.*/)?\.new-[0-9a-f]+\.\d+\.\d+"
)
PEER = "peer-deliveries/north"


def decide(squad: Squad) -> None:
    send(squad.oracle, payload())
    resolve(squad.oracle, "demo", ID, choice="A")
    append(squad.oracle, DecisionEntry("demo", "T-1", "t", "d"))
    read_log(squad.oracle, "demo")


def go_on(squad: Squad) -> None:
    create_task(squad.oracle, "demo", "T-2")
    rehearse(squad.oracle, "demo", task_id="R-1")
    update_step(squad.oracle, "demo", "R-1", "1", status="in_progress")
    update_step(squad.oracle, "demo", "R-1", "1", status="done")
    list_pending(squad.oracle, "demo", "builder")
    squad.ask("T-3", target="builder", kind="task")
    supersede_old(squad.open(5 * 86400), "demo")


def recover(squad: Squad) -> None:
    squad.complete("T-9", "builder", "planner", commit=squad.outside)  # type: ignore[attr-defined]
    integrate(squad.oracle, "demo", "T-9", lane="heavy")
    integrate(squad.oracle, "demo", "T-9", lane="medium")


def look(squad: Squad) -> None:
    check(squad.oracle, "demo", "T-9")
    verify(squad.oracle, "demo", task_id="R-1") if (squad.tasks / "R-1").exists() else None
    list_peers(squad.oracle, "demo")
    synthesise(squad.oracle, "demo", "north")
    ownership.check(squad.oracle, str(squad.home.parent / "repo"))
    workspaces.check(squad.oracle, project="demo")
    compaction.check(squad.oracle, "demo")


@pytest.fixture
def team(squad: Squad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Squad:
    monkeypatch.setenv("ORACLE_TMUX_SOCKET", str(tmp_path / "no-server"))
    squad.oracle.init()
    repo = GitBox(tmp_path / "repo")
    repo.git("checkout", "-q", "-b", "aside")
    squad.outside = repo.commit("aside")  # type: ignore[attr-defined]
    repo.git("checkout", "-q", "main")
    folder = squad.tasks / PEER
    folder.mkdir(parents=True)
    (folder / "DELIVERY.md").write_text("task_id: T-7\n", encoding="utf-8")
    return squad


@pytest.mark.parametrize("act", [decide, go_on, recover, look])
def test_nothing_is_written_elsewhere(team: Squad, act):
    with recording() as acts:
        act(team)
    agents = team.home / ".agents"
    kept = [one for one in acts if one.path not in (str(team.recorder.path), os.devnull)]
    in_root = [one for one in kept if Path(one.path).is_relative_to(team.path)]
    others = {one.path for one in kept} - {one.path for one in in_root}
    names = sorted(os.path.relpath(path, agents) for path in others)
    assert judge(in_root, team.path) == []
    assert [name for name in names if not ALLOWED.fullmatch(name)] == []
    assert [name for name in names if name.startswith(f"tasks/demo/{PEER}")] == []
    assert in_root


def test_decision_that_died_before_its_record_is_finished_by_the_same_call(
    squad: Squad, monkeypatch: pytest.MonkeyPatch
):
    send(squad.oracle, payload())
    with monkeypatch.context() as patch:
        patch.setattr("oracle.app.records.once.write_once", die)
        with pytest.raises(Died):
            resolve(squad.oracle, "demo", ID, choice="A")
    done = resolve(squad.oracle, "demo", ID, choice="A")
    assert (Path(done.record).exists(), done.is_new) == (True, False)
    assert squad.states() == {ID: "acked"}


class Died(BaseException):
    """The process is gone."""


def die(*_words: object) -> str:
    raise Died
