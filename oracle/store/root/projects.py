"""The registry of projects, `projects.json`: what other tools note of a project, above all where its repository lies. Read only."""

from __future__ import annotations

import json
import os

from oracle.store.root.layout import Root, choose_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_BYTES = 4 << 20  # of a registry; a larger one is none


def entry(root: Root, project: str, environ: Mapping[str, str]) -> Mapping[str, object]:
    """Return what the registry says of a project, nothing when it can't be read or does not name it.

    It is `~/.clawseat/projects.json` in the home that holds the Root; `CLAWSEAT_REGISTRY_HOME` names another folder.
    """
    return entries(_load(folder(root, environ))).get(project, {})


def folder(root: Root, environ: Mapping[str, str]) -> str:
    """Return the folder of the registry that belongs to a Root."""
    return environ.get("CLAWSEAT_REGISTRY_HOME") or f"{root.home}/.clawseat"


def names(root: Root, environ: Mapping[str, str]) -> list[str]:
    """Return the projects that the registry names, whatever their status, sorted; none when it can't be read."""
    return sorted(entries(_load(folder(root, environ))))


def entries(content: object) -> dict[str, dict[str, object]]:
    """Return the entries of a registry by name, in any of its shapes: `{"projects": …}`, a list, or name to entry.

    A list may hold names alone; of two entries of one name the first that says more counts.
    """
    projects = content.get("projects", content) if isinstance(content, dict) else content
    found: dict[str, dict[str, object]] = {}
    if isinstance(projects, dict):
        found = {name: {"name": name, **item} for name, item in projects.items() if isinstance(item, dict)}
    listed = sorted(projects, key=lambda item: not isinstance(item, dict)) if isinstance(projects, list) else []
    for item in listed:
        named = item if isinstance(item, dict) else {"name": item}
        name = named.get("name")
        if isinstance(name, str) and name:
            found.setdefault(name, named)
    return found


def repository(root: Root, project: str, environ: Mapping[str, str]) -> str:
    """Return the folder of a project's repository, "" when none is registered or it is not there.

    The registry's `repo_path` counts before the profile's `repo_root`. A Root that is a world of its own has its registry
    beside it; where that does not name the project, the registry of the person does.
    """
    from oracle.errors import OracleError
    from oracle.store.root import profile

    mine = choose_home(environ)
    stated = environ.get("CLAWSEAT_REGISTRY_HOME")
    places = {stated: mine} if stated else {f"{root.home}/.clawseat": root.home, f"{mine}/.clawseat": mine}
    for place, home in places.items():
        found = entries(_load(place)).get(project, {}).get("repo_path")
        path = _expand(found, home) if isinstance(found, str) else ""
        if path and os.path.isdir(path):
            return path
    try:
        path = profile.load(root, project, environ).repo_root
    except OracleError:
        return ""
    return path if os.path.isdir(path) else ""


def _expand(text: str, home: str) -> str:
    path = text.strip()
    if "\0" in path or not path:
        return ""
    path = f"{home}/{path[2:]}" if path.startswith("~/") else path
    return os.path.normpath(path) if os.path.isabs(path) else ""


def _load(folder: str) -> object:
    from oracle.errors import OracleError
    from oracle.store.disk import steps

    try:
        raw = steps.read(f"{folder}/projects.json") or b""
        return json.loads(raw.decode("utf-8-sig")) if len(raw) <= _MOST_BYTES else None
    except (OracleError, ValueError, RecursionError):
        return None
