"""Scan a repository: return the facts of each kind. The same files always give the same facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from oracle.scan import checks, commands, manifests, overview
from oracle.scan.formats import load_data
from oracle.scan.manifests import Manifest
from oracle.scan.sanitize import clean
from oracle.scan.walk import SourceTree, walk

Content = dict[str, Any]
Detector = Callable[[SourceTree, Sequence[Manifest]], Content]

SHALLOW: dict[str, Detector] = {"dev_env": overview.detect_dev_env}
MEDIUM: dict[str, Detector] = {
    **SHALLOW,
    "runtime": checks.detect_runtime,
    "tests": checks.detect_tests,
    "deploy": overview.detect_deploy,
    "ci": checks.detect_ci,
    "lint": checks.detect_lint,
    "structure": overview.detect_structure,
}
DEPTHS: dict[str, dict[str, Detector]] = {
    "shallow": SHALLOW,
    "medium": MEDIUM,
    "deep": {**MEDIUM, "env_templates": overview.detect_env_templates},
}
"""The kinds of facts of each depth."""


def scan(repository: str, depth: str) -> dict[str, dict[str, Any]]:
    """Return the facts of each kind of a depth, without credentials."""
    tree = walk(repository)
    found = manifests.read_all(tree)
    return {
        kind: clean(_add_older_keys(kind, detect(tree, found), tree, found)) for kind, detect in DEPTHS[depth].items()
    }


# The keys by which older tools read the facts: yes or no for each tool, told by files and dependencies -----------------


_VERSION = re.compile(r"\d+\.\d+")
_MOST_NAMES, _MOST_KEYS = 200, 50


def _add_older_keys(kind: str, content: Content, tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    """Return the facts of a kind with the older keys behind them. A key that means something else here keeps its value."""
    if kind == "dev_env":
        templates = _templates(overview.detect_env_templates(tree, manifests))
        whole = {**_structure(tree), **templates}
        for one in load_data("older")["files"]:
            whole |= _flags(one, tree, manifests)
        older = {key: whole[key] for key in load_data("older")["summary"]}
        older["repo_root"] = tree.path
    elif kind == "structure":
        older = _structure(tree)
    elif kind == "env_templates":
        older = _templates(content)
    else:
        older = _flags(kind, tree, manifests)
    if kind == "tests":
        older["test_command"] = next(iter(content["commands"].values()), None)
    return {**content, **{key: item for key, item in older.items() if key not in content}}


def _flags(kind: str, tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    table = load_data("older")
    named = {name for one in manifests for name in (*one.tools, *one.needs)}
    near = [path for path in tree.files if "/" not in path] + tree.below(".github/workflows", ".circleci")
    files = {**(table["languages"] if kind == "runtime" else {}), **table["files"][kind]}
    found: Content = {
        key: any(fnmatchcase(path, pattern) for pattern in patterns for path in near) or key in named
        for key, patterns in files.items()
    }
    if kind == "ci":
        found["has_ci"] = any(found.values())
    if kind == "runtime":
        stated = commands.runtimes(tree, manifests)
        first = {name: _VERSION.search(stated.get(name, "")) for name in ("python", "go")}
        found |= {f"{name}_version": version[0] if version else None for name, version in first.items()}
        found["node_version"] = stated.get("node")
        found["primary_language"] = next((name for name in table["languages"] if found[name]), None)
    return found


def _structure(tree: SourceTree) -> Content:
    top = sorted({path.partition("/")[0] for path in tree.files})
    found: Content = {key: not set(names).isdisjoint(top) for key, names in load_data("older")["folders"].items()}
    return {**found, "top_level": top[:_MOST_NAMES], "file_count": sum("/" not in path for path in tree.files)}


def _templates(content: Mapping[str, Any]) -> Content:
    first = next(iter(content["files"]), None)
    names = [one["name"] for one in first["variables"]] if first else []
    return {
        "has_env_template": first is not None,
        "template_path": first["path"] if first else None,
        "key_count": len(names),
        "keys": names[:_MOST_KEYS],
    }
