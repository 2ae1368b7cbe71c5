"""The folder of a task in the task tree: workflow.md and STATUS.md. Each file has a lock and is replaced atomically."""

from __future__ import annotations

import os

from oracle.domain.delivery import task_files
from oracle.domain.delivery import workflows as rules
from oracle.domain.names import check_name
from oracle.errors import NotFound
from oracle.store.disk import rewriting, steps
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime


def folder_of(tasks_root: str, task_id: str) -> str:
    """Return the folder of a task. Raises InvalidName."""
    return f"{tasks_root}/{check_name(task_id, 'task id')}"


def workflow_file(tasks_root: str, task_id: str) -> str:
    """Return the path of a task's workflow.md. Raises InvalidName."""
    return f"{folder_of(tasks_root, task_id)}/workflow.md"


def create(tasks_root: str, task_id: str, workflow: str) -> bool:
    """Create workflow.md and STATUS.md if they do not exist, and restore the log's header.

    Returns whether the workflow is new.
    """
    folder = folder_of(tasks_root, task_id)
    is_new = steps.create_once(f"{folder}/workflow.md", _encode(workflow))
    if not steps.create_once(f"{folder}/STATUS.md", _encode(rules.render_status(task_id))):
        _change(f"{folder}/STATUS.md", rules.heal_log)
    return is_new


def write_brief(tasks_root: str, task_id: str, text: str) -> str:
    """Write a task's brief.md if it does not exist. Returns its path."""
    path = f"{folder_of(tasks_root, task_id)}/brief.md"
    steps.create_once(path, _encode(text))
    return path


def read(tasks_root: str, task_id: str) -> str:
    """Return a task's workflow. Raises NotFound with the command that creates one."""
    path = workflow_file(tasks_root, task_id)
    raw = steps.read(path)
    if raw is None:
        raise NotFound(
            say("{path} does not exist.", path=path),
            hint=say("Create it with `oracle team task create {task_id} --project PROJECT`.", task_id=task_id),
        )
    return raw.decode("utf-8", "surrogateescape")


def change(tasks_root: str, task_id: str, alter: Callable[[str], str]) -> None:
    """Rewrite a task's workflow under its lock. Raises NotFound, and what `alter` raises; then nothing was written."""
    read(tasks_root, task_id)
    _change(workflow_file(tasks_root, task_id), alter)


def note(tasks_root: str, task_id: str, line: str, *, moment: datetime) -> None:
    """Update a task's STATUS.md from its workflow and append a line to its log, once. `moment` has the local offset."""
    entry = f"{moment.replace(microsecond=0).isoformat()}: {line}"

    def alter(text: str) -> str:
        status = rules.overall(rules.steps_of(read(tasks_root, task_id)))
        known = rules.set_overall(text or rules.render_status(task_id), status)
        if any(one.partition(": ")[2] == line for one in task_files.log_of(known)):
            return known
        return task_files.append_log(known, entry)[0]

    _change(f"{folder_of(tasks_root, task_id)}/STATUS.md", alter)


def tasks_with_workflow(tasks_root: str) -> list[str]:
    """Return the ids of the tasks that have a workflow, sorted."""
    try:
        names = sorted(os.listdir(tasks_root))
    except OSError:
        return []
    return [name for name in names if os.path.isfile(f"{tasks_root}/{name}/workflow.md")]


def _change(path: str, alter: Callable[[str], str]) -> None:
    with steps.FileLock(path):
        rewriting.change(path, lambda raw: _encode(alter((raw or b"").decode("utf-8", "surrogateescape"))))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
