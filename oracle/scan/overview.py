"""What a repository is: `dev_env`, the summary to read first, and `structure`, how it is laid out."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from oracle.scan import commands, versions
from oracle.scan.git import describe_repository
from oracle.scan.manifests import Manifest
from oracle.scan.tables import load, names, owners
from oracle.scan.walk import SourceTree, is_supporting

Content = dict[str, object]

_MAX_ITEMS = 100
_MAX_COUNTS = 30
_LICENSE = re.compile(r"(?i)(?:^|[-_.])(?:licen[cs]e|copying|unlicense)(?:$|[-_.])")
_ONE_PACKAGE = frozenset(("c_cpp", "dotnet", "swift", "xcode", "cocoapods"))
_README = ("readme", "readme.md", "readme.rst", "readme.txt", "readme.org", "readme.adoc")


def detect_dev_env(tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    """Return what a newcomer needs: languages, versions, package managers, commands, branch and remotes."""
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
        "manifests": [one.path for one in manifests][:_MAX_ITEMS],
        "runtimes": versions.runtimes(tree, manifests),
        "frameworks": frameworks(manifests),
        "commands": commands.summarize(tree, manifests),
        "is_monorepo": is_monorepo(manifests),
        "branch": repository["branch"],
        "remotes": repository["remotes"],
        "readme": next((path for path in tree.files if path.lower() in _README), None),
        "license": _license(tree),
    }


def detect_structure(tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    """Return the layout of the repository: its size, its folders at the top, its packages, and what was left out."""
    folders = Counter(path.partition("/")[0] for path in tree.files if "/" in path)
    suffixes = Counter(os.path.splitext(path)[1].lower() for path in tree.files)
    suffixes.pop("", None)
    return {
        "files": len(tree.files),
        "bytes": tree.bytes,
        "ignored": tree.ignored,
        "links": tree.links,
        "complete": tree.complete,
        "top_files": [path for path in tree.files if "/" not in path][:_MAX_ITEMS],
        "folders": dict(sorted(folders.items())[:_MAX_ITEMS]),
        "suffixes": _most_frequent(suffixes),
        "languages": languages(tree),
        "is_monorepo": is_monorepo(manifests),
        "packages": packages(manifests),
        "workspaces": {one.path: list(one.members)[:_MAX_ITEMS] for one in manifests if one.members},
        "documentation": sorted({path.partition("/")[0] for path in tree.below("docs", "doc", "documentation")}),
    }


def languages(tree: SourceTree) -> dict[str, int]:
    """Return the number of files of each language. A `.h` counts for the most frequent of its languages."""
    suffixes = Counter(os.path.splitext(path)[1][1:].lower() for path in tree.files)
    headers = suffixes.pop("h", 0)
    of_suffix = owners("languages", "suffixes")
    found: Counter[str] = Counter()
    for suffix, count in suffixes.items():
        if suffix in of_suffix:
            found[of_suffix[suffix]] += count
    if headers:
        found[max(("C", "C++", "Objective-C"), key=lambda name: found[name])] += headers
    return _most_frequent(found)


def primary_language(counts: dict[str, int]) -> str | None:
    """Return the most frequent language that is more than markup, styles, queries or shell scripts."""
    secondary = names("languages", "secondary")
    return next((name for name in counts if name not in secondary), next(iter(counts), None))


def package_managers(tree: SourceTree, manifests: Sequence[Manifest]) -> list[str]:
    """Return the package managers by their files and build systems, else by what manifests state, else the usual ones."""
    files = owners("packages", "files")
    found = {files[path.rpartition("/")[2]] for path in lock_files(tree)}
    found |= {one.build for one in manifests} & names("packages", "build_systems")
    ecosystems = {one.ecosystem for one in manifests}
    stated = {name for one in manifests for name in one.runtimes}
    for ecosystem, managers in load("packages")["ecosystems"].items():
        if ecosystem in ecosystems and found.isdisjoint(managers):
            found |= stated.intersection(managers) or {managers[0]}
    return sorted(found)


def lock_files(tree: SourceTree) -> list[str]:
    """Return the files of package managers, nearest to the top first."""
    return [path for path in tree.named(*owners("packages", "files")) if not is_supporting(path)]


def frameworks(manifests: Iterable[Manifest]) -> list[str]:
    """Return the dependencies that are frameworks."""
    needs = {name.lower() for one in manifests for name in one.dependencies}
    return sorted(name for name in load("packages")["frameworks"] if name.lower() in needs)


def _license(tree: SourceTree) -> str | None:
    """Return the licence file at the top; the plainest name comes first."""
    found = [path for path in tree.files if "/" not in path and _LICENSE.search(path)]
    words = {path: len(re.findall(r"\w+", os.path.splitext(path)[0])) for path in found}
    return min(found, key=lambda path: (words[path], path.endswith((".rtf", ".html", ".pdf")), len(path)), default=None)


def is_monorepo(manifests: Sequence[Manifest]) -> bool:
    """Return whether the repository holds several packages: a manifest names them, or their folders are siblings.

    Projects of a .NET solution, targets of Swift and folders of CMake and Meson do not count as packages.
    """
    separate = [one for one in manifests if one.ecosystem not in _ONE_PACKAGE]
    if any(len(one.members) > (one.build == "gradle") for one in separate):
        return True
    folders = {one.folder for one in separate if one.name}
    siblings = Counter(folder.rpartition("/")[0] for folder in folders if folder != ".")
    return any(count > 1 for count in siblings.values())


def packages(manifests: Sequence[Manifest]) -> list[dict[str, str]]:
    """Return folder, name, version and ecosystem of the packages."""
    return [
        {"path": one.folder, "name": one.name, "version": one.version, "ecosystem": one.ecosystem}
        for one in manifests
        if one.name
    ][:_MAX_ITEMS]


def _most_frequent(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MAX_COUNTS])
