"""One door: the same operations by the library, the command, the old programs, the tools and the daemon leave the same files."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp
import pytest

from oracle.api import Oracle
from oracle.app.context import SystemClock
from oracle.app.delivery.deliver import Delivery
from oracle.app.delivery.order import QUERY, TASK, Order
from oracle.app.delivery.team import init_profile
from oracle.app.memories.packets import route
from oracle.cli.main import run
from oracle.compat import dispatch_task, memory_deliver, memory_router, memory_write
from oracle.daemon.serve import Daemon
from oracle.domain.records.drafts import Draft, Evidence
from oracle.domain.records.packets import Request
from oracle.mcp.binding import Binding
from oracle.mcp.server import make_server
from oracle.mcp.tool_runner import ToolRunner
from tests.mcp.clients import put

if TYPE_CHECKING:
    from collections.abc import Callable

START = 1_795_000_000
"""A moment (seconds since 1970); each operation has one of its own, a minute after that of the one before."""

POLICY = "The upload retries five times, with jitter. See ARENA-228 and src/retry.py."
REPLACED = "projects/demo/planner/retry"
SOURCE = "src/retry.py:42"
QUESTION = "Does the upload retry five times, with jitter?"
CAP = "The wait is capped at a minute. See ARENA-231."
TASK_TEXT = "Retry the upload, at most five times."
REPLY = (
    "question",
    "status",
    "answer",
    "claims",
    "candidates",
    "sources",
    "replaced",
    "nearest",
    "unknown",
    "searched",
    "confidence",
)
"""The keys of a reply that are the answer; the doors tell beside it how fresh it is."""

EXTRACTED = re.compile(rb'"extracted_at": ?"[^"]*"')
"""In a projection: when the record's file was changed, which is the file system's clock and not ours."""


CLAIM = re.compile(rb'^.*"event": ?"claim".*\n', re.MULTILINE)
"""In the journal: who took up a question, which no door but the daemon does."""


class Clock:
    """The time of the operation at hand; every clock of the process shows it."""

    def __init__(self) -> None:
        self.now = START * 10**9

    def tick(self) -> None:
        self.now += 60 * 10**9


class Library:
    """Call the methods of `Oracle`."""

    def __init__(self, root: Path) -> None:
        self.oracle = Oracle.open(str(root))

    def write(self) -> str:
        evidence = (Evidence("high", SOURCE, "MAX_TRIES = 5"),)
        more = {"task_id": "ARENA-228", "confidence": "high", "detail": "Measured.", "supersedes": (REPLACED,)}
        return self.oracle.write(Draft("finding", "demo", "Five tries", POLICY, evidence=evidence, **more)).slug

    def write_again(self) -> str:
        more = {"author": "builder", "status": "resolved", "related_task_ids": ("ARENA-229", "ARENA-230")}
        return self.oracle.write(Draft("decision", "demo", "重试五次", "中文。", **more)).slug

    def note(self) -> None:
        evidence = (Evidence("medium", SOURCE, "MAX_WAIT = 60"),)
        more = {"related_task_ids": ("ARENA-231",), "confidence": "low", "author": "builder"}
        self.oracle.write(Draft("finding", "demo", "The wait is capped", CAP, evidence=evidence, **more))

    def retire(self, slug: str) -> None:
        self.oracle.retire(slug, "It is over.")

    def dispatch(self) -> None:
        self.oracle.dispatch(
            Order("demo", "T-1", "planner", "builder", TASK_TEXT, title="Upload", kind=TASK, notifies=False)
        )

    def ask(self, task_id: str) -> None:
        order = Order("demo", task_id, "planner", "memory", QUESTION, kind=QUERY, notifies=False)
        self.oracle.dispatch(order)

    def answer(self, task_id: str) -> None:
        reply = self.oracle.answer(QUESTION, project="demo").as_json()
        self.oracle.deliver(Delivery("demo", task_id, "planner", reply))

    def deliver(self, response: dict[str, Any]) -> None:
        done = Delivery("demo", "Q-1", "planner", response, summary="Five.", notifies=False)
        self.oracle.deliver(done)

    def packet(self) -> None:
        route(self.oracle, Request("retry the upload", "planner", "demo", "ARENA-228", constraints=("Keep it small.",)))


class Command:
    """Type the commands."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self.capsys = str(root), capsys

    def type(self, *words: str) -> dict[str, Any]:
        code = run([*words, "--memory-dir", self.root, "--json"])
        out = self.capsys.readouterr().out
        assert code == 0, out
        found: dict[str, Any] = json.loads(out)
        return found

    def write(self) -> str:
        evidence = json.dumps({"trust": "high", "source_url": SOURCE, "quote": "MAX_TRIES = 5"})
        record = ("write", "finding", "--project", "demo", "--title", "Five tries", "--body", POLICY)
        more = ("--task-id", "ARENA-228", "--confidence", "high", "--detail", "Measured.", "--supersedes", REPLACED)
        return str(self.type(*record, *more, "--evidence", evidence)["slug"])

    def write_again(self) -> str:
        record = ("write", "decision", "--project", "demo", "--title", "重试五次", "--body", "中文。")
        more = ("--author", "builder", "--status", "resolved", "--related-task-ids", "ARENA-229,ARENA-230")
        return str(self.type(*record, *more)["slug"])

    def note(self) -> None:
        evidence = json.dumps({"trust": "medium", "source_url": SOURCE, "quote": "MAX_WAIT = 60"})
        record = ("write", "finding", "--project", "demo", "--title", "The wait is capped", "--body", CAP)
        more = ("--related-task-ids", "ARENA-231", "--confidence", "low", "--author", "builder")
        self.type(*record, *more, "--evidence", evidence)

    def retire(self, slug: str) -> None:
        self.type("retire", slug, "--reason", "It is over.")

    def dispatch(self) -> None:
        """Dispatch a task, for which the program of old is the command."""
        given = ("--source", "planner", "--target", "builder", "--task-id", "T-1", "--objective", TASK_TEXT)
        self.old(
            dispatch_task,
            *self.profile,
            *given,
            "--title",
            "Upload",
            "--test-policy",
            "N/A",
            "--notes",
            "",
            "--no-notify",
        )

    @property
    def profile(self) -> tuple[str, str]:
        with Oracle.open(self.root) as oracle:
            return "--profile", oracle.root.profile_file("demo")

    def old(self, program: Any, *words: str) -> None:
        code = program.main([*words, "--memory-dir", self.root])
        assert code == 0, self.capsys.readouterr()
        self.capsys.readouterr()

    def ask(self, task_id: str) -> None:
        self.type("ask", QUESTION, "--project", "demo", "--from", "planner", "--task-id", task_id, "--no-notify")

    def reply(self) -> str:
        found = self.type("ask", "--now", QUESTION, "--project", "demo")
        return json.dumps({key: found[key] for key in REPLY})

    def answer(self, task_id: str) -> None:
        given = ("--project", "demo", "--task-id", task_id, "--target", "planner", "--response-inline", self.reply())
        self.type("deliver", *given)

    def deliver(self, response: dict[str, Any]) -> None:
        answer = ("--response-inline", json.dumps(response), "--summary", "Five.", "--no-notify")
        self.type("deliver", "--project", "demo", "--task-id", "Q-1", "--target", "planner", *answer)

    def packet(self) -> None:
        step = ("--role", "planner", "--goal", "retry the upload", "--project", "demo", "--task-id", "ARENA-228")
        self.type("packet", *step, "--constraint", "Keep it small.")


class Programs(Command):
    """Run the programs of old for what they do, the command for the rest."""

    def note(self) -> None:
        evidence = json.dumps([{"trust": "medium", "source_url": SOURCE, "quote": "MAX_WAIT = 60"}])
        record = ("--kind", "finding", "--project", "demo", "--title", "The wait is capped", "--body", CAP)
        more = ("--related-task-ids", "ARENA-231", "--confidence", "low", "--author", "builder", "--evidence", evidence)
        self.old(memory_write, *record, *more)

    def ask(self, task_id: str) -> None:
        given = (
            "--source",
            "planner",
            "--target",
            "memory",
            "--task-id",
            task_id,
            "--objective",
            QUESTION,
            "--kind",
            "query",
        )
        self.old(dispatch_task, *self.profile, *given, "--test-policy", "N/A", "--notes", "", "--no-notify")

    def answer(self, task_id: str) -> None:
        given = ("--task-id", task_id, "--target", "planner", "--response-inline", self.reply())
        self.old(memory_deliver, *self.profile, *given)

    def deliver(self, response: dict[str, Any]) -> None:
        given = ("--task-id", "Q-1", "--target", "planner", "--response-inline", json.dumps(response))
        self.old(memory_deliver, *self.profile, *given, "--summary", "Five.", "--no-notify")

    def packet(self) -> None:
        step = {"goal": "retry the upload", "step_role": "planner", "task_id": "ARENA-228", "project": "demo"}
        self.old(memory_router, "route", "--input-json", json.dumps({**step, "user_constraints": ["Keep it small."]}))


class Served(Library):
    """Leave to a daemon what it does: it answers what is asked; the rest is done by the library."""

    def answer(self, task_id: str) -> None:
        counted = Daemon(self.oracle.root).once()["counts"]
        assert isinstance(counted, dict)
        assert counted["questions_answered"] == 1, task_id


class Tools:
    """Call the tools, as the seat that the operation is for."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)

    def call(self, tool: str, given: dict[str, Any], seat: str = "memory") -> dict[str, Any]:
        async def job() -> Any:
            runner = ToolRunner(Binding(self.root, seat, "demo"))
            async with mcp.Client(make_server(runner)) as client:
                result = await client.call_tool(tool, given)
            runner.close()
            return result

        result = asyncio.run(job())
        assert not result.is_error, result.content
        found: dict[str, Any] = result.structured_content
        return found

    def write(self) -> str:
        evidence = [{"trust": "high", "source_url": SOURCE, "quote": "MAX_TRIES = 5"}]
        record = {"kind": "finding", "title": "Five tries", "body": POLICY, "evidence": evidence}
        more = {"task_id": "ARENA-228", "confidence": "high", "detail": "Measured.", "supersedes": [REPLACED]}
        return str(self.call("write_record", {**record, **more})["slug"])

    def write_again(self) -> str:
        record = {"kind": "decision", "title": "重试五次", "body": "中文。", "author": "builder", "status": "resolved"}
        return str(self.call("write_record", {**record, "related_task_ids": ["ARENA-229", "ARENA-230"]})["slug"])

    def note(self) -> None:
        evidence = [{"trust": "medium", "source_url": SOURCE, "quote": "MAX_WAIT = 60"}]
        record = {"kind": "finding", "title": "The wait is capped", "body": CAP, "evidence": evidence}
        self.call(
            "write_record", {**record, "related_task_ids": ["ARENA-231"], "confidence": "low", "author": "builder"}
        )

    def retire(self, slug: str) -> None:
        self.call("retire_record", {"record": slug, "reason": "It is over."})

    def dispatch(self) -> None:
        given = {"target": "builder", "objective": TASK_TEXT, "task_id": "T-1", "title": "Upload", "kind": "task"}
        self.call("dispatch", {**given, "notify": False}, seat="planner")

    def ask(self, task_id: str) -> None:
        given = {"target": "memory", "objective": QUESTION, "task_id": task_id, "notify": False}
        self.call("dispatch", given, seat="planner")

    def answer(self, task_id: str) -> None:
        found = self.call("ask", {"question": QUESTION, "project": "demo"})
        response = {key: found[key] for key in REPLY}
        self.call("deliver", {"task_id": task_id, "target": "planner", "response": response})

    def deliver(self, response: dict[str, Any]) -> None:
        given = {"task_id": "Q-1", "target": "planner", "response": response, "summary": "Five.", "notify": False}
        self.call("deliver", given)

    def packet(self) -> None:
        step = {
            "role": "planner",
            "goal": "retry the upload",
            "task_id": "ARENA-228",
            "constraints": ["Keep it small."],
        }
        self.call("packet", step)


Door = Library | Command | Tools


def play(door: Door, clock: Clock) -> None:
    """Run the script of operations, a minute between them."""
    clock.tick()
    slug = door.write()
    clock.tick()
    again = door.write_again()
    clock.tick()
    door.note()
    clock.tick()
    door.retire(again)
    clock.tick()
    door.dispatch()
    clock.tick()
    door.ask("Q-1")
    clock.tick()
    evidence = {"path": f"{slug}.md", "quote": "The upload retries five times, with jitter."}
    door.deliver({"answer": "Five times.", "claims": [{"statement": "Five times.", "evidence": [evidence]}]})
    clock.tick()
    door.packet()
    clock.tick()
    door.ask("Q-2")
    clock.tick()
    door.answer("Q-2")


def snapshot(home: Path) -> dict[str, bytes]:
    """Return every file of the home but what a process keeps for itself: the index and its lock."""
    files = {path.relative_to(home).as_posix(): path for path in sorted(home.rglob("*")) if path.is_file()}
    own = re.compile(r".*/_state/(?!packets/)|.*\.lock$")
    return {
        name: CLAIM.sub(b"", EXTRACTED.sub(b'"extracted_at": ""', path.read_bytes()))
        for name, path in files.items()
        if not own.match(name)
    }


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Give the one clock of all doors."""
    made = Clock()
    monkeypatch.setattr(SystemClock, "now_ns", lambda _: made.now)
    return made


def test_every_door_leaves_the_same_files(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ORACLE_TMUX_SOCKET", str(tmp_path / "no-server"))
    home = tmp_path / "home"
    root = home / ".agents" / "memory"
    doors: dict[str, Callable[[], Door]] = {
        "library": lambda: Library(root),
        "command": lambda: Command(root, capsys),
        "programs": lambda: Programs(root, capsys),
        "tools": lambda: Tools(root),
        "daemon": lambda: Served(root),
    }
    left: dict[str, dict[str, bytes]] = {}
    for name, opened in doors.items():
        clock.now = START * 10**9
        put(root, f"{REPLACED}.md", "---\ntitle: Three tries\nts: 2026-11-01T00:00:00Z\n---\n\nThree times.\n")
        with Oracle.open(str(root)) as oracle:
            init_profile(oracle, "demo", ("memory", "planner", "builder"), repo_root=str(tmp_path / "repo"))
        play(opened(), clock)
        left[name] = snapshot(home)
        shutil.rmtree(home)
    assert len(left["library"]) > 25
    assert any(path.endswith("responses/Q-2.json") for path in left["library"])
    assert any("/_state/packets/" in path for path in left["library"])
    for one, other in itertools.pairwise(doors):
        assert sorted(left[one]) == sorted(left[other]), (one, other)
        assert [path for path in left[one] if left[one][path] != left[other][path]] == [], (one, other)
