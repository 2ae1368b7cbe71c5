"""How a project is shipped: `deploy`, and `env_templates`, the environment variables that it wants."""

from __future__ import annotations

import re

from oracle.scan import formats
from oracle.scan.tables import load
from oracle.scan.walk import is_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import SourceTree

    Content = dict[str, object]

_MAX_ITEMS, _MAX_FILES, _MAX_VARIABLES = 100, 50, 300
_INSTRUCTION = re.compile(r"(?i)^[ \t]*(FROM|EXPOSE)[ \t]+([^\n]{1,300})", re.MULTILINE)


def detect_deploy(tree: SourceTree, _: Sequence[Manifest]) -> Content:
    """Return how the project is shipped: images, services, clusters, infrastructure, platforms."""
    table = load("deploy")
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
    for path in [one for one in tree.named(*load("deploy")["env_templates"]) if not is_copy(one)][:_MAX_FILES]:
        variables, _invalid = formats.dotenv(tree.text(path))
        named = [{"name": name, "has_default": bool(value)} for name, value in variables.items()]
        files.append({"path": path, "variables": named[:_MAX_VARIABLES]})
    return {"files": files}
