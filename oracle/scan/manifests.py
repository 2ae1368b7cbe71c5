"""Manifests: the files in which a project states its name, its dependencies and its commands."""

from __future__ import annotations

from importlib import import_module

from oracle.domain.values import NOTHING, value
from oracle.scan import extraction
from oracle.scan.sanitize import address
from oracle.scan.tables import load
from oracle.scan.walk import is_supporting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oracle.scan.extraction import Rule
    from oracle.scan.walk import SourceTree

MAX_MANIFESTS = 300
"""Manifests that are read of one repository, nearest to the top first."""

MAX_NAMES = 300
"""Dependencies that are kept of one list."""


@value
class Manifest:
    """What one manifest states. A dependency maps its name to a version range, "" for any version."""

    path: str
    ecosystem: str
    name: str = ""
    version: str = ""
    runtimes: Mapping[str, str] = NOTHING
    dependencies: Mapping[str, str] = NOTHING
    dev_dependencies: Mapping[str, str] = NOTHING
    scripts: Mapping[str, str] = NOTHING
    entry_points: Mapping[str, str] = NOTHING
    members: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    build: str = ""

    @property
    def folder(self) -> str:
        """The folder of the manifest, "." for the top."""
        return self.path.rpartition("/")[0] or "."

    @property
    def needs(self) -> frozenset[str]:
        """The names of all dependencies."""
        return frozenset((*self.dependencies, *self.dev_dependencies))


def read_all(tree: SourceTree) -> list[Manifest]:
    """Return the manifests of a repository, nearest to the top first."""
    rules: dict[str, Rule] = {}
    for rule in load("manifests")["rules"]:
        for path in tree.named(*rule["files"]):
            if not is_supporting(path) and path.startswith(rule.get("folder", "")):
                rules.setdefault(path, rule)
    paths = sorted(rules, key=lambda path: (path.count("/"), path))[:MAX_MANIFESTS]
    found = (read(rules[path], path, tree.text(path)) for path in paths)
    return [one for one in found if one is not None]


def read(rule: Rule, path: str, text: str | None) -> Manifest | None:
    """Return what a manifest states by its rule; None for a file that can't be read or is something else."""
    if text is None:
        return None
    if "reader" in rule:
        module, function = rule["reader"].split(":")
        facts = getattr(import_module(f"oracle.scan.{module}"), function)(path, text)
    else:
        facts = extraction.extract(rule, path, text)
    if facts is None:
        return None
    needs = {name: _ranges(facts.pop(name, ())) for name in ("dependencies", "dev_dependencies")}
    return Manifest(path, rule["ecosystem"], **{"build": rule.get("build", ""), **facts, **needs})


def _ranges(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return version ranges by name, in order; of an address without the user and password in it."""
    found: dict[str, str] = {}
    for name, stated in sorted(pairs):
        found.setdefault(name, (address(stated.partition("+")[2] or stated) or "") if "://" in stated else stated)
    return dict(list(found.items())[:MAX_NAMES])
