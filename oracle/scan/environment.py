"""System, environment variables, network settings, and the current project of a machine."""

from __future__ import annotations

import os
import shutil
import sys

from oracle.scan import formats
from oracle.scan.credentials import source_files
from oracle.scan.sanitize import address, text
from oracle.scan.tables import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.scan.machine import Content, Machine


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
