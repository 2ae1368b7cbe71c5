"""Scan a repository: facts about a project, one kind a file. Reads files and nothing else; starts no program.

What it says depends on the files alone, so that two scans of the same files say the same.
"""

from __future__ import annotations

from oracle.scan import checks, ci, delivery, manifests, overview
from oracle.scan.plain import clean
from oracle.scan.walk import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import Tree

    Detector = Callable[[Tree, Sequence[Manifest]], dict[str, Any]]

SHALLOW: dict[str, Detector] = {"dev_env": overview.detect_dev_env}
MEDIUM: dict[str, Detector] = {
    **SHALLOW,
    "runtime": checks.detect_runtime,
    "tests": checks.detect_tests,
    "deploy": delivery.detect_deploy,
    "ci": ci.detect_ci,
    "lint": checks.detect_lint,
    "structure": overview.detect_structure,
}
DEPTHS: dict[str, dict[str, Detector]] = {
    "shallow": SHALLOW,
    "medium": MEDIUM,
    "deep": {**MEDIUM, "env_templates": delivery.detect_env_templates},
}
"""The kinds of facts that each depth has."""


def scan(repository: str, depth: str) -> dict[str, dict[str, Any]]:
    """Return the facts of each kind of a depth about a repository, cleaned of what looks like a credential."""
    tree = walk(repository)
    found = manifests.read_all(tree)
    return {kind: clean(detect(tree, found)) for kind, detect in DEPTHS[depth].items()}
