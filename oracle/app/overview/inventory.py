"""What a Root holds by name, read from the folders alone: no index is opened and nothing is made. Cheap to import."""

from __future__ import annotations

import json
import os

from oracle.app.context import Context
from oracle.errors import InvalidName, NotInMemory
from oracle.store.root import facts
from oracle.store.root.facts import Fact
from oracle.store.root.layout import Root

__all__ = ["Fact", "find_fact", "take_inventory"]


def take_inventory(root: Root) -> dict[str, object]:
    """Return `{exists, path, flat_files, machine_files, projects, index}`; only the first two when there is no Root.

    `index` is the content of `index.json`, null when there is none or it can't be read.
    """
    if not os.path.isdir(root.path):
        return {"exists": False, "path": root.path}
    names = [path for _, path in facts.fact_files(root)]
    return {
        "exists": True,
        "path": root.path,
        "flat_files": [path for path in names if "/" not in path],
        "machine_files": [path.removeprefix("machine/") for path in names if "/" in path],
        "projects": _folders(root.join("projects")),
        "index": _load(root.catalogue),
    }


def find_fact(context: Context, key: str, project: str = "") -> Fact:
    """Return the fact at a dotted key. Raises NotInMemory."""
    return facts.find(context.root, key, project)


def is_fact(context: Context, key: str) -> bool:
    """Check whether the first part of a dotted key names a fact file of the machine."""
    try:
        return bool(facts.find_file(context.root, key.strip().partition(".")[0]))
    except (InvalidName, NotInMemory):
        return False


def _folders(path: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir() and entry.name[0] != ".")
    except OSError:
        return []


def _load(path: str) -> object:
    try:
        with open(path, "rb") as stream:
            return json.loads(stream.read().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
