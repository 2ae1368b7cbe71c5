"""The real client as a seat: offline, scripted, in a pane of a private tmux server.

`ORACLE_CLAUDE_CLIENT` names the folder it was installed in (else `.cache/claude` of the checkout), `ORACLE_TESTBED` the folder
of `claude_seat.py` (else `../shared/testbed`). Both are read when this module is imported, before tests empty the environment.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.wake.stage import Stage, until

CHECKOUT = Path(__file__).resolve().parent.parent.parent
CLIENT = Path(os.environ.get("ORACLE_CLAUDE_CLIENT") or CHECKOUT / ".cache" / "claude")
TESTBED = Path(os.environ.get("ORACLE_TESTBED") or CHECKOUT.parent / "shared" / "testbed")
INSTALLER = CHECKOUT / "scripts" / "install_memory_hook.py"


def why_missing() -> str:
    """Return what is not there, or ""."""
    if not (TESTBED / "claude_seat.py").is_file():
        return f"there is no claude_seat.py in {TESTBED} (ORACLE_TESTBED)"
    if not any(CLIENT.glob("node_modules/@anthropic-ai/claude-code-*/claude")):
        return f"no Claude Code client is installed in {CLIENT} (claude_seat.py install, ORACLE_CLAUDE_CLIENT)"
    return ""


def load_testbed() -> Any:
    spec = importlib.util.spec_from_file_location("claude_seat", TESTBED / "claude_seat.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Client:
    """One seat: its folder, its scripted turns, and what reached the model."""

    def __init__(self, folder: Path, turns: list[dict[str, Any]], *, settings: dict[str, Any] | None = None) -> None:
        self.testbed = load_testbed()
        self.folder = folder
        self.home, self.workspace = self.testbed.prepare(folder)
        self.turns = folder / "turns.json"
        self.turns.write_text(json.dumps(turns), encoding="utf-8")
        self.settings = self.workspace / ".claude" / "settings.json"
        self.settings.parent.mkdir(exist_ok=True)
        if settings:
            self.settings.write_text(json.dumps(settings), encoding="utf-8")
        self.extra: dict[str, str] = {}
        self.pane = ""
        self._opened = ExitStack()

    def install_hook(self) -> None:
        subprocess.run(
            [sys.executable, str(INSTALLER), "--workspace", str(self.workspace)], check=True, capture_output=True
        )

    def ask(self, prompt: str) -> str:
        """Run one headless turn and return the reply."""
        with self.testbed.scripted_api(self.turns) as url:
            done = subprocess.run(
                [str(self.testbed.binary(CLIENT)), "-p", prompt],
                cwd=self.workspace,
                env=self.testbed.client_env(self.home, url, self.extra),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=300,
                check=True,
            )
        return done.stdout

    def start(self, stage: Stage, session: str) -> str:
        """Start the interactive client in a new session; return the id of its pane once it takes prompts."""
        url = self._opened.enter_context(self.testbed.scripted_api(self.turns))
        words = [f"{key}={value}" for key, value in self.testbed.client_env(self.home, url, self.extra).items()]
        own = 'TMUX="$TMUX" TMUX_PANE="$TMUX_PANE"'  # the pane's own, which the client hands on to its hooks
        command = f"cd {shlex.quote(str(self.workspace))}; exec env -i {shlex.join(words)} {own} {self.testbed.binary(CLIENT)}"
        pane = stage.session(session, command, size=(120, 40))
        until(lambda: any(row.startswith("❯") for row in stage.shows(pane).splitlines()), "the client is ready")
        return pane

    def prompts(self) -> list[list[str]]:
        """Return, for each request of the main loop, the texts of its user turns."""
        log = self.turns.with_name("turns.json.requests.jsonl")
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True) if log.exists() else []
        requests = [json.loads(line) for line in lines if line.endswith("\n")]  # one may be being written just now
        return [user_texts(request) for request in requests if request.get("tools")]

    def has_been_told(self, text: str) -> bool:
        return any(text in said for request in self.prompts() for said in request)

    def close(self) -> None:
        self._opened.close()


def user_texts(request: dict[str, Any]) -> list[str]:
    texts: list[str] = []
    for message in request["messages"]:
        content = message["content"]
        if message["role"] == "user":
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            texts += [block["text"] for block in blocks if block.get("type") == "text"]
    return texts
