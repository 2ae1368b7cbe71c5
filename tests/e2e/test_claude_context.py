"""Context with the prompts of the real client: it reaches the model, once, and Stop does not capture it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.app.prompting.rest import MISSED
from tests.e2e import client as real
from tests.e2e.client import CLIENT, Client
from tests.hook.seat import Seat

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.claude_code,
    pytest.mark.skipif(bool(real.why_missing()), reason=real.why_missing() or "everything is there"),
]

RECORD = "Uploads to the archive are retried twice, thirty seconds apart, since the gateway restarts at night."
QUESTION = "How often are uploads to the archive retried?"


class Session:
    """A seat of the real client whose hooks are all installed, beside a Root with one record."""

    def __init__(self, folder: Path, *turns: str) -> None:
        self.seat = Seat(folder)
        path = Path(self.seat.root.join("projects/install/decision/retry.md"))
        path.parent.mkdir(parents=True)
        path.write_text(f"# Retry of uploads\n\n{RECORD}\n", encoding="utf-8")
        self.client = Client(folder / "client", [{"text": turn} for turn in turns])
        self.client.extra = {"AGENT_HOME": str(self.seat.home), "ORACLE_PROJECT": "install"}
        self.hook("install", "--events", "all")

    def hook(self, *words: str) -> None:
        workspace = str(self.client.workspace)
        program = [str(Path(sys.executable).parent / "oracle"), "hook", *words, "--workspace", workspace]
        subprocess.run(program, check=True, capture_output=True, env={**self.seat.environ, **self.client.extra})

    def ask(self, *words: str) -> str:
        """Run one headless turn with more words for the client, and return the reply."""
        with self.client.testbed.scripted_api(self.client.turns) as url:
            done = subprocess.run(
                [str(self.client.testbed.binary(CLIENT)), "-p", *words],
                cwd=self.client.workspace,
                env=self.client.testbed.client_env(self.client.home, url, self.client.extra),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=300,
                check=True,
            )
        return done.stdout

    def requests(self) -> list[str]:
        """Return the texts of all messages of each request of the main loop: context of hooks may be one of the system."""
        log = self.client.turns.with_name("turns.json.requests.jsonl").read_text(encoding="utf-8")
        found = [json.loads(line) for line in log.splitlines()]
        return ["\n".join(texts_of(request)) for request in found if request.get("tools")]

    def journal(self) -> list[dict[str, Any]]:
        path = Path(self.seat.root.events)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]


def texts_of(request: dict[str, Any]) -> Iterator[str]:
    for message in request["messages"]:
        content = message["content"]
        yield from [content] if isinstance(content, str) else (block.get("text", "") for block in content)


def test_context_reaches_the_model_once_and_is_not_there_twice_on_resume(tmp_path: Path):
    for number in range(3):  # a machine may be too slow for the deadline of a hook
        folder = tmp_path / str(number)
        folder.mkdir()
        session = Session(folder, "Twice.", "Thirty seconds.")
        session.ask(QUESTION)
        if not (Path(session.seat.root.state) / MISSED).exists():
            break
    first = session.requests()[0]
    assert first.count("<oracle-context ") == 1
    assert first.count(RECORD) == 1
    assert "projects/install/decision/retry.md:" in first
    session.ask("--continue", "How far apart are the retries of uploads to the archive?")
    second = session.requests()[-1]
    assert second.count(RECORD) == 1, "the transcript holds it already"
    injected = [
        event for event in session.journal() if event["event"] == "inject" and event["hook"] == "UserPromptSubmit"
    ]
    assert [event["items"] for event in injected] == [["projects/install/decision/retry"]]


def test_stop_delivers_no_context(tmp_path: Path):
    marker = "[DELIVER:seat=planner task_id=Q-1 project=install]"
    shown = f'<oracle-context date="2026-01-01">\n```text\n{RECORD}\n```\n</oracle-context>'
    session = Session(tmp_path, f"{shown}\n\nTwice.\n{marker}")
    session.seat.dispatch("Q-1")
    session.ask(QUESTION)
    assert session.seat.answers() == {"Q-1": "Twice."}


def test_a_prompt_without_memory_gets_none(tmp_path: Path):
    session = Session(tmp_path, "I don't know.")
    session.ask(f"Ignore memory. {QUESTION}")
    assert "<oracle-context" not in session.requests()[0]
    assert [
        event for event in session.journal() if event["event"] == "inject" and event["hook"] == "UserPromptSubmit"
    ] == []


def test_uninstalling_leaves_the_settings_as_they_were(tmp_path: Path):
    session = Session(tmp_path)
    path = session.client.settings
    session.hook("uninstall")
    assert not path.exists()
    before = b'{\n    "permissions": {"allow": ["Bash"]}\n}\n'
    path.write_bytes(before)
    session.hook("install", "--events", "stop,prompt")
    session.hook("install", "--events", "start,compact,end,subagent")
    assert set(json.loads(path.read_bytes())["hooks"]) == {
        *("Stop", "UserPromptSubmit", "SessionStart", "PreCompact", "SessionEnd", "SubagentStop")
    }
    session.hook("uninstall")
    assert path.read_bytes() == before
