"""Check whether a seat may commit what it changed: the seat matrix over a diff, with an exception for prose. Writes nothing."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.app.git import ask_git
from oracle.domain.delivery.receipts import parse_file_name
from oracle.domain.markdown.prose import Change, classify_file
from oracle.domain.names import MEMORY, check_name, may_write, role_of
from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.store.disk import steps
from oracle.wording import say

BUILDER = "builder"
_PATIENCE = 20.0


@value
class Judged:
    """One changed file: whether the seat may change it, and why or why not; `changes` where its prose was looked at."""

    path: str
    is_allowed: bool
    why: str
    changes: tuple[Change, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        changes = [
            {"line": one.line, "sort": one.sort.value, "allowed": one.is_allowed, "text": one.text}
            for one in self.changes
        ]
        return {"path": self.path, "allowed": self.is_allowed, "why": self.why, "changes": changes}


def check(context: Context, repo: str, *, seat: str = MEMORY, staged: bool = False) -> list[Judged]:
    """Judge each file that differs from HEAD, in the index if `staged`, else in the tree. Raises UsageError, InvalidName."""
    name = check_name(seat, "seat")
    code, top = ask_git(repo, "rev-parse", "--show-toplevel")
    if code != 0:
        raise UsageError(say("{repo} is not a Git repository.", repo=repo), hint=say("Name one with --repo."))
    which = ["--cached"] if staged else ["HEAD"]
    code, said = ask_git(top, "diff", *which, "--name-only", "--no-renames", "-z", patience=_PATIENCE)
    if code != 0:
        raise UsageError(
            say("git can't tell what changed in {top}.", top=top),
            hint=say("Commit once, or look at the index: --staged."),
        )
    return [_judge(context, top, path, name, staged=staged) for path in said.split("\0") if path]


def _judge(context: Context, top: str, path: str, seat: str, *, staged: bool) -> Judged:
    place = os.path.join(os.path.realpath(top), path)
    for base, may in ((context.root.path, may_write), (context.root.tasks, may_write_task)):
        real = os.path.realpath(base).rstrip("/") + "/"
        if place.startswith(real):
            is_allowed = may(seat, place.removeprefix(real))
            own, foreign = say("it is {seat}'s place", seat=seat), say("it is not {seat}'s place", seat=seat)
            return Judged(path, is_allowed, own if is_allowed else foreign)
    role = role_of(seat)
    if role == BUILDER:
        return Judged(path, is_allowed=True, why=say("the repository is the builder's"))
    if role != MEMORY:
        return Judged(path, is_allowed=False, why=say("the repository is the builder's"))
    changes = classify_file(path, _before(top, path), _after(top, path, staged=staged))
    wrong = list(dict.fromkeys(one.sort.value for one in changes if not one.is_allowed))
    why = say("it changes {what}: a builder's, by a brief", what=wrong) if wrong else say("prose alone")
    return Judged(path, not wrong, why, changes)


def _before(top: str, path: str) -> str | None:
    code, said = ask_git(top, "show", "--end-of-options", f"HEAD:{path}", patience=_PATIENCE)
    return said if code == 0 else None


def _after(top: str, path: str, *, staged: bool) -> str | None:
    if staged:
        code, said = ask_git(top, "show", "--end-of-options", f":{path}", patience=_PATIENCE)
        return said if code == 0 else None
    place = os.path.join(top, path)
    raw = os.fsencode(os.readlink(place)) if os.path.islink(place) else steps.read(place)
    return None if raw is None else raw.decode("utf-8", "replace").strip()


_PROJECT_FILES = ("STATUS.md", "TASKS.md")
_TASK_FILES = ("workflow.md", "STATUS.md", "brief.md")


def may_write_task(seat: str, relpath: str) -> bool:
    """Return whether `seat` may write `<project>/…` of the task tree: its folder and receipts, for some also a task's files."""
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
