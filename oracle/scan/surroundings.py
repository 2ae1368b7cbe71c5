"""What a process of this machine lives in: system, environment, network, and the project at hand."""

from __future__ import annotations

import os
import shutil
import sys

from oracle.scan import formats
from oracle.scan.credentials import source_files
from oracle.scan.plain import address, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.scan.machine import Content, Machine

PROGRAMS = """bash brew bun cargo claude codex docker gcc gemini gh git go java lark-cli make node npm openclaw opencode php
    pnpm podman python3 ruby rustc swift tmux tmux-send uv yarn zsh""".split()
"""Programs that a team may lean on."""

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ftp_proxy")
_ENDPOINTS = ("_BASE_URL", "_API_URL", "_API_BASE", "_ENDPOINT")
_TELLING = """COLORTERM EDITOR HOME LANG LC_ALL LC_CTYPE LOGNAME PAGER PWD SHELL TERM TERM_PROGRAM TZ USER VISUAL XDG_CACHE_HOME
    XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME""".split()
"""Variables whose values say something about the machine and nothing that opens one."""


def scan_system(machine: Machine) -> Content:
    """Return what runs here: the system, Python, cores, memory, and where programs are."""
    names = os.uname()
    path = machine.environ.get("PATH", "")
    found = {name: shutil.which(name, path=path) for name in PROGRAMS}
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
    """Return the names of the variables that are set, and the values of those that open nothing."""
    environ = machine.environ
    return {
        "variables": sorted(text(name) for name in environ),
        "values": {name: text(environ[name]) for name in _TELLING if name in environ},
        "path": [text(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder],
    }


def scan_network(machine: Machine) -> Content:
    """Return proxies and the addresses of services, from the environment and the files of credentials; nobody is asked."""
    proxy: dict[str, str | None] = {}
    for name, value in sorted(machine.environ.items()):
        if name.lower() in _PROXIES:
            is_list = name.lower() == "no_proxy"
            proxy[name] = text(value) if is_list else address(value)
    return {"proxy": proxy, "endpoints": _endpoints(machine)}


def _endpoints(machine: Machine) -> dict[str, Content]:
    found: dict[str, Content] = {}
    read = ((path, formats.dotenv(formats.read_text(path, follows_link=True))[0]) for path in source_files(machine))
    for source, variables in (("environment", dict(machine.environ)), *read):
        for name, value in sorted(variables.items()):
            if name.upper().endswith(_ENDPOINTS) and text(name) == name:
                found.setdefault(name, {"url": address(value), "source": text(source)})
    return found


def scan_current_context(machine: Machine) -> Content:
    """Return the project at hand, as the environment names it."""
    environ = machine.environ
    project = environ.get("CLAWSEAT_PROJECT") or environ.get("AGENTS_PROJECT")
    folder = environ.get("CLAWSEAT_WORKSPACE_ROOT")
    return {
        "last_refresh_ts": machine.scanned_at,
        "current_project": text(project) if project else None,
        "current_project_dir": text(folder) if folder else None,
    }
