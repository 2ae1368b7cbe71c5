"""A clock that is set back or forward at any step of a handoff changes nothing but the moments that are printed."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from oracle.app.context import SystemClock
from oracle.app.delivery import resume
from oracle.cli.main import run
from oracle.daemon.serve import Daemon
from oracle.hook.stop import HookRun, handle
from tests.app.squad import Squad

HOUR, DAY = 3600.0, 86400.0
JUMPS = (-DAY, -HOUR, -3.0, 3.0, HOUR)
KNOWN = "# Retry\n\nThe retry limit of the uploader is five.\n"
ASKED = "What is the retry limit of the uploader?"
STEPS = ("ask", "deliver", "ack", "resume")


class Hand:
    """Sets the clock of this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        monkeypatch.setattr(SystemClock, "now_ns", lambda _: time.time_ns() + int(self.ahead * 1e9))


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    return Hand(monkeypatch)


def states(squad: Squad) -> list[str]:
    return sorted(item.handoff.state.step.value for item in squad.open().handoffs().items)


def cli(squad: Squad, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = run([*words, "--json", "--memory-dir", str(squad.path)])
    said = capsys.readouterr()
    assert code == 0, said
    content: dict[str, Any] = json.loads(said.out)
    return content


def by_hook(squad: Squad) -> None:
    message = "Option B. [DELIVER:seat=planner task_id=Q-1 project=demo]"
    payload = {"hook_event_name": "Stop", "last_assistant_message": message}
    handle(json.dumps(payload).encode(), HookRun({"ORACLE_ROOT": str(squad.path)}, time.monotonic()))


def deliver(squad: Squad, capsys: pytest.CaptureFixture[str], door: str) -> None:
    if door == "cli":
        cli(
            squad,
            capsys,
            "deliver",
            "--project",
            "demo",
            "--task-id",
            "Q-1",
            "--target",
            "planner",
            "--response-inline",
            '{"answer": "B."}',
        )
    elif door == "hook":
        by_hook(squad)
    else:
        Daemon(squad.oracle.root, clock=SystemClock(), waker=squad.recorder).once()


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("door", ["cli", "hook", "daemon"])
def test_a_handoff_is_one_row_that_ends_whenever_the_clock_jumps(
    squad: Squad, hand: Hand, capsys: pytest.CaptureFixture[str], door: str, step: str, jump: float
) -> None:
    squad.oracle.init()
    known = squad.path / "projects/demo/builder/retry.md"
    known.parent.mkdir(parents=True)
    known.write_text(KNOWN, encoding="utf-8")
    for one in STEPS:
        hand.ahead = jump if one == step else 0.0
        if one == "ask":
            words = ("--project", "demo", "--task-id", "Q-1", "--from", "planner", "--no-notify", ASKED)
            cli(squad, capsys, "ask", *words)
        elif one == "deliver":
            deliver(squad, capsys, door)
        elif one == "ack":
            assert states(squad) in (["consumed"], ["unnotified"])
            cli(squad, capsys, "ack", "Q-1", "--project", "demo", "--from", "memory", "--to", "planner")
        else:
            cli(squad, capsys, "resume")
        assert len(states(squad)) == 1
    found = cli(squad, capsys, "handoffs")["handoffs"]
    assert [(item["state"], item["unsolicited"]) for item in found] == [("acked", False)]


@pytest.mark.parametrize("jump", JUMPS)
def test_an_answer_that_a_killed_process_left_is_finished_by_another_clock(squad: Squad, jump: float) -> None:
    squad.ask()
    squad.deliver()
    folder = squad.folder
    (folder / "Q-1__planner__memory.json.consumed").rename(folder / "Q-1__planner__memory.json")
    assert states(squad) == ["delivered"]
    squad.open(jump).resume()
    assert states(squad) == ["consumed"]


@pytest.mark.parametrize("jump", [-DAY, -HOUR, 3.0, HOUR, DAY])
def test_a_wake_up_is_tried_again_after_the_clock_jumped(squad: Squad, jump: float) -> None:
    squad.recorder.away.add("planner")
    squad.ask()
    squad.deliver()
    squad.recorder.away.clear()
    resume.before(squad.open(jump))
    assert ("planner", "Q-1") in squad.recorder.woken()
