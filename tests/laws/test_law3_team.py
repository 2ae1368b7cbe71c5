"""Law 3 for decisions and workflows: kill -9 at any step, then the same call again, leaves what one undisturbed call leaves."""

from __future__ import annotations

import json
import multiprocessing
import re
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.decisions import handover
from oracle.app.delivery import decision_log
from oracle.app.delivery.acknowledge import acknowledge as acknowledge_
from oracle.app.delivery.decision_log import DecisionEntry, read_log
from oracle.app.teamwork import rehearsal, workflow
from oracle.app.teamwork.integration import integrate
from oracle.app.teamwork.peers import synthesise
from oracle.app.teamwork.workflow import create_task, update_step
from oracle.domain.delivery.workflows import WorkflowStep
from oracle.domain.records.drafts import Draft, Evidence
from tests.app.squad import Later, Recorder, Squad
from tests.app.test_decisions import ID, payload
from tests.laws.failpoints import left_by_deaths, run_until

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 400
EVIDENCE = (Evidence("high", "src/a.py"),)
INDEX = "# Memory\n\n- T-1: ✅ MERGED 2026-04-27\n- T-2: 🚀 in flight\n- T-3: ✅ Done 2025-12-01\n"


def send(oracle: Oracle) -> None:
    handover.send(oracle, payload())


def send_anew(oracle: Oracle) -> None:
    handover.send(oracle, payload(decision_id=ID.replace("6", "7")))


def resolve(oracle: Oracle) -> None:
    handover.resolve(oracle, "demo", ID, choice="A")


def finish(oracle: Oracle) -> None:
    update_step(oracle, "demo", "T-1", "build", status="done")


def make(oracle: Oracle) -> None:
    create_task(oracle, "demo", "T-2", steps=(WorkflowStep(1, "a", owner_role="builder"),))


def rehearse(oracle: Oracle) -> None:
    rehearsal.rehearse(oracle, "demo", task_id="R-1")


def archive(oracle: Oracle) -> None:
    from oracle.app.teamwork import compaction

    compaction.archive_merged(oracle, str(Path(oracle.root.home) / "MEMORY.md"), commit=True)


def peer(oracle: Oracle) -> None:
    synthesise(oracle, "demo", "north")


def land(oracle: Oracle) -> None:
    integrate(oracle, "demo", "T-9", lane="light", commit="abc1234", notifies=False)


def have_repaired(oracle: Oracle) -> None:
    integrate(oracle, "demo", "T-9", lane="medium")


def escalate(oracle: Oracle) -> None:
    integrate(oracle, "demo", "T-9", lane="heavy", reason="Two schemas differ.")


def change_lanes(oracle: Oracle) -> None:
    """Take a second lane: the record of the first is superseded, once."""
    escalate(oracle)
    have_repaired(oracle)


def acknowledge(oracle: Oracle) -> None:
    acknowledge_(oracle, "demo", "T-9", source="builder", target="planner")


def supersede_old(oracle: Oracle) -> None:
    workflow.supersede_old(oracle, "demo", days=0)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay out a team on which each of the works has something to do."""
    folder = tmp_path_factory.mktemp("team") / "ready"
    squad = Squad(folder)
    squad.oracle.init()
    squad.ask("T-9", target="builder", objective="Build it.", kind="task", stacks=True, notifies=False)
    squad.complete("T-9", notifies=False, commit="def5678", user_summary="It is built.")
    squad.oracle.write(
        Draft("finding", "demo", "PASS_NEEDS_INTEGRATION T-9 is aside", task_id="T-9", evidence=EVIDENCE)
    )
    receipt = squad.folder / "T-9__builder__planner.json"
    receipt.write_text(receipt.read_text().replace('"lineage_status": "unknown"', '"lineage_status": "divergent"'))
    assert "divergent" in receipt.read_text()
    squad.ask("T-8", target="builder", objective="Build more.", kind="task", stacks=True, notifies=False)
    handover.send(squad.oracle, payload(decision_id=ID), notifies=False)
    create_task(
        squad.oracle,
        "demo",
        "T-1",
        steps=(WorkflowStep(1, "build", owner_role="builder", notify_on_done=("planner",)),),
    )
    update_step(squad.oracle, "demo", "T-1", "build", status="in_progress")
    (squad.home / "MEMORY.md").write_text(INDEX, encoding="utf-8")
    (squad.tasks / "peer-deliveries" / "north").mkdir(parents=True)
    (squad.tasks / "peer-deliveries" / "north" / "DELIVERY.md").write_text("task_id: T-7\n", encoding="utf-8")
    squad.oracle.close()  # else its log goes when it pleases, while it is copied
    return folder


def again(ready: Path, folder: Path) -> None:
    """Lay the team out anew, at the same place, since texts name it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ready, folder)


def enter(folder: Path, seconds: float = 0) -> Oracle:
    return Oracle.open(str(folder / "home/.agents/memory"), waker=Recorder(folder / "woken.log"), clock=Later(seconds))


def what_stands(folder: Path) -> dict[str, object]:
    """Return what matters of a home: who was told what, receipts by what they say, records, workflows, the index of an agent."""
    with enter(folder, seconds=120) as oracle:  # later than what a dead process took is held for it
        oracle.resume()
        titles = sorted((item.title, item.effective_status) for item in oracle.records({}, fresh=True))
        states = {item.handoff.task_id: item.handoff.state.step.value for item in oracle.handoffs().items}
    home = folder / "home"
    task = home / ".agents/tasks/demo"
    choice = [
        json.loads(path.read_bytes()).get("chosen_option_id")
        for path in task.glob("patrol/handoffs/*koder__memory.json")
    ]
    told = {line.split(" at ")[0].split("/home/")[0] for line in Recorder(folder / "woken.log").lines()}
    texts = {path.relative_to(task).as_posix(): _undated(path) for path in task.glob("[TR]-*/*.md")}
    texts |= {f"{path.parent.name}/queue": _untimed(path) for path in task.glob("*/TODO.md")}
    landed = {
        path.name: json.loads(path.read_bytes()).get("memory_commit")
        for path in task.glob("patrol/handoffs/T-9__*")
        if path.suffix in (".json", ".consumed")
    }
    kept = {path.name: path.read_text(encoding="utf-8") for path in home.glob("MEMORY*.md")}
    return {
        "titles": titles,
        "states": states,
        "choice": choice,
        "told": told,
        "texts": texts,
        "kept": kept,
        "landed": landed,
    }


def _undated(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return [line.partition(": step")[2] if ": step" in line else line for line in lines]


def _untimed(path: Path) -> list[str]:
    return [
        re.sub(r"\d{4}-\d\d-\d\d(?:T[\d:.+Z-]+)?", "(a time)", line)
        for line in path.read_text(encoding="utf-8").split("\n")
    ]


RECOVERIES = (land, have_repaired, escalate, change_lanes)
WORKS = (send, send_anew, resolve, finish, make, rehearse, archive, peer, acknowledge, supersede_old, *RECOVERIES)


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_same_call_again_finishes_what_a_dead_process_began(
    tmp_path: Path, ready: Path, work: Callable[[Oracle], None]
):
    folder = tmp_path / "again"
    again(ready, folder)
    with enter(folder) as oracle:
        work(oracle)
    expected = what_stands(folder)
    again(ready, folder)
    for number in left_by_deaths(folder, tmp_path / "copies", lambda: work(enter(folder))):
        with enter(folder) as oracle:
            work(oracle)
        assert what_stands(folder) == expected, f"death {number}"
    assert number > 5


@pytest.mark.slow
def test_an_entry_of_the_log_is_there_whole_or_not_at_all_and_the_next_one_is_one_more(tmp_path: Path, ready: Path):
    """To append is to add: the same words again are another entry, as they are in any log."""
    folder = tmp_path / "again"
    entry = DecisionEntry("demo", "T-1", "Take plan A", "It is the shorter one.")

    def append(_say: object) -> None:
        with enter(folder) as oracle:
            decision_log.append(oracle, entry)

    for number in range(1, MOST):
        again(ready, folder)
        outcome = run_until(number, append, after=False)
        with enter(folder) as oracle:
            before = read_log(oracle, "demo")
            assert [one["detail"] for one in before] in ([], [entry.detail])
            decision_log.append(oracle, entry)
            assert len(read_log(oracle, "demo")) == len(before) + 1
        if not outcome.killed:
            break
    assert 5 < number < MOST - 1


@pytest.mark.parametrize("work", [one for one in WORKS if one not in (peer, change_lanes)])
def test_two_at_the_same_time_do_what_one_does(tmp_path: Path, ready: Path, work: Callable[[Oracle], None]):
    folder = tmp_path / "again"
    again(ready, folder)
    with enter(folder) as oracle:
        work(oracle)
    expected = what_stands(folder)
    again(ready, folder)
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("fork")) as pool:
        for done in [pool.submit(_work, folder, work) for _ in range(3)]:
            done.result()
    assert what_stands(folder) == expected


def _work(folder: Path, work: Callable[[Oracle], None]) -> None:
    with enter(folder) as oracle:
        work(oracle)
