"""A Root with the programs that work on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compat.team import Team


@pytest.fixture
def team(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Team:
    return Team(root, capsys, monkeypatch)


@pytest.fixture
def content(tmp_path: Path) -> Path:
    file = tmp_path / "c.md"
    file.write_text("# Backoff\n\nSee ARENA-228 and core/x.py\n", encoding="utf-8")
    return file
