"""What a repository is: `dev_env`, the summary to read first, `structure`, how it is laid out, and how it is shipped."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from oracle.scan import commands, formats
from oracle.scan.formats import load_data, names, owners
from oracle.scan.git import describe_repository
from oracle.scan.manifests import Manifest
from oracle.scan.walk import SourceTree, is_copy, is_supporting

Content = dict[str, object]

_MAX_ITEMS, _MAX_COUNTS, _MAX_FILES, _MAX_VARIABLES = 100, 30, 50, 300
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
        "version": commands.own_version(tree, top),
        "primary_language": primary_language(counts),
        "languages": counts,
        "package_managers": package_managers(tree, manifests),
        "manifests": [one.path for one in manifests][:_MAX_ITEMS],
        "runtimes": commands.runtimes(tree, manifests),
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
    for ecosystem, managers in load_data("packages")["ecosystems"].items():
        if ecosystem in ecosystems and found.isdisjoint(managers):
            found |= stated.intersection(managers) or {managers[0]}
    return sorted(found)


def lock_files(tree: SourceTree) -> list[str]:
    """Return the files of package managers, nearest to the top first."""
    return [path for path in tree.named(*owners("packages", "files")) if not is_supporting(path)]


def frameworks(manifests: Iterable[Manifest]) -> list[str]:
    """Return the dependencies that are frameworks."""
    needs = {name.lower() for one in manifests for name in one.dependencies}
    return sorted(name for name in load_data("packages")["frameworks"] if name.lower() in needs)


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


# Shipping: deploy and env_templates ------------------------------------------------------------------------------------

_INSTRUCTION = re.compile(r"(?i)^[ \t]*(FROM|EXPOSE)[ \t]+([^\n]{1,300})", re.MULTILINE)


def detect_deploy(tree: SourceTree, _: Sequence[Manifest]) -> Content:
    """Return how the project is shipped: images, services, clusters, infrastructure, platforms."""
    table = load_data("deploy")
    folders = tuple(f"{name}/" for name in table["kubernetes_folders"])
    yamls = [path for path in tree.named("*.yaml", "*.yml") if path.startswith(folders) or "/k8s/" in path]
    dockerfiles = tree.named("Dockerfile", "Dockerfile.*", "*.Dockerfile", "Containerfile")
    compose_files = tree.named("docker-compose*.y*ml", "compose*.y*ml")
    return {
        "dockerfiles": [_dockerfile(tree, path) for path in dockerfiles[:_MAX_FILES]],
        "compose": [_compose(tree, path) for path in compose_files[:_MAX_FILES]],
        "kubernetes": [found for path in yamls[:_MAX_FILES] for found in _cluster_objects(tree, path)][:_MAX_ITEMS],
        "helm_charts": [path.rpartition("/")[0] or "." for path in tree.named("Chart.yaml")][:_MAX_ITEMS],
        "terraform": sorted({path.rpartition("/")[0] or "." for path in tree.named("*.tf")})[:_MAX_ITEMS],
        "platforms": {name: paths[:5] for name, paths in sorted(tree.by_owner(table["platforms"]).items())},
        "release_files": tree.named(*table["release_files"])[:20],
    }


def _dockerfile(tree: SourceTree, path: str) -> Content:
    """Return the base images, stages and ports of a Dockerfile. Variables and arguments are left out, as secrets may be."""
    stated = [(found[1].upper(), found[2].split()) for found in _INSTRUCTION.finditer(tree.text(path) or "")]
    images = [[word for word in rest if not word.startswith("--")] for name, rest in stated if name == "FROM"]
    stages = {image[2] for image in images if len(image) > 2 and image[1].upper() == "AS"}
    return {
        "path": path,
        "base_images": list(dict.fromkeys(image[0] for image in images if image and image[0] not in stages)),
        "stages": sorted(stages),
        "ports": [port for name, rest in stated if name == "EXPOSE" for port in rest][:_MAX_ITEMS],
    }


def _compose(tree: SourceTree, path: str) -> Content:
    """Return the services of a compose file with image and ports, and the names of their environment variables."""
    document = formats.first_table(tree.text(path))
    services = {}
    for name, stated in list(formats.table(document.get("services")).items())[:_MAX_ITEMS]:
        service = formats.table(stated)
        ports, environment = service.get("ports"), service.get("environment")
        variables = (
            list(environment)
            if isinstance(environment, dict)
            else [line.partition("=")[0] for line in formats.texts(environment)]
        )
        services[name] = {
            "image": service.get("image") if isinstance(service.get("image"), str) else None,
            "builds": "build" in service,
            "ports": [str(port) for port in ports if isinstance(port, str | int)] if isinstance(ports, list) else [],
            "environment": sorted(str(one) for one in variables)[:_MAX_ITEMS],
        }
    return {"path": path, "services": services}


def _cluster_objects(tree: SourceTree, path: str) -> list[Content]:
    """Return kind and name of the objects in a manifest of Kubernetes."""
    found: list[Content] = []
    for document in formats.yaml(tree.text(path)):
        kind, name = formats.dig(document, "kind"), formats.dig(document, "metadata", "name")
        if isinstance(kind, str) and formats.dig(document, "apiVersion"):
            found.append({"path": path, "kind": kind, "name": formats.word(name)})
    return found


def detect_env_templates(tree: SourceTree, _: Sequence[Manifest]) -> Content:
    """Return the variables that templates of environment files name. Their values are left out: they may be real."""
    files = []
    for path in [one for one in tree.named(*load_data("deploy")["env_templates"]) if not is_copy(one)][:_MAX_FILES]:
        variables, _invalid = formats.dotenv(tree.text(path))
        named = [{"name": name, "has_default": bool(value)} for name, value in variables.items()]
        files.append({"path": path, "variables": named[:_MAX_VARIABLES]})
    return {"files": files}
