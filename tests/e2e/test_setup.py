"""`oracle setup` in the homes of the real clients: sessions get context, tools and deliveries, and undo leaves nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e import client as real
from tests.e2e.client import Client
from tests.e2e.npm_clients import Client as NpmClient
from tests.e2e.npm_clients import Codex, Gemini
from tests.e2e.test_claude_mcp import PATIENT
from tests.hook.seat import Seat

ANSWER = "Option B. [DELIVER:seat=planner,task_id=T-1,project=install]"
FACT = "Uploads of the billing service are retried twice, thirty seconds apart."
PROMPT = "How often are uploads of the billing service retried?"


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    """Give a seat with an open question, and a memory."""
    (tmp_path / "disk").mkdir()
    seat = Seat(tmp_path / "disk")
    seat.dispatch("T-1")
    oracle(tmp_path, seat, "remember", FACT, "--type", "reference", "--project", "install")
    return seat


def oracle(home: Path, seat: Seat, *words: str) -> None:
    environment = {"HOME": str(home), "PATH": os.environ.get("PATH", ""), "ORACLE_ROOT": seat.root.path}
    program = [str(Path(sys.executable).with_name("oracle")), *words]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def content(home: Path) -> dict[str, bytes]:
    """Return the files that a set-up changes."""
    kept = (
        "settings.json",
        "config.toml",
        "hooks.json",
        "AGENTS.md",
        "GEMINI.md",
        "oracle-memory/SKILL.md",
        ".claude.json",
    )
    return {str(path): path.read_bytes() for path in home.rglob("*") if str(path).endswith(kept) and path.is_file()}


@pytest.mark.claude_code
@pytest.mark.skipif(bool(real.why_missing()), reason=real.why_missing() or "everything is there")
def test_claude_code(tmp_path: Path, seat: Seat):
    client = Client(tmp_path / "seat", [{"text": ANSWER}])
    (client.home / ".claude").mkdir()
    before = content(client.home)
    oracle(client.home, seat, "setup", "--yes", "--tool", "claude")
    client.extra = PATIENT
    assert "Option B." in client.ask(PROMPT)
    said = client.turns.with_name("turns.json.requests.jsonl").read_text("utf-8")
    for part in ("<oracle-context", "retried twice", "mcp__oracle__remember", "oracle-memory"):
        assert part in said
    assert seat.answers() == {"T-1": "Option B."}
    oracle(client.home, seat, "setup", "--undo")
    after = content(client.home)
    assert {path for path in after if not path.endswith(".claude.json")} == {
        path for path in before if not path.endswith(".claude.json")
    }
    assert "oracle" not in json.loads((client.home / ".claude.json").read_text()).get("mcpServers", {})


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(one, id=one.tool, marks=pytest.mark.skipif(bool(one.why_missing()), reason=one.why_missing()))
        for one in (Codex, Gemini)
    ],
)
def test_codex_and_gemini(made: type[NpmClient], tmp_path: Path, seat: Seat):
    client = made(tmp_path)
    before = content(client.home)
    oracle(client.home, seat, "setup", "--yes", "--tool", client.tool)
    client.trust()
    assert "Option B." in client.ask(PROMPT, {"text": ANSWER})
    said = json.dumps(client.requests)
    assert "oracle-context" in said
    assert "retried twice" in said
    assert seat.answers() == {"T-1": "Option B."}
    oracle(client.home, seat, "setup", "--undo")
    after = content(client.home)
    changed = {path for path in after if after[path] != before.get(path)}
    assert all(path.endswith("config.toml") and b"mcp_servers.oracle" not in after[path] for path in changed), changed
