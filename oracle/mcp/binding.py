"""The seat and project of a server, and what a client must hold to start it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from oracle.app.context import Context
from oracle.domain.names import MEMORY, check_name
from oracle.domain.spelling import suggest
from oracle.domain.values import value
from oracle.errors import InvalidProfile, NoProfile, OwnershipError, UsageError
from oracle.wording import say


@value
class Binding:
    """The seat that writes, dispatches and delivers, and its project ("" for any)."""

    root: str
    seat: str = MEMORY
    project: str = ""

    def check(self) -> None:
        """Raise InvalidName for an invalid name of a seat or a project."""
        check_name(self.seat, "seat")
        if self.project:
            check_name(self.project, "project")

    def warnings(self, context: Context) -> list[str]:
        """Return warnings about likely mistakes: no Root, an unknown project, a seat that the project does not have."""
        if not Path(context.root.path).is_dir():
            return [
                say(
                    "There is no Root at {path} yet; every tool reports that until there is one.",
                    path=context.root.path,
                )
            ]
        if not self.project:
            return []
        from oracle.app.delivery.team import open_team

        try:
            open_team(context, self.project).profile.require_seat(self.seat)
        except InvalidProfile:
            return []
        except NoProfile:
            if Path(context.root.join(context.root.project(self.project))).is_dir():
                return []
            return [say("{path} has no project {project} yet.", project=self.project, path=context.root.path)]
        except UsageError as error:
            return [error.sentence]
        return []

    def project_for(self, named: str) -> str:
        """Return the project to write in.

        Raises OwnershipError outside the bound project, UsageError without any project.
        """
        if self.project and named not in ("", self.project):
            raise OwnershipError(
                say(
                    "This server is bound to the project {project} and cannot write in {named}.",
                    project=self.project,
                    named=named[:128],
                ),
                hint=say("Leave the project out, or start a server for the other one."),
            )
        if not (named or self.project):
            raise UsageError(say("The project is missing."), hint=say("Name a project, or start the server with one."))
        return named or self.project


CONFIG_FILES = {"claude": ".mcp.json", "codex": ".codex/config.toml", "gemini": ".gemini/settings.json"}
"""The file of each client in the workspace, because the seat is that of the workspace."""

_PASSED = ("ORACLE_ROOT", "AGENT_HOME", "CLAWSEAT_REAL_HOME", "TMUX", "ORACLE_TMUX_SOCKET")
"""The variables that choose the Root and the tmux server. Codex gives a server no variable that it does not name."""


def render_config(client: str, *, seat: str, project: str, root: str) -> str:
    """Return the lines for a client's file; `root` is the Root if the server would not find it.

    Raises UsageError for an unknown client.
    """
    if client not in CONFIG_FILES:
        raise UsageError(say("Unknown tool {tool!r}.", tool=client), hint=suggest(client, CONFIG_FILES))
    server = server_entry("--seat", seat, *(["--project", project] if project else []), root=root)
    if client != "codex":
        return json.dumps({"mcpServers": {"oracle": server}}, indent=2, ensure_ascii=False)
    import tomlkit

    table = {**server, "env_vars": list(_PASSED), "required": True}
    return "\n" + tomlkit.dumps({"mcp_servers": {"oracle": table}}).rstrip("\n")  # it may follow a line without an end


def server_entry(*words: str, root: str) -> dict[str, object]:
    """Return how a client starts the server: its command, and its words."""
    return {"command": _program(), "args": ["mcp", *words, *(["--memory-dir", root] if root else [])]}


def _program() -> str:
    """Return the path of `oracle` in this installation, or its name if it is elsewhere."""
    path = Path(sys.executable).with_name("oracle")
    return str(path) if path.is_file() else "oracle"
