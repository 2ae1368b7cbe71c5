"""The real client validates the extension of this repository, links it, and offers its tools and its text to the model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from oracle import __version__
from tests.e2e.model_endpoint import Endpoint
from tests.e2e.npm_clients import CHECKOUT, PATH, Gemini

pytestmark = pytest.mark.skipif(bool(Gemini.why_missing()), reason=Gemini.why_missing() or "everything is there")


class Agreeing(Gemini):
    """The client, told that a person agrees to every tool: without one it offers none that asks."""

    def words(self, endpoint: Endpoint) -> list[str]:
        return ["--approval-mode", "yolo", "-p"]


def extensions(client: Gemini, *words: str) -> str:
    done = subprocess.run(
        [str(client.program()), "extensions", *words],
        cwd=client.workspace,
        env={"HOME": str(client.home), "PATH": PATH, "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_one_command_brings_tools_and_text(tmp_path: Path, root: Path):
    client = Agreeing(tmp_path)
    assert "successfully validated" in extensions(client, "validate", str(CHECKOUT))
    extensions(client, "link", "--consent", str(CHECKOUT))
    assert f"memory-oracle ({__version__})" in extensions(client, "list")
    client.trust()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "oracle").symlink_to(Path(sys.executable).with_name("oracle"))
    client.extra = {"PATH": f"{programs}:{PATH}", "ORACLE_ROOT": str(root)}
    assert "Hello." in client.ask("Hi", {"text": "Hello."})
    said = json.dumps(client.requests)
    assert "oracle_remember" in said
    assert "Memory in a session" in said
    extensions(client, "uninstall", "memory-oracle")
    assert "memory-oracle" not in extensions(client, "list")
