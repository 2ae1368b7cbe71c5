"""The hook of prompts as a process: what it prints, when it stays silent, and that it is never in the way."""

from __future__ import annotations

import json
import logging
import os
import runpy
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.app import journal
from oracle.app.context import Context
from oracle.app.prompting import context_for, memories, rest
from oracle.daemon.answering import Answering
from oracle.daemon.stats import Attempts, Stats
from oracle.hook.payload import parse_payload
from oracle.store.daemon import answer_socket
from tests.cli.transcript import call
from tests.growth import costs_at_most
from tests.hook.seat import CHECKOUT, Seat

if TYPE_CHECKING:
    from collections.abc import Iterator

HOOK = CHECKOUT / "scripts" / "hooks" / "prompt_hook.py"
NOTE = "Uploads to the archive are retried twice, thirty seconds apart."
QUESTION = "How often are uploads to the archive retried?"


class Host:
    """A client that calls the hook."""

    def __init__(self, folder: Path) -> None:
        self.seat = Seat(folder)
        path = Path(self.seat.root.join("projects/install/decision/retry.md"))
        path.parent.mkdir(parents=True)
        path.write_text(f"# Retry of uploads\n\n{NOTE}\n", encoding="utf-8")
        self.misses = Path(self.seat.root.state) / "deadlines-missed"

    def payload(self, **fields: Any) -> dict[str, Any]:
        common = {"session_id": "s", "cwd": "/work", "hook_event_name": "UserPromptSubmit", "prompt": QUESTION}
        return {**common, **fields}

    def call(self, payload: object, **environ: str) -> str:
        """Run the hook and return what it prints. Its exit code is 0 and it says nothing else."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK)],
            input=data,
            capture_output=True,
            env={**self.seat.environ, "ORACLE_PROJECT": "install", **environ},
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    def context(self, payload: object, **environ: str) -> str:
        """Return the context that the hook gives, tried again where the machine was too slow for the deadline."""
        for _ in range(5):
            said = self.call(payload, **environ)
            if said:
                return str(json.loads(said)["hookSpecificOutput"]["additionalContext"])
            self.misses.unlink(missing_ok=True)
        return ""


def test_the_hook_costs_a_few_bare_starts(host: Host):
    """Its own process and the work for one prompt, without a daemon."""
    data = json.dumps(host.payload(session_id="")).encode()
    environ = {**host.seat.environ, "ORACLE_PROJECT": "install"}

    def start(*words: str) -> None:
        for _ in range(5):
            subprocess.run([sys.executable, *words], input=data, env=environ, capture_output=True, check=True)

    assert host.context(host.payload())
    assert costs_at_most(10, lambda: start("-I", "-S", str(HOOK)), than=lambda: start("-c", "pass"))


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.mark.parametrize("event", ["UserPromptSubmit", "BeforeAgent"])
def test_a_prompt_is_given_context(host: Host, event: str):
    for _ in range(5):
        said = host.call(host.payload(hook_event_name=event, prompt_id="p-1"))
        if said:
            break
    output = json.loads(said)["hookSpecificOutput"]
    assert output["hookEventName"] == event
    assert NOTE in output["additionalContext"]
    assert host.call(host.payload(hook_event_name=event, prompt_id="p-1")) == said


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"not json",
        b"[]",
        b"\xff\xfe{",
        b'{"hook_event_name": 7}',
        b'{"hook_event_name": "UserPromptSubmit"}',
        b'{"hook_event_name": "UserPromptSubmit", "prompt": ["x"]}',
        b'{"hook_event_name": "Stop", "prompt": "How often are uploads to the archive retried?"}',
        b"[" * 100_000,
        b'{"prompt": "' + b"x" * (5 << 20) + b'"}',
    ],
    ids=range(10),
)
def test_anything_else_gives_nothing(host: Host, payload: bytes):
    assert host.call(payload) == ""


@pytest.mark.parametrize(
    ("message", "is_told"),
    [
        ("Done. [DELIVER:seat=planner task_id=T-1 project=install]", True),
        ("Done. [DELIVER:seat=]", True),
        ("Done. [CLEAR-REQUESTED]", True),
        ("The seat may write `[DELIVER:seat=planner]`.", False),
        ("Done.", False),
    ],
)
def test_the_user_is_told_of_a_marker_of_a_subagent(host: Host, message: str, is_told: bool):
    payload = host.payload(hook_event_name="SubagentStop", agent_id="a1", last_assistant_message=message)
    said = host.call(payload) or host.call(payload)
    assert ("systemMessage" in said, "additionalContext" in said) == (is_told, False)
    log = Path(host.seat.root.hook_log)
    assert (log.exists() and "deliver_skipped: subagent" in log.read_text()) == is_told


@pytest.mark.parametrize("switch", [{"ORACLE_HOOKS": "0"}, {"ORACLE_INTERNAL": "1"}, {"ORACLE_ROOT": "/nowhere"}])
def test_switches(host: Host, switch: dict[str, str]):
    assert host.call(host.payload(), **switch) == ""
    assert not Path(host.seat.root.state).exists()


@pytest.mark.parametrize("prompt", [f"Ignore memory. {QUESTION}", f"忽略记忆。{QUESTION}"])
def test_a_prompt_without_memory_touches_nothing(host: Host, prompt: str):
    assert host.call(host.payload(prompt=prompt, prompt_id="p-1")) == ""
    assert not Path(host.seat.root.state).exists()
    assert not Path(host.seat.root.events).exists()


def test_an_unusable_root_gives_nothing(host: Host):
    Path(host.seat.root.state).write_text("in the way", encoding="utf-8")
    assert "Traceback" not in host.call(host.payload())


# The deadline ---------------------------------------------------------------------------------------------------------


def copy_with(host: Host, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a copy of the hook whose child runs another program."""
    slow = Path(host.seat.root.path).parent / "slow"
    slow.mkdir()
    copy = slow / "scripts" / "hooks"
    copy.mkdir(parents=True)
    for script in HOOK.parent.glob("*.py"):
        (copy / script.name).write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
    package = slow / "oracle" / "hook"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("", encoding="utf-8")
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "prompt.py").write_text(program, encoding="utf-8")
    monkeypatch.setattr(sys.modules[__name__], "HOOK", copy / "prompt_hook.py")


@pytest.mark.parametrize("times", [3])
def test_a_late_hook_is_silent_and_rests_after_three_times(host: Host, times: int, monkeypatch: pytest.MonkeyPatch):
    copy_with(host, "import time\ntime.sleep(60)\n", monkeypatch)
    Path(host.seat.root.state).mkdir()
    for number in range(times):
        begun = time.monotonic()
        assert host.call(host.payload()) == ""
        assert 1.0 < time.monotonic() - begun < 10
        assert host.misses.stat().st_size == number + 1
    took = []
    for _ in range(3):
        begun = time.monotonic()
        assert host.call(host.payload()) == ""
        took.append(time.monotonic() - begun)
    assert min(took) < 1.3, "it rests, and waits for nothing"
    assert host.misses.stat().st_size == times
    monkeypatch.undo()
    os.utime(host.misses, (1, 1))
    assert NOTE in host.context(host.payload())
    assert not host.misses.exists()


def test_doctor_and_status_know_when_the_hook_is_silent(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(HOOK.parent)
    script = runpy.run_path(str(HOOK.parent / "session_event.py"))
    assert (script["MISSES"], script["REST"]) == (rest.MISSES, rest.REST)
    assert host.misses.name == rest.MISSED
    host.misses.parent.mkdir()
    host.misses.write_bytes(b"x" * rest.MISSES)
    assert host.call(host.payload()) == ""
    monkeypatch.setenv("ORACLE_ROOT", host.seat.root.path)
    call(["hook", "install", "--workspace", str(tmp_path)], monkeypatch)
    code, out, _ = call(["hook", "status", "--workspace", str(tmp_path), "--json", "--lang", "en"], monkeypatch)
    notes = json.loads(out)["notes"]
    assert (code, "3 answers in a row" in notes[0], str(host.misses) in notes[1]) == (0, True, True)


# With a daemon --------------------------------------------------------------------------------------------------------


@pytest.fixture
def daemon(host: Host) -> Iterator[Answering]:
    root = host.seat.root
    Path(root.state).mkdir(mode=0o700)
    stats = Stats()
    made = Answering(root, lambda: Context.open(root.path), Attempts(logging.getLogger("test"), stats), stats)
    made.keep()
    yield made
    made.stop()


@pytest.mark.parametrize("prompt", [QUESTION, f"{QUESTION}\n\n“” \\ \u2028 😀"])
def test_a_daemon_is_asked(host: Host, daemon: Answering, prompt: str):
    text = host.context(host.payload(prompt=prompt))
    assert NOTE in text
    assert daemon


def test_words_come_in_place_of_a_late_answer_of_a_daemon(
    host: Host, daemon: Answering, monkeypatch: pytest.MonkeyPatch
):
    find_memories = memories.find_memories

    def find_late(*given: Any, **named: Any) -> list[Any]:
        time.sleep(0.6)
        return find_memories(*given, **named)

    monkeypatch.setattr(context_for, "find_memories", find_late)
    assert NOTE in host.context(host.payload())
    time.sleep(1)
    assert len(journal.events(Context.open(host.seat.root.path), kind="inject")) == 1
    assert daemon


def test_a_daemon_that_is_stopped_delays_no_prompt(host: Host):
    root = host.seat.root
    Path(root.state).mkdir(mode=0o700)
    door = answer_socket.listen(root)  # it is never read from, as of a process that got SIGSTOP
    try:
        begun = time.monotonic()
        host.call(host.payload())
        assert time.monotonic() - begun < 10
    finally:
        door.close()


def test_beside_a_daemon_that_is_stopped_a_slow_child_answers_in_time(host: Host, monkeypatch: pytest.MonkeyPatch):
    root = host.seat.root
    Path(root.state).mkdir(mode=0o700)
    copy_with(host, "import time\ndef serve(data):\n    time.sleep(0.75)\n    return '[]'\n", monkeypatch)
    door = answer_socket.listen(root)
    try:
        assert "[]" in [host.call(host.payload()) for _ in range(3)]
    finally:
        door.close()


@pytest.mark.parametrize("reply", [b"-\n", b"", b"+", b"garbage\n"])
def test_a_daemon_that_gives_no_answer_is_replaced(host: Host, reply: bytes):
    root = host.seat.root
    Path(root.state).mkdir(mode=0o700)
    door = answer_socket.listen(root)

    def answer() -> None:
        while True:
            try:
                connection, _ = door.accept()
            except OSError:
                return
            with connection:
                connection.recv(1 << 16)
                connection.sendall(reply)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    try:
        assert NOTE in host.context(host.payload())
    finally:
        door.shutdown(socket.SHUT_RDWR)
        door.close()
        thread.join(5)


# What other clients send ------------------------------------------------------------------------------------------------

ADDED = "<hook_context>&lt;oracle-context date=…&gt;\nT-1, asked by planner\n&lt;/oracle-context&gt;</hook_context>"


@pytest.mark.parametrize(
    ("prompt", "typed"),
    [
        (f"{ADDED}\n\n{QUESTION}", QUESTION),
        (f"{ADDED}\n{ADDED}\n\n{QUESTION}", QUESTION),
        (f"{QUESTION} {ADDED}", f"{QUESTION} {ADDED}"),
        (f"<hook_context>{QUESTION}", f"<hook_context>{QUESTION}"),
        (ADDED, ""),
        (QUESTION, QUESTION),
    ],
)
def test_what_gemini_puts_before_a_prompt_is_no_part_of_it(prompt: str, typed: str):
    assert parse_payload(json.dumps({"prompt": prompt}).encode()).prompt == typed
