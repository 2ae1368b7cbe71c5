"""A seat whose pane was busy is told within seconds of being idle, without a daemon and without another command."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from oracle.app.context import Context
from oracle.app.delivery import handoffs, panes
from oracle.app.delivery.deliver import Delivery
from oracle.app.delivery.deliver import deliver as hand_over
from oracle.app.delivery.resume import resume
from oracle.app.delivery.wakeups import reason_of
from oracle.app.doctor.examine import examine
from oracle.daemon.serve import Daemon
from oracle.store.delivery import inbox
from tests.app.squad import Squad
from tests.forked import run_bytes, run_python
from tests.hook.seat import HOOK
from tests.wake.stage import Stage, until

CHECKOUT = Path(__file__).resolve().parents[2]
PATIENCE = "1"
TOLD_WITHIN = 5.0


@pytest.fixture
def environ(squad: Squad, stage: Stage) -> dict[str, str]:
    more = {"ORACLE_ROOT": str(squad.path), "ORACLE_TMUX_SOCKET": stage.socket, "ORACLE_WAKE_PATIENCE": PATIENCE}
    return {**os.environ, "PYTHONPATH": str(CHECKOUT), **more}


def cli(environ: dict[str, str], *words: str) -> None:
    start = "import sys; from oracle.cli.main import run; sys.exit(run())"
    done = run_python(["-c", start, *words], env=environ)
    assert done.returncode == 0, done


def hook(environ: dict[str, str], stage: Stage, seat: str, message: str, pane: str = "") -> None:
    tmux = {"TMUX": stage.tmux("display-message", "-p", "#{socket_path},#{pid},0"), "TMUX_PANE": pane} if pane else {}
    payload = json.dumps({"hook_event_name": "Stop", "last_assistant_message": message}).encode()
    done = run_bytes([str(HOOK)], env={**environ, "ORACLE_SEAT": seat, **tmux}, stdin=payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def waiters(squad: Squad) -> list[int]:
    """Return the ids of the processes that wait for panes of this Root."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if b"-P" in words and str(squad.path).encode() in words:
            found.append(int(entry.name))
    return found


def told(lines: list[str]) -> list[str]:
    return [line.split(" ")[0] for line in lines]


def deliver(environ: dict[str, str], stage: Stage, door: str, task: str = "Q-1") -> None:
    if door == "hook":
        hook(environ, stage, "memory", f"B. [DELIVER:seat=planner task_id={task} project=demo]")
    else:
        response = ("--response-inline", '{"answer": "B."}')
        cli(environ, "deliver", "--project", "demo", "--task-id", task, "--target", "planner", *response)


@pytest.mark.parametrize("door", ["cli", "hook"])
@pytest.mark.parametrize("way", ["at work", "half typed"])
def test_a_seat_is_told_once_within_seconds_of_being_idle(
    squad: Squad, stage: Stage, environ: dict[str, str], way: str, door: str
):
    box = stage.box("demo-planner", *(["--work"] if way == "at work" else []))
    if way == "half typed":
        stage.tmux("send-keys", "-t", box.pane, "-l", "half a sentence")
    for task in ("Q-1", "Q-2"):
        squad.ask(task, notifies=False)
        deliver(environ, stage, door, task)
    assert box.read() == []
    until(lambda: len(waiters(squad)) == 1, "the later of two waiters left")
    (one,) = waiters(squad)
    assert os.getsid(one) != os.getsid(0)
    assert b"ORACLE_INTERNAL=1" in Path(f"/proc/{one}/environ").read_bytes().split(b"\0")

    idle_since = time.monotonic()
    if way == "half typed":
        stage.tmux("send-keys", "-t", box.pane, "Enter")
    else:
        stage.end_turn(box.pane)
    typed = ["half a sentence"] if way == "half typed" else []
    until(lambda: len(box.read()) >= len(typed) + 1, "the seat is told", TOLD_WITHIN)
    assert time.monotonic() - idle_since < TOLD_WITHIN
    until(lambda: waiters(squad) == [], "the waiter ends")
    assert sorted(told(box.read()[len(typed) :])) == ["Q-1", "Q-2"]
    assert squad.receipt("Q-1__memory__planner.json")["notified_at"]
    assert inbox.read(squad.oracle.root, time.time()) == inbox.Inbox()


def test_the_stop_hook_of_a_seat_sends_what_waits_for_it(squad: Squad, stage: Stage, environ: dict[str, str]):
    """The waiter died meanwhile; the agent still works while its hook runs and keeps the text."""
    box, other = stage.box("demo-planner", "--work"), stage.box("demo-builder")
    squad.ask(notifies=False)
    deliver(environ, stage, "cli")
    for one in waiters(squad):
        os.kill(one, 9)
    hook(environ, stage, "planner", "Nothing to deliver.", other.pane)
    hook(environ, stage, "builder", "Nothing to deliver.", other.pane)
    hook(environ, stage, "planner", "Nothing to deliver.")
    assert (box.read(), other.read()) == ([], [])
    hook(environ, stage, "planner", "Nothing to deliver.", box.pane)
    assert (told(box.read()), other.read()) == (["Q-1"], [])
    hook(environ, stage, "planner", "Nothing to deliver.", box.pane)
    assert told(box.read()) == ["Q-1"]


@pytest.mark.parametrize("end", ["time", "acknowledged", "session", "root"])
def test_a_waiter_ends_by_itself(
    squad: Squad, stage: Stage, monkeypatch: pytest.MonkeyPatch, end: str, environ: dict[str, str]
):
    monkeypatch.setenv("ORACLE_TMUX_SOCKET", stage.socket)
    box = stage.box("demo-planner", "--work")
    squad.ask(notifies=False)
    deliver(environ, stage, "cli")
    (started,) = waiters(squad)
    if end == "time":
        os.kill(started, 9)
        until(lambda: waiters(squad) == [], "it is dead")
        context = Context.open(str(squad.path))
        began = time.monotonic()
        panes.wait(context, "demo", "planner", seconds=1.5)
        assert 1 < time.monotonic() - began < 10
    elif end == "acknowledged":
        squad.ack("Q-1", "memory", "planner")
    elif end == "session":
        stage.tmux("kill-session", "-t", "demo-planner")
    else:
        squad.path.rename(squad.path.with_name("moved"))
    until(lambda: waiters(squad) == [], "the waiter ends")
    assert end == "session" or box.read() == []


def test_no_process_waits_where_no_pane_is_busy(squad: Squad, stage: Stage, environ: dict[str, str]):
    squad.ask(notifies=False)
    deliver(environ, stage, "cli")
    assert waiters(squad) == []
    assert len(inbox.read(squad.oracle.root, time.time()).waiting) == 1


def test_a_seat_is_told_in_time_by_a_daemon_too(
    squad: Squad, stage: Stage, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    for name in ("ORACLE_TMUX_SOCKET", "ORACLE_WAKE_PATIENCE"):
        monkeypatch.setenv(name, environ[name])
    box = stage.box("demo-planner", "--work")
    squad.oracle.init()
    squad.ask(notifies=False)
    squad.recorder.away.add("planner")
    squad.deliver()
    until(lambda: Daemon(squad.oracle.root).once() and waiters(squad), "the wake-up is tried")
    assert (box.read(), len(waiters(squad))) == ([], 1)
    stage.end_turn(box.pane)
    until(lambda: told(box.read()) == ["Q-1"], "the seat is told", TOLD_WITHIN)
    until(lambda: waiters(squad) == [], "the waiter ends")
    Daemon(squad.oracle.root).once()
    assert told(box.read()) == ["Q-1"]


def test_a_seat_whose_session_holds_only_a_shell_is_away_until_its_agent_starts(
    squad: Squad, stage: Stage, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ORACLE_TMUX_SOCKET", environ["ORACLE_TMUX_SOCKET"])
    monkeypatch.setenv("ORACLE_WAKE_PATIENCE", "60")
    pane = stage.session("demo-planner", "PS1='$ ' exec sh")
    until(lambda: stage.shows(pane).strip() == "$", "the shell has its prompt")
    squad.ask("Q-1", notifies=False)
    with Context.open(str(squad.path)) as context:
        sent = hand_over(context, Delivery("demo", "Q-1", "planner", {"answer": "B."}))
        assert (sent.wake_up.result, reason_of(sent.wake_up)) == ("waits", "only a shell runs in demo-planner")
        (listed,) = handoffs.list_all(context).items
        assert "planner was not woken in 1 try: only a shell runs in demo-planner. Start it in" in listed.action
        (check,) = [one for one in examine(context) if one.name == "seats"]
        assert (check.ok, check.detail) == (False, "planner of demo was not woken: only a shell runs in demo-planner")
        assert waiters(squad) == []
        assert stage.shows(pane).strip() == "$"

        box, command = stage.box_command()
        stage.tmux("send-keys", "-t", pane, command, "Enter")
        until(box.log.exists, "the box was drawn")
        found = resume(context)
        assert any("woke planner" in line for line in found.done), found
        assert told(box.read()) == ["Q-1"]
        assert [one.ok for one in examine(context) if one.name == "seats"] == [True]
