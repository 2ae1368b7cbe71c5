"""A pane in which only a shell runs: nothing is typed there for a seat."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

import pytest

from oracle.wake.outcomes import NoAgent, NoSession, Woken
from oracle.wake.shells import is_at_prompt
from oracle.wake.tmux import AgentWaker
from tests.wake.stage import PATIENCE, until
from tests.wake.test_tmux import BASH, TEXT, shell

if TYPE_CHECKING:
    from tests.wake.stage import Stage


@pytest.mark.parametrize(
    ("running", "expected"),
    [
        (["-bash"], True),
        (["/bin/zsh -l"], True),
        (["bash --rcfile x -i"], True),
        (["sh"], True),
        (["fish"], True),
        (["bash agent.sh"], False),
        (["/bin/sh /usr/bin/agent --flag"], False),
        (["sh -c claude"], False),
        (["bash -lc claude"], False),
        (["fish --command=claude"], False),
        (["bash", "claude"], False),
        (["claude"], False),
        (["node"], False),
        (["vim"], False),
        ([], False),
    ],
)
def test_only_a_shell_that_nothing_was_given_to_is_at_its_prompt(running: list[str], expected: bool):
    assert is_at_prompt(running) is expected


def wake(stage: Stage, *names: str, text: str = TEXT):
    return AgentWaker(stage.socket).wake(names or ("demo-planner",), text, seat="planner", patience=PATIENCE)


@pytest.mark.parametrize("act", ["wake", "wake_again", "look"])
@pytest.mark.parametrize("marked", [False, True])
def test_a_shell_gets_no_wake_up(stage: Stage, act: str, marked: bool):
    pane = shell(stage)
    if marked:
        stage.tmux("set-option", "-p", "-t", pane, "@oracle_seat", "planner")
    outcome = getattr(AgentWaker(stage.socket), act)(["demo-planner"], TEXT, seat="planner")
    assert outcome == NoAgent(("demo-planner",), "only a shell runs in demo-planner")
    assert isinstance(outcome, NoSession)
    assert stage.shows(pane) == "u@h:~$"


def test_an_agent_that_a_person_starts_in_the_shell_is_woken(stage: Stage):
    pane = shell(stage)
    assert isinstance(wake(stage), NoAgent)
    prompts, command = stage.box_command()
    stage.tmux("send-keys", "-t", pane, command, "Enter")
    until(prompts.log.exists, "the box was drawn")
    assert wake(stage) == Woken("demo-planner", pane)
    assert prompts.read() == [TEXT]


@pytest.mark.parametrize("way", ["sh -c", "script", "interactive -c"])
def test_an_agent_that_a_shell_runs_is_woken(stage: Stage, way: str):
    prompts, command = stage.box_command()
    script = stage.folder / "agent.sh"
    script.write_text(f"#!/bin/sh\n{command}\n:\n", encoding="utf-8")
    script.chmod(0o755)
    ways = {
        "sh -c": shlex.join(["exec", "sh", "-c", f"{command}; :"]),
        "script": f"exec {script}",
        "interactive -c": shlex.join(["exec", "bash", "--norc", "-ic", f"{command}; :"]),
    }
    pane = stage.session("demo-planner", ways[way])
    until(prompts.log.exists, "the box was drawn")
    assert wake(stage) == Woken("demo-planner", pane)
    assert prompts.read() == [TEXT]


def test_a_script_that_reads_its_input_is_woken(stage: Stage):
    """The shell alone runs there, and it is no person's."""
    script = 'printf "$ "; while read -r line; do echo "$line" >> took; printf "$ "; done'
    pane = stage.session("demo-planner", shlex.join(["exec", "bash", "-c", script]))
    until(lambda: stage.shows(pane).strip() == "$", "the script shows its sign")
    assert wake(stage) == Woken("demo-planner", pane)
    until((stage.folder / "took").exists, "the script took the text")


def test_the_session_of_an_agent_comes_before_one_with_only_a_shell(stage: Stage):
    shell(stage)
    prompts = stage.box("demo-planner-claude")
    assert wake(stage, "demo-planner", "demo-planner-claude") == Woken("demo-planner-claude", prompts.pane)


def test_a_program_beside_the_shell_is_woken(stage: Stage):
    stage.session("demo-planner", BASH)
    prompts, command = stage.box_command()
    pane = stage.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "demo-planner", command)
    until(prompts.log.exists, "the box was drawn")
    assert wake(stage) == Woken("demo-planner", pane)


@pytest.mark.parametrize("is_marked", [False, True])
def test_an_agent_that_a_script_runs_beside_the_shell_is_woken(stage: Stage, is_marked: bool):
    beside = shell(stage)
    if is_marked:
        stage.tmux("set-option", "-p", "-t", beside, "@oracle_seat", "planner")
    prompts, command = stage.box_command()
    script = stage.folder / "agent.sh"
    script.write_text(f"#!/bin/bash\n{command}\n:\n", encoding="utf-8")
    script.chmod(0o755)
    pane = stage.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "demo-planner", f"exec {script}")
    until(prompts.log.exists, "the box was drawn")
    assert wake(stage) == Woken("demo-planner", pane)
    assert prompts.read() == [TEXT]


def test_a_pager_beside_the_shell_gets_no_wake_up(stage: Stage):
    shell(stage)
    stage.tmux("split-window", "-d", "-t", "demo-planner", "exec tail -f /dev/null")
    assert wake(stage) == NoAgent(("demo-planner",), "only a shell runs in demo-planner")


def test_a_machine_without_ps_types_as_before(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    pane = shell(stage)
    tmux = shutil.which("tmux")
    assert tmux
    monkeypatch.setenv("TMUX_BIN", tmux)
    monkeypatch.setenv("PATH", str(stage.folder))
    assert wake(stage, text="T-1 waits") == Woken("demo-planner", pane)
