"""Which seat may change a file of the task tree, beside the matrix of the Root. Pure."""

from __future__ import annotations

from oracle.domain.delivery.receipts import parse_file_name
from oracle.domain.names.seats import MEMORY, role_of

_PROJECT_FILES = ("STATUS.md", "TASKS.md")
_TASK_FILES = ("workflow.md", "STATUS.md", "brief.md")


def may_write_task(seat: str, relpath: str) -> bool:
    """Tell whether `seat` may write `<project>/…` of the task tree: its own folder and receipts; some write what steers a task."""
    parts = relpath.split("/")
    if len(parts) < 2 or not all(parts) or any(part in (".", "..") for part in parts):
        return False
    if parts[1:3] == ["patrol", "handoffs"]:
        found = parse_file_name(parts[-1])
        return found is not None and seat in (found[0].source, found[0].target)
    if len(parts) == 2:
        return role_of(seat) == MEMORY and parts[1] in _PROJECT_FILES
    if len(parts) == 3 and parts[2] in _TASK_FILES:
        return role_of(seat) in (MEMORY, "planner")
    return parts[1] == seat
