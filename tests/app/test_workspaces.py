"""Workspaces that were rendered from an older repository are named; what can't be told is silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.app.teamwork.workspaces import check
from oracle.cli.main import run
from tests.app.gitbox import GitBox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.squad import Squad


@pytest.fixture
def box(tmp_path: Path) -> GitBox:
    return GitBox(tmp_path / "ClawSeat")


def stale(squad: Squad, box: GitBox, folder: Path | None, **more: str) -> list[str]:
    words = {"workspace": str(folder)} if folder else {}
    found = check(squad.oracle, repo=str(box.folder), **words, **more)
    return [one.page.rpartition("/")[2] for one in found]


@pytest.mark.parametrize(
    "form",
    ["rendered_from_clawseat_sha: {}", '<!-- rendered_from_clawseat_sha="{}" -->', "rendered_from_clawseat_sha = {}"],
)
def test_page_of_an_older_state_is_named(squad: Squad, box: GitBox, tmp_path: Path, form: str):
    head = box.git("rev-parse", "HEAD")
    (tmp_path / "CLAUDE.md").write_text(f"# Seat\n{form.format(head[:12])}\n", encoding="utf-8")
    (tmp_path / "AGENTS.md").write_text(form.format(head), encoding="utf-8")
    assert stale(squad, box, tmp_path) == []
    box.commit("newer")
    assert stale(squad, box, tmp_path) == ["CLAUDE.md", "AGENTS.md"]


@pytest.mark.parametrize("content", [b"", b"no sha here", b"\xff\xfe", b"rendered_from_clawseat_sha: zzz"])
def test_what_can_not_be_told_is_silent(squad: Squad, box: GitBox, tmp_path: Path, content: bytes):
    (tmp_path / "CLAUDE.md").write_bytes(content)
    (tmp_path / "AGENTS.md").mkdir()
    assert stale(squad, box, tmp_path) == []
    assert stale(squad, box, tmp_path / "nowhere") == []
    assert check(squad.oracle, workspace=str(tmp_path), repo=str(tmp_path / "nowhere")) == []
    assert squad.warnings == []


def test_every_seat_of_a_project_is_looked_at(squad: Squad, box: GitBox):
    for seat in ("builder", "memory"):
        folder = squad.home / ".agents" / "workspaces" / "demo" / seat
        folder.mkdir(parents=True)
        (folder / "CLAUDE.md").write_text("rendered_from_clawseat_sha: 1111111\n", encoding="utf-8")
    found = check(squad.oracle, project="demo", repo=str(box.folder))
    assert [one.page.split("/")[-2] for one in found] == ["builder", "memory"]
    assert found[0].command == "agent_admin engineer regenerate-workspace --project demo --all-seats"


def test_the_warning_is_the_line_that_teams_know(
    squad: Squad, box: GitBox, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    page = tmp_path / "CLAUDE.md"
    where = ["--memory-dir", str(squad.path), "--workspace", str(tmp_path), "--repo", str(box.folder)]
    page.write_text(f"rendered_from_clawseat_sha: {box.git('rev-parse', 'HEAD')}\n", encoding="utf-8")
    assert run(["team", "workspace", *where]) == 0
    assert tuple(capfd.readouterr()) == ("", "")
    box.commit("newer")
    assert run(["team", "workspace", *where]) == 1
    out, err = capfd.readouterr()
    assert out == f"STALE WORKSPACE: ClawSeat has updated since last render. {page}\n"
    assert "agent_admin engineer regenerate-workspace --project " in err
    assert "--all-seats" in err
