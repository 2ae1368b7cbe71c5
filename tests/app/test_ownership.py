"""May a seat commit what it changed: in a repository, in a Root, in a task tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.app.codebase.ownership import check
from oracle.errors import InvalidName, UsageError
from tests.app.gitbox import GitBox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.squad import Squad

PAGE = "# T\n\nThe recieved text.\n\nYou MUST wait.\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitBox:
    box = GitBox(tmp_path / "repo")
    box.write("SKILL.md", PAGE)
    box.write("src/a.py", "x = 1\n")
    box.commit()
    return box


def judged(squad: Squad, box: GitBox, **more: object) -> dict[str, bool]:
    return {item.path: item.is_allowed for item in check(squad.oracle, str(box.folder), **more)}


def test_memory_mends_prose_and_nothing_else(squad: Squad, repo: GitBox):
    repo.write("SKILL.md", PAGE.replace("recieved", "received"))
    assert judged(squad, repo) == {"SKILL.md": True}
    repo.write("SKILL.md", PAGE.replace("wait", "run"))
    repo.write("src/a.py", "x = 2\n")
    assert judged(squad, repo) == {"SKILL.md": False, "src/a.py": False}
    [page, _] = check(squad.oracle, str(repo.folder))
    assert page.why == "it changes contract: a builder's, by a brief"
    assert [(one.line, one.text) for one in page.changes] == [(5, "You MUST run.")]


@pytest.mark.parametrize(
    ("seat", "expected"), [("builder", True), ("builder-2", True), ("reviewer", False), ("planner", False)]
)
def test_repository_is_the_builders(squad: Squad, repo: GitBox, seat: str, expected: bool):
    repo.write("src/a.py", "x = 2\n")
    assert judged(squad, repo, seat=seat) == {"src/a.py": expected}


def test_index_and_working_tree_are_told_apart(squad: Squad, repo: GitBox):
    repo.write("SKILL.md", PAGE.replace("recieved", "received"))
    repo.git("add", "SKILL.md")
    repo.write("SKILL.md", PAGE.replace("wait", "run"))
    assert judged(squad, repo, staged=True) == {"SKILL.md": True}
    assert judged(squad, repo) == {"SKILL.md": False}


def test_files_that_come_and_go_are_not_memorys(squad: Squad, repo: GitBox):
    repo.write("new.md", "prose\n")
    (repo.folder / "SKILL.md").unlink()
    repo.git("add", "-A")
    assert judged(squad, repo, staged=True) == {"SKILL.md": False, "new.md": False}


def test_root_and_task_tree_follow_their_matrix(squad: Squad):
    box = GitBox.__new__(GitBox)
    box.folder = squad.home
    box.git("init", "-q", "-b", "main")
    for path in ("decision/a.md", "builder/a.md"):
        box.write(f".agents/memory/projects/demo/{path}", "x")
    box.write(".agents/tasks/demo/STATUS.md", "x")
    box.git("add", ".agents/memory/projects", ".agents/tasks")
    memory = judged(squad, box, staged=True)
    assert {path.removeprefix(".agents/"): allowed for path, allowed in memory.items()} == {
        "memory/projects/demo/builder/a.md": False,
        "memory/projects/demo/decision/a.md": True,
        "tasks/demo/STATUS.md": True,
    }
    builder = judged(squad, box, staged=True, seat="builder")
    assert sorted(path for path, allowed in builder.items() if allowed) == [".agents/memory/projects/demo/builder/a.md"]


def test_nothing_changed_is_nothing_to_judge(squad: Squad, repo: GitBox):
    assert judged(squad, repo) == {}


def test_wrong_calls(squad: Squad, tmp_path: Path):
    with pytest.raises(UsageError, match="is not a Git repository"):
        check(squad.oracle, str(tmp_path))
    with pytest.raises(InvalidName):
        check(squad.oracle, str(tmp_path), seat="../x")


@pytest.mark.parametrize(
    "path", ["SKILL.md", "core/skills/memory-oracle/SKILL.md", ".claude/skills/memory-oracle/SKILL.md"]
)
def test_memorys_own_skill_is_no_exception(squad: Squad, repo: GitBox, path: str):
    repo.write(path, PAGE)
    repo.git("add", "-A")
    repo.commit()
    repo.write(path, PAGE.replace("recieved", "received"))
    assert judged(squad, repo) == {path: True}
    repo.write(path, PAGE.replace("wait", "run"))
    assert judged(squad, repo) == {path: False}
