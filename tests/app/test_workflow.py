"""Workflows on disk: made once, changed step by step by many at once, and telling whom they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.teamwork.workflow import create_task, list_pending, supersede_old, update_step
from oracle.domain.delivery.receipts import receipt_name
from oracle.domain.delivery.workflows import WorkflowStep
from oracle.errors import InvalidName, NotFound, UsageError
from oracle.store.delivery import leases

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.squad import Squad

STEPS = (
    WorkflowStep(
        1, "build", owner_role="builder", notify_on_done=("planner", "memory"), notify_on_blocked=("reviewer",)
    ),
    WorkflowStep(2, "multi", owner_role="reviewer", prereq=("build",)),
)


@pytest.fixture
def chain(squad: Squad) -> Squad:
    create_task(squad.oracle, "demo", "T1", steps=STEPS)
    return squad


def test_task_is_made_once_and_left_as_it_is(squad: Squad):
    folder, is_new = create_task(squad.oracle, "demo", "T1")
    assert (folder, is_new) == (str(squad.tasks / "T1"), True)
    assert squad.text("T1/workflow.md") == "# Workflow: T1\n\nworkflow_template: brief-driven\n\nsteps: []\n"
    assert squad.text("T1/STATUS.md").startswith("# Status: T1\n\nstatus: pending\n")
    (squad.tasks / "T1" / "workflow.md").write_text("mine", encoding="utf-8")
    (squad.tasks / "T1" / "STATUS.md").write_text("status: done\n", encoding="utf-8")
    assert create_task(squad.oracle, "demo", "T1")[1] is False
    assert squad.text("T1/workflow.md") == "mine"
    assert "## dispatch log" in squad.text("T1/STATUS.md")


@pytest.mark.parametrize("task_id", ["..", "../x", "a/b", "", ".hidden"])
def test_names_from_outside_are_checked(squad: Squad, task_id: str):
    with pytest.raises(InvalidName):
        create_task(squad.oracle, "demo", task_id)
    with pytest.raises(InvalidName):
        update_step(squad.oracle, "demo", task_id, "a", status="done")


def test_steps_that_can_not_be_followed_are_not_written(squad: Squad):
    with pytest.raises(UsageError, match="wait for each other"):
        create_task(
            squad.oracle, "demo", "T1", steps=(WorkflowStep(1, "a", prereq=("b",)), WorkflowStep(2, "b", prereq=("a",)))
        )
    assert squad.text("T1/workflow.md") == ""


def test_step_in_dashes_waits_for_its_prerequisite(squad: Squad):
    create_task(squad.oracle, "demo", "T1")
    (squad.tasks / "T1" / "workflow.md").write_text(
        "## Step 1: build\nowner_role: builder\nstatus: pending\n\n"
        "## Step 2: multi\nowner_role: builder\nstatus: pending\nprereq:\n  - build\n",
        encoding="utf-8",
    )
    assert list_pending(squad.oracle, "demo", "builder") == [("T1", "build")]


def test_one_bad_workflow_hides_no_other(chain: Squad):
    for task_id, content in (("T0", b"## Step 1: a\nprereq: [x]\n"), ("T2", b"\xff\xfe## Step 1: a")):
        (chain.tasks / task_id).mkdir()
        (chain.tasks / task_id / "workflow.md").write_bytes(content)
    (chain.tasks / "T3" / "workflow.md").mkdir(parents=True)
    assert list_pending(chain.oracle, "demo", "builder") == [("T1", "build")]
    assert any("T0 can't be followed" in line for line in chain.warnings)


def test_step_goes_on_and_tells_whom_it_names(chain: Squad):
    assert update_step(chain.oracle, "demo", "T1", "build", status="in_progress").wake_ups == ()
    done = update_step(chain.oracle, "demo", "T1", "1", status="done")
    assert [one.seat for one in done.wake_ups] == ["planner", "memory"]
    assert chain.recorder.woken() == [("planner", "T1"), ("memory", "T1")]
    assert list_pending(chain.oracle, "demo", "reviewer") == [("T1", "multi")]
    assert "status: in_progress" in chain.text("T1/STATUS.md")
    assert "step 1 (build) is done" in chain.text("T1/STATUS.md")
    assert not update_step(chain.oracle, "demo", "T1", "build", status="done").is_new
    assert len(chain.recorder.lines()) == 2


def test_blocked_step_tells_others(chain: Squad):
    update_step(chain.oracle, "demo", "T1", "build", status="in_progress")
    update_step(chain.oracle, "demo", "T1", "build", status="blocked")
    assert chain.recorder.woken() == [("reviewer", "T1")]
    assert "status: blocked" in chain.text("T1/STATUS.md")


def test_wake_up_that_fails_waits(chain: Squad):
    chain.recorder.away.update(("planner", "memory"))
    update_step(chain.oracle, "demo", "T1", "build", status="in_progress")
    update_step(chain.oracle, "demo", "T1", "build", status="done")
    assert len(chain.inbox().waiting) == 2


def test_step_that_is_begun_early_is_a_warning(chain: Squad):
    update_step(chain.oracle, "demo", "T1", "multi", status="in_progress")
    assert any("multi was begun before build is done" in line for line in chain.warnings)


def test_refused_change_writes_nothing(chain: Squad):
    before = chain.snapshot()
    with pytest.raises(UsageError):
        update_step(chain.oracle, "demo", "T1", "build", status="done")
    with pytest.raises(NotFound):
        update_step(chain.oracle, "demo", "T9", "build", status="done")
    assert chain.snapshot() == before


def test_project_without_profile_has_workflows_too(root: Path):
    with Oracle.open(str(root)) as oracle:
        create_task(oracle, "other", "T1", steps=STEPS)
        update_step(oracle, "other", "T1", "build", status="in_progress")
        assert update_step(oracle, "other", "T1", "build", status="done").wake_ups == ()
        assert list_pending(oracle, "other", "reviewer") == [("T1", "multi")]


def test_planner_task_without_workflow_is_a_warning(squad: Squad):
    squad.ask("T1", source="memory", target="planner", kind="task")
    assert any("`oracle team task create T1 --project demo`" in line for line in squad.warnings)
    squad.warnings.clear()
    create_task(squad.oracle, "demo", "T2")
    squad.ask("T2", source="memory", target="planner", kind="task")
    squad.ask("Q-1", source="builder", target="planner", kind="query")
    assert squad.warnings == []


def test_old_tasks_that_nobody_delivered_are_superseded(squad: Squad):
    squad.ask("T1", target="builder", kind="task")
    squad.ask("T2", target="builder", kind="task", stacks=True)
    squad.ask("T3", target="reviewer", kind="task")
    squad.complete("T2", "builder", "planner")
    later = squad.open(4 * 86400)
    assert supersede_old(squad.oracle, "demo") == []
    assert supersede_old(later, "demo", days=1e9) == []
    assert supersede_old(later, "demo") == [("builder", "T1"), ("reviewer", "T3")]
    assert supersede_old(later, "demo") == []
    assert "## [superseded] T1" in squad.text("builder/TODO.md")
    assert "superseded" in squad.text("TASKS.md")
    assert "builder superseded T1" in squad.text("STATUS.md")


@pytest.mark.parametrize("is_claimed", [False, True])
def test_superseding_a_task_ends_its_handoff_and_its_wake_up(squad: Squad, *, is_claimed: bool):
    squad.recorder.away = {"builder"}
    squad.ask("T1", target="builder", kind="task")
    name = receipt_name("T1", "planner", "builder")
    if is_claimed:
        leases.claim(str(squad.folder), name, holder="builder", now=squad.oracle.now())
    assert supersede_old(squad.open(4 * 86400), "demo") == [("builder", "T1")]
    assert squad.receipts() == {"T1__planner__builder.json.consumed"}
    assert squad.states() == {"T1": "superseded"}
    (item,) = squad.oracle.handoffs().items
    assert (item.handoff.next_seat(), item.command, item.handoff.state.unsolicited) == ("", "", False)
    squad.recorder.away = set()
    squad.open(5 * 86400).resume()
    assert squad.recorder.woken() == []
    squad.complete("T1", "builder", "planner")  # an answer that comes late counts all the same
    assert squad.states() == {"T1": "consumed"}


def test_task_of_a_project_that_is_not_there_is_made_with_a_warning(squad: Squad):
    squad.warnings.clear()
    folder, is_new = create_task(squad.oracle, "dmeo", "T1", new_project=True)
    assert (folder.endswith("/tasks/dmeo/T1"), is_new) == (True, True)
    assert squad.warnings == ["project dmeo is new; did you mean demo?"]
    create_task(squad.oracle, "dmeo", "T2")
    create_task(squad.oracle, "demo", "T2")
    assert len(squad.warnings) == 1


def test_steps_are_written_below_what_a_new_workflow_says(squad: Squad):
    create_task(squad.oracle, "demo", "T1")
    path = squad.tasks / "T1" / "workflow.md"
    path.write_text(f"{path.read_text()}\n## Step 1: build\nowner_role: builder\nstatus: pending\n")
    assert list_pending(squad.oracle, "demo", "builder") == [("T1", "build")]
