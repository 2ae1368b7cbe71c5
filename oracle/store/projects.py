"""The registry of projects, `projects.json`: what other tools note of a project, above all where its repository lies. Read only."""

from __future__ import annotations

import json
import os

from oracle.store.layout import Root, choose_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_BYTES = 4 << 20  # of a registry; a larger one is none


def entry(root: Root, project: str, environ: Mapping[str, str]) -> Mapping[str, object]:
    """Return what the registry says of a project, nothing when it can't be read or does not name it.

    It is `~/.clawseat/projects.json` in the home that holds the Root; `CLAWSEAT_REGISTRY_HOME` names another folder.
    """
    return _entry(_load(environ.get("CLAWSEAT_REGISTRY_HOME") or f"{root.home}/.clawseat"), project)


def names(root: Root, environ: Mapping[str, str]) -> list[str]:
    """Return the projects that the registry names, whatever their status, sorted; none when it can't be read."""
    content = _load(environ.get("CLAWSEAT_REGISTRY_HOME") or f"{root.home}/.clawseat")
    projects = content.get("projects", content) if isinstance(content, dict) else content
    found: list[object] = []
    if isinstance(projects, dict):
        found = [name for name in projects if name not in ("version", "schema_version")]
    elif isinstance(projects, list):
        found = [item.get("name") if isinstance(item, dict) else item for item in projects]
    return sorted({name for name in found if isinstance(name, str) and name})


def repository(root: Root, project: str, environ: Mapping[str, str]) -> str:
    """Return the folder of a project's repository, "" when none is registered or it is not there.

    The registry's `repo_path` counts before the profile's `repo_root`. A Root that is a world of its own has its registry
    beside it; where that does not name the project, the registry of the person does.
    """
    from oracle.errors import OracleError
    from oracle.store import profile

    mine = choose_home(environ)
    stated = environ.get("CLAWSEAT_REGISTRY_HOME")
    places = {stated: mine} if stated else {f"{root.home}/.clawseat": root.home, f"{mine}/.clawseat": mine}
    for folder, home in places.items():
        found = _entry(_load(folder), project).get("repo_path")
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
    try:
        with open(f"{folder}/projects.json", "rb") as stream:
            return json.loads(stream.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None


def _entry(content: object, project: str) -> Mapping[str, object]:
    """Return a project's entry of a registry in any of its shapes: `{"projects": …}`, a list, or name to entry."""
    projects = content.get("projects", content) if isinstance(content, dict) else content
    if isinstance(projects, dict):
        found = projects.get(project)
        return found if isinstance(found, dict) else {}
    entries: Sequence[object] = projects if isinstance(projects, list) else ()
    return next((item for item in entries if isinstance(item, dict) and item.get("name") == project), {})
