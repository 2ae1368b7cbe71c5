"""What a repository is: `dev_env`, the summary that is read first, and `structure`, how it is laid out."""

from __future__ import annotations

import os
import re
from collections import Counter

from oracle.scan import commands, versions, words
from oracle.scan.git import describe_repository
from oracle.scan.manifests import lies_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import Tree

    Content = dict[str, object]

_MOST = 100
_LICENSE = re.compile(r"(?i)(?:^|[-_.])(?:licen[cs]e|copying|unlicense)(?:$|[-_.])")
_ONE_PACKAGE = frozenset(("c_cpp", "dotnet", "swift", "xcode", "cocoapods"))
_README = ("readme", "readme.md", "readme.rst", "readme.txt", "readme.org", "readme.adoc")


def detect_dev_env(tree: Tree, manifests: Sequence[Manifest]) -> Content:
    """Return what somebody needs to begin work: languages, versions, package managers, commands, branch and remotes."""
    counts = languages(tree)
    named = [one for one in manifests if one.folder == "." and one.name]
    top = next((one for one in named if one.version), next(iter(named), None))
    repository = describe_repository(tree.path)
    return {
        "name": top.name if top else os.path.basename(tree.path),
        "version": versions.own_version(tree, top),
        "primary_language": primary_language(counts),
        "languages": counts,
        "package_managers": package_managers(tree, manifests),
        "manifests": [one.path for one in manifests][:_MOST],
        "runtimes": versions.runtimes(tree, manifests),
        "frameworks": frameworks(manifests),
        "commands": commands.stated(tree, manifests),
        "is_monorepo": is_monorepo(manifests),
        "branch": repository["branch"],
        "remotes": repository["remotes"],
        "readme": next((path for path in tree.files if path.lower() in _README), None),
        "license": _license(tree),
    }


def detect_structure(tree: Tree, manifests: Sequence[Manifest]) -> Content:
    """Return how the repository is laid out: its size, its first folders, its packages, and what was left out."""
    folders = Counter(path.partition("/")[0] for path in tree.files if "/" in path)
    suffixes = Counter(os.path.splitext(path)[1].lower() for path in tree.files)
    suffixes.pop("", None)
    return {
        "files": len(tree.files),
        "bytes": tree.bytes,
        "ignored": tree.ignored,
        "links": tree.links,
        "complete": tree.complete,
        "top_files": [path for path in tree.files if "/" not in path][:_MOST],
        "folders": dict(sorted(folders.items())[:_MOST]),
        "suffixes": dict(_most(suffixes, 30)),
        "languages": languages(tree),
        "is_monorepo": is_monorepo(manifests),
        "packages": packages(manifests),
        "workspaces": {one.path: list(one.members)[:_MOST] for one in manifests if one.members},
        "documentation": sorted({path.partition("/")[0] for path in tree.below("docs", "doc", "documentation")}),
    }


def languages(tree: Tree) -> dict[str, int]:
    """Return the number of files of each language, most first; a `.h` is of the language around it."""
    suffixes = Counter(os.path.splitext(path)[1][1:].lower() for path in tree.files)
    headers = suffixes.pop("h", 0)
    found: Counter[str] = Counter()
    for suffix, count in suffixes.items():
        if suffix in words.OF_SUFFIX:
            found[words.OF_SUFFIX[suffix]] += count
    if headers:
        found[max(("C", "C++", "Objective-C"), key=lambda name: found[name])] += headers
    return dict(_most(found, 30))


def primary_language(counts: dict[str, int]) -> str | None:
    """Return the language that a project is named after."""
    return next((name for name in counts if name not in words.BESIDE), next(iter(counts), None))


def package_managers(tree: Tree, manifests: Sequence[Manifest]) -> list[str]:
    """Return the package managers in use, by their lock files, else by what the manifests state or are of."""
    locked = {words.LOCKS[path.rpartition("/")[2]] for path in tree.named(*words.LOCKS) if not lies_beside(path)}
    stated = {name for one in manifests for name in one.runtimes if name in ("npm", "yarn", "pnpm", "bun")}
    built = {
        one.build
        for one in manifests
        if one.build in ("maven", "gradle", "cmake", "meson", "conan", "vcpkg", "cocoapods")
    }
    found = (
        locked
        | built
        | (stated if one_of(manifests, "node") and not locked & {"npm", "yarn", "pnpm", "bun"} else set())
    )
    ecosystems = {one.ecosystem for one in manifests}
    managers = {
        "python": {"uv", "poetry", "pdm", "pipenv", "pip", "conda"},
        "node": {"npm", "yarn", "pnpm", "bun"},
    }
    for ecosystem, manager in words.MANAGER_OF.items():
        if ecosystem in ecosystems and not found & managers.get(ecosystem, {manager}):
            found.add(manager)
    return sorted(found)


def one_of(manifests: Iterable[Manifest], ecosystem: str) -> bool:
    """Tell whether a manifest is of an ecosystem."""
    return any(one.ecosystem == ecosystem for one in manifests)


def frameworks(manifests: Iterable[Manifest]) -> list[str]:
    """Return the dependencies after which people call a project."""
    needs = {name.lower() for one in manifests for name in one.dependencies}
    return sorted(name for name in words.FRAMEWORKS if name.lower() in needs)


def _license(tree: Tree) -> str | None:
    """Return the file at the top that states the licence; a plain name before one with more words in it."""
    found = [path for path in tree.files if "/" not in path and _LICENSE.search(path)]
    return min(found, key=_plainness, default=None)


def _plainness(path: str) -> tuple[int, bool, int]:
    name, suffix = os.path.splitext(path)
    return len(re.findall(r"\w+", name)), suffix.lower() in (".rtf", ".html", ".pdf"), len(path)


def is_monorepo(manifests: Sequence[Manifest]) -> bool:
    """Tell whether one repository holds several packages: a manifest names them, or they lie in folders of their own.

    The projects of one solution of .NET, the targets of Swift and the folders of CMake and Meson are no packages.
    """
    apart = [one for one in manifests if one.ecosystem not in _ONE_PACKAGE]
    if any(len(one.members) > (one.build == "gradle") for one in apart):
        return True
    folders = {one.folder for one in apart if one.name}
    beside = Counter(folder.rpartition("/")[0] for folder in folders if folder != ".")
    return any(count > 1 for count in beside.values())


def packages(manifests: Sequence[Manifest]) -> list[dict[str, str]]:
    """Return the packages of a repository: where each lies, its name and version."""
    return [
        {"path": one.folder, "name": one.name, "version": one.version, "ecosystem": one.ecosystem}
        for one in manifests
        if one.name
    ][:_MOST]


def _most(counts: Counter[str], limit: int) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
