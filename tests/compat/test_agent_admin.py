"""`agent_admin task` as teams call it: words, exit codes, and many at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from oracle.domain.delivery.workflows import steps_of
from tests.compat.team import SCRIPTS, Done
from tests.forked import run_python

EIGHT = "# Workflow: T1\n" + "".join(
    f"\n## Step {number}: s{number}\nowner_role: builder\nstatus: pending\n" for number in range(1, 9)
)


class Desk:
    """A home in which the program runs."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.tasks = self.home / ".agents" / "tasks" / "demo"
        self.environ = {**os.environ, "HOME": str(self.home), "ORACLE_TMUX_SOCKET": str(folder / "no-server")}

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(SCRIPTS / "agent_admin.py"), "task", *words, "--project", "demo"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environ)

    def call(self, *words: str) -> Done:
        command = [str(SCRIPTS / "agent_admin.py"), "task", *words, "--project", "demo"]
        done = run_python(command, env=self.environ)
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_round_of_a_task(desk: Desk):
    assert desk.call("create", "T1", "--workflow-template", "brief-driven") == Done(0, f"{desk.tasks / 'T1'}\n", "")
    (desk.tasks / "T1" / "workflow.md").write_text(EIGHT + "prereq:\n  - s1\n", encoding="utf-8")
    pending = desk.call("list-pending", "--owner-role", "builder")
    assert pending.out == "".join(f"T1\ts{number}\n" for number in range(1, 8))
    assert desk.call("update-status", "T1", "s1", "in_progress") == Done(0, "T1\ts1\tin_progress\n", "")
    assert desk.call("update-status", "T1", "s1", "done").out == "T1\ts1\tdone\n"
    assert "T1\ts8\n" in desk.call("list-pending", "--owner-role", "builder").out
    assert desk.call("auto-supersede", "--age-days", "1").out == "AUTO_SUPERSEDE project=demo count=0\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("create", ".."), 1),
        (("create", "a/b"), 1),
        (("update-status", "T9", "a", "done"), 1),
        (("update-status", "T1", "s1", "done"), 1),
        (("update-status", "T1", "nowhere", "in_progress"), 1),
        (("update-status", "T1", "s1", "finished"), 2),
        (("list-pending",), 2),
        ((), 2),
    ],
)
def test_wrong_calls(desk: Desk, words: tuple[str, ...], code: int):
    desk.call("create", "T1")
    (desk.tasks / "T1" / "workflow.md").write_text(EIGHT, encoding="utf-8")
    done = desk.call(*words)
    assert (done.code, done.out) == (code, "")
    assert "error: " in done.err
    assert (desk.tasks / "T1" / "workflow.md").read_text(encoding="utf-8") == EIGHT


def test_eight_at_once_lose_nothing(desk: Desk):
    desk.call("create", "T1")
    path = desk.tasks / "T1" / "workflow.md"
    path.write_text(EIGHT, encoding="utf-8")
    started = [desk.start("update-status", "T1", f"s{number}", "in_progress") for number in range(1, 9)]
    ended = [(process.communicate(timeout=120), process.returncode) for process in started]
    assert [code for _, code in ended] == [0] * 8, ended
    assert [step.status for step in steps_of(path.read_text(encoding="utf-8"))] == ["in_progress"] * 8
    log = (desk.tasks / "T1" / "STATUS.md").read_text(encoding="utf-8")
    assert all(f"({step.name}) is in_progress" in log for step in steps_of(EIGHT))
