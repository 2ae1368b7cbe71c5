"""Codex and Gemini as seats: their hooks deliver, and they call the tools of `oracle mcp`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.headless import Client, Codex, Gemini
from tests.hook.seat import Seat

ANSWER = "Option B. [DELIVER:seat=planner,task_id=T-1,project=install]"


def needing(made: type[Client]) -> object:
    return pytest.param(
        made, id=made.tool, marks=pytest.mark.skipif(bool(made.why_missing()), reason=made.why_missing())
    )


each_client = pytest.mark.parametrize("made", [needing(Codex), needing(Gemini)])


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    """Give a seat with an open question."""
    folder = tmp_path / "disk"
    folder.mkdir()
    seat = Seat(folder)
    seat.dispatch("T-1")
    return seat


@each_client
def test_marker_at_the_end_of_a_turn_delivers(made: type[Client], seat: Seat, tmp_path: Path):
    client = made(tmp_path)
    client.install_hook(seat.root.path)
    client.trust()
    assert "Option B." in client.ask("Who decided?", {"text": ANSWER})
    assert [line["what"] for line in seat.log()] == ["delivered"]
    assert seat.answers() == {"T-1": "Option B."}
    assert {"T-1__memory__planner.json", "T-1__planner__memory.json.consumed"} <= seat.receipts()


@pytest.mark.parametrize("made", [needing(Codex)])
def test_codex_runs_no_hook_that_nobody_accepted(made: type[Client], seat: Seat, tmp_path: Path):
    client = made(tmp_path)
    client.install_hook(seat.root.path)
    client.ask("Who decided?", {"text": ANSWER})
    assert (seat.log(), seat.answers()) == ([], {})
