"""The command of the MCP inspector, a client of other people's, reads and calls the server.

`ORACLE_MCP_INSPECTOR` names the folder that npm installed it in, else `.cache/inspector` of the checkout.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from oracle.mcp.tools import TOOLS
from tests.mcp.clients import CHECKOUT, command, put
from tests.mcp.test_http import Served

FOLDER = Path(os.environ.get("ORACLE_MCP_INSPECTOR") or CHECKOUT / ".cache" / "inspector")
PROGRAM = FOLDER / "node_modules" / ".bin" / "mcp-inspector"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"no MCP inspector is installed in {FOLDER}")


@pytest.fixture
def arena(root: Path) -> Path:
    put(root, "projects/arena/planner/retry.md", "---\ntitle: Retry\n---\n\nThe upload retries five times.\n")
    return root


def inspect(target: list[str], *words: str) -> dict[str, Any]:
    """Let the inspector start a server, or go to one, and do one thing; return what it prints."""
    done = subprocess.run(
        [str(PROGRAM), "--cli", *target, "--connect-timeout", "240000", *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_it_lists_every_tool_with_its_hints(arena: Path, starter: list[str]):
    tools = inspect(starter, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLS]
    assert all(tool["title"] and tool["inputSchema"]["type"] == "object" for tool in tools)
    assert [tool["name"] for tool in tools if tool["annotations"]["readOnlyHint"]] == [t.name for t in TOOLS if t.reads]


def test_it_calls_reads_and_prompts(arena: Path, starter: list[str]):
    found = inspect(starter, "--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=upload")
    assert found["structuredContent"]["records"][0]["slug"] == "projects/arena/planner/retry"
    assert "five times" in found["content"][0]["text"]
    record = inspect(starter, "--method", "resources/read", "--uri", "oracle://record/projects/arena/planner/retry")
    assert "five times" in record["contents"][0]["text"]
    prompt = inspect(starter, "--method", "prompts/get", "--prompt-name", "recall", "--prompt-args", "topic=retries")
    assert "retries" in prompt["messages"][0]["content"]["text"]


def test_it_is_served_over_http_with_the_token(arena: Path):
    served = Served(arena)
    try:
        header = ("--header", f"Authorization: Bearer {served.token}")
        found = inspect([served.url, "--transport", "http", *header], "--method", "tools/list")
    finally:
        served.end()
    assert len(found["tools"]) == len(TOOLS)


@pytest.fixture
def starter(arena: Path, tmp_path: Path) -> list[str]:
    """Give the server as one program: what stands behind it in a call is the inspector's."""
    program = tmp_path / "oracle-mcp"
    words = " ".join(f"'{word}'" for word in command(arena))
    program.write_text(f"#!/bin/sh\nexec {words}\n", encoding="utf-8")
    program.chmod(0o755)
    return [str(program)]
