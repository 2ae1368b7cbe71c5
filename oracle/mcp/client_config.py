"""What a client's configuration must hold to start the server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from oracle.errors import UsageError
from oracle.wording import say

FILES = {"claude": ".mcp.json", "codex": ".codex/config.toml", "gemini": ".gemini/settings.json"}
"""The file of each client in the workspace, because the seat is that of the workspace."""

_PASSED = ("ORACLE_ROOT", "AGENT_HOME", "CLAWSEAT_REAL_HOME", "TMUX", "ORACLE_TMUX_SOCKET")
"""The variables that choose the Root and the tmux server. Codex gives a server no variable that it does not name."""


def render(client: str, *, seat: str, project: str, root: str) -> str:
    """Return the lines for a client's file; `root` is the Root if the server would not find it.

    Raises UsageError for an unknown client.
    """
    if client not in FILES:
        raise UsageError(
            say("Unknown tool {tool!r}.", tool=client), hint=say("Choose one of {choices}.", choices=FILES)
        )
    words = ["mcp", "--seat", seat]
    words += ["--project", project] if project else []
    words += ["--memory-dir", root] if root else []
    server = {"command": _program(), "args": words}
    if client != "codex":
        return json.dumps({"mcpServers": {"oracle": server}}, indent=2, ensure_ascii=False)
    import tomlkit

    table = {**server, "env_vars": list(_PASSED), "required": True}
    return "\n" + tomlkit.dumps({"mcp_servers": {"oracle": table}}).rstrip("\n")  # it may follow a line without an end


def _program() -> str:
    """Return the path of `oracle` in this installation, or its name if it is elsewhere."""
    path = Path(sys.executable).with_name("oracle")
    return str(path) if path.is_file() else "oracle"
