"""Versions: which runtimes and tools a project needs, and its own version where no manifest states it."""

from __future__ import annotations

import re

from oracle.scan import formats
from oracle.scan.tables import load, owners

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import SourceTree

_VERSION = re.compile(r"v?\d[\w.+-]{0,40}")


def runtimes(tree: SourceTree, manifests: Sequence[Manifest]) -> dict[str, str]:
    """Return the version of each runtime and tool. Of several statements the one nearest to the top counts."""
    found: dict[str, str] = {}
    # a podspec states the language of its pods, a Package.swift the tools that read it
    ordered = sorted(manifests, key=lambda one: one.ecosystem == "cocoapods")
    for name, version in (*_stated(tree), *(pair for one in ordered for pair in one.runtimes.items())):
        found.setdefault(owners("versions", "aliases").get(name, name), version)
    return dict(sorted(found.items()))


def _stated(tree: SourceTree) -> Iterator[tuple[str, str]]:
    """Yield what files at the top state that are no manifests."""
    for name, runtime in owners("versions", "files").items():
        words = _text(tree, name).split()
        if words:
            yield runtime, words[0]
    yield from _version_managers(tree)
    for rule in load("versions")["patterns"]:
        version = _search(tree, rule["files"], rule["pattern"])
        if version:
            yield rule["runtime"], version


def _version_managers(tree: SourceTree) -> Iterator[tuple[str, str]]:
    """Yield what files of asdf, mise and SDKMAN state."""
    for line in _text(tree, ".tool-versions").splitlines():
        tool = line.partition("#")[0].split()
        if len(tool) > 1:
            yield tool[0], tool[1]
    for name in ("mise.toml", ".mise.toml"):
        for tool_name, stated in formats.table(formats.toml(_text(tree, name)).get("tools")).items():
            version = formats.dig(stated, "version") if isinstance(stated, dict) else stated
            if isinstance(version, str):
                yield tool_name, version
    for line in _text(tree, ".sdkmanrc").splitlines():
        tool_name, equals, version = line.partition("#")[0].partition("=")
        if equals:
            yield tool_name.strip(), version.strip()


def own_version(tree: SourceTree, manifest: Manifest | None) -> str:
    """Return the version of a project: that of its manifest, else that of a file for versions, else ""."""
    if manifest is not None and manifest.version:
        return manifest.version
    for name in tree.files:
        if "/" not in name and (name.upper() in ("VERSION", "VERSION.TXT") or name.endswith("_VERSION")):
            words = _text(tree, name).split()
            if len(words) == 1 and _VERSION.fullmatch(words[0]):
                return words[0]
    return _in_sources(tree, manifest) if manifest is not None else ""


def _in_sources(tree: SourceTree, manifest: Manifest) -> str:
    """Return the version that a source file or a file of properties states."""
    rules = load("versions")["own"]
    spellings = (re.sub(r"[-.]", "_", manifest.name), manifest.name.replace("-", "/"), manifest.name)
    names = [*spellings, *map(str.lower, spellings)]
    found = _search(tree, list(_named_by_pyproject(tree)), rules["python"]["pattern"])
    for rule in (rules.get(kind) for kind in (manifest.ecosystem, manifest.build)):
        if rule and not found:
            paths = [path.replace("{name}", name) for path in rule["files"] for name in names]
            found = _search(tree, paths, rule["pattern"])
    return found


def _named_by_pyproject(tree: SourceTree) -> Iterator[str]:
    """Yield the files that a pyproject.toml names as the source of the version."""
    tools = formats.table(formats.toml(_text(tree, "pyproject.toml")).get("tool"))
    path = formats.dig(tools, "hatch", "version", "path")
    if isinstance(path, str):
        yield path
    attribute = formats.dig(tools, "setuptools", "dynamic", "version", "attr")
    if isinstance(attribute, str):
        module = attribute.rpartition(".")[0].replace(".", "/")
        yield from (f"{module}.py", f"{module}/__init__.py", f"src/{module}.py", f"src/{module}/__init__.py")


def _search(tree: SourceTree, paths: Sequence[str], pattern: str) -> str:
    """Return the first group that matches in the first file with a match."""
    matches = (re.search(pattern, _text(tree, path), re.MULTILINE) for path in paths if tree.has(path))
    return next((found[found.lastindex or 0] for found in matches if found), "")


def _text(tree: SourceTree, name: str) -> str:
    return (tree.text(name) or "") if tree.has(name) else ""
