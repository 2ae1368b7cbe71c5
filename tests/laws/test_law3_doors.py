"""Every door that writes: killed at any step, refused by the disk at any step, or with a wrong clock, it ends as undisturbed."""

from __future__ import annotations

import errno
import json
import random
import re
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.context import SystemClock
from oracle.app.delivery.decision_log import read_log
from oracle.app.sources.registry import list_sources
from oracle.cli.main import run
from oracle.compat import complete_handoff, decision_log, dispatch_task, memory_deliver, memory_router, memory_write
from oracle.compat.door import serve
from oracle.daemon.serve import Daemon
from oracle.errors import DiskFailure
from oracle.hook.stop import HookRun, handle
from oracle.mcp.binding import Binding
from oracle.mcp.tool_runner import ToolRunner
from oracle.store.root.layout import Root
from tests.app.squad import Recorder, Squad
from tests.laws.failpoints import count_changes, run_refused, run_until

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Door = Callable[[Path], int]

SAMPLE = 2
"""How many steps of a door are tried at each run, by chance: pytest prints the seed. 0 tries all, which takes minutes."""

KNOWN = "# Retry\n\nThe retry limit of the uploader is five.\n"
SHUTTLE = "---\ntitle: Shuttle bus\nmemory_type: project\nproject: demo\n---\n\nThe shuttle bus leaves at nine.\n"
RECORD = ("--project", "demo", "--title", "One", "--body", "See ARENA-1 and [[retry]].")
ANSWER = ("--task-id", "Q-1", "--target", "planner", "--response-inline", '{"answer": "B."}', "--no-notify")
HAND_OVER = ("--test-policy", "N/A", "--no-notify")
ADDED = {"memory_type": "summary", "title": "One", "summary": "The cap is a minute.", "project": "demo"}


def root_of(folder: Path) -> str:
    return str(folder / "home/.agents/memory")


def old(program: object, *words: str, profile: bool = False) -> Door:
    """Run a program of old."""

    def door(folder: Path) -> int:
        named = ("--profile", str(folder / "home/.agents/profiles/demo-profile-dynamic.toml")) if profile else ()
        return serve_with(program.main, ["--memory-dir", root_of(folder), *words, *named])  # type: ignore[attr-defined]

    return door


def serve_with(main: Callable[[Sequence[str]], int], words: list[str]) -> int:
    return serve(lambda _: main(words))


def typed(*words: str) -> Door:
    return lambda folder: run([*words, "--memory-dir", root_of(folder)])


def tool(name: str, seat: str, **given: object) -> Door:
    def door(folder: Path) -> int:
        from oracle.mcp.tools import TOOLS

        runner = ToolRunner(Binding(root_of(folder), seat, "demo"))
        answer = runner._answer(next(one for one in TOOLS if one.name == name), given)
        runner.close()
        sys.stderr.write(answer.text)
        return (2 if "already" in answer.text else 70) if answer.is_error else 0

    return door


def by_hook(folder: Path) -> int:
    message = "B. [DELIVER:seat=planner task_id=Q-1 project=demo]"
    payload = {"hook_event_name": "Stop", "last_assistant_message": message}
    environ = {"ORACLE_ROOT": root_of(folder), "ORACLE_TMUX_SOCKET": "/nowhere"}
    sys.stderr.write(handle(json.dumps(payload).encode(), HookRun(environ, time.monotonic())))
    return 0


def by_daemon(folder: Path) -> int:
    try:
        Daemon(Root(root_of(folder)), waker=Recorder(folder / "woken.log")).once()
    except DiskFailure:
        return 70
    return 0


def log_once(folder: Path) -> int:
    """Append to the log unless it has the entry: to append is to add."""
    words = ("append", "demo", "T-1", "Take plan A", "It is the shorter one.")
    is_there = any("take-plan-a" in path.name for path in Path(root_of(folder)).glob("projects/demo/*/*.md"))
    return 0 if is_there else old(decision_log, *words)(folder)


DOORS: dict[str, Door] = {
    "oracle write": typed("write", "decision", *RECORD),
    "memory_write": old(memory_write, "--kind", "decision", "--author", "memory", *RECORD),
    "write_record": tool("write_record", "memory", kind="decision", title="One", body=RECORD[-1]),
    "memory_router add": old(memory_router, "add", json.dumps(ADDED)),
    "decision_log": log_once,
    "complete_handoff": old(
        complete_handoff, "--source", "builder", "--task-id", "T-9", "--user-summary", "x", *HAND_OVER, profile=True
    ),
    "dispatch_task": old(
        dispatch_task,
        *("--source", "planner", "--target", "builder", "--task-id", "T-8", "--title", "x", "--objective", "Build it."),
        *("--notes", "", "--force-parallel-builder", *HAND_OVER),
        profile=True,
    ),
    "oracle deliver": typed("deliver", "--project", "demo", *ANSWER),
    "memory_deliver": old(memory_deliver, *ANSWER, profile=True),
    "deliver": tool("deliver", "memory", task_id="Q-1", target="planner", response={"answer": "B."}, notify=False),
    "oracle ask": typed(
        "ask", "Who decided?", "--project", "demo", "--from", "planner", "--task-id", "Q-3", "--no-notify"
    ),
    "dispatch": tool("dispatch", "planner", target="memory", objective="Why?", task_id="Q-4", notify=False),
    "oracle remember": typed("remember", "Faults are in Linear INGEST.", "--type", "reference", "--project", "demo"),
    "remember": tool("remember", "memory", type="reference", text="Faults are in Linear INGEST."),
    "oracle forget": typed("forget", "shuttle bus"),
    "forget": tool("forget", "memory", target="shuttle bus"),
    "oracle retire": typed("retire", "shuttle", "--reason", "It is over."),
    "oracle experience add": typed(
        *("experience", "add", "--project", "demo", "--title", "Two locks", "--situation", "Two writers."),
        *("--approach", "One lock."),
    ),
    "oracle source add": lambda folder: run(
        ["source", "add", "folder", str(folder / "notes"), "--project", "demo", "--memory-dir", root_of(folder)]
    ),
    "hook": by_hook,
    "daemon": by_daemon,
}

_DONE_BEFORE = {"oracle source add": (7,), "oracle forget": (4,), "forget": (70,)}
"""What a door that was finished before answers the second time, besides 0 and 2."""


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Teams:
    """Lay out a team with an open question and an open task."""
    return Teams(tmp_path_factory.mktemp("doors"))


@pytest.fixture(autouse=True)
def nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what the hook keeps outside of a Root among the files of the test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


class Teams:
    """A team on disk that can be laid out anew at the same place, since texts name it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._kept = folder / "team", folder / "kept"
        self._ends: dict[str, tuple[dict[str, object], int]] = {}
        squad = Squad(self.folder)
        squad.oracle.init()
        known = squad.path / "projects/demo/builder/retry.md"
        known.parent.mkdir(parents=True)
        known.write_text(KNOWN, encoding="utf-8")
        bus = squad.path / "projects/demo/finding/shuttle.md"
        bus.parent.mkdir(parents=True)
        bus.write_text(SHUTTLE, encoding="utf-8")
        (self.folder / "notes").mkdir()
        (self.folder / "notes/wifi.md").write_text("# Guests\n\nAsk at the door.\n", encoding="utf-8")
        squad.ask("Q-1", objective="What is the retry limit of the uploader?", kind="query", notifies=False)
        squad.ask("T-9", target="builder", objective="Build it.", kind="task", notifies=False)
        squad.oracle.records({}, fresh=True)
        squad.oracle.close()
        shutil.copytree(self.folder, self._kept)

    def again(self) -> Path:
        shutil.rmtree(self.folder)
        shutil.copytree(self._kept, self.folder)
        return self.folder

    def end_of(self, name: str) -> tuple[dict[str, object], int]:
        """Return what stands when a door was used undisturbed, and how many changes it made."""
        if name not in self._ends:
            self.again()
            changes = count_changes(lambda: DOORS[name](self.folder))
            self._ends[name] = what_stands(self.folder), changes
            assert changes > 3
        self.again()
        return self._ends[name]


TIMES = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.+Z-]+)?")


def what_stands(folder: Path) -> dict[str, object]:
    """Return what matters of a home, without its moments: records, states, answers, receipts, queues, tables and logs."""
    with Oracle.open(root_of(folder), waker=Recorder(folder / "woken.log")) as oracle:
        oracle.resume()
        records = sorted(
            (one.title, one.kind, one.effective_status) for one in oracle.records({}, fresh=True) if one.title != "?"
        )
        states = {one.handoff.task_id: one.handoff.state.step.value for one in oracle.handoffs().items}
        decided = {(one["title"], one["detail"]) for one in read_log(oracle, "demo")}
        sources = [(one.source.name, one.records, one.why_not) for one in list_sources(oracle)]
    tasks, memory = folder / "home/.agents/tasks/demo", Path(root_of(folder))
    texts = {path.relative_to(tasks).as_posix(): TIMES.sub("", path.read_text()) for path in tasks.rglob("*.md")}
    answers = {path.name: json.loads(path.read_bytes())["answer"] for path in memory.glob("responses/*.json")}
    receipts = sorted(path.name for path in tasks.glob("patrol/handoffs/*.json*"))
    waiting = sorted(path.name[:4] for path in memory.glob("_state/inbox/*.json*"))
    return {
        "records": records,
        "states": states,
        "decided": decided,
        "sources": sources,
        "texts": texts,
        "answers": answers,
        "receipts": receipts,
        "waiting": waiting,
    }


@pytest.mark.parametrize("name", DOORS)
def test_killed_at_any_step(team: Teams, name: str) -> None:
    expected, changes = team.end_of(name)
    for number in random.sample(range(1, changes + 1), SAMPLE or changes):
        team.again()
        run_until(number, lambda _: DOORS[name](team.folder), after=False)
        assert DOORS[name](team.folder) in (0, 2, *_DONE_BEFORE.get(name, ())), number
        assert what_stands(team.folder) == expected, number


@pytest.mark.parametrize("refusal", [errno.ENOSPC, errno.EROFS], ids=["full", "read-only"])
@pytest.mark.parametrize("name", DOORS)
def test_refused_by_the_disk_at_any_step(team: Teams, name: str, refusal: int) -> None:
    expected, changes = team.end_of(name)
    for number in random.sample(range(changes), 1 if SAMPLE else changes):
        team.again()
        code, said = run_refused(number, refusal, lambda: DOORS[name](team.folder))
        assert code in (0, 2, 3, 6, 70, 75), (number, code, said)
        assert "nexpected" not in said, (number, said)
        assert "Traceback" not in said, (number, said)
        assert DOORS[name](team.folder) in (0, 2, *_DONE_BEFORE.get(name, ())), number
        assert what_stands(team.folder) == expected, (number, said)


@pytest.mark.parametrize("seconds", [3.0, 86400.0])
@pytest.mark.parametrize("name", DOORS)
def test_with_a_wrong_clock(team: Teams, monkeypatch: pytest.MonkeyPatch, name: str, seconds: float) -> None:
    expected, _ = team.end_of(name)
    shift = random.choice((-seconds, seconds))
    with monkeypatch.context() as patch:
        patch.setattr(SystemClock, "now_ns", lambda _: time.time_ns() + int(shift * 1e9))
        assert DOORS[name](team.folder) == 0, shift
    assert what_stands(team.folder) == expected, shift
