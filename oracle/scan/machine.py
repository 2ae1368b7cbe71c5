"""Scan a machine: the scanners by name, which of them run by default, and what each returns.

Of credentials only names, files, lengths and fingerprints are kept. They are read from files of `NAME=value` lines; the first file
that has a name counts. A value is read from its file when a user asks for it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from oracle.domain.values import value
from oracle.scan import formats
from oracle.scan.formats import load_data
from oracle.scan.sanitize import address, outline, text
from oracle.store.disk import folders

Content = dict[str, object]
"""What a scanner found, as JSON."""


@value
class Machine:
    """The home and environment to scan, and whether the caller allows the network and the values of credentials."""

    home: str
    environ: Mapping[str, str]
    scanned_at: str
    asks_network: bool = False
    keeps_values: bool = False

    def path(self, *parts: str) -> str:
        """Return a path in the home."""
        return os.path.join(self.home, *parts)


@value
class ScannerResult:
    """What one scanner found, or why it failed."""

    name: str
    content: Content | None
    error: str = ""


SCANNERS = {
    "system": "machine:scan_system",
    "environment": "machine:scan_environment",
    "credentials": "machine:scan_credentials",
    "openclaw": "machine:scan_openclaw",
    "gstack": "machine:scan_gstack",
    "clawseat": "machine:scan_clawseat",
    "repos": "git:scan_repos",
    "network": "machine:scan_network",
    "github": "git:scan_github",
    "current_context": "machine:scan_current_context",
}
"""Module and function of each scanner."""

DEFAULT = ("credentials", "network", "openclaw", "github", "current_context")
"""The scanners that run unless others are named."""

_FAILURES = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""Errors that the files of others may cause in a scanner."""


def run(machine: Machine, names: Sequence[str]) -> Iterator[ScannerResult]:
    """Run scanners in turn. A failure stops no other scanner, and its reason never contains a value from a file."""
    for name in names:
        module, function = SCANNERS[name].split(":")
        scanner = getattr(import_module(f"oracle.scan.{module}"), function)
        try:
            found = {"scanned_at": machine.scanned_at, **scanner(machine)}
        except _FAILURES as error:
            reason = f"{error.strerror} ({error.filename})" if isinstance(error, OSError) else "unexpected content"
            yield ScannerResult(name, None, f"{type(error).__name__}: {reason}")
            continue
        yield ScannerResult(name, found)


def names_in(folder: str) -> list[str]:
    """Return the names in a folder that do not begin with a dot, in order; [] for a missing folder."""
    return [name for name in folders.names_in(folder) if not name.startswith(".")]


# System, environment, network, current project, and the tools of a team in the home ------------------------------------


def scan_system(machine: Machine) -> Content:
    """Return system, Python, cores, memory, and the paths of programs."""
    names = os.uname()
    path = machine.environ.get("PATH", "")
    found = {name: shutil.which(name, path=path) for name in load_data("machine")["programs"]}
    return {
        "system": names.sysname,
        "release": names.release,
        "architecture": names.machine,
        "python": ".".join(map(str, sys.version_info[:3])),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "programs": {name: text(place) for name, place in found.items() if place},
    }


def scan_environment(machine: Machine) -> Content:
    """Return the names of all variables, and the values of those that give access to nothing."""
    environ = machine.environ
    return {
        "variables": sorted(text(name) for name in environ),
        "values": {name: text(environ[name]) for name in load_data("machine")["variables"] if name in environ},
        "path": [text(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder],
    }


def scan_network(machine: Machine) -> Content:
    """Return proxies and addresses of services, from the environment and the files of credentials."""
    proxy: dict[str, str | None] = {}
    for name, stated in sorted(machine.environ.items()):
        if name.lower() in load_data("machine")["proxies"]:
            is_list = name.lower() == "no_proxy"
            proxy[name] = text(stated) if is_list else address(stated)
    return {"proxy": proxy, "endpoints": _endpoints(machine)}


def _endpoints(machine: Machine) -> dict[str, Content]:
    suffixes = tuple(load_data("machine")["endpoint_suffixes"])
    found: dict[str, Content] = {}
    read = ((path, formats.dotenv(formats.read_text(path, follows_link=True))[0]) for path in source_files(machine))
    for source, variables in (("environment", dict(machine.environ)), *read):
        for name, stated in sorted(variables.items()):
            if name.upper().endswith(suffixes) and text(name) == name:
                found.setdefault(name, {"url": address(stated), "source": text(source)})
    return found


def scan_current_context(machine: Machine) -> Content:
    """Return the current project, as the environment names it."""
    environ = machine.environ
    project = environ.get("CLAWSEAT_PROJECT") or environ.get("AGENTS_PROJECT")
    folder = environ.get("CLAWSEAT_WORKSPACE_ROOT")
    return {
        "last_refresh_ts": machine.scanned_at,
        "current_project": text(project) if project else None,
        "current_project_dir": text(folder) if folder else None,
    }


def scan_openclaw(machine: Machine) -> Content:
    """Return the outline of OpenClaw's configuration, its skills, extensions, agents and Feishu channel."""
    home = machine.environ.get("OPENCLAW_HOME") or machine.path(".openclaw")
    config = formats.table(formats.json(formats.read_text(f"{home}/openclaw.json", follows_link=True)))
    workspaces = [name for name in names_in(home) if name.startswith("workspace")]
    skills = {name for folder in ("", *workspaces) for name in _folders(os.path.join(home, folder, "skills"))}
    listed = formats.dig(config, "agents", "list")
    agents = (
        {str(item["id"]) for item in listed if isinstance(item, dict) and "id" in item}
        if isinstance(listed, list)
        else set()
    )
    return {
        "home": text(home),
        "exists": os.path.isdir(home),
        "config": outline(config),
        "skills": sorted(map(text, skills)),
        "extensions": [text(name) for name in _folders(f"{home}/extensions")],
        "feishu": _feishu(config),
        "agents": sorted(map(text, {*agents, *_folders(f"{home}/agents")})),
    }


def _feishu(config: Content) -> Content:
    channel = formats.table(formats.dig(config, "channels", "feishu"))
    if not channel:
        return {"configured": False}
    groups = formats.table(channel.get("groups"))
    asks = [group.get("requireMention") for group in groups.values() if isinstance(group, dict)]
    return {
        "configured": True,
        "enabled": channel.get("enabled") is not False,
        "accounts": len(formats.table(channel.get("accounts"))),
        "groups": len(groups),
        "require_mention": channel.get("requireMention") is True or (bool(asks) and all(ask is True for ask in asks)),
    }


def scan_gstack(machine: Machine) -> Content:
    """Return the folder of gstack and its skills. A relative GSTACK_SKILLS_ROOT is ignored."""
    home = machine.path(".gstack")
    stated = machine.environ.get("GSTACK_SKILLS_ROOT", "")
    root = stated if os.path.isabs(stated) else f"{home}/skills"
    return {
        "home": home,
        "exists": os.path.isdir(home),
        "skills_root": text(root),
        "skills": [text(name) for name in _folders(root)],
    }


def scan_clawseat(machine: Machine) -> Content:
    """Return the folder of ClawSeat, its profiles, and its sessions by project."""
    root = machine.environ.get("CLAWSEAT_ROOT") or machine.path("ClawSeat")
    suffix = "-profile-dynamic.toml"
    sessions = machine.path(".agents", "sessions")
    return {
        "root": text(root),
        "exists": os.path.isdir(root),
        "registry": os.path.isfile(machine.path(".clawseat", "projects.json")),
        "profiles": [
            text(name.removesuffix(suffix))
            for name in names_in(machine.path(".agents", "profiles"))
            if name.endswith(suffix)
        ],
        "sessions": {
            text(name): [text(seat) for seat in _folders(f"{sessions}/{name}")] for name in _folders(sessions)
        },
    }


def _folders(folder: str) -> list[str]:
    return [name for name in names_in(folder) if os.path.isdir(f"{folder}/{name}")]


# Credentials -----------------------------------------------------------------------------------------------------------

OAUTH_FILE = ".claude/.credentials.json"
OAUTH_VARIABLE = "CLAUDE_CODE_OAUTH_TOKEN"
MIN_FINGERPRINTED = 16
"""Characters that a value needs for a fingerprint: that of a shorter value could be found by trial."""

_DIGITS = 12
_MAX_DEPTH = 4


def scan_credentials(machine: Machine) -> Content:
    """Return the credentials of the home: names, files, lengths and fingerprints; values only when the caller allows it."""
    keys: dict[str, Content] = {}
    sources: list[str] = []
    problems: list[Content] = []
    for path in source_files(machine):
        variables, wrong = _read(path)
        if text(path) != path:
            problems.append({"source": text(path), "reason": "its name looks like a credential"})
            continue
        if variables is None:
            problems.append({"source": path, "reason": "it can't be read as text"})
            continue
        sources.append(path)
        problems += [{"source": path, "line": line, "reason": "the line is not NAME=value"} for line in wrong]
        for name, stated in variables.items():
            if text(name) == name:
                keys.setdefault(name, _describe(stated, path, keeps_value=machine.keeps_values))
    found: Content = {"sources": sources, "keys": keys, **_oauth(machine)}
    return {**found, "problems": problems} if problems else found


def source_files(machine: Machine) -> Iterator[str]:
    """Yield the files of the home that hold credentials; earlier files take precedence."""
    first = machine.path(".agents", ".env.global")
    if os.path.isfile(first):
        yield first
    templates = tuple(load_data("machine")["template_endings"])
    for name in folders.names_in(machine.home):
        if name.startswith(".env") and not name.endswith(templates) and os.path.isfile(machine.path(name)):
            yield machine.path(name)
    for folder in load_data("machine")["credential_folders"]:
        yield from _env_files(machine.path(folder), _MAX_DEPTH)


def read_value(machine: Machine, name: str, source: str) -> str | None:
    """Return the current value of a name in a file; None when it is gone, or the file is not one of `source_files`."""
    if source not in source_files(machine):
        return None
    variables, _ = _read(source)
    return (variables or {}).get(name)


def fingerprint(value: str) -> str | None:
    """Return the first digits of a value's SHA-256, None for a value that is too short to keep them."""
    if len(value) < MIN_FINGERPRINTED:
        return None
    return f"sha256:{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"


def _env_files(folder: str, deepest: int) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if deepest > 1:
                yield from _env_files(entry.path, deepest - 1)
        elif entry.name.endswith(".env") and entry.is_file():
            yield entry.path


def _read(path: str) -> tuple[dict[str, str] | None, list[int]]:
    content = formats.read_text(path, follows_link=True)
    return (None, []) if content is None else formats.dotenv(content)


def _describe(value: str, source: str, *, keeps_value: bool) -> Content:
    return {
        "value": value if keeps_value else None,
        "source": source,
        "length": len(value),
        "fingerprint": fingerprint(value),
    }


def _oauth(machine: Machine) -> Content:
    """Return whether Claude Code is signed in, by its file or by the environment. The token is never kept."""
    path = machine.path(OAUTH_FILE)
    tokens = formats.dig(formats.json(formats.read_text(path, follows_link=True)), "claudeAiOauth")
    has_file = bool(formats.dig(tokens, "accessToken") or formats.dig(tokens, "refreshToken"))
    has_variable = bool(machine.environ.get(OAUTH_VARIABLE))
    sources = [*([path] if has_file else []), *([f"env:{OAUTH_VARIABLE}"] if has_variable else [])]
    return {
        "oauth": {
            "has_any": has_file or has_variable,
            "claude_credentials_json": has_file,
            "claude_code_oauth_token_env": has_variable,
        },
        "oauth_sources": sources,
    }
