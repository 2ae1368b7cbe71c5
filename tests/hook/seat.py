"""A memory seat on disk: a HOME with a Root, a profile and dispatches; and the hook as a process in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from oracle.domain.delivery.receipts import ReceiptKind, new_receipt, receipt_name
from oracle.store.delivery import handoffs, responses
from oracle.store.root import profile, projects
from oracle.store.root.layout import Root
from tests.forked import run_bytes

CHECKOUT = Path(__file__).resolve().parent.parent.parent
HOOK = CHECKOUT / "scripts" / "hooks" / "stop_hook.py"
SEATS = ("memory", "planner", "builder", "reviewer")
SESSION = "5b1c0000-0000-4000-8000-000000000001"


def _as_bytes(payload: dict[str, Any] | bytes) -> bytes:
    return payload if isinstance(payload, bytes) else json.dumps(payload, ensure_ascii=False).encode()


class Seat:
    """The memory seat of the project `install`."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.root = Root(str(self.home / ".agents" / "memory"))
        self.workspace.mkdir()
        Path(self.root.path).mkdir(parents=True)
        projects.init_profile(self.root, "install", SEATS)
        self.folder = Path(profile.load(self.root, "install", {}).handoff_dir)
        (folder / "tmp").mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMUX_TMPDIR": os.environ["TMUX_TMPDIR"],
            "TMPDIR": str(folder / "tmp"),  # what others keep in /tmp is theirs
        }

    def dispatch(
        self, task_id: str, source: str = "planner", *, reply_to: str = "", delivered: str | None = None
    ) -> None:
        """Put an open dispatch on disk, or one that was answered and consumed."""
        name = receipt_name(task_id, source, "memory")
        fields = {"assigned_at": datetime.now(UTC).isoformat(), "reply_to": reply_to}
        handoffs.publish(str(self.folder), new_receipt(ReceiptKind.DISPATCH, name, fields))
        if delivered is None:
            return
        responses.put(self.root, task_id, {"answer": delivered, "claims": []})
        done = new_receipt(ReceiptKind.COMPLETION, name.answered_by(), {"delivered_at": datetime.now(UTC).isoformat()})
        handoffs.complete(str(self.folder), done)
        handoffs.consume(str(self.folder), name)

    def payload(self, message: str | None, **more: Any) -> dict[str, Any]:
        content: dict[str, Any] = {"session_id": SESSION, "cwd": str(self.workspace), "hook_event_name": "Stop", **more}
        return content if message is None else {**content, "last_assistant_message": message}

    def run(self, payload: dict[str, Any] | bytes, *words: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
        """Run the hook in a fork. Its exit code is 0; stdout is empty unless a delivery was skipped."""
        done = run_bytes(
            [str(HOOK), *words], stdin=_as_bytes(payload), env={**self.environ, **environ}, cwd=self.workspace
        )
        return self._checked(done)

    def start(self, payload: dict[str, Any] | bytes, **environ: str) -> subprocess.CompletedProcess[bytes]:
        """Run the hook as its host starts it."""
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK)],
            input=_as_bytes(payload),
            capture_output=True,
            env={**self.environ, **environ},
            cwd=self.workspace,
            timeout=120,
            check=False,
        )
        return self._checked(done)

    def _checked(self, done: subprocess.CompletedProcess[bytes]) -> subprocess.CompletedProcess[bytes]:
        assert done.returncode == 0, done
        if b"deliver_skipped" in done.stderr:
            assert {"systemMessage"} <= json.loads(done.stdout).keys() <= {"systemMessage", "decision", "reason"}
        else:
            assert done.stdout == b"", done
        return done

    def answers(self) -> dict[str, str]:
        """Return the answers that stand, by task."""
        return {task: text for task, text in self._texts().items() if ".conflict-" not in task}

    def conflicts(self) -> list[str]:
        """Return the answers that were kept aside."""
        return [text for task, text in self._texts().items() if ".conflict-" in task]

    def _texts(self) -> dict[str, str]:
        found = {path.stem: json.loads(path.read_bytes()) for path in Path(self.root.responses).glob("*.json")}
        return {task: str(content.get("answer")) for task, content in found.items()}

    def receipts(self) -> set[str]:
        return {path.name for path in self.folder.glob("*.json*") if not path.name.endswith(".lock")}

    def log(self) -> list[dict[str, str]]:
        path = Path(self.root.hook_log)
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def inbox(self) -> list[str]:
        return sorted(path.name for path in Path(self.root.inbox).glob("*.json*") if not path.name.endswith(".lock"))
