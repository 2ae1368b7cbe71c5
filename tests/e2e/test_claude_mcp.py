"""The real client calls the tools of `oracle mcp`, and what they answer reaches the model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from oracle.api import Oracle
from oracle.domain.records.drafts import Draft
from tests.e2e import client as real
from tests.e2e.client import CHECKOUT, Client

pytestmark = [
    pytest.mark.claude_code,
    pytest.mark.skipif(bool(real.why_missing()), reason=real.why_missing() or "everything is there"),
]

QUESTION = "Which retry policy does the upload use?"
PATIENT = {"MCP_CONNECTION_NONBLOCKING": "0", "MCP_CONNECT_TIMEOUT_MS": "240000", "MCP_TIMEOUT": "240000"}
"""The client begins its turn when it knows the tools, however long the server takes to start."""

TOOLS = {"permissions": {"allow": ["mcp__oracle"]}, "enableAllProjectMcpServers": True}


def use(tool: str, **given: Any) -> dict[str, Any]:
    """Return a turn in which the model calls a tool of the server."""
    return {"tool_use": {"name": f"mcp__oracle__{tool}", "input": given}}


def serve(client: Client, root: Path, *words: str) -> None:
    """Let the client start a server of this checkout, and wait for it."""
    client.extra = PATIENT
    start = "import sys; sys.path.insert(0, sys.argv.pop(1)); from oracle.cli.main import run; sys.exit(run())"
    command = ["-c", start, str(CHECKOUT), "mcp", "--memory-dir", str(root), *words]
    servers = {"mcpServers": {"oracle": {"command": sys.executable, "args": command}}}
    (client.workspace / ".mcp.json").write_text(json.dumps(servers), encoding="utf-8")


def results(client: Client) -> list[tuple[bool, str]]:
    """Return (is it an error, text) of each tool result in the last request that reached the model, in order."""
    log = client.turns.with_name("turns.json.requests.jsonl")
    requests = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    last = [request for request in requests if request.get("tools")][-1]
    blocks = [
        block for message in last["messages"] if isinstance(message["content"], list) for block in message["content"]
    ]
    found = [block for block in blocks if block.get("type") == "tool_result"]

    return [(bool(block.get("is_error")), text_of(block["content"])) for block in found]


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)


def test_client_searches_asks_and_writes(tmp_path: Path, root: Path):
    with Oracle.open(str(root)) as oracle:
        oracle.init()
        oracle.write(
            Draft(
                "decision",
                "arena",
                "The upload retries five times",
                "The upload retry policy: five times, with jitter.",
            )
        )
    written = {
        "kind": "decision",
        "project": "arena",
        "title": "Jitter stays",
        "body": "For ARENA-228: keep the jitter.",
    }
    client = Client(
        tmp_path / "seat",
        [
            use("search", query="upload retry"),
            use("ask", question=QUESTION),
            use("write_record", **written),
            {"text": "Done."},
        ],
        settings=TOOLS,
    )
    serve(client, root)
    assert client.ask(QUESTION).strip() == "Done."
    (searched, asked, wrote) = results(client)
    for is_error, text in (searched, asked):
        assert not is_error, text
        assert "five times, with jitter" in text
        assert "```text\\n" in text, "record text reaches the model in a fence"
    (path,) = (root / "projects/arena/decision").glob("*jitter-stays.md")
    assert str(path) in wrote[1]
    assert "keep the jitter" in path.read_text(encoding="utf-8")


def test_client_bound_to_a_planner_is_told_what_memory_alone_may_do(tmp_path: Path, root: Path):
    with Oracle.open(str(root)) as oracle:
        oracle.init()
    written = {"kind": "decision", "title": "Mine", "body": "As planner."}
    client = Client(tmp_path / "seat", [use("write_record", **written), {"text": "I may not."}], settings=TOOLS)
    serve(client, root, "--seat", "planner", "--project", "arena")
    client.ask("Write it down.")
    ((is_error, text),) = results(client)
    assert is_error
    assert "ownership" in text
    assert not list(root.rglob("*.md"))
