"""System, environment variables, network settings, current project, and the tools of a team that are set up in the home."""

from __future__ import annotations

import os
import shutil
import sys

from oracle.scan import formats
from oracle.scan.credentials import source_files
from oracle.scan.machine import Content, Machine, names_in
from oracle.scan.sanitize import address, outline, text
from oracle.scan.tables import load


def scan_system(machine: Machine) -> Content:
    """Return system, Python, cores, memory, and the paths of programs."""
    names = os.uname()
    path = machine.environ.get("PATH", "")
    found = {name: shutil.which(name, path=path) for name in load("machine")["programs"]}
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
        "values": {name: text(environ[name]) for name in load("machine")["variables"] if name in environ},
        "path": [text(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder],
    }


def scan_network(machine: Machine) -> Content:
    """Return proxies and addresses of services, from the environment and the files of credentials."""
    proxy: dict[str, str | None] = {}
    for name, value in sorted(machine.environ.items()):
        if name.lower() in load("machine")["proxies"]:
            is_list = name.lower() == "no_proxy"
            proxy[name] = text(value) if is_list else address(value)
    return {"proxy": proxy, "endpoints": _endpoints(machine)}


def _endpoints(machine: Machine) -> dict[str, Content]:
    suffixes = tuple(load("machine")["endpoint_suffixes"])
    found: dict[str, Content] = {}
    read = ((path, formats.dotenv(formats.read_text(path, follows_link=True))[0]) for path in source_files(machine))
    for source, variables in (("environment", dict(machine.environ)), *read):
        for name, value in sorted(variables.items()):
            if name.upper().endswith(suffixes) and text(name) == name:
                found.setdefault(name, {"url": address(value), "source": text(source)})
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
