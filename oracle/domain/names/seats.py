"""Seats, roles and the ownership matrix: which seat may write which root-relative path. Pure."""

from __future__ import annotations

from oracle.domain.names.slugs import check_name, project_of
from oracle.errors import OwnershipError
from oracle.wording import say

MEMORY = "memory"
FRONT = "koder"
"""The seat that people are reached by."""

ROLES = ("memory", "planner", "builder", "reviewer", "patrol")
ORPHAN_KINDS = ("decision", "finding", "task", "plan")
"""The kinds that no single seat owns; Memory writes these and nothing else under `projects/`."""

SCAN_KINDS = ("dev_env", "runtime", "tests", "deploy", "ci", "lint", "structure", "env_templates")
PATROL_FOLDERS = ("doc-code-alignment", "test-results", "task-commit-gaps")
_MEMORY_TREES = ("responses", "machine", "shared", "learnings")


def role_of(seat: str) -> str:
    """Return the role of a seat: its name without a trailing `-<number>`, or "" for a name that is no role."""
    stem, dash, number = seat.rpartition("-")
    role = stem if dash and number.isdecimal() else seat
    return role if role in ROLES else ""


def may_write(seat: str, relpath: str) -> bool:
    """Return whether `seat` may write the root-relative file `relpath` (a truth file, not a projection)."""
    parts = relpath.split("/")
    if not all(parts) or any(part in (".", "..") for part in parts):
        return False
    if role_of(seat) == MEMORY:
        return _memory_may_write(parts)
    return _seat_may_write(seat, parts)


def is_scanned(relpath: str) -> bool:
    """Return whether a root-relative path is that of the facts which a scan of a repository writes."""
    parts = relpath.split("/")
    stem, dot, ending = parts[-1].rpartition(".")
    return len(parts) == 3 and parts[0] == "projects" and dot + ending == ".json" and stem in SCAN_KINDS


def _memory_may_write(parts: list[str]) -> bool:
    if parts == ["events.log"] or (len(parts) > 1 and parts[0] in _MEMORY_TREES):
        return True
    if parts[0] != "projects" or len(parts) < 3:
        return False
    if len(parts) == 3:
        return is_scanned("/".join(parts))
    return parts[2] in ORPHAN_KINDS


def _seat_may_write(seat: str, parts: list[str]) -> bool:
    role = role_of(seat)
    if not role or parts[0] != "projects" or len(parts) < 4 or parts[2] != seat:
        return False
    return role != "patrol" or (len(parts) > 4 and parts[3] in PATROL_FOLDERS)


def may_end(source: str, source_seat: str, target: str, target_seat: str) -> bool:
    """Return whether the record `source` may supersede or retire `target`, both slugs: its own seat's, or any as memory."""
    if role_of(source_seat) == MEMORY:
        return True
    return source_seat == target_seat and project_of(source) == project_of(target)


def require_writer(seat: str, relpath: str) -> None:
    """Raise OwnershipError unless `seat` may write `relpath`."""
    check_name(seat, "seat")
    if not may_write(seat, relpath):
        raise OwnershipError(
            say("The seat {seat} may not write {relpath}.", seat=seat, relpath=relpath),
            hint=say("Memory writes decision, finding, task and plan records; every other seat writes its own folder."),
        )
