"""`send_and_verify` as a process, against private tmux servers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.forked import run_python
from tests.wake.stage import PATIENCE, Stage, until

CHECKOUT = Path(__file__).resolve().parent.parent.parent
FRONT = CHECKOUT / "scripts" / "send_and_verify.py"
TEXT = "T-1 is answered."


def send(stage: Stage, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    home = {
        "HOME": str(stage.folder / "home"),
        "ORACLE_TMUX_SOCKET": stage.socket,
        "ORACLE_WAKE_PATIENCE": str(PATIENCE),
    }
    return run_python([str(FRONT), *words], env={**os.environ, **home, **environ})


def bind(stage: Stage, *projects: str) -> None:
    for project in projects:
        folder = stage.folder / "home" / ".agents" / "tasks" / project
        folder.mkdir(parents=True)
        (folder / "PROJECT_BINDING.toml").touch()


@pytest.mark.parametrize("words", [(), ("--",), ("--force",)])
@pytest.mark.parametrize("text", [TEXT, "--help me", "x;"])
def test_text_is_sent_to_a_seat(stage: Stage, words: tuple[str, ...], text: str):
    prompts = stage.box("demo-planner")
    done = send(stage, "--project", "demo", *words, "planner", text)
    assert (done.returncode, done.stdout) == (0, "SENT: demo-planner\n")
    assert prompts.read() == [text]


def test_session_may_be_named_itself(stage: Stage):
    prompts = stage.box("machine-memory-claude")
    assert send(stage, "machine-memory-claude", "--", TEXT).stdout == "SENT: machine-memory-claude\n"
    assert prompts.read() == [TEXT]


def test_session_noted_by_the_seat_is_taken(stage: Stage):
    prompts = stage.box("odd name")
    folder = stage.folder / "home" / ".agents" / "sessions" / "demo" / "planner"
    folder.mkdir(parents=True)
    (folder / "session.toml").write_text('session = "odd name"')
    assert send(stage, "--project=demo", "planner", TEXT).stdout == "SENT: odd name\n"
    assert prompts.read() == [TEXT]


def test_beginning_of_a_name_is_no_name(stage: Stage):
    prompts = stage.box("demo-planner-x")
    done = send(stage, "--project", "demo", "plan", TEXT)
    assert (done.returncode, done.stdout) == (1, "send-and-verify: SESSION_NOT_FOUND project=demo seat=plan\n")
    assert prompts.read() == []


def test_dead_session_is_said(stage: Stage):
    stage.session("keep", "exec cat")
    stage.tmux("set-option", "-g", "remain-on-exit", "on")
    pane = stage.session("demo-planner", "exit 3")
    until(lambda: stage.tmux("display-message", "-p", "-t", pane, "#{pane_dead}") == "1", "the pane died")
    done = send(stage, "--project", "demo", "planner", TEXT)
    assert (done.returncode, done.stdout) == (1, "send-and-verify: SESSION_DEAD session=demo-planner\n")


def test_busy_agent_is_left_alone_unless_forced(stage: Stage):
    prompts = stage.box("demo-planner", "--work")
    done = send(stage, "--project", "demo", "planner", TEXT, ORACLE_WAKE_PATIENCE="3")
    assert (done.returncode, done.stdout) == (1, "")
    assert "FAIL_CLOSED" in done.stderr
    assert prompts.read() == []
    forced = send(stage, "--project", "demo", "--force", "planner", TEXT)
    assert (forced.returncode, forced.stdout) == (0, "SENT: demo-planner\n")
    assert forced.stderr.startswith("send-and-verify: WARN ")
    assert prompts.read() == [TEXT]


def test_text_that_was_not_taken_is_no_success(stage: Stage):
    stage.box("demo-planner", "--deaf-enter")
    done = send(stage, "--project", "demo", "planner", TEXT)
    assert (done.returncode, done.stdout) == (1, "")
    assert "FAIL_CLOSED" in done.stderr


@pytest.mark.parametrize(
    "text", ["two\nlines", "a\rb", "a\x1bb", "a\x0bb", "a\x0cb", "答" * 8000, "", "use gh" + "p_" + "Q7Rk2Zp9" * 4]
)
def test_text_that_must_not_be_typed_is_rejected(stage: Stage, text: str):
    prompts = stage.box("demo-planner")
    done = send(stage, "--project", "demo", "planner", text)
    assert done.returncode == 2
    assert done.stderr.startswith("send-and-verify: INPUT_REJECTED HARD_BLOCK")
    assert prompts.read() == []


@pytest.mark.parametrize(
    "words", [(), ("planner",), ("--wrong", "planner", "x"), ("planner", "x", "y"), ("--project",)]
)
def test_wrong_words_are_usage(stage: Stage, words: tuple[str, ...]):
    done = send(stage, *words)
    assert done.returncode == 1
    assert "usage: " in done.stderr


def test_help_is_on_stdout(stage: Stage):
    done = send(stage, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: ")


def test_project_must_be_named_where_there_are_several(stage: Stage):
    prompts = stage.box("demo-planner")
    bind(stage, "demo")
    assert send(stage, "planner", TEXT).stdout == "SENT: demo-planner\n"
    bind(stage, "other")
    done = send(stage, "planner", TEXT)
    assert done.returncode == 3
    assert "PROJECT_REQUIRED" in done.stderr
    assert prompts.read() == [TEXT]


def test_missing_tmux_is_said(stage: Stage, tmp_path: Path):
    done = send(stage, "planner", TEXT, PATH=str(tmp_path / "empty"))
    assert (done.returncode, done.stdout) == (1, "send-and-verify: TMUX_MISSING\n")


@pytest.mark.parametrize("name", ["CLAWSEAT_PROJECT", "AGENTS_PROJECT"])
def test_the_project_may_come_from_the_environment(stage: Stage, name: str):
    bind(stage, "demo", "other")
    prompts = stage.box("demo-planner")
    assert send(stage, "planner", TEXT).returncode == 3
    done = send(stage, "planner", TEXT, **{name: "demo"})
    assert (done.returncode, done.stdout) == (0, "SENT: demo-planner\n")
    assert prompts.read() == [TEXT]
    assert "project=flag " in send(stage, "--project", "flag", "planner", TEXT, **{name: "demo"}).stdout


def test_the_task_trees_may_lie_elsewhere(stage: Stage):
    bind(stage, "demo", "other")
    elsewhere = stage.folder / "trees"
    (elsewhere / "demo").mkdir(parents=True)
    (elsewhere / "demo/PROJECT_BINDING.toml").touch()
    prompts = stage.box("demo-planner")
    assert send(stage, "planner", TEXT, AGENTS_TASKS_ROOT=str(elsewhere)).returncode == 0
    assert prompts.read() == [TEXT]


def test_tmux_may_be_another_program(stage: Stage):
    prompts = stage.box("demo-planner")
    program = stage.folder / "my tmux"
    program.write_text(f'#!/bin/sh\necho called >> "{stage.folder}/calls"\nexec tmux "$@"\n')
    program.chmod(0o755)
    done = send(stage, "--project", "demo", "planner", TEXT, TMUX_BIN=str(program))
    assert done.returncode == 0
    assert prompts.read() == [TEXT]
    assert "called" in (stage.folder / "calls").read_text()
    missing = send(stage, "--project", "demo", "planner", TEXT, TMUX_BIN=str(stage.folder / "absent"))
    assert (missing.returncode, missing.stdout) == (1, "send-and-verify: TMUX_MISSING\n")


def test_a_wake_up_leaves_no_record_and_no_task(stage: Stage):
    bind(stage, "demo")
    prompts = stage.box("demo-planner")
    assert send(stage, "--project", "demo", "planner", "[T-1] workflow.md ready").returncode == 0
    assert prompts.read() == ["[T-1] workflow.md ready"]
    files = [path.name for path in (stage.folder / "home").rglob("*") if path.is_file() and "_state" not in path.parts]
    assert files == ["PROJECT_BINDING.toml"]


def test_a_text_for_a_shell_is_typed_and_said(stage: Stage):
    """The caller gives the text; it is typed as given, as older tools do."""
    pane = stage.session("demo-planner", "PS1='$ ' exec sh")
    until(lambda: stage.shows(pane).strip() == "$", "the shell has its prompt")
    done = send(stage, "--project", "demo", "planner", "T-1 waits")
    assert (done.returncode, done.stdout) == (0, "SENT: demo-planner\n")
    assert (
        done.stderr
        == "send-and-verify: WARN only a shell runs in demo-planner: no agent read the text, which was typed as a command\n"
    )
