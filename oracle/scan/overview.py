"""What a repository is: `dev_env`, the summary that is read first, and `structure`, how it is laid out."""

from __future__ import annotations

import os
from collections import Counter

from oracle.scan import formats, words
from oracle.scan.git import describe_repository
from oracle.scan.manifests import lies_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import Tree

    Content = dict[str, object]

_MOST = 100
_README = ("readme", "readme.md", "readme.rst", "readme.txt", "readme.org", "readme.adoc")
_COMMANDS = (
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    "Taskfile.yml",
    "Rakefile",
    "noxfile.py",
    "magefile.go",
)


def detect_dev_env(tree: Tree, manifests: Sequence[Manifest]) -> Content:
    """Return what somebody needs to begin work: languages, versions, package managers, commands, branch and remotes."""
    counts = languages(tree)
    top = next((one for one in manifests if one.folder == "." and one.name), None)
    repository = describe_repository(tree.path)
    return {
        "name": top.name if top else os.path.basename(tree.path),
        "version": top.version if top else "",
        "primary_language": primary_language(counts),
        "languages": counts,
        "package_managers": package_managers(tree, manifests),
        "manifests": [one.path for one in manifests][:_MOST],
        "runtimes": runtimes(tree, manifests),
        "frameworks": frameworks(manifests),
        "commands": commands(tree, manifests),
        "is_monorepo": is_monorepo(manifests),
        "branch": repository["branch"],
        "remotes": repository["remotes"],
        "readme": next((path for path in tree.files if path.lower() in _README), None),
        "license": next(
            (path for path in tree.files if path.lower().startswith(("license", "licence", "copying"))), None
        ),
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
    built = {one.build for one in manifests if one.build in ("maven", "gradle", "cmake", "meson", "conan", "vcpkg")}
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


def runtimes(tree: Tree, manifests: Sequence[Manifest]) -> dict[str, str]:
    """Return the version that is wanted of each language and tool; what the nearest file to the top states counts."""
    found: dict[str, str] = {}
    for name, runtime in words.VERSION_FILES.items():
        stated = (tree.text(name) or "").split() if tree.has(name) else []
        if stated:
            found.setdefault(runtime, stated[0])
    for line in (tree.text(".tool-versions") or "").splitlines() if tree.has(".tool-versions") else []:
        tool = line.partition("#")[0].split()
        if len(tool) > 1:
            found.setdefault(tool[0], tool[1])
    channel = formats.dig(formats.toml(tree.text("rust-toolchain.toml")), "toolchain", "channel")
    if isinstance(channel, str):
        found.setdefault("rust", channel)
    sdk = formats.dig(formats.json(tree.text("global.json")), "sdk", "version")
    if isinstance(sdk, str):
        found.setdefault("dotnet-sdk", sdk)
    for one in manifests:
        for runtime, version in one.runtimes.items():
            found.setdefault(runtime, version)
    return dict(sorted(found.items()))


def frameworks(manifests: Iterable[Manifest]) -> list[str]:
    """Return the dependencies after which people call a project."""
    needs = {name.lower() for one in manifests for name in one.dependencies}
    return sorted(name for name in words.FRAMEWORKS if name.lower() in needs)


def commands(tree: Tree, manifests: Sequence[Manifest]) -> Content:
    """Return how the project is run: scripts and entry points of the manifests at the top, targets of a Makefile."""
    top = [one for one in manifests if one.folder == "."]
    files = [name for name in _COMMANDS if tree.has(name)]
    return {
        "scripts": {name: text for one in top for name, text in list(one.scripts.items())[:_MOST]},
        "entry_points": {name: text for one in top for name, text in list(one.entry_points.items())[:_MOST]},
        "files": files,
        "targets": _targets(tree.text(files[0])) if files and "akefile" in files[0] and files[0] != "Rakefile" else [],
    }


def _targets(text: str | None) -> list[str]:
    """Return the targets of a Makefile that people call: plain words at the beginning of a line."""
    heads = [line.partition(":")[0] for line in (text or "").splitlines() if ":" in line and ":=" not in line]
    named = [word for head in heads if head[:1].isalpha() for word in head.split()]
    return list(dict.fromkeys(word for word in named if word.replace("-", "").replace("_", "").isalnum()))[:_MOST]


def is_monorepo(manifests: Sequence[Manifest]) -> bool:
    """Tell whether one repository holds several packages: a manifest names them, or they lie in folders of their own."""
    if any(one.members for one in manifests if one.ecosystem != "swift" and one.build not in ("cmake", "meson")):
        return True
    named = {
        one.folder for one in manifests if one.name and one.build not in ("cmake", "meson") and "/" not in one.folder
    }
    return len(named - {".", "examples", "example", "docs", "tests", "test"}) > 1


def packages(manifests: Sequence[Manifest]) -> list[dict[str, str]]:
    """Return the packages of a repository: where each lies, its name and version."""
    return [
        {"path": one.folder, "name": one.name, "version": one.version, "ecosystem": one.ecosystem}
        for one in manifests
        if one.name
    ][:_MOST]


def _most(counts: Counter[str], limit: int) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
