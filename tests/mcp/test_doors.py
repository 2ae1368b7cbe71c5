"""One door: the same operations by the library, the command and the tools leave the same files, byte for byte."""

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

from oracle.app.ask import QUERY, Order
from oracle.app.deliver import Delivery
from oracle.app.oracle import Oracle
from oracle.app.ports import SystemClock
from oracle.cli.main import run
from oracle.domain.packets import Request
from oracle.domain.records import Draft, Evidence
from oracle.mcp.binding import Binding
from oracle.mcp.calling import Desk
from oracle.mcp.server import make_server
from tests.mcp.desk import put

if TYPE_CHECKING:
    from collections.abc import Callable

START = 1_795_000_000
"""A moment (seconds since 1970); each operation has one of its own, a minute after that of the one before."""

POLICY = "The upload retries five times, with jitter. See ARENA-228 and src/retry.py."
REPLACED = "projects/demo/planner/retry"
SOURCE = "src/retry.py:42"
QUESTION = "Which retry policy does the upload use?"
EXTRACTED = re.compile(rb'"extracted_at": ?"[^"]*"')
"""In a projection: when the record's file was changed, which is the file system's clock and not ours."""


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

    def retire(self, slug: str) -> None:
        self.oracle.retire(slug, "It is over.")

    def ask(self) -> None:
        order = Order("demo", "Q-1", "planner", "memory", QUESTION, kind=QUERY, notifies=False)
        self.oracle.dispatch(order)

    def deliver(self, response: dict[str, Any]) -> None:
        done = Delivery("demo", "Q-1", "planner", response, summary="Five.", notifies=False)
        self.oracle.deliver(done)

    def packet(self) -> None:
        self.oracle.packet(Request("retry the upload", "planner", "demo", "ARENA-228", constraints=("Keep it small.",)))


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

    def retire(self, slug: str) -> None:
        self.type("retire", slug, "--reason", "It is over.")

    def ask(self) -> None:
        self.type("ask", QUESTION, "--project", "demo", "--from", "planner", "--task-id", "Q-1", "--no-notify")

    def deliver(self, response: dict[str, Any]) -> None:
        answer = ("--response-inline", json.dumps(response), "--summary", "Five.", "--no-notify")
        self.type("deliver", "--project", "demo", "--task-id", "Q-1", "--target", "planner", *answer)

    def packet(self) -> None:
        step = ("--role", "planner", "--goal", "retry the upload", "--project", "demo", "--task-id", "ARENA-228")
        self.type("packet", *step, "--constraint", "Keep it small.")


class Tools:
    """Call the tools, as the seat that the operation is for."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)

    def call(self, tool: str, given: dict[str, Any], seat: str = "memory") -> dict[str, Any]:
        async def job() -> Any:
            desk = Desk(Binding(self.root, seat, "demo"))
            async with mcp.Client(make_server(desk)) as client:
                result = await client.call_tool(tool, given)
            desk.close()
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

    def retire(self, slug: str) -> None:
        self.call("retire_record", {"record": slug, "reason": "It is over."})

    def ask(self) -> None:
        given = {"target": "memory", "objective": QUESTION, "task_id": "Q-1", "notify": False}
        self.call("dispatch", given, seat="planner")

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


def play(door: Library | Command | Tools, clock: Clock) -> None:
    """Run the script of operations, a minute between them."""
    clock.tick()
    slug = door.write()
    clock.tick()
    again = door.write_again()
    clock.tick()
    door.retire(again)
    clock.tick()
    door.ask()
    clock.tick()
    evidence = {"path": f"{slug}.md", "quote": "The upload retries five times, with jitter."}
    door.deliver({"answer": "Five times.", "claims": [{"statement": "Five times.", "evidence": [evidence]}]})
    clock.tick()
    door.packet()


def snapshot(home: Path) -> dict[str, bytes]:
    """Return every file of the home but what a process keeps for itself: the index and its lock."""
    files = {path.relative_to(home).as_posix(): path for path in sorted(home.rglob("*")) if path.is_file()}
    own = re.compile(r".*/_state/(?!packets/)|.*\.lock$")
    return {
        name: EXTRACTED.sub(b'"extracted_at": ""', path.read_bytes())
        for name, path in files.items()
        if not own.match(name)
    }


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Give the one clock of all doors."""
    made = Clock()
    monkeypatch.setattr(SystemClock, "now_ns", lambda _: made.now)
    return made


def test_every_door_leaves_the_same_files(tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]):
    home = tmp_path / "home"
    root = home / ".agents" / "memory"
    doors: dict[str, Callable[[], Library | Command | Tools]] = {
        "library": lambda: Library(root),
        "command": lambda: Command(root, capsys),
        "tools": lambda: Tools(root),
    }
    left: dict[str, dict[str, bytes]] = {}
    for name, opened in doors.items():
        clock.now = START * 10**9
        put(root, f"{REPLACED}.md", "---\ntitle: Three tries\nts: 2026-11-01T00:00:00Z\n---\n\nThree times.\n")
        with Oracle.open(str(root)) as oracle:
            oracle.init_profile("demo", ("memory", "planner"), repo_root=str(tmp_path / "repo"))
        play(opened(), clock)
        left[name] = snapshot(home)
        shutil.rmtree(home)
    assert len(left["library"]) > 15
    assert any("/_state/packets/" in path for path in left["library"])
    for one, other in itertools.pairwise(doors):
        assert sorted(left[one]) == sorted(left[other])
        assert [path for path in left[one] if left[one][path] != left[other][path]] == [], (one, other)
