"""Set up the agents on this machine: find them, plan the changes of their own files, and take them back.

Everything goes into the files that an agent reads in every folder: the hooks of every event, the MCP server, and a skill.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence

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

_HEADER = re.compile(rf"[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*{_NAME}[ \t]*[\].]")
"""The first line of a table of our server in TOML."""

_KEYS = ("type", "command", "args")
"""The settings of the server that we write."""

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


@value
class Removal:
    """The change that takes our parts out of a file, and the settings of a person that go with them."""

    change: FileChange
    lost: tuple[str, ...] = ()


def plan_removal(host: Host, path: str, before: bytes | None) -> Removal:
    """Return the change that takes our parts out of a file, and leaves all else in it. Raises InvalidSettings.

    `before` is what the file was before the set-up: an object that was empty then stays, and a file that was not there goes.
    """
    change, lost = _unchanged(path), list[str]()
    old = steps.parse_object(before or b"") or {}
    if path == host.files[HOOK]:
        lost += settings.added_keys(path)
        change = replace_after(change, settings.plan_uninstall(path, old).after)
    if path == host.files[SERVER]:
        after, added = _without_server(path, change.after, old)
        lost += added
        change = replace_after(change, after)
    if path == host.files[SKILL]:
        change = _without_skill(host.tool, change)
    is_emptied = change.is_needed and change.after is not None and change.after.strip("\ufeff \t\r\n") in ("", "{}")
    if before is None and is_emptied:
        change = FileChange(path, change.before, None, keeps_backup=change.keeps_backup)
    return Removal(
        FileChange(path, change.before, change.after, keeps_backup=change.keeps_backup or bool(lost)), tuple(lost)
    )


def replace_after(change: FileChange, after: str | None) -> FileChange:
    """Return a change with another result. It keeps no backup: the ledger of the set-up has the old file."""
    return FileChange(change.path, change.before, after, keeps_backup=False)


def _unchanged(path: str) -> FileChange:
    raw = steps.read(path)
    text = None if raw is None else raw.decode("utf-8", "surrogateescape")
    return FileChange(path, text, text)


def _without_skill(tool: str, change: FileChange) -> FileChange:
    """Return the change without our skill. A backup keeps what a person changed in it."""
    text, name = change.after, skills.NAMES[skills.SESSION]
    if text is None:
        return change
    if tool == "claude":
        after, is_edited = (None if managed_block.is_signed(text) else text), managed_block.is_edited(text)
    else:
        after, is_edited = managed_block.take(text, name), skills.is_edited(text, name)
    return FileChange(change.path, change.before, after, keeps_backup=is_edited)


# The MCP server in an agent's settings ----------------------------------------------------------------------------------


def _with_server(path: str, text: str | None, server: Mapping[str, object]) -> str:
    """Return settings with our server; one of that name stays as it is. Raises InvalidSettings."""
    if path.endswith(".toml"):
        return _after_mark(text or "", lambda plain: _with_toml(path, plain, server))
    content = settings_files.parse(path, text or "")
    servers = settings_files.table(content, "mcpServers", path)
    if text is not None and _NAME in servers:
        return text
    entry = {"type": "stdio", **server} if path.endswith(".claude.json") else dict(server)
    return settings_files.render({**content, "mcpServers": {**servers, _NAME: entry}}, text, path)


def _without_server(path: str, text: str | None, old: Mapping[str, object]) -> tuple[str | None, list[str]]:
    """Return settings without our server, and the names of what a person added to it. Raises InvalidSettings."""
    if text is None:
        return None, []
    is_toml = path.endswith(".toml")
    content = _parse_toml(path, text) if is_toml else settings_files.parse(path, text)
    table = "mcp_servers" if is_toml else "mcpServers"
    servers = content.get(table)
    server = servers.get(_NAME) if isinstance(servers, dict) else None
    if not isinstance(servers, dict) or not isinstance(server, dict) or not _is_ours(server):
        return text, []
    added = [f"{table}.{_NAME}.{key}" for key in server if key not in _KEYS]
    del servers[_NAME]
    if not servers and table not in old:
        del content[table]
    if is_toml:
        return _after_mark(text, lambda plain: _without_toml(path, plain, content)), added
    return settings_files.render(content, text, path), added


def _is_ours(server: Mapping[str, object]) -> bool:
    """Whether a server starts this program, as ours does: one of its name that a person made may do something else."""
    words = server.get("args")
    if not isinstance(words, list):
        return False
    return os.path.basename(str(server.get("command"))) == "oracle" and words[:1] == ["mcp"]


def _after_mark(text: str, change: Callable[[str], str]) -> str:
    """Return a text changed after its byte order mark, which some editors put there and which stays."""
    plain = text.removeprefix("\ufeff")
    return text[: len(text) - len(plain)] + change(plain)


def _with_toml(path: str, text: str, server: Mapping[str, object]) -> str:
    """Return Codex's settings with our server; all else keeps its bytes. Raises InvalidSettings."""
    import tomlkit

    servers = _parse_toml(path, text).get("mcp_servers", {})
    if isinstance(servers, dict) and _NAME in servers:
        return text
    line_end = "" if not text or text.endswith("\n") else "\n"
    appended = f"{text}{line_end}\n" + tomlkit.dumps({"mcp_servers": {_NAME: dict(server)}})
    if _read_as(appended) is None:
        raise _inline(path, say("holds the key mcp_servers on one line, to which nothing can be added"))
    return appended.removeprefix("\n") if not text else appended


def _without_toml(path: str, text: str, content: Mapping[str, object]) -> str:
    """Return Codex's settings with this content, which is theirs without our server. Raises InvalidSettings."""
    cut = _cut_tables(text)
    if _read_as(cut) not in (content, {**content, "mcp_servers": {}}):
        raise _inline(path, say("holds our server on one line, or in dotted keys"))
    return cut


def _inline(path: str, what: Sentence) -> settings_files.InvalidSettings:
    return settings_files.InvalidSettings(
        say("{path} {what}; it was not changed.", path=path, what=what),
        hint=say("Write each server as a table of its own, [mcp_servers.NAME], then try again."),
    )


def _parse_toml(path: str, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise settings_files.InvalidSettings(
            say("{path} is not valid TOML ({error}); it was not changed.", path=path, error=error),
            hint=say("Correct what it names, then try again."),
        ) from error


def _cut_tables(text: str) -> str:
    """Return a TOML text without the tables of our server, and without the empty line that is before it.

    A table ends with its last value: what follows is a person's, and so is a line of comment inside.
    """
    lines = text.split("\n")
    kept: list[str] = []
    at = 0
    while at < len(lines):
        end = _end_of_table(lines, at) if (header := _HEADER.match(lines[at])) else at
        if header is None or end == at:
            kept.append(lines[at])
            at += 1
            continue
        if header[0].endswith("]") and len(kept) > 1 and not kept[-1].strip():
            kept.pop()
        kept += [line for line in lines[at:end] if line.lstrip().startswith("#")]
        at = end
    return "\n".join(kept)


def _end_of_table(lines: Sequence[str], start: int) -> int:
    """Return the index after the last value of the table that begins at `start`, `start` if that is no table."""
    ends = [at for at in range(start + 1, len(lines)) if lines[at].lstrip().startswith("[")]
    for following in (*ends, len(lines)):
        whole = _read_as("\n".join(lines[start:following]))
        if whole is not None:
            return next(
                end for end in range(start + 1, following + 1) if _read_as("\n".join(lines[start:end])) == whole
            )
    return start


def _read_as(text: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(f"{text}\n")
    except tomllib.TOMLDecodeError:
        return None
