"""The programs of decisions as teams call them: words, exit codes, what stands on disk afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from oracle.store.root import projects
from oracle.store.root.layout import Root
from tests.app.test_decisions import ID, payload
from tests.compat.team import SCRIPTS, Done
from tests.forked import run_python
from tests.wake.stage import Stage

if TYPE_CHECKING:
    from pathlib import Path


class Crew:
    """A home with a profile, in which programs run as processes."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = self.home / ".agents" / "memory"
        self.profile = projects.init_profile(Root(str(self.root)), "demo", ("memory", "planner", "builder"))
        self.environ = {**os.environ, "HOME": str(self.home), "ORACLE_TMUX_SOCKET": str(folder / "no-server")}

    def call(self, program: str, *words: str) -> Done:
        done = run_python([str(SCRIPTS / f"{program}.py"), *words], env=self.environ)
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return Crew(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "payload.json"
    path.write_bytes(payload())
    return path


def test_payload_is_checked_and_sent(crew: Crew, file: Path):
    assert crew.call("decision_payload", "validate", "--payload-file", str(file)) == Done(0, "ok\n", "")
    done = crew.call("decision_payload", "send", "--session", "demo-koder", "--payload-file", str(file))
    assert (done.code, done.out) == (0, "ok\n")
    assert "warning: koder was not woken" in done.err
    receipt = crew.home / ".agents/tasks/demo/patrol/handoffs" / f"{ID}__memory__koder.json"
    assert json.loads(receipt.read_bytes())["decision_payload"]["severity"] == "HIGH"


@pytest.mark.parametrize("command", ["validate", "send"])
@pytest.mark.parametrize("raw", [payload(decision_id="x"), b"{", b"", payload(severity=["HIGH"])])
def test_payload_that_fails_ends_with_2(crew: Crew, tmp_path: Path, command: str, raw: bytes):
    file = tmp_path / "bad.json"
    file.write_bytes(raw)
    session = ("--session", "demo-koder") if command == "send" else ()
    done = crew.call("decision_payload", command, *session, "--payload-file", str(file))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert not (crew.home / ".agents/tasks").exists()


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("send", "--payload-file", "x"),
        ("validate", "--payload-file", "/nowhere/x.json"),
        ("send", "--session", "nobody-koder", "--payload-file", "FILE"),
        ("send", "--session", "demo-reviewer", "--payload-file", "FILE"),
    ],
)
def test_wrong_calls_of_decision_payload(crew: Crew, file: Path, words: tuple[str, ...]):
    assert crew.call("decision_payload", *(str(file) if word == "FILE" else word for word in words)).code == 2


def test_log_is_written_and_read(crew: Crew):
    made = crew.call(
        "decision_log", "append", "demo", "T-1", "a: b", "why # so", "--reason", "r", "--manual", "--seat", "builder"
    )
    assert made.code == 0
    assert made.json["auto_mode"] is False
    [found] = crew.call("decision_log", "list", "demo").json
    assert {key: found[key] for key in ("task_id", "title", "detail", "reason", "seat", "kind")} == {
        "task_id": "T-1",
        "title": "a: b",
        "detail": "why # so",
        "reason": "r",
        "seat": "builder",
        "kind": "decision",
    }
    listed = crew.call("query_memory", "--project", "demo", "--kind", "decision", "--since", "2020-01-01").json
    assert [entry["title"] for entry in listed] == ["a: b"]
    assert crew.call("decision_log", "list", "demo", "--limit", "1").json == [found]
    assert crew.call("decision_log", "list", "other").json == []


@pytest.mark.parametrize(
    "words", [(), ("append", "demo"), ("append", "demo", "T", "", "d"), ("append", "../x", "T", "t", "d")]
)
def test_wrong_calls_of_decision_log(crew: Crew, words: tuple[str, ...]):
    assert crew.call("decision_log", *words).code == 2


@pytest.mark.parametrize(
    "content",
    [
        {"version": 2, "projects": [{"name": "b", "status": "archived"}, {"name": "a"}]},
        {"projects": {"a": {}, "b": {}}},
        {"schema_version": 1, "a": {}, "b": {}},
        ["b", "a"],
    ],
)
def test_every_registered_project_is_named(crew: Crew, content: object):
    assert crew.call("decision_log", "projects").json == []
    (crew.home / ".clawseat").mkdir()
    (crew.home / ".clawseat" / "projects.json").write_text(json.dumps(content), encoding="utf-8")
    assert crew.call("decision_log", "projects").json == ["a", "b"]


def test_many_who_decide_at_once_decide_one_thing(crew: Crew, file: Path):
    crew.call("decision_payload", "send", "--session", "demo-koder", "--payload-file", str(file))
    start = "import sys; from oracle.cli.main import run; sys.exit(run())"
    words = ("team", "decision", "resolve", ID, "--project", "demo", "--choose")
    environ = {**crew.environ, "PYTHONPATH": str(SCRIPTS.parent)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", start, *words, choice], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for choice in "AABBAB"
    ]
    ended = [(process.communicate(timeout=120), process.returncode) for process in started]
    codes = [code for _, code in ended]
    assert set(codes) == {0, 6}, ended
    choices = {choice for choice, code in zip("AABBAB", codes, strict=True) if code == 0}
    assert len(choices) == 1
    [record] = crew.call("query_memory", "--project", "demo", "--kind", "decision").json
    assert record["chosen_option_id"] == choices.pop()


def test_front_seat_is_told_in_its_pane_and_once(crew: Crew, file: Path, stage: Stage):
    crew.environ["ORACLE_TMUX_SOCKET"] = stage.socket
    koder = stage.box("demo-koder", size=(300, 30))
    for _ in range(2):
        assert crew.call("decision_payload", "send", "--session", "demo-koder", "--payload-file", str(file)).code == 0
    [said] = koder.read()
    assert said.startswith(f"DECISION_PAYLOAD {ID} from memory to koder, HIGH: ")
    assert str(crew.home / ".agents/tasks/demo/patrol/handoffs" / f"{ID}__memory__koder.json") in said
