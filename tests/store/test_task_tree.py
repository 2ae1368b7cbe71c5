"""Try the task tree on a real disk: eight writers at once, foreign bytes, a kill at every file operation."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from oracle.domain.delivery import task_queue
from oracle.domain.delivery.task_queue import Task
from oracle.errors import InvalidName, TaskAlreadyQueued
from oracle.store.delivery import task_tree
from oracle.store.delivery.task_tree import TaskTree
from tests.store.crash import each_crash, run_at_once

NOW = datetime(2026, 11, 27, 23, 37, 34, 5, tzinfo=timezone(timedelta(hours=2)))
WRITERS = 8


def tree_at(folder: Path | str) -> TaskTree:
    return TaskTree(str(folder), f"{folder}/TASKS.md", f"{folder}/STATUS.md", f"{folder}/patrol/handoffs")


@pytest.fixture
def tree(tmp_path: Path) -> TaskTree:
    return tree_at(tmp_path / "tasks/demo")


def task(task_id: str) -> Task:
    return Task(task_id, "", {"title": f"title {task_id}", "dispatched_at": task_tree.stamp_of(NOW)}, "do it")


def test_eight_dispatches_at_once_lose_nothing(tree: TaskTree) -> None:
    for _ in range(3):
        start = len(task_tree.read_queue(tree, "builder"))

        def act(number: int, start: int = start) -> int:
            name = f"T{start + number}"
            task_tree.queue_task(tree, "builder", task(name))
            task_tree.upsert_row(tree, name, {"Title": name, "Owner": "builder", "Status": "pending"})
            task_tree.append_log(tree, f"planner dispatched {name} to builder", task_id=name, moment=NOW)
            return 0

        assert run_at_once(WRITERS, act) == [0] * WRITERS
    expected = {f"T{number}" for number in range(3 * WRITERS)}
    queue = task_tree.read_queue(tree, "builder")
    assert {found.task_id for found in queue} == expected
    assert [found.state for found in queue] == ["pending"] + ["queued"] * (3 * WRITERS - 1)
    assert {row["ID"] for row in task_tree.read_rows(tree)} == expected
    assert len(task_tree.read_log(tree)) == 20
    assert len(set(task_tree.read_log(tree))) == 20


def test_eight_completions_and_acknowledgements_at_once_lose_nothing(tree: TaskTree) -> None:
    for number in range(WRITERS):
        task_tree.queue_task(tree, "builder", task(f"T{number}"))

    def act(number: int) -> int:
        assert task_tree.complete_task(tree, "builder", f"T{number}", day="2026-11-27")
        assert task_tree.acknowledge_task(tree, "builder", f"T{number}", source="planner", moment=NOW)
        return int(task_tree.complete_task(tree, "builder", f"T{number}", day="2026-11-27"))

    assert run_at_once(WRITERS, act) == [0] * WRITERS
    assert [found.state for found in task_tree.read_queue(tree, "builder")] == ["completed"] * WRITERS
    text = Path(tree.todo_file("builder")).read_text()
    assert text.count(" — done\n") == text.count("Consumed: ") == WRITERS


def test_of_eight_equal_dispatches_one_is_queued(tree: TaskTree) -> None:
    def act(number: int) -> int:
        try:
            task_tree.queue_task(tree, "builder", task("T1"))
        except TaskAlreadyQueued as error:
            return 2 if error.mark == "TASK_ALREADY_QUEUED T1 @ 2026-11-27T21:37:34+00:00" else 3
        return 0

    assert sorted(run_at_once(WRITERS, act)) == [0] + [2] * (WRITERS - 1)
    task_tree.queue_task(tree, "builder", task("T1-foo"))
    task_tree.queue_task(tree, "builder", task("T"))


def test_times_are_printed_in_the_two_shapes(tree: TaskTree) -> None:
    line = task_tree.acknowledge_task(tree, "planner", "T1", source="builder", moment=NOW)
    assert line == "Consumed: T1 from builder at 2026-11-27T21:37:34+00:00"
    assert task_tree.find_acknowledgement(tree, "planner", "T1", source="builder") == line
    task_tree.append_log(tree, "planner dispatched T1 to builder test_policy=EXTEND", task_id="T1", moment=NOW)
    assert task_tree.read_log(tree) == (
        "2026-11-27T23:37:34+02:00: planner dispatched T1 to builder test_policy=EXTEND",
    )


def test_a_healed_log_leaves_an_audit_file(tree: TaskTree) -> None:
    status = Path(tree.status_doc)
    status.parent.mkdir(parents=True)
    status.write_text("# Status\n")
    assert task_tree.append_log(tree, "x", task_id="T1", moment=NOW)
    (audit,) = Path(tree.handoff_dir).glob("audit/dispatch-log-heal-T1-*.json")
    content = json.loads(audit.read_text())
    assert set(content) == {"reason", "task_id", "status_path", "healed_at"}
    assert content["status_path"] == tree.status_doc
    assert not task_tree.append_log(tree, "x", task_id="T1", moment=NOW)


def test_bytes_that_are_no_text_are_carried_through_and_the_mode_is_kept(tree: TaskTree) -> None:
    path = Path(tree.todo_file("builder"))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"# Queue: builder \xff\xfe\r\n\r\n## [pending] T0\r\ntask_id: T0\r\n")
    path.chmod(0o644)
    task_tree.queue_task(tree, "builder", task("T1"))
    assert path.read_bytes().startswith(b"# Queue: builder \xff\xfe\r\n\r\n## [pending] T0\r\ntask_id: T0")
    assert path.stat().st_mode & 0o777 == 0o644
    assert [found.state for found in task_tree.read_queue(tree, "builder")] == ["pending", "queued"]


def test_a_delivery_is_written_over_the_one_before(tree: TaskTree) -> None:
    assert task_tree.read_delivery(tree, "builder") == {}
    for name in ("T1", "T2"):
        fields = {"task_id": name, "owner": "builder", "target": "planner", "status": "completed", "date": "2026-11-27"}
        task_tree.write_delivery(tree, "builder", fields, title="t", summary="s", paragraphs={"Verdict": "APPROVED"})
    assert task_tree.read_delivery(tree, "builder")["task_id"] == "T2"
    assert (
        Path(tree.delivery_file("builder"))
        .read_text()
        .endswith("# Delivery: t\n\n## Summary\n\ns\n\nVerdict: APPROVED\n")
    )
    assert task_tree.seats_with_files(tree) == ["builder"]


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "<X>"])
def test_an_odd_name_never_meets_a_path(tree: TaskTree, name: str) -> None:
    for act in (
        lambda: task_tree.queue_task(tree, name, task("T1")),
        lambda: task_tree.queue_task(tree, "builder", task(name)),
        lambda: task_tree.complete_task(tree, "builder", name, day="d"),
        lambda: task_tree.upsert_row(tree, name, {}),
        lambda: task_tree.append_log(tree, "x", task_id=name, moment=NOW),
        lambda: task_tree.write_delivery(tree, name, {}, title="", summary=""),
    ):
        with pytest.raises(InvalidName):
            act()
    assert not Path(tree.tasks_root).exists()


def test_completing_in_a_queue_that_does_not_exist_makes_none(tree: TaskTree) -> None:
    assert not task_tree.complete_task(tree, "builder", "T1", day="d")
    assert not Path(tree.tasks_root).exists()


def test_death_at_any_file_operation_leaves_every_file_whole(tmp_path: Path) -> None:
    def act(at: int) -> None:
        tree = tree_at(tmp_path / str(at))
        task_tree.queue_task(tree, "builder", task("T2"))
        task_tree.complete_task(tree, "builder", "T1", day="d")
        task_tree.upsert_row(tree, "T2", {"Status": "pending"})
        task_tree.append_log(tree, "x", task_id="T2", moment=NOW)

    for number in range(120):
        task_tree.queue_task(tree_at(tmp_path / str(number)), "builder", task("T1"))
    for at in each_crash(act):
        tree = tree_at(tmp_path / str(at))
        states = [(found.task_id, found.state) for found in task_tree.read_queue(tree, "builder")]
        assert states in (
            [("T1", "pending")],
            [("T1", "pending"), ("T2", "queued")],
            [("T1", "completed"), ("T2", "pending")],
        )
        assert len(task_tree.read_rows(tree)) <= 1
        task_tree.complete_task(tree, "builder", "T1", day="d")
        text = Path(tree.todo_file("builder")).read_text()
        assert text.count(" — done\n") == 1
        assert task_queue.find_open(text, "T1") is None
