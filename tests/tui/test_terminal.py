"""`oracle watch` in a real terminal, as one frame, and without its extra."""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from oracle.app.overview.now import now
from oracle.cli.main import run
from tests.wake.stage import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.squad import Squad
    from tests.wake.stage import Stage

START = "from oracle.cli.main import run; import sys; sys.exit(run())"
RANDOM_KEYS = (
    *"1234512345dar?/ygo+-jk qxX'\\[中",
    *("Up", "Down", "PageUp", "PageDown", "Home", "End", "Enter", "Escape", "Tab", "BTab", "BSpace", "Left", "Right"),
    *("F1", "F5", "C-l", "C-p", "M-x", "IC", "DC", "C-q", "C-z"),
)


def watch(stage: Stage, squad: Squad, *, size: tuple[int, int] = (80, 24), **environ: str) -> str:
    """Start it in a pane, with a shell that tells how it ended; return the pane."""
    given = {"TERM": "xterm-256color", "PYTHONPATH": os.getcwd(), "EDITOR": "true", **environ}  # noqa: PTH109
    words = ["env", *(f"{name}={text}" for name, text in given.items()), sys.executable, "-c", START, "watch"]
    command = shlex.join([*words, "--memory-dir", str(squad.path)])
    pane = stage.session("watch", f"{command}; echo ended with $?; read rest", size=size)
    until(lambda: "Q-1" in stage.shows(pane), "the first pane is shown")
    return pane


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_five_hundred_random_keys_and_it_still_serves(stage: Stage, squad: Squad, language: str):
    pane = watch(stage, squad, ORACLE_LANG=language)
    chosen = random.Random(language).choices([key for key in RANDOM_KEYS if key not in ("q", "C-q", "C-z")], k=500)
    for start in range(0, len(chosen), 20):
        stage.tmux("send-keys", "-t", pane, *chosen[start : start + 20])
        stage.shows(pane)
    until(lambda: reacts(stage, pane, "Escape", "Escape", "?"), "the help is shown")
    assert "Shift+Tab" in stage.shows(pane)
    until(lambda: reacts(stage, pane, "Escape", "Escape", "q"), "it ends")
    assert "ended with 0" in stage.shows(pane)


def reacts(stage: Stage, pane: str, *keys: str) -> bool:
    """Press keys one by one, because Escape and a key at once are another key; return whether the help or the end is shown."""
    for key in keys:
        stage.tmux("send-keys", "-t", pane, key)
        threading.Event().wait(0.5)
    shown = stage.shows(pane)
    return "Shift+Tab" in shown if keys[-1] == "?" else "ended with" in shown


@pytest.mark.slow
@pytest.mark.parametrize("colours", [True, False])
def test_without_colours_the_cursor_and_the_pane_still_show(stage: Stage, squad: Squad, colours: bool):
    pane = watch(stage, squad, **({} if colours else {"NO_COLOR": "1"}))
    shown = stage.tmux("capture-pane", "-e", "-p", "-t", pane)
    assert "▸" in shown
    assert "\x1b[7m" in shown  # reverse
    stage.tmux("send-keys", "-t", pane, "?")
    until(lambda: "╭" in stage.shows(pane), "the help is shown")
    shown = stage.tmux("capture-pane", "-e", "-p", "-t", pane)
    has_colour = any(f"\x1b[{number}m" in shown for number in (*range(30, 38), *range(90, 98)))
    assert has_colour == colours
    assert "\x1b[48" not in shown  # it never paints a background of its own
    stage.tmux("send-keys", "-t", pane, "q", "q")
    until(lambda: "ended with 0" in stage.shows(pane), "it ended")


# One frame ------------------------------------------------------------------------------------------------------------


def test_one_frame_is_plain_text(squad: Squad, capsys: pytest.CaptureFixture[str]):
    assert run(["watch", "--once", "--memory-dir", str(squad.path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    for text in ("1 decision waits for people", "billing", "Q-1", "Q-2", "answer: memory", "reviewer"):
        assert text in out


def test_nothing_is_cut_in_the_frame_of_a_script(squad: Squad, capsys: pytest.CaptureFixture[str]):
    name, objective = "REBUILD-THE-QUEUE-OF-ALL-SHOPS-17", "Is it bounded? " * 20
    squad.ask(name, objective=objective)
    assert run(["watch", "--once", "--memory-dir", str(squad.path)]) == 0
    out = capsys.readouterr().out
    assert name in out
    assert "…" not in out


def test_json_is_the_use_case(squad: Squad, capsys: pytest.CaptureFixture[str]):
    assert run(["watch", "--json", "--memory-dir", str(squad.path)]) == 0
    told = json.loads(capsys.readouterr().out)
    found = json.loads(json.dumps(now(squad.open()).as_json()))
    for document in (told, found):
        del document["moment"]
        for item in (*document["handoffs"], *document["decisions"]):
            item.pop("age_seconds", None)
            item.pop("seconds_left", None)
    assert told == found


WITHOUT_TEXTUAL = """
import sys
sys.modules["textual"] = None
from oracle.cli.commands import watch
from oracle.cli.main import run
watch.is_terminal = lambda _: True
sys.exit(run())
"""


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--once"], 0, "1 decision waits"),
        (["--json"], 0, '"moment"'),
        ([], 2, "-m pip install 'memory-oracle[tui]'"),
    ],
)
def test_a_frame_needs_no_extra_and_without_it_the_panes_say_how_to_install_it(
    squad: Squad, words: list[str], code: int, told: str
):
    command = [sys.executable, "-c", WITHOUT_TEXTUAL, "watch", *words, "--memory-dir", str(squad.path)]
    environ = {**os.environ, "PYTHONPATH": os.getcwd()}  # noqa: PTH109
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert told in (done.stderr if code else done.stdout)


def test_without_a_terminal_it_names_the_frame(squad: Squad, capsys: pytest.CaptureFixture[str]):
    assert run(["watch", "--memory-dir", str(squad.path)]) == 2
    assert "oracle watch --once" in capsys.readouterr().err


def test_a_root_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["watch", "--once", "--memory-dir", str(tmp_path / "nowhere")]) != 0
    assert "nowhere" in capsys.readouterr().err
