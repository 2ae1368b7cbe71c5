"""The real client validates the marketplace of this repository, installs its plugin with two commands, and uses its parts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import client as real
from tests.e2e.client import CHECKOUT, CLIENT, Client
from tests.e2e.test_claude_mcp import PATIENT
from tests.hook.seat import Seat

pytestmark = [
    pytest.mark.claude_code,
    pytest.mark.skipif(bool(real.why_missing()), reason=real.why_missing() or "everything is there"),
]

ANSWER = "Option B. [DELIVER:seat=planner,task_id=T-1,project=install]"
SYSTEM = "/usr/local/bin:/usr/bin:/bin"


class PluginSeat(Client):
    """A seat that gets everything from the plugin."""

    def plugin(self, *words: str, code: int = 0) -> str:
        environment = {**self.testbed.client_env(self.home, "http://127.0.0.1:9"), "PATH": SYSTEM}
        done = subprocess.run(
            [str(self.testbed.binary(CLIENT)), "plugin", *words],
            cwd=self.workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def install(self) -> None:
        self.plugin("marketplace", "add", str(CHECKOUT))
        self.plugin("install", "oracle@memory-oracle")

    def requests(self) -> list[dict[str, Any]]:
        log = self.turns.with_name("turns.json.requests.jsonl")
        found = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        return [request for request in found if request.get("tools")]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give a search path with `oracle` of this environment."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "oracle").symlink_to(Path(sys.executable).with_name("oracle"))
    return f"{folder}:{SYSTEM}"


@pytest.mark.parametrize("place", [".", "references/plugin"])
def test_marketplace_and_plugin_are_valid(tmp_path: Path, place: str):
    assert "Validation passed" in PluginSeat(tmp_path / "seat", []).plugin(
        "validate", "--strict", str(CHECKOUT / place)
    )


def test_two_commands_bring_hooks_tools_skill_and_commands(tmp_path: Path, programs: str):
    (tmp_path / "disk").mkdir()
    seat = Seat(tmp_path / "disk")
    seat.dispatch("T-1")
    call = {
        "tool_use": {
            "name": "mcp__plugin_oracle_oracle__remember",
            "input": {"type": "reference", "text": "Bugs are tracked in Linear project INGEST.", "project": "install"},
        }
    }
    settings = {"permissions": {"allow": ["mcp__plugin_oracle_oracle"]}}
    client = PluginSeat(tmp_path / "seat", [call, {"text": ANSWER}], settings=settings)
    client.install()
    client.extra = {**PATIENT, "PATH": programs, "ORACLE_ROOT": seat.root.path}
    assert "Option B." in client.ask("/oracle:remember Bugs are tracked in Linear")
    said = json.dumps(client.requests())
    for part in (
        "mcp__plugin_oracle_oracle__ask",
        "oracle:memory",
        "Remember this for later sessions: Bugs are tracked",
    ):
        assert part in said
    kept = list(Path(seat.root.path).glob("projects/install/finding/*linear*.md"))
    assert [path for path in kept if "memory_type: reference" in path.read_text("utf-8")] == kept != []
    assert seat.answers() == {"T-1": "Option B."}


def test_a_session_without_the_program_goes_on(tmp_path: Path):
    client = PluginSeat(tmp_path / "seat", [{"text": "Hello."}])
    client.install()
    client.extra = {"PATH": SYSTEM}
    assert "Hello." in client.ask("Hi")
    assert len(client.requests()) == 1


def test_uninstalling_leaves_nothing_enabled(tmp_path: Path):
    client = PluginSeat(tmp_path / "seat", [{"text": "Hello."}])
    client.install()
    client.plugin("uninstall", "oracle@memory-oracle")
    client.plugin("marketplace", "remove", "memory-oracle")
    client.ask("Hi")
    assert "oracle" not in json.dumps([tool["name"] for tool in client.requests()[0]["tools"]])
