"""The task tree on disk: queues, the task table, the dispatch log, deliveries and workflows of a project.

Each file has a lock (`<file>.lock`), held for one read and one atomic replace. Other tools write these files too, so
bytes that are not UTF-8 are kept. `domain.delivery.task_files` knows their format.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from oracle.domain.delivery import task_files, task_queue
from oracle.domain.delivery.task_queue import Task
from oracle.domain.names import check_name
from oracle.domain.values import value
from oracle.errors import NotFound, TaskAlreadyQueued
from oracle.store.disk import folders, rewriting, steps
from oracle.wording import say


@value
class TaskTree:
    """The absolute paths of a project's task tree. `tasks_root` holds one folder per seat."""

    tasks_root: str
    tasks_doc: str
    status_doc: str
    handoff_dir: str

    def todo_file(self, seat: str) -> str:
        """Return the path of a seat's queue. Raises InvalidName."""
        return f"{self.tasks_root}/{check_name(seat, 'seat')}/TODO.md"

    def delivery_file(self, seat: str) -> str:
        """Return the path of a seat's last delivery. Raises InvalidName."""
        return f"{self.tasks_root}/{check_name(seat, 'seat')}/DELIVERY.md"


# Queues ---------------------------------------------------------------------------------------------------------------


def already_queued(found: Task, path: str) -> TaskAlreadyQueued:
    """Return the error that a task is already in the queue at `path`."""
    since = found.fields.get("dispatched_at") or say("an unknown time")
    return TaskAlreadyQueued(
        say(
            "{task_id} was asked already: since {since} it is {state} in {path}.",
            task_id=found.task_id,
            since=since,
            state=found.state,
            path=path,
        ),
        hint=say(
            "Choose another task id, or wait until this one is completed (`oracle handoffs show {task_id}`).",
            task_id=found.task_id,
        ),
        task_id=found.task_id,
        since=since,
    )


def queue_task(tree: TaskTree, seat: str, task: Task) -> str:
    """Append a task to a seat's queue and return the path. Raises TaskAlreadyQueued, LockTimeout, DiskFailure."""
    checked = _checked(task)
    path = tree.todo_file(seat)

    def change(text: str) -> str:
        found = task_queue.find_open(text, checked.task_id)
        if found is not None:
            raise already_queued(found, path)
        return task_queue.append_task(text, checked, seat=seat)

    _change(path, change)
    return path


def complete_task(tree: TaskTree, seat: str, task_id: str, *, day: str, note: str = "done") -> bool:
    """Complete the open entry of a task and promote the next one. Returns whether there was one."""
    name = check_name(task_id, "task id")
    return _change_existing(tree.todo_file(seat), lambda text: task_queue.complete_task(text, name, day=day, note=note))


def supersede_task(tree: TaskTree, seat: str, task_id: str) -> bool:
    """Supersede the open entry of a task and promote the next one. Returns whether there was one."""
    name = check_name(task_id, "task id")
    return _change_existing(tree.todo_file(seat), lambda text: task_queue.supersede_task(text, name))


def drop_task(tree: TaskTree, seat: str, task_id: str) -> bool:
    """Remove the open entries of a task from a queue. Returns whether there was one."""
    name = check_name(task_id, "task id")
    return _change_existing(tree.todo_file(seat), lambda text: task_queue.drop_task(text, name))


def acknowledge_task(
    tree: TaskTree, seat: str, task_id: str, *, source: str, moment: datetime, earlier: str = ""
) -> str:
    """Write the ACK line of a task into its reader's queue, once. Returns the line in the queue.

    `earlier` is the line of an answer that was replaced since, which does not count.
    """
    name, source = check_name(task_id, "task id"), check_name(source, "seat")
    path = tree.todo_file(seat)
    stamp = stamp_of(moment)
    ack = partial(task_queue.acknowledge_task, source=source, moment=stamp, seat=seat, earlier=earlier)
    _change(path, lambda text: ack(text, name))
    return find_acknowledgement(tree, seat, name, source=source)


def find_acknowledgement(tree: TaskTree, seat: str, task_id: str, *, source: str) -> str:
    """Return the last ACK line of a task from one seat, or ""."""
    return task_queue.find_acknowledgement(_read(tree.todo_file(seat)), task_id, source)


def read_queue(tree: TaskTree, seat: str) -> tuple[Task, ...]:
    """Return the entries of a seat's queue. A missing queue is empty."""
    return task_queue.tasks_of(_read(tree.todo_file(seat)))


def _checked(task: Task) -> Task:
    name = check_name(task.task_id, "task id")
    return Task(name, task.state, task.fields, task.objective, task.skill_refs)


# The table and the log ------------------------------------------------------------------------------------------------


def upsert_row(tree: TaskTree, task_id: str, cells: Mapping[str, str]) -> bool:
    """Set columns (Title, Owner, Status, Notes) of a task's row, or add the row. Returns whether anything changed."""
    name = check_name(task_id, "task id")
    return _change(tree.tasks_doc, lambda text: task_files.upsert_row(text, name, cells))


def read_rows(tree: TaskTree) -> tuple[dict[str, str], ...]:
    """Return the rows of the task table by column name."""
    return task_files.rows_of(_read(tree.tasks_doc))


def append_log(tree: TaskTree, line: str, *, task_id: str, moment: datetime) -> bool:
    """Append `- <local time>: <line>` to the dispatch log. Returns whether its header had to be restored.

    `moment` has the local offset. Restoring the header writes a file under the handoff folder's `audit/`.
    """
    name = check_name(task_id, "task id")
    healed: list[bool] = []

    def change(text: str) -> str:
        changed, was_missing = task_files.append_log(text, f"{moment.replace(microsecond=0).isoformat()}: {line}")
        healed.append(was_missing)
        return changed

    _change(tree.status_doc, change)
    if healed[-1]:
        _audit_healing(tree, name, moment)
    return healed[-1]


def log_once(tree: TaskTree, line: str, *, task_id: str, moment: datetime) -> None:
    """Append a line to the dispatch log at local time, unless its last line is the same, as after a repeated step."""
    last = read_log(tree)[-1:]
    if not (last and last[0].partition(": ")[2] == line):
        append_log(tree, line, task_id=task_id, moment=moment.astimezone())


def read_log(tree: TaskTree) -> tuple[str, ...]:
    """Return the lines of the dispatch log, oldest first."""
    return task_files.log_of(_read(tree.status_doc))


def _audit_healing(tree: TaskTree, task_id: str, moment: datetime) -> None:
    stamp = moment.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    content = {
        "reason": "the dispatch log had no header",
        "task_id": task_id,
        "status_path": tree.status_doc,
        "healed_at": stamp_of(moment),
    }
    data = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True).encode("utf-8", "backslashreplace") + b"\n"
    steps.create_once(f"{tree.handoff_dir}/audit/dispatch-log-heal-{task_id}-{stamp}.json", data)


# Deliveries -----------------------------------------------------------------------------------------------------------


def write_delivery(
    tree: TaskTree,
    seat: str,
    fields: Mapping[str, str],
    *,
    title: str,
    summary: str,
    paragraphs: Mapping[str, str] | None = None,
) -> str:
    """Replace a seat's DELIVERY.md and return its path."""
    path = tree.delivery_file(seat)
    text = task_files.render_delivery(fields, title=title, summary=summary, paragraphs=paragraphs or {})
    _change(path, lambda _: text)
    return path


def read_delivery(tree: TaskTree, seat: str) -> dict[str, str]:
    """Return the fields at the head of a seat's DELIVERY.md, {} if there is none."""
    return task_files.delivery_fields(_read(tree.delivery_file(seat)))


def stamp_of(moment: datetime) -> str:
    """Print a moment in the form of receipts and queues: UTC, seconds, `+00:00`."""
    return moment.astimezone(UTC).replace(microsecond=0).isoformat()


def seats_with_files(tree: TaskTree) -> Sequence[str]:
    """Return the seats with a queue or a delivery on disk, sorted."""
    names = ("TODO.md", "DELIVERY.md")
    seats = folders.names_in(tree.tasks_root)
    return [seat for seat in seats if any(os.path.isfile(f"{tree.tasks_root}/{seat}/{name}") for name in names)]


def _read(path: str) -> str:
    raw = steps.read(path)
    return "" if raw is None else raw.decode("utf-8", "surrogateescape")


def _change_existing(path: str, change: Callable[[str], str]) -> bool:
    """Rewrite a file like `_change`, but create neither the file, its folder nor its lock."""
    return os.path.exists(path) and _change(path, change)


def _change(path: str, change: Callable[[str], str]) -> bool:
    """Rewrite a file under its lock, unless nothing changes. Returns whether it did. Other programs may write it too."""
    with steps.FileLock(path):
        return rewriting.change(path, lambda raw: _encode(change((raw or b"").decode("utf-8", "surrogateescape"))))


# Workflows: workflow.md and STATUS.md of a task ------------------------------------------------------------------------


def folder_of(tasks_root: str, task_id: str) -> str:
    """Return the folder of a task. Raises InvalidName."""
    return f"{tasks_root}/{check_name(task_id, 'task id')}"


def workflow_file(tasks_root: str, task_id: str) -> str:
    """Return the path of a task's workflow.md. Raises InvalidName."""
    return f"{folder_of(tasks_root, task_id)}/workflow.md"


def create_workflow(tasks_root: str, task_id: str, workflow: str) -> bool:
    """Create workflow.md and STATUS.md, or restore the log's header. Returns whether the workflow is new."""
    from oracle.domain.delivery import workflows as rules  # a delivery needs none of its patterns

    folder = folder_of(tasks_root, task_id)
    is_new = steps.create_once(f"{folder}/workflow.md", _encode(workflow))
    if not steps.create_once(f"{folder}/STATUS.md", _encode(rules.render_status(task_id))):
        _change(f"{folder}/STATUS.md", task_files.heal_log)
    return is_new


def write_brief(tasks_root: str, task_id: str, text: str) -> str:
    """Write a task's brief.md if it does not exist. Returns its path."""
    path = f"{folder_of(tasks_root, task_id)}/brief.md"
    steps.create_once(path, _encode(text))
    return path


def read_workflow(tasks_root: str, task_id: str) -> str:
    """Return a task's workflow. Raises NotFound with the command that creates one."""
    path = workflow_file(tasks_root, task_id)
    raw = steps.read(path)
    if raw is None:
        from oracle.domain.spelling import guess_task

        raise NotFound(
            say("{path} does not exist.", path=path),
            hint=guess_task(task_id, tasks_with_workflow(tasks_root))
            or say("Create it with `oracle team task create {task_id} --project PROJECT`.", task_id=task_id),
        )
    return raw.decode("utf-8", "surrogateescape")


def change_workflow(tasks_root: str, task_id: str, alter: Callable[[str], str]) -> None:
    """Rewrite a task's workflow under its lock. Raises NotFound, and what `alter` raises; then nothing was written."""
    read_workflow(tasks_root, task_id)
    _change(workflow_file(tasks_root, task_id), alter)


def note_status(tasks_root: str, task_id: str, line: str, *, moment: datetime) -> None:
    """Update a task's STATUS.md from its workflow and append a line to its log, once. `moment` has the local offset."""
    from oracle.domain.delivery import workflows as rules

    entry = f"{moment.replace(microsecond=0).isoformat()}: {line}"

    def alter(text: str) -> str:
        status = rules.overall(rules.steps_of(read_workflow(tasks_root, task_id)))
        known = rules.set_overall(text or rules.render_status(task_id), status)
        if any(one.partition(": ")[2] == line for one in task_files.log_of(known)):
            return known
        return task_files.append_log(known, entry)[0]

    _change(f"{folder_of(tasks_root, task_id)}/STATUS.md", alter)


def tasks_with_workflow(tasks_root: str) -> list[str]:
    """Return the ids of the tasks that have a workflow, sorted."""
    return [name for name in folders.names_in(tasks_root) if os.path.isfile(f"{tasks_root}/{name}/workflow.md")]


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
