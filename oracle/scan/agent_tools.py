"""The tools of a team that are set up in the home: OpenClaw, gstack, ClawSeat."""

from __future__ import annotations

import os

from oracle.scan import formats
from oracle.scan.machine import Content, Machine, names_in
from oracle.scan.sanitize import outline, text


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
