"""Wake-ups against real panes of private tmux servers."""

from __future__ import annotations

import functools
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from oracle.errors import UsageError
from oracle.wake import server, tmux
from oracle.wake.outcomes import NO_SERVER, Busy, NoSession, Stranded, Woken
from oracle.wake.tmux import TmuxWaker, type_into_own_pane
from tests.forked import Forked
from tests.wake.stage import PATIENCE, Prompts, Stage, until

TEXT = "T-1 is answered: read the receipt."


def wake(stage: Stage, name: str, text: str = TEXT, *, seat: str = "", patience: float = PATIENCE):
    return TmuxWaker(stage.socket).wake([name], text, seat=seat, patience=patience)


# Texts ----------------------------------------------------------------------------------------------------------------

TEXTS = {
    "plain": TEXT,
    "dash": "--help -t x",
    "dash-alone": "-",
    "semicolon": "read this;",
    "semicolon-alone": ";",
    "escaped-semicolon": "read this\\;",
    "backslash": "C:\\",
    "shell": "$(touch planted) `touch planted` ; touch planted & # !! ~ *",
    "format": "#{pane_id} #(touch planted) #[fg=red] %1 %%",
    "quotes": "\"double' 'single\" \\ back",
    "keys": "C-c Enter Escape M-x ^C",
    "cjk": "任务 T-1 已有答复：读 收据，然后确认。" * 3,
    "wide": "word " * 200 + "end",
    "one-long-word": "x" * 777 + "!",
    "cjk-2700": "答" * 2700,
    "combining": "e\u0301te\u0301 नमस्ते 🙂 done",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_text_is_submitted_as_it_is(stage: Stage, text: str):
    prompts = stage.box("demo-planner")
    assert wake(stage, "demo-planner", text) == Woken("demo-planner", prompts.pane)
    assert [prompt.rstrip() for prompt in prompts.read()] == [text]
    assert not list(stage.folder.glob("planted"))
    assert stage.tmux("list-buffers") == ""


@pytest.mark.parametrize("name", ["plain", "dash", "semicolon", "cjk", "wide"])
def test_text_reaches_a_program_that_only_reads_lines(stage: Stage, name: str):
    pane = stage.session("demo-planner", "exec cat > got")
    assert wake(stage, "demo-planner", TEXTS[name]) == Woken("demo-planner", pane)
    until(lambda: (stage.folder / "got").read_text(encoding="utf-8") == TEXTS[name] + "\n", "cat had the line")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "two\nlines",
        "a\rb",
        "a\tb",
        "\x1b[2J",
        "a\x7f",
        "a\x9b",
        "a\u2028b",
        "\ud800",
        "答" * 8000,
        "x" * 8193,
    ],
)
def test_text_that_must_not_be_typed_is_refused(stage: Stage, text: str):
    prompts = stage.box("demo-planner")
    before = stage.shows(prompts.pane)
    with pytest.raises(UsageError):
        wake(stage, "demo-planner", text)
    assert prompts.read() == []
    assert stage.shows(prompts.pane) == before


def test_text_of_8_kib_is_submitted(stage: Stage):
    prompts = stage.box("demo-planner")
    text = "x" * 8192
    assert isinstance(wake(stage, "demo-planner", text), Woken)
    assert prompts.read() == [text]


# Sessions and panes ---------------------------------------------------------------------------------------------------


def test_no_session_is_found_by_the_beginning_of_its_name(stage: Stage):
    prompts = stage.box("demo-planner-x")
    outcome = wake(stage, "demo-plan")
    assert isinstance(outcome, NoSession)
    assert not outcome.dead
    assert prompts.read() == []


def test_first_name_that_runs_is_taken(stage: Stage):
    other, mine = stage.box("demo-planner-x"), stage.box("demo-planner")
    outcome = TmuxWaker(stage.socket).wake(["gone", "demo-planner", "demo-planner-x"], TEXT)
    assert outcome == Woken("demo-planner", mine.pane)
    assert (mine.read(), other.read()) == ([TEXT], [])


@pytest.mark.parametrize(
    "name", ["v1.2-planner", "a:b", "two words", "计划-планер", "=demo", "%1", "$1", "-dash", "@2"]
)
def test_session_of_any_name_is_found(stage: Stage, name: str):
    other, mine = stage.box("other"), stage.box(name)
    assert isinstance(wake(stage, name), Woken)
    assert (mine.read(), other.read()) == ([TEXT], [])


@pytest.mark.parametrize("name", ["%0", "$0", "@0", "", "=other", "other:", ":0", "{last}"])
def test_name_is_never_read_as_a_target(stage: Stage, name: str):
    prompts = stage.box("other")
    assert isinstance(wake(stage, name), NoSession)
    assert prompts.read() == []


def split(stage: Stage, session: str, command: str) -> str:
    """Split the session's window; the new pane has the focus."""
    where = ("-c", str(stage.folder), "-t", f"={session}:")
    return stage.tmux("split-window", "-P", "-F", "#{pane_id}", *where, command)


def test_oldest_pane_is_the_agent_s_and_not_the_focused_one(stage: Stage):
    prompts = stage.box("demo-planner")
    split(stage, "demo-planner", "cat > focused")
    until((stage.folder / "focused").exists, "the other pane runs")
    split(stage, "demo-planner", "exec sh")
    assert isinstance(wake(stage, "demo-planner"), Woken)
    assert prompts.read() == [TEXT]
    assert (stage.folder / "focused").read_text() == ""


def test_pane_of_a_shell_is_passed_over(stage: Stage):
    stage.session("demo-planner", "exec sh")
    prompts, command = stage.box_command()
    pane = split(stage, "demo-planner", command)
    stage.tmux("select-pane", "-t", "=demo-planner:.{top}")
    until(prompts.log.exists, "the box was drawn")
    assert wake(stage, "demo-planner") == Woken("demo-planner", pane)
    assert prompts.read() == [TEXT]


# A shell alone --------------------------------------------------------------------------------------------------------

BASH = "exec env -i PATH=/usr/bin:/bin TERM=screen HOME=. bash --norc --noprofile -c 'PS1=\"u@h:~$ \" exec bash --norc --noprofile'"


def shell(stage: Stage, *keys: str, shows: str = "u@h:~$") -> str:
    """Start a session in which only a shell runs; press keys there, until its last row begins with a text."""
    pane = stage.session("demo-planner", BASH)
    until(lambda: stage.shows(pane) == "u@h:~$", "the shell has its prompt")
    if keys:
        stage.tmux("send-keys", "-t", pane, *keys)
    until(lambda: stage.shows(pane).splitlines()[-1].startswith(shows), f"the shell shows {shows}")
    return pane


def test_empty_prompt_of_a_shell_takes_the_text(stage: Stage):
    pane = shell(stage)
    assert wake(stage, "demo-planner", "T-1 waits") == Woken("demo-planner", pane)
    until(lambda: "T-1: command not found" in stage.shows(pane), "the shell ran it")


@pytest.mark.parametrize("again", ["wake", "wake_again", "force"])
@pytest.mark.parametrize(
    ("keys", "shows"),
    [
        (("touch planted; echo ",), "u@h:~$ touch planted; echo"),
        (("touch planted; cat >",), "u@h:~$ touch planted; cat >"),
        (("touch planted; echo '", "Enter"), ">"),
        (("touch planted", "C-a"), "u@h:~$ touch planted"),
        (('read -p "Delete everything? [y/N] " x && touch planted', "Enter"), "Delete everything?"),
    ],
    ids=["half-typed", "ends-in-a-sign", "second-line", "cursor-at-its-beginning", "question"],
)
def test_shell_in_which_somebody_types_or_a_program_asks_is_left_alone(
    stage: Stage, keys: tuple[str, ...], shows: str, again: str
):
    pane = shell(stage, *keys, shows=shows)
    before = stage.shows(pane)
    outcome = getattr(TmuxWaker(stage.socket), again)(["demo-planner"], TEXT, patience=1.6)
    assert isinstance(outcome, Busy)
    assert "somebody types" in outcome.reason
    assert stage.shows(pane) == before
    assert not list(stage.folder.glob("planted"))


@pytest.mark.parametrize("question", ["Delete everything? [y/N] ", "Continue (yes/no): ", "Which one?"])
def test_question_of_a_program_is_not_answered(stage: Stage, question: str):
    asks = f"said = input({question!r}); open('planted', 'w').write(said)"
    pane = stage.session("demo-planner", shlex.join(["exec", sys.executable, "-c", asks]))
    until(lambda: question.strip() in stage.shows(pane), "it asks")
    assert wake(stage, "demo-planner", patience=1.6) == Busy("demo-planner", "a program asks a question there")
    assert not list(stage.folder.glob("planted"))


def test_shell_that_is_left_at_its_prompt_again_is_woken(stage: Stage):
    pane = shell(stage, "touch planted", shows="u@h:~$ touch planted")
    assert isinstance(wake(stage, "demo-planner", patience=1.6), Busy)
    stage.tmux("send-keys", "-t", pane, "C-u")
    assert wake(stage, "demo-planner") == Woken("demo-planner", pane)
    assert not list(stage.folder.glob("planted"))


def test_box_that_a_shell_s_script_runs_takes_the_text(stage: Stage):
    prompts, command = stage.box_command()
    script = stage.folder / "agent.sh"
    script.write_text(f"#!/bin/sh\n{command}\n:\n", encoding="utf-8")
    script.chmod(0o755)
    pane = stage.session("demo-planner", f"exec {script}")
    until(prompts.log.exists, "the box was drawn")
    assert stage.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}") in ("sh", "dash", "agent.sh")
    assert wake(stage, "demo-planner") == Woken("demo-planner", pane)
    assert prompts.read() == [TEXT]


def test_pane_that_the_operator_marked_is_taken(stage: Stage):
    stage.session("demo-planner", "exec cat")
    prompts, command = stage.box_command()
    pane = split(stage, "demo-planner", command)
    split(stage, "demo-planner", "exec cat")
    stage.tmux("set-option", "-p", "-t", pane, "@oracle_seat", "planner")
    until(prompts.log.exists, "the box was drawn")
    assert wake(stage, "demo-planner", seat="planner") == Woken("demo-planner", pane)


def test_pane_marked_for_another_seat_is_never_taken(stage: Stage):
    prompts = stage.box("demo-planner")
    stage.tmux("set-option", "-p", "-t", prompts.pane, "@oracle_seat", "builder")
    assert isinstance(wake(stage, "demo-planner", seat="planner"), NoSession)
    assert prompts.read() == []


def test_pane_in_another_window_is_found(stage: Stage):
    prompts = stage.box("demo-planner")
    stage.tmux("new-window", "-t", "=demo-planner:", "exec sh")
    assert isinstance(wake(stage, "demo-planner"), Woken)
    assert prompts.read() == [TEXT]


@pytest.mark.parametrize("name", ["demo-planner", "a-view", "z-view"])
def test_pane_that_sessions_share_is_found_under_each_name(stage: Stage, name: str):
    prompts = stage.box("demo-planner")
    stage.tmux("new-session", "-d", "-s", "a-view", "-t", "demo-planner")
    stage.tmux("new-session", "-d", "-s", "z-view", "-t", "demo-planner")
    assert wake(stage, name) == Woken(name, prompts.pane)
    assert prompts.read() == [TEXT]


@pytest.mark.parametrize("mode", [("copy-mode",), ("choose-tree",), ("copy-mode", "choose-tree"), ("clock-mode",)])
def test_mode_is_left_first(stage: Stage, mode: tuple[str, ...]):
    prompts = stage.box("demo-planner")
    for command in mode:
        stage.tmux(command, "-t", prompts.pane)
    assert isinstance(wake(stage, "demo-planner"), Woken)
    assert prompts.read() == [TEXT]


def test_copy_mode_scrolled_back_is_left_first(stage: Stage):
    prompts = stage.box("demo-planner")
    stage.tmux("copy-mode", "-u", "-t", prompts.pane)
    stage.tmux("send-keys", "-t", prompts.pane, "-X", "search-backward", "shortcuts")
    assert isinstance(wake(stage, "demo-planner"), Woken)
    assert prompts.read() == [TEXT]


def test_dead_pane_is_said_to_be_dead(stage: Stage):
    stage.session("keep", "exec cat")
    stage.tmux("set-option", "-g", "remain-on-exit", "on")
    pane = stage.session("demo-planner", "exit 3")
    until(lambda: stage.tmux("display-message", "-p", "-t", pane, "#{pane_dead}") == "1", "the pane died")
    assert wake(stage, "demo-planner") == NoSession(("demo-planner",), "its only pane is dead", dead="demo-planner")


def test_live_pane_beside_a_dead_one_is_taken(stage: Stage):
    prompts = stage.box("demo-planner")
    stage.tmux("set-option", "-g", "remain-on-exit", "on")
    split(stage, "demo-planner", "exit 3")
    assert isinstance(wake(stage, "demo-planner"), Woken)
    assert prompts.read() == [TEXT]


def test_no_server_is_no_session():
    outcome = TmuxWaker("t-absent").wake(["demo-planner"], TEXT)
    assert isinstance(outcome, NoSession)
    assert outcome.reason == NO_SERVER


def test_no_tmux_is_no_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert TmuxWaker("t-absent").wake(["x"], TEXT) == NoSession(("x",), "tmux is not installed")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("no server running on /tmp/tmux-0/x", NO_SERVER),
        ("error connecting to /tmp/tmux-0/x (No such file or directory)", NO_SERVER),
        ("error connecting to /tmp/tmux-0/x (Connection refused)", NO_SERVER),
        (
            "error connecting to /tmp/tmux-0/x (Permission denied)",
            "error connecting to /tmp/tmux-0/x (Permission denied)",
        ),
    ],
)
def test_that_no_server_runs_is_said_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, reason: str
):
    program = tmp_path / "tmux"
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("TMUX_BIN", str(program))
    assert TmuxWaker("t-absent").wake(["x"], TEXT) == NoSession(("x",), reason)


@pytest.mark.parametrize("kind", ["no socket", "a dead socket", "no folder of sockets"])
def test_where_no_server_listens_libtmux_is_not_imported(tmp_path: Path, kind: str):
    folder = tmp_path / f"tmux-{os.getuid()}"
    if kind != "no folder of sockets":
        folder.mkdir()
    if kind == "a dead socket":
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(folder / "team"))
    code = (
        "import sys; from oracle.wake.tmux import TmuxWaker;"
        f"print(TmuxWaker('team').wake(['x'], {TEXT!r}).reason, 'libtmux' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMUX_TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{NO_SERVER} False\n"


def test_server_may_be_named_by_its_path(stage: Stage):
    prompts = stage.box("demo-planner")
    path = stage.tmux("display-message", "-p", "#{socket_path}")
    assert isinstance(TmuxWaker(path).wake(["demo-planner"], TEXT), Woken)
    assert prompts.read() == [TEXT]


# Busy and stranded ----------------------------------------------------------------------------------------------------


def test_agent_at_work_is_left_alone(stage: Stage):
    prompts = stage.box("demo-planner", "--work")
    before = stage.shows(prompts.pane)
    assert wake(stage, "demo-planner", patience=1.5) == Busy("demo-planner", "its agent is at work")
    assert stage.shows(prompts.pane) == before


def test_title_that_spins_is_work(stage: Stage):
    prompts = stage.box("demo-planner")
    stage.tmux("select-pane", "-t", prompts.pane, "-T", "◐ Claude Code")
    assert wake(stage, "demo-planner", patience=1.5) == Busy("demo-planner", "its agent is at work")


def test_talk_about_work_is_no_work(stage: Stage):
    prompts = stage.box("demo-planner")
    for text in ("press esc to interrupt", "(esc to interrupt)", "Thinking about it", "• Working"):
        assert isinstance(wake(stage, "demo-planner", text), Woken)
    assert len(prompts.read()) == 4


def test_screen_that_never_rests_is_busy(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tmux, "_STEADY", 1.0)  # a busy machine may well let a program pause for the usual moment
    loop = "import time\nfor number in range(100_000): print(number, end=' ', flush=True); time.sleep(0.03)"
    stage.session("demo-planner", shlex.join(["exec", sys.executable, "-c", loop]))
    assert wake(stage, "demo-planner", patience=4) == Busy("demo-planner", "its screen does not come to rest")


def test_half_written_prompt_of_a_person_is_left_alone(stage: Stage):
    prompts = stage.box("demo-planner")
    stage.tmux("send-keys", "-t", prompts.pane, "-l", "half a thou")
    until(lambda: "half a thou" in stage.shows(prompts.pane), "the draft was drawn")
    assert wake(stage, "demo-planner", patience=1.5) == Busy("demo-planner", "somebody is writing in its input box")
    assert prompts.read() == []


@pytest.mark.parametrize("size", [(30, 10), (24, 12), (60, 14), (200, 50)])
def test_small_pane_is_woken_too(stage: Stage, size: tuple[int, int]):
    prompts = stage.box("demo-planner", size=size)
    for text in (TEXTS["cjk"], TEXTS["wide"], TEXT):
        assert isinstance(wake(stage, "demo-planner", text), Woken)
    assert prompts.read() == [TEXTS["cjk"], TEXTS["wide"], TEXT]


def test_dialog_gets_no_enter(stage: Stage):
    prompts = stage.box("demo-planner", "--dialog")
    assert not isinstance(wake(stage, "demo-planner", patience=2.5), Woken)
    assert prompts.read() == []


def test_program_that_hangs_gets_no_enter(stage: Stage):
    prompts = stage.box("demo-planner", "--hang")
    outcome = wake(stage, "demo-planner")
    assert isinstance(outcome, Stranded)
    assert "did not appear" in outcome.reason
    assert prompts.read() == []


def test_program_that_swallows_the_paste_gets_no_enter(stage: Stage):
    prompts = stage.box("demo-planner", "--swallow")
    assert isinstance(wake(stage, "demo-planner"), Stranded)
    assert prompts.read() == []


def test_stranded_text_is_reported_and_submitted_by_the_next_wake_up(stage: Stage):
    prompts = stage.box("demo-planner", "--deaf-enter")
    outcome = wake(stage, "demo-planner")
    assert isinstance(outcome, Stranded)
    assert "Enter was pressed" in outcome.reason
    assert prompts.read() == []
    assert isinstance(wake(stage, "demo-planner"), Woken)
    assert [text.strip() for text in prompts.read()] == [TEXT]


def test_trying_again_types_nothing_when_the_text_was_taken_since(stage: Stage):
    prompts = stage.box("demo-planner", "--deaf-enter")
    waker = TmuxWaker(stage.socket)
    assert isinstance(waker.wake(["demo-planner"], TEXT), Stranded)
    stage.tmux("send-keys", "-t", prompts.pane, "Enter")
    until(prompts.read, "the person pressed Enter")
    assert isinstance(waker.wake_again(["demo-planner"], TEXT), Woken)
    assert len(prompts.read()) == 1


def test_trying_again_types_nothing_when_the_text_is_taken_while_it_waits(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    prompts = stage.box("demo-planner", "--deaf-enter")
    waker = TmuxWaker(stage.socket)
    assert isinstance(waker.wake(["demo-planner"], TEXT), Stranded)
    wait = tmux._wait_until_idle

    def take_first(*args: Any, **named: Any) -> Any:
        stage.tmux("send-keys", "-t", prompts.pane, "Enter")
        until(prompts.read, "the person pressed Enter")
        return wait(*args, **named)

    monkeypatch.setattr(tmux, "_wait_until_idle", take_first)
    assert isinstance(waker.wake_again(["demo-planner"], TEXT), Woken)
    assert len(prompts.read()) == 1


def test_trying_again_submits_what_still_stands_in_the_box(stage: Stage):
    prompts = stage.box("demo-planner", "--deaf-enter")
    waker = TmuxWaker(stage.socket)
    assert isinstance(waker.wake(["demo-planner"], TEXT), Stranded)
    assert isinstance(waker.wake_again(["demo-planner"], TEXT), Woken)
    assert [text.strip() for text in prompts.read()] == [TEXT]


def test_slow_client_is_waited_for(stage: Stage):
    prompts = stage.box("demo-planner", "--slow", "0.4")
    assert isinstance(wake(stage, "demo-planner"), Woken)
    assert prompts.read() == [TEXT]


def test_synchronized_panes_get_nothing(stage: Stage):
    prompts = stage.box("demo-planner")
    split(stage, "demo-planner", "cat > other")
    stage.tmux("set-option", "-w", "-t", "=demo-planner:", "synchronize-panes", "on")
    outcome = wake(stage, "demo-planner")
    assert isinstance(outcome, Busy)
    assert "synchronized" in outcome.reason
    assert prompts.read() == []


def test_pane_with_its_input_off_gets_nothing(stage: Stage):
    prompts = stage.box("demo-planner")
    stage.tmux("select-pane", "-d", "-t", prompts.pane)
    assert wake(stage, "demo-planner") == Busy("demo-planner", "its input is switched off")


def test_server_that_does_not_answer_is_asked_once_for_a_bounded_time(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    stage.box("demo-planner")
    process = int(stage.tmux("display-message", "-p", "#{pid}"))
    asked: list[object] = []
    ask = server._in_time
    monkeypatch.setattr(server, "_in_time", lambda words: asked.append(words) or ask(words))
    os.kill(process, signal.SIGSTOP)
    try:
        outcome = wake(stage, "demo-planner")
    finally:
        os.kill(process, signal.SIGCONT)
    assert len(asked) == 1
    assert isinstance(outcome, Busy)
    assert "does not answer" in outcome.reason


@pytest.mark.parametrize("moment", ["panes", "pane", "screen", "paste", "press_enter"])
def test_server_that_stops_in_the_middle_is_waited_for_a_bounded_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, moment: str
):
    prompts = stage.box("demo-planner")
    process = int(stage.tmux("display-message", "-p", "#{pid}"))
    act = getattr(server.Server, moment)

    def stop_first(*given: Any) -> Any:
        os.kill(process, signal.SIGSTOP)
        return act(*given)

    monkeypatch.setattr(server.Server, moment, stop_first)
    began = time.monotonic()
    try:
        outcome = wake(stage, "demo-planner")
    finally:
        took = time.monotonic() - began
        os.kill(process, signal.SIGCONT)
    assert isinstance(outcome, Busy)
    assert "does not answer" in outcome.reason
    assert took < PATIENCE / 2
    until(lambda: not clients_of_this_process(), "no tmux client is left waiting")
    until(lambda: stage.shows(prompts.pane).strip(), "the server answers again")


def clients_of_this_process() -> list[str]:
    """Return the tmux clients that this process started and that did not end."""
    found = subprocess.run(
        ["ps", "-o", "stat=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )
    return [line for line in found.stdout.splitlines() if "tmux" in line and not line.startswith("Z")]


IN_LOCALE = """
import sys
from oracle.wake.tmux import TmuxWaker
print(ascii(TmuxWaker(sys.argv[1]).wake([sys.argv[2]], "x", patience=float(sys.argv[3]))))
"""


@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"LANG": "en_US.ISO-8859-1"}])
@pytest.mark.parametrize("title", ["⠂ thinking", "rest"])
def test_what_a_pane_shows_is_read_in_any_locale(stage: Stage, locale: dict[str, str], title: str):
    prompts = stage.box("计划")
    stage.tmux("select-pane", "-t", prompts.pane, "-T", title)
    plain = {name: value for name, value in os.environ.items() if name not in ("LC_ALL", "LC_CTYPE", "LANG", "TMUX")}
    command = [sys.executable, "-X", "utf8", "-c", IN_LOCALE, stage.socket, "计划", "2" if title != "rest" else "90"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**plain, "PYTHONCOERCECLOCALE": "0", **locale},
    )
    assert done.stdout.startswith("Busy" if title != "rest" else "Woken"), (done.stdout, done.stderr)


@pytest.mark.parametrize("name", ["other", "dead"])
def test_nobody_is_there(stage: Stage, name: str):
    stage.box("demo")
    stage.session("dead", "true; exec cat")
    stage.tmux("set-option", "-w", "-t", "dead", "remain-on-exit", "on")
    stage.tmux("respawn-pane", "-k", "-t", "dead", "true")
    until(lambda: stage.tmux("display-message", "-p", "-t", "dead", "#{pane_dead}") == "1", "the pane is dead")
    assert isinstance(TmuxWaker(stage.socket).wake([name], TEXT), NoSession)


# Many at once ---------------------------------------------------------------------------------------------------------


def test_twenty_at_once_do_not_mix(stage: Stage):
    prompts = stage.box("demo")
    texts = [f"wake-up {number} {'word ' * number}".strip() for number in range(20)]

    def type_in(text: str) -> None:
        outcome = wake(stage, "demo", text=text, patience=90)
        assert isinstance(outcome, Woken), outcome

    typing = [Forked(functools.partial(type_in, text)) for text in texts]
    assert [one.wait() for one in typing] == [0] * 20
    assert sorted(prompts.read()) == sorted(texts)


def test_lock_ends_with_its_holder(stage: Stage):
    prompts = stage.box("demo")
    tty = stage.tmux("display-message", "-p", "-t", prompts.pane, "#{pane_tty}")
    lock = "fcntl.flock(os.open(sys.argv[1], os.O_RDONLY | os.O_NOCTTY), fcntl.LOCK_EX)"
    hold = f"import fcntl, os, sys; {lock}; print(flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", hold, tty], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout
    holder.stdout.readline()
    assert wake(stage, "demo", patience=1.5) == Busy("demo", "another wake-up is being typed there")
    holder.kill()
    holder.communicate()
    assert isinstance(wake(stage, "demo"), Woken)
    assert prompts.read() == [TEXT]


# The own pane ---------------------------------------------------------------------------------------------------------


def own(stage: Stage, prompts: Prompts, text: str = "/clear"):
    path = stage.tmux("display-message", "-p", "#{socket_path}")
    return type_into_own_pane(path, prompts.pane, text, patience=2.0)


def test_own_pane_takes_the_text_while_the_agent_works(stage: Stage):
    prompts, other = stage.box("demo", "--work"), stage.box("other")
    assert own(stage, prompts) == Woken("demo", prompts.pane)
    assert (prompts.read(), other.read()) == (["/clear"], [])


def test_own_pane_that_is_gone_is_no_session(stage: Stage):
    prompts = stage.box("demo")
    prompts.pane = "%99"
    assert isinstance(own(stage, prompts), NoSession)


def test_text_that_ends_like_one_that_the_pane_shows_is_typed(stage: Stage):
    prompts = stage.box("demo-memory")
    texts = [
        f"Q-{number} assigned from planner to memory. Read /home/me/.agents/tasks/demo/memory/TODO.md."
        " When complete, reply to planner via DELIVERY + notify."
        for number in (17, 18)
    ]
    assert isinstance(wake(stage, "demo-memory", texts[0]), Woken)
    for text in (texts[1], texts[1], texts[0]):
        assert isinstance(TmuxWaker(stage.socket).wake_again(["demo-memory"], text, patience=4), Woken)
    assert prompts.read() == texts


def test_force_types_while_the_agent_works(stage: Stage):
    prompts = stage.box("demo-planner", "--work")
    assert isinstance(TmuxWaker(stage.socket).force(["demo-planner"], TEXT), Woken)
    assert prompts.read() == [TEXT]
