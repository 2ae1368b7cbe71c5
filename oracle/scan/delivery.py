"""How a project leaves the desk: `deploy`, `env_templates`."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from oracle.scan import formats, words
from oracle.scan.manifests import lies_among_copies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import Tree

    Content = dict[str, object]

_MOST, _MOST_FILES = 100, 50
_INSTRUCTION = re.compile(r"(?i)^\s*(FROM|EXPOSE|WORKDIR)[ \t]+([^\n]{1,300})", re.MULTILINE)


def detect_deploy(tree: Tree, _: Sequence[Manifest]) -> Content:
    """Return how the project is shipped: images, services, clusters, infrastructure, platforms."""
    yamls = [
        path
        for path in tree.named("*.yaml", "*.yml")
        if path.startswith(("k8s/", "kubernetes/", "deploy/", "manifests/", "charts/")) or "/k8s/" in path
    ]
    platforms: dict[str, list[str]] = {}
    for path in tree.named(*words.PLATFORMS):
        name = path.rpartition("/")[2]
        platform = next(one for pattern, one in words.PLATFORMS.items() if fnmatchcase(name, pattern))
        platforms.setdefault(platform, []).append(path)
    return {
        "dockerfiles": [
            _dockerfile(tree, path)
            for path in tree.named("Dockerfile", "Dockerfile.*", "*.Dockerfile", "Containerfile")[:_MOST_FILES]
        ],
        "compose": [_compose(tree, path) for path in tree.named("docker-compose*.y*ml", "compose*.y*ml")[:_MOST_FILES]],
        "kubernetes": [found for path in yamls[:_MOST_FILES] for found in _cluster_objects(tree, path)][:_MOST],
        "helm_charts": [path.rpartition("/")[0] or "." for path in tree.named("Chart.yaml")][:_MOST],
        "terraform": sorted({path.rpartition("/")[0] or "." for path in tree.named("*.tf")})[:_MOST],
        "platforms": {name: paths[:5] for name, paths in sorted(platforms.items())},
        "release_files": tree.named(
            "Makefile", "release-please-config.json", ".releaserc*", "lerna.json", "nx.json", "turbo.json"
        )[:20],
    }


def _dockerfile(tree: Tree, path: str) -> Content:
    """Return what a Dockerfile builds upon and exposes; variables and arguments, which may hold anything, are left out."""
    stated = [(found[1].upper(), found[2].split()) for found in _INSTRUCTION.finditer(tree.text(path) or "")]
    images = [[word for word in rest if not word.startswith("--")] for name, rest in stated if name == "FROM"]
    stages = {image[2] for image in images if len(image) > 2 and image[1].upper() == "AS"}
    return {
        "path": path,
        "base_images": list(dict.fromkeys(image[0] for image in images if image and image[0] not in stages)),
        "stages": sorted(stages),
        "ports": [port for name, rest in stated if name == "EXPOSE" for port in rest][:_MOST],
    }


def _compose(tree: Tree, path: str) -> Content:
    """Return the services of a compose file with image and ports; of their environment only the names."""
    document = formats.table(next(iter(formats.yaml(tree.text(path))), None))
    services = {}
    for name, stated in list(formats.table(document.get("services")).items())[:_MOST]:
        service = formats.table(stated)
        ports = service.get("ports")
        environment = service.get("environment")
        named = (
            list(environment)
            if isinstance(environment, dict)
            else [line.partition("=")[0] for line in formats.texts(environment)]
        )
        services[name] = {
            "image": service.get("image") if isinstance(service.get("image"), str) else None,
            "builds": "build" in service,
            "ports": [str(port) for port in ports if isinstance(port, str | int)] if isinstance(ports, list) else [],
            "environment": sorted(str(one) for one in named)[:_MOST],
        }
    return {"path": path, "services": services}


def _cluster_objects(tree: Tree, path: str) -> list[Content]:
    """Return kind and name of the objects that a manifest of Kubernetes describes."""
    found: list[Content] = []
    for document in formats.yaml(tree.text(path)):
        kind, name = formats.dig(document, "kind"), formats.dig(document, "metadata", "name")
        if isinstance(kind, str) and formats.dig(document, "apiVersion"):
            found.append({"path": path, "kind": kind, "name": name if isinstance(name, str) else ""})
    return found


def detect_env_templates(tree: Tree, _: Sequence[Manifest]) -> Content:
    """Return the variables that templates of environment files name; their values, which may be real ones, are left out."""
    files = []
    for path in [one for one in tree.named(*words.ENV_TEMPLATES) if not lies_among_copies(one)][:_MOST_FILES]:
        variables, _wrong = formats.dotenv(tree.text(path))
        files.append(
            {
                "path": path,
                "variables": [
                    {"name": name, "has_default": bool(value)} for name, value in list(variables.items())[:300]
                ],
            }
        )
    return {"files": files}
