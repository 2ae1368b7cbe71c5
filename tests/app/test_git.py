"""A repository may come from elsewhere: no program that its configuration names is run."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.app import git, guard
from oracle.app.codebase import ownership
from oracle.app.codebase.stale_names import stale
from oracle.app.delivery import acknowledge
from oracle.app.git import Repository, ask_git
from tests.app.gitbox import GitBox

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.app.squad import Squad

SETTINGS = {
    "filter.x.clean": "{canary} filter; cat",
    "filter.x.smudge": "{canary} filter; cat",
    "filter.x.required": "true",
    "filter.a=b.clean": "{canary} odd filter; cat",
    "filter.p.process": "{canary} process",
    "diff.external": "{canary} external",
    "diff.x.command": "{canary} command",
    "diff.x.textconv": "{canary} textconv; cat",
    "diff.x.cachetextconv": "true",
    "core.fsmonitor": "{canary} fsmonitor",
    "core.hooksPath": "{hooks}",
    "core.pager": "{canary} pager",
    "core.sshCommand": "{canary} ssh",
    "core.editor": "{canary} editor",
    "gpg.program": "{canary} gpg",
    "log.showSignature": "true",
    "credential.helper": "!{canary} credential",
    "remote.origin.url": "ext::{canary} remote",
    "protocol.ext.allow": "always",
    "submodule.recurse": "true",
}
HOOKS = ("post-checkout", "post-index-change", "pre-commit", "reference-transaction", "fsmonitor-watchman")
ATTRIBUTES = "*.md filter=x diff=x\n*.py filter=p diff=x\n*.txt filter=a=b\n"


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """Give the file in which each program of the repository would note itself."""
    return tmp_path / "canary"


@pytest.fixture
def box(tmp_path: Path, canary: Path) -> GitBox:
    """Give a repository with changed files, and a submodule, whose configurations name programs everywhere."""
    box = GitBox(tmp_path / "repo")
    inner = GitBox(tmp_path / "inner")
    inner.write("a.md", "one\n")
    inner.commit()
    for path in ("a.md", "src/a.py", "a.txt", "gone.md"):
        box.write(path, "# One\n\nA text. Another text.\n")
    box.write(".gitattributes", ATTRIBUTES)
    box.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.folder), "sub")
    box.commit()
    box.git("mv", "gone.md", "moved.md")
    box.commit()
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$@" >> {canary}\n')
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in HOOKS:
        (hooks / name).symlink_to(program)
    program.chmod(0o755)
    for top in (box.folder, box.folder / "sub"):
        for key, text in SETTINGS.items():
            box.git("-C", str(top), "config", key, text.format(canary=program, hooks=hooks))
    (box.folder / "sub/.gitattributes").write_text(ATTRIBUTES)
    later = time.time() + 5
    for path in ("a.md", "src/a.py", "a.txt", "sub/a.md"):
        os.utime(box.folder / path, (later, later))
    canary.unlink(missing_ok=True)
    return box


CALLS: dict[str, Callable[[Squad, GitBox], object]] = {
    "ownership": lambda squad, box: ownership.check(squad.oracle, str(box.folder)),
    "ownership, staged": lambda squad, box: ownership.check(squad.oracle, str(box.folder), staged=True),
    "ownership, builder": lambda squad, box: ownership.check(squad.oracle, str(box.folder), seat="builder"),
    "privacy": lambda squad, box: guard.check_staged(squad.oracle, str(box.folder)),
    "stale names": lambda squad, box: stale(squad.oracle),
    "renamed": lambda _, box: Repository(str(box.folder), budget=9).renamed("gone.md"),
    "symbol": lambda _, box: Repository(str(box.folder), budget=9).has_symbol(("text",)),
    "tracked": lambda _, box: Repository(str(box.folder), budget=9).tracked,
    "branches": lambda _, box: Repository(str(box.folder), budget=9).branches,
    "lineage": lambda _, box: git.lineage_of(str(box.folder), box.git("rev-parse", "HEAD")),
    "acknowledgement": lambda squad, _: (
        squad.ask("T1", target="builder"),
        acknowledge.check(squad.oracle, "demo", "T1"),
    ),
    "log": lambda _, box: ask_git(str(box.folder), "log", "-1", "--format=%h %s"),
}


@pytest.mark.parametrize("call", CALLS)
def test_no_program_of_a_repository_is_run(squad: Squad, box: GitBox, canary: Path, call: str) -> None:
    CALLS[call](squad, box)
    assert not canary.exists(), canary.read_text()


def test_what_changed_is_still_told(squad: Squad, box: GitBox) -> None:
    assert ownership.check(squad.oracle, str(box.folder)) == []
    box.write("a.md", "# Two\n\nA text. Another text.\n")
    box.write("src/a.py", "x = 2\n")
    assert [one.path for one in ownership.check(squad.oracle, str(box.folder))] == ["a.md", "src/a.py"]


def test_git_that_prints_without_end_is_not_asked_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec yes\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(git, "_MOST", 1 << 20)
    assert ask_git(str(tmp_path), "status", patience=60) == (-1, "")
