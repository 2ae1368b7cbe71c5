"""The registry of projects, `projects.json`, which other tools write: above all, where each repository is. Read only."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from oracle.store.root.layout import Root, choose_home

_MOST_BYTES = 4 << 20  # the largest registry


def entry(root: Root, project: str, environ: Mapping[str, str]) -> Mapping[str, object]:
    """Return the registry's entry of a project, empty if there is none or the registry cannot be read.

    The registry is `~/.clawseat/projects.json` in the home folder of the Root; `CLAWSEAT_REGISTRY_HOME` sets another
    folder.
    """
    return entries(_load(folder(root, environ))).get(project, {})


def folder(root: Root, environ: Mapping[str, str]) -> str:
    """Return the folder of a Root's registry."""
    return environ.get("CLAWSEAT_REGISTRY_HOME") or f"{root.home}/.clawseat"


def names(root: Root, environ: Mapping[str, str]) -> list[str]:
    """Return the names of the registered projects, whatever their status, sorted; none if the registry cannot be read."""
    return sorted(entries(_load(folder(root, environ))))


def entries(content: object) -> dict[str, dict[str, object]]:
    """Return the entries of a registry by name. It may be `{"projects": …}`, a list, or a map from name to entry.

    A list may contain bare names. Of two entries with one name, the first with more than a name counts.
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
    """Return the folder of a project's repository, "" if none is registered or it does not exist.

    The registry's `repo_path` comes before the profile's `repo_root`. A Root that holds its siblings itself has its
    registry beside it. If that does not name the project, the person's registry counts.
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
