"""Scan a repository: return the facts of each kind. The same files always give the same facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from oracle.scan import checks, ci, deployment, manifests, older_keys, overview
from oracle.scan.manifests import Manifest
from oracle.scan.sanitize import clean
from oracle.scan.walk import SourceTree, walk

Detector = Callable[[SourceTree, Sequence[Manifest]], dict[str, Any]]

SHALLOW: dict[str, Detector] = {"dev_env": overview.detect_dev_env}
MEDIUM: dict[str, Detector] = {
    **SHALLOW,
    "runtime": checks.detect_runtime,
    "tests": checks.detect_tests,
    "deploy": deployment.detect_deploy,
    "ci": ci.detect_ci,
    "lint": checks.detect_lint,
    "structure": overview.detect_structure,
}
DEPTHS: dict[str, dict[str, Detector]] = {
    "shallow": SHALLOW,
    "medium": MEDIUM,
    "deep": {**MEDIUM, "env_templates": deployment.detect_env_templates},
}
"""The kinds of facts of each depth."""


def scan(repository: str, depth: str) -> dict[str, dict[str, Any]]:
    """Return the facts of each kind of a depth, without credentials."""
    tree = walk(repository)
    found = manifests.read_all(tree)
    return {
        kind: clean(older_keys.add(kind, detect(tree, found), tree, found)) for kind, detect in DEPTHS[depth].items()
    }
