"""Wake-ups and the Stop hook with a real Claude Code client, offline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from oracle.wake.outcomes import Busy, Stranded, Woken
from oracle.wake.tmux import TmuxWaker
from tests.e2e import client as real
from tests.e2e.client import Client
from tests.hook.seat import Seat
from tests.wake.stage import PATIENCE, Stage, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.claude_code,
    pytest.mark.skipif(bool(real.why_missing()), reason=real.why_missing() or "everything is there"),
]

TEXT = "T-1 is answered: read responses/T-1.json; 然后确认。"
CLEAR = "That is all. [CLEAR-REQUESTED]"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Make seats of the real client, ended afterwards."""
    made: list[Client] = []

    def make(*turns: str | dict[str, Any], name: str = "seat", **more: Any) -> Client:
        script = [{"text": turn} if isinstance(turn, str) else turn for turn in turns]
        made.append(Client(tmp_path / name, script, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


def wake(stage: Stage, text: str = TEXT, patience: float = PATIENCE):
    return TmuxWaker(stage.socket).wake(["demo-planner"], text, patience=patience)


def test_wake_up_is_a_submitted_prompt(client: Callable[..., Client], stage: Stage):
    planner = client("I look.", "Again.")
    pane = planner.start(stage, "demo-planner")
    for text in (TEXT, "-- a second one;", "long " * 400 + "end"):
        assert wake(stage, text) == Woken("demo-planner", pane)
        until(lambda text=text: planner.has_been_told(text), "the model was told")


def test_wake_up_reaches_a_pane_in_copy_mode_beside_a_focused_one(client: Callable[..., Client], stage: Stage):
    planner = client("I look.")
    pane = planner.start(stage, "demo-planner")
    stage.tmux("copy-mode", "-u", "-t", pane)
    stage.tmux("split-window", "-t", pane, "exec cat")
    assert wake(stage) == Woken("demo-planner", pane)
    until(lambda: planner.has_been_told(TEXT), "the model was told")


@pytest.mark.parametrize(("width", "height"), [(45, 15), (24, 12), (200, 50)])
def test_pane_of_any_size_is_woken(client: Callable[..., Client], stage: Stage, width: int, height: int):
    planner = client("I look.", "Again.")
    pane = planner.start(stage, "demo-planner")
    stage.tmux("resize-window", "-t", pane, "-x", str(width), "-y", str(height))
    for text in (TEXT * 3, "many words to be wrapped " * 9 + "end", "x" * 700):
        assert wake(stage, text) == Woken("demo-planner", pane)
        until(lambda text=text: planner.has_been_told(text), "the model was told")


def test_box_that_somebody_uses_is_left_alone(client: Callable[..., Client], stage: Stage):
    planner = client("I look.")
    pane = planner.start(stage, "demo-planner")
    for typed, shown, reason in (
        ("half a thought", "half a thought", "somebody is writing in its input box"),
        ("!ls", "for shell mode", "its input box is in shell mode"),
    ):
        stage.tmux("send-keys", "-t", pane, "-l", typed)
        until(lambda shown=shown: shown in stage.shows(pane), "the client shows it")
        assert wake(stage, patience=2.0) == Busy("demo-planner", reason)
        stage.tmux("send-keys", "-t", pane, "C-u", "BSpace")
        until(lambda shown=shown: shown not in stage.shows(pane), "the box is empty")
    assert not planner.prompts()


def test_text_that_ends_in_a_backslash_is_submitted(client: Callable[..., Client], stage: Stage):
    planner = client("I look.")
    pane = planner.start(stage, "demo-planner")
    assert wake(stage, "look into C:\\") == Woken("demo-planner", pane)
    until(lambda: planner.has_been_told("look into C:\\"), "the model was told")


def test_client_at_work_is_busy_and_then_woken(client: Callable[..., Client], stage: Stage):
    command = "until [ -e over ]; do sleep 0.2; done"
    tool = {"tool_use": {"name": "Bash", "input": {"command": command, "description": "wait"}}}
    planner = client(tool, "Done.", settings={"permissions": {"allow": ["Bash"]}})
    pane = planner.start(stage, "demo-planner")
    assert wake(stage, "begin") == Woken("demo-planner", pane)
    until(lambda: "esc to interrupt" in stage.shows(pane), "the client works")
    assert wake(stage, patience=1.5) == Busy("demo-planner", "its agent is at work")
    (planner.workspace / "over").touch()
    assert wake(stage) == Woken("demo-planner", pane)
    until(lambda: planner.has_been_told(TEXT), "the model was told")


def test_question_of_the_client_is_not_answered(client: Callable[..., Client], stage: Stage):
    tool = {"tool_use": {"name": "Bash", "input": {"command": "touch planted", "description": "make a file"}}}
    planner = client(tool, "Done.", settings={"permissions": {"defaultMode": "default", "ask": ["Bash"]}})
    pane = planner.start(stage, "demo-planner")
    assert wake(stage, "begin") == Woken("demo-planner", pane)
    until(lambda: "Do you want to proceed?" in stage.shows(pane), "the client asks")
    assert isinstance(wake(stage, patience=2.5), Busy | Stranded)
    assert "Do you want to proceed?" in stage.shows(pane)
    assert not (planner.workspace / "planted").exists()


def test_hook_clears_the_own_pane_after_its_turn(client: Callable[..., Client], stage: Stage):
    memory, other = client(CLEAR, "Fresh."), client("Hello.", name="other")
    memory.install_hook()
    pane = memory.start(stage, "demo-planner")
    other_pane = other.start(stage, "demo-memory")
    assert wake(stage, "the first prompt") == Woken("demo-planner", pane)
    until(lambda: memory.has_been_told("the first prompt"), "the model was told")

    def is_cleared() -> bool:
        seen = stage.shows(pane)
        return "/clear" in seen and "the first prompt" not in seen

    until(is_cleared, "the context is empty")
    assert wake(stage, "the second prompt") == Woken("demo-planner", pane)
    until(lambda: memory.has_been_told("the second prompt"), "the model was told")
    assert "the first prompt" not in memory.prompts()[-1]
    assert "/clear" not in stage.shows(other_pane)


def test_headless_turn_runs_the_installed_hook(client: Callable[..., Client], tmp_path: Path):
    disk = tmp_path / "disk"
    disk.mkdir()
    seat = Seat(disk)
    seat.dispatch("T-1")
    memory = client("Option B. [DELIVER:seat=planner task_id=T-1 project=install]")
    memory.extra = {"AGENT_HOME": str(seat.home)}
    memory.install_hook()
    assert "Option B." in memory.ask("Who decided?")
    assert "delivered" in [line["what"] for line in seat.log()]
    assert seat.answers() == {"T-1": "Option B."}
    assert {"T-1__memory__planner.json", "T-1__planner__memory.json.consumed"} <= seat.receipts()
