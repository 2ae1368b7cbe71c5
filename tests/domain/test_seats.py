"""Who may write where: the whole matrix."""

from __future__ import annotations

import pytest

from oracle.domain.names import may_write, require_writer, role_of
from oracle.errors import InvalidName, OwnershipError

PLACES = {
    "memory": ["projects/a/decision/x.md", "projects/a/finding/x.md", "projects/a/task/x.md", "projects/a/plan/x.md",
               "projects/a/experience/x.md",
               "responses/T-1.json", "events.log", "machine/net.json", "projects/a/dev_env.json", "shared/patterns/p.json",
               "learnings/x.md"],
    "planner": ["projects/a/planner/x.md"],
    "builder": ["projects/a/builder/x.md", "projects/a/builder/deep/x.md"],
    "builder-1": ["projects/a/builder-1/x.md"],
    "reviewer": ["projects/a/reviewer/x.md", "projects/a/reviewer/findings/x.md"],
    "patrol": ["projects/a/patrol/doc-code-alignment/x.md", "projects/a/patrol/test-results/x.md",
               "projects/a/patrol/task-commit-gaps/x.md"],
}  # fmt: skip
NOBODY = [
    "x.md", "projects/x.md", "projects/a/x.md", "projects/a/other/x.md", "projects/a/notes.json", "index.json", "_state/oracle.db",
    "_links/x.jsonl", "projects/a/patrol/x.md", "projects/a/_index/files.json", "tasks/a/TODO.md", "machine", "responses",
    "projects/a/decision/../builder/x.md", "projects//decision/x.md", "/projects/a/decision/x.md", "projects/a/./decision/x.md", "",
]  # fmt: skip


@pytest.mark.parametrize("seat", PLACES)
def test_a_seat_writes_its_own_places_and_no_other(seat: str) -> None:
    for owner, paths in PLACES.items():
        for path in paths:
            assert may_write(seat, path) == (owner == seat), path
    for path in NOBODY:
        assert not may_write(seat, path), path


@pytest.mark.parametrize("seat", ["", "nobody", "builder-", "builder-x", "Builder", "builder-1-2", "memory2"])
def test_who_has_no_role_writes_nothing(seat: str) -> None:
    assert role_of(seat) == ""
    for paths in (*PLACES.values(), [f"projects/a/{seat}/x.md"]):
        assert not any(may_write(seat, path) for path in paths)


def test_roles() -> None:
    assert [role_of(seat) for seat in ("memory", "builder-12", "patrol")] == ["memory", "builder", "patrol"]


def test_a_refusal_says_who_and_where() -> None:
    with pytest.raises(OwnershipError, match=r"builder may not write projects/a/planner/x\.md") as caught:
        require_writer("builder", "projects/a/planner/x.md")
    assert caught.value.exit_code == 5
    with pytest.raises(InvalidName):
        require_writer("../memory", "projects/a/decision/x.md")
