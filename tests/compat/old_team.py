"""A team as ClawSeat left it: Root, profile, task tree, workspaces and a checkout, written here by hand in its forms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.compat.team import Done
from tests.forked import run_python

CHECKOUT = Path(__file__).resolve().parents[2]
PROFILE = """profile_name = "demo"
template_name = "gstack-harness"
project_name = "demo"
repo_root = "~/repo"
tasks_root = "~/.agents/tasks/demo"
project_doc = "~/.agents/tasks/demo/PROJECT.md"
tasks_doc = "~/.agents/tasks/demo/TASKS.md"
status_doc = "~/.agents/tasks/demo/STATUS.md"
send_script = "{CLAWSEAT_ROOT}/core/shell-scripts/send-and-verify.sh"
agent_admin = "{CLAWSEAT_ROOT}/core/scripts/agent_admin.py"
workspace_root = "~/.agents/workspaces/demo"
handoff_dir = "~/.agents/tasks/demo/patrol/handoffs"
seats = ["memory", "planner", "builder", "reviewer"]

[seat_roles]
memory = "memory"
planner = "planner"
builder = "builder"
reviewer = "reviewer"
"""
QUEUE = """# Queue: memory

## [pending] Q-1
task_id: Q-1
title: where
source: planner
reply_to: planner
dispatched_at: 2026-05-01T10:00:00+00:00

### Objective

Where is the gateway?
"""
RUN = "import sys; from oracle.cli.main import run; sys.exit(run())"
OLD_ADMIN = "import sys\nprint('older agent_admin', *sys.argv[1:], __name__)\n"
OLD_SCRIPT = "#!/usr/bin/env python3\nprint('older program')\n\nPOLICY = 'older'\n"


def dispatch(task: str, source: str, target: str) -> dict[str, object]:
    return {
        "kind": "dispatch",
        "task_id": task,
        "source": source,
        "target": target,
        "reply_to": source,
        "title": "where",
        "assigned_at": "2026-05-01T10:00:00+00:00",
        "notified_at": None,
        "notify_message": None,
        "correlation_id": "17847267",
        "test_policy": "N/A",
        "todo_path": f"~/.agents/tasks/demo/{target}/TODO.md",
    }


class OldTeam:
    """The home of a team, with its checkout in `ClawSeat` unless it is `elsewhere`."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = self.home / ".agents/memory"
        self.tasks = self.home / ".agents/tasks/demo"
        self.folder = self.tasks / "patrol/handoffs"
        self.checkout = self.home / "ClawSeat"
        self.workspaces = self.home / ".agents/workspaces/demo"
        self.profile = self.home / ".agents/profiles/demo-profile-dynamic.toml"
        self.environ = {
            "HOME": str(self.home),
            "PYTHONPATH": str(CHECKOUT),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "ORACLE_TMUX_SOCKET": str(folder / "no-server"),
        }
        self._write_root()
        self._write_tasks()
        self._write_checkout()
        self._write_workspaces()

    def put(self, path: Path, text: str, mode: int = 0o644) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def put_json(self, path: Path, content: object, mode: int = 0o644) -> Path:
        return self.put(path, json.dumps(content, indent=2, sort_keys=True), mode)

    def _write_root(self) -> None:
        old = {
            "schema_version": 1,
            "kind": "decision",
            "id": "decision-demo-665c3645",
            "project": "demo",
            "author": "memory",
            "ts": "2026-05-01T09:00:00.400000Z",
            "title": "The gateway listens on 8443",
            "body": "See DEMO-7.",
            "related_task_ids": [],
            "evidence": [],
            "supersedes": None,
            "confidence": "medium",
            "source": "write_api",
        }
        self.put_json(self.root / "projects/demo/decisions/decision-demo-665c3645.json", old, 0o600)
        self.put_json(self.root / "machine/credentials.json", {"keys": {}}, 0o644)
        self.put_json(self.root / "index.json", {"memory_notes": [], "memory_notes_count": 0}, 0o600)
        self.put_json(self.root / "responses/Q-1.json", {"query_id": "Q-1", "answer": "On 8443.", "claims": []}, 0o600)
        self.root.chmod(0o755)
        self.put(self.profile, PROFILE)

    def _write_tasks(self) -> None:
        self.put(self.tasks / "memory/TODO.md", QUEUE)
        self.put(self.tasks / "TASKS.md", "| ID | Title | Owner | Status | Notes |\n| --- | --- | --- | --- | --- |\n")
        self.put(self.tasks / "STATUS.md", "# Status\n\n## dispatch log (append-only, last 20)\n")
        self.put_json(self.folder / "Q-1__planner__memory.json", dispatch("Q-1", "planner", "memory"))
        self.put_json(self.folder / "Q-2__planner__memory.json", dispatch("Q-2", "planner", "memory"))

    def _write_checkout(self) -> None:
        self.put(self.checkout / "core/scripts/agent_admin.py", OLD_ADMIN, 0o755)
        for name in ("memory_write", "query_memory", "memory_deliver"):
            self.put(self.checkout / f"core/skills/memory-oracle/scripts/{name}.py", OLD_SCRIPT, 0o755)
        self.put(self.checkout / "core/skills/gstack-harness/scripts/start_seat.py", OLD_SCRIPT, 0o755)
        self.put(self.checkout / "scripts/hooks/memory-stop-hook.sh", "#!/bin/bash\nexit 1\n", 0o755)
        self.put(
            self.checkout / "core/skills/memory-oracle/SKILL.md",
            "Ask with `python3 $CLAWSEAT_ROOT/core/skills/memory-oracle/scripts/query_memory.py --key a.b`.\n",
        )

    def _write_workspaces(self) -> None:
        hook = {"type": "command", "command": f"bash {self.checkout}/scripts/hooks/memory-stop-hook.sh", "timeout": 10}
        stop = {"hooks": {"Stop": [{"matcher": "", "hooks": [hook]}]}, "permissions": {"allow": ["Bash(ls)"]}}
        self.put_json(self.workspaces / "memory/.claude/settings.json", stop)
        self.put_json(self.workspaces / "memory/.claude/settings.local.json", stop)
        self.put_json(self.workspaces / "planner/.claude/settings.json", {"permissions": {}})
        self.put(
            self.workspaces / "planner/CLAUDE.md",
            f"Run `{self.checkout}/core/shell-scripts/send-and-verify.sh planner hi` and\n"
            "`python3 {CLAWSEAT_ROOT}/core/skills/gstack-harness/scripts/dispatch_task.py --target builder`.\n",
        )

    def snapshot(self) -> dict[str, tuple[int, bytes]]:
        """Return mode and bytes of every file, what may be deleted at any time and the journal aside."""
        return {
            str(path.relative_to(self.home)): (
                path.stat().st_mode & 0o7777,
                path.read_bytes() if path.is_file() else b"",
            )
            for path in sorted(self.home.rglob("*"))
            if not path.is_relative_to(self.root / "_state") and path != self.root / "events.log"
        }

    def oracle(self, *words: str, **environ: str) -> Done:
        return self._checked(run_python(["-c", RUN, *words], env={**self.environ, **environ}, cwd=self.home))

    def shim(self, place: str, *words: str, stdin: str = "", **environ: str) -> Done:
        """Run a program of the checkout as its skills do, by the Python or shell on PATH."""
        path = str(self.checkout / place)
        starter = ["bash"] if path.endswith(".sh") else [sys.executable, "-S"]
        return self.start([*starter, path, *words], stdin=stdin, **environ)

    def start(self, command: list[str], *, stdin: str = "", **environ: str) -> Done:
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            env={**self.environ, **environ},
            cwd=self.home,
            timeout=120,
            check=False,
        )
        return self._checked(done)

    def _checked(self, done: subprocess.CompletedProcess[str]) -> Done:
        assert "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)
