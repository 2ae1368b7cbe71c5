"""Set up the agents on this machine: find them, plan the changes of their own files, and take them back.

Everything goes into the files that an agent reads in every folder: the hooks of every event, the MCP server, and a skill.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

from oracle.domain.markdown import managed_block
from oracle.domain.values import value
from oracle.hook import settings, settings_files, skills
from oracle.hook.changes import FileChange
from oracle.hook.clients import CLIENTS
from oracle.store.disk import steps
from oracle.wording import Sentence, say

HOOK, SERVER, SKILL = "hook", "server", "skill"
PLUGIN = "oracle@memory-oracle"
"""The plugin of this repository in Claude Code, which brings the same."""

_NAME = "oracle"
"""The name of the MCP server in an agent's settings."""

_FILES = {
    "claude": {HOOK: "settings.json", SKILL: "skills/oracle-memory/SKILL.md"},
    "codex": {HOOK: "hooks.json", SERVER: "config.toml", SKILL: "AGENTS.md"},
    "gemini": {HOOK: "settings.json", SERVER: "settings.json", SKILL: "GEMINI.md"},
}


@value
class Host:
    """An agent's program on this machine: its path, "" if only its folder was found, and the files of its user by part."""

    tool: str
    program: str
    files: Mapping[str, str]


@value
class SetupStep:
    """The change of one file, and the parts that it brings."""

    host: Host
    parts: tuple[str, ...]
    change: FileChange


def find_hosts(home: str, environ: Mapping[str, str]) -> list[Host]:
    """Return the agents that are installed or have a folder in the home folder."""
    folders = {
        "claude": environ.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude",
        "codex": environ.get("CODEX_HOME") or f"{home}/.codex",
        "gemini": f"{home}/.gemini",
    }
    found = []
    for tool, folder in folders.items():
        program = shutil.which(tool, path=environ.get("PATH", "")) or ""
        if program or os.path.isdir(folder):
            files = {part: f"{folder}/{name}" for part, name in _FILES[tool].items()}
            if tool == "claude":
                files[SERVER] = f"{folder if environ.get('CLAUDE_CONFIG_DIR') else home}/.claude.json"
            found.append(Host(tool, program, files))
    return found


def why_left_out(host: Host) -> Sentence | str:
    """Return why a host gets nothing, "" for one that gets all: the plugin of this repository brings the same."""
    if host.tool != "claude":
        return ""
    enabled = (steps.read_object(host.files[HOOK]) or {}).get("enabledPlugins")
    return say("its plugin brings the same") if isinstance(enabled, dict) and enabled.get(PLUGIN) is True else ""


def plan_setup(host: Host, *, command: str, server: Mapping[str, object] | None, root: str = "") -> list[SetupStep]:
    """Return the changes for one host; without a `server`, none for MCP. Raises InvalidSettings, Conflict."""
    client = CLIENTS[host.tool]
    changes = {host.files[HOOK]: settings.plan_install(host.files[HOOK], command, client, events=client.events)}
    parts = {host.files[HOOK]: [HOOK]}
    if server is not None:
        path = host.files[SERVER]
        change = changes.get(path) or _unchanged(path)
        changes[path] = replace_after(change, _with_server(path, change.after, server))
        parts.setdefault(path, []).append(SERVER)
    path = host.files[SKILL]
    changes[path] = skills.plan_at(
        path, host.tool, skills.SESSION, skills.with_root(skills.read_skill(skills.SESSION), root)
    )
    parts[path] = [SKILL]
    return [SetupStep(host, tuple(parts[path]), change) for path, change in changes.items()]


def plan_removal(hosts: Sequence[Host], left: Sequence[str]) -> list[FileChange]:
    """Return the changes that take our parts out of files that changed since the set-up, and leave all else in them."""
    found = []
    for host in hosts:
        for path in dict.fromkeys(path for path in host.files.values() if os.path.realpath(path) in left):
            change = _unchanged(path)
            if path == host.files[HOOK]:
                change = settings.plan_uninstall(path)
            if path == host.files[SERVER]:
                change = replace_after(change, _without_server(path, change.after))
            if path == host.files[SKILL]:
                change = replace_after(change, _without_skill(host.tool, change.after))
            found.append(replace_after(change, change.after))
    return [change for change in found if change.is_needed]


def replace_after(change: FileChange, after: str | None) -> FileChange:
    """Return a change with another result. It keeps no backup: the ledger of the set-up has the old file."""
    return FileChange(change.path, change.before, after, keeps_backup=False)


def _unchanged(path: str) -> FileChange:
    raw = steps.read(path)
    text = None if raw is None else raw.decode("utf-8", "surrogateescape")
    return FileChange(path, text, text)


def _without_skill(tool: str, text: str | None) -> str | None:
    if text is None or tool == "claude":
        return None if text is not None and managed_block.is_signed(text) else text
    return managed_block.take(text, skills.NAMES[skills.SESSION])


# The MCP server in an agent's settings ----------------------------------------------------------------------------------


def _with_server(path: str, text: str | None, server: Mapping[str, object]) -> str:
    """Return settings with our server; one of that name stays as it is. Raises InvalidSettings."""
    if path.endswith(".toml"):
        return _change_toml(path, text or "", server)
    content = settings_files.parse(path, text or "")
    servers = settings_files.table(content, "mcpServers", path)
    if text is not None and _NAME in servers:
        return text
    entry = {"type": "stdio", **server} if path.endswith(".claude.json") else dict(server)
    return settings_files.render({**content, "mcpServers": {**servers, _NAME: entry}}, text, path)


def _without_server(path: str, text: str | None) -> str | None:
    if text is None:
        return None
    if path.endswith(".toml"):
        return _change_toml(path, text, None)
    content = settings_files.parse(path, text)
    servers = content.get("mcpServers")
    if not isinstance(servers, dict) or _NAME not in servers:
        return text
    del servers[_NAME]
    if not servers:
        del content["mcpServers"]
    return settings_files.render(content, text, path)


def _change_toml(path: str, text: str, server: Mapping[str, object] | None) -> str:
    """Return Codex's settings with our server, or without any for None; all else keeps its bytes. Raises InvalidSettings."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        servers = document.get("mcp_servers")
        if server is None:
            if servers is not None and _NAME in servers:
                del servers[_NAME]
            return document.as_string()
        if servers is not None and _NAME in servers:
            return text
        tomlkit.parse(
            appended := f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}\n"
            + tomlkit.dumps({"mcp_servers": {_NAME: dict(server)}})
        )
    except (TOMLKitError, ValueError, TypeError) as error:
        raise settings_files.misshapen(path, say("can't be read as TOML")) from error
    return appended.removeprefix("\n") if not text else appended
