"""What runs when somebody pushes: services, workflows, the commands they run and the versions they run them with."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from oracle.scan import formats, words
from oracle.scan.plain import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import Tree

    Content = dict[str, object]

_MOST, _MOST_FILES, _MOST_COMMANDS, _DEEPEST = 100, 50, 60, 12
_WORKFLOWS = (".github/workflows", ".gitea/workflows", ".forgejo/workflows")
_SERVICES = {
    ".circleci/config.yml": "circleci",
    ".buildkite/pipeline.yml": "buildkite",
    ".github/dependabot.yml": "dependabot",
    ".github/dependabot.yaml": "dependabot",
}
_COMMANDS = frozenset("run script commands command bash powershell pwsh test_script build_script before_script".split())
"""Keys under which the services take lines for a shell."""

_BUILDS = re.compile(
    r"(?:[A-Z_]{1,40}=\S{0,80}\s+|(?:sudo|time|xvfb-run(?: -\S+)?|\$\{\{[^}]{1,60}\}\})\s+){0,4}"
    r"(?:make|cmake|ctest|meson|ninja|bazel(?:isk)?|autoreconf|\./(?:configure|gradlew|mvnw|[\w./-]{1,60}\.sh)|[\w./-]{0,40}vendor/bin/[\w-]{1,40}"
    r"|cargo|cross|go|golangci-lint|gotestsum|npm|npx|yarn|pnpm|bun|deno|node|bundle|rake|rspec|composer|php|phpunit|mvn|gradle"
    r"|dotnet|msbuild|swift|xcodebuild|fastlane|pod|python3?|pip3?|pytest|tox|nox|uv|hatch|poetry|pdm|pipenv|pre-commit|ruff|mypy|black"
    r"|just|task|mage|docker (?:build|buildx|compose)|podman build)(?:\s|$)",
    re.ASCII,
)
"""How a line begins that builds, checks or tests."""

_VERSIONS = {
    **dict.fromkeys(("python", "python-version", "python_version", "pyversion"), "python"),
    **dict.fromkeys(("node", "node-version", "node_version", "node_js", "nodejs"), "node"),
    **dict.fromkeys(("go", "go-version", "go_version"), "go"),
    **dict.fromkeys(("java", "java-version", "java_version", "jdk"), "java"),
    **dict.fromkeys(("ruby", "ruby-version", "ruby_version", "rvm"), "ruby"),
    **dict.fromkeys(("php", "php-version", "php-versions"), "php"),
    **dict.fromkeys(("dotnet", "dotnet-version"), "dotnet"),
    **dict.fromkeys(("rust", "rust-version", "toolchain", "msrv", "min_supported_rust_version"), "rust"),
    **dict.fromkeys(("swift", "swift-version"), "swift"),
    **dict.fromkeys(("xcode", "xcode-version", "osx_image"), "xcode"),
}
"""Keys under which the services take the versions of a runtime, and the runtime."""

_VERSION = re.compile(r"[\w.+*<>=~^/ -]{1,30}")
_MATRIX = re.compile(r"\$\{\{\s*matrix\.([\w.-]{1,60})\s*\}\}")


def detect_ci(tree: Tree, _: Sequence[Manifest]) -> Content:
    """Return what runs when somebody pushes: services, workflows with triggers, jobs and actions, commands, versions."""
    workflows = [path for path in tree.below(*_WORKFLOWS) if path.endswith((".yml", ".yaml"))]
    systems: dict[str, list[str]] = {"github actions": workflows[:_MOST]} if workflows else {}
    for path in tree.files:
        if path in _SERVICES:
            systems.setdefault(_SERVICES[path], []).append(path)
    for path in tree.named(*words.CI_FILES):
        name = path.rpartition("/")[2]
        system = next(one for pattern, one in words.CI_FILES.items() if fnmatchcase(name, pattern))
        systems.setdefault(system, []).append(path)
    named = {path: None for paths in systems.values() for path in paths if path.endswith((".yml", ".yaml"))}
    documents = {path: _document(tree, path) for path in list(named)[:_MOST_FILES]}
    return {
        "systems": {name: paths[:20] for name, paths in sorted(systems.items())},
        "workflows": [_workflow(path, documents[path]) for path in workflows if path in documents],
        "gitlab": _gitlab(documents[".gitlab-ci.yml"]) if ".gitlab-ci.yml" in documents else None,
        "circleci_jobs": list(formats.table(documents.get(".circleci/config.yml", {}).get("jobs")))[:_MOST],
        "commands": {path: found for path, document in documents.items() if (found := _commands(document))},
        "versions": _versions(documents),
    }


def _document(tree: Tree, path: str) -> dict[str, Any]:
    return formats.table(next(iter(formats.yaml(tree.text(path))), None))


def _workflow(path: str, document: Mapping[str, Any]) -> Content:
    """Return a workflow of GitHub Actions. YAML 1.1 reads its `on` as true."""
    triggers = document.get("on", document.get("True"))
    jobs = formats.table(document.get("jobs"))
    steps = [step for job in jobs.values() for step in _steps(job)]
    return {
        "path": path,
        "name": document.get("name") if isinstance(document.get("name"), str) else "",
        "triggers": sorted(map(str, triggers)) if isinstance(triggers, dict | list) else formats.texts(triggers),
        "jobs": list(jobs)[:_MOST],
        "runs_on": sorted({one for job in jobs.values() for one in _machines(job)}),
        "uses": sorted({step["uses"] for step in steps if isinstance(step.get("uses"), str)})[:_MOST],
    }


def _steps(job: object) -> list[Any]:
    found = formats.dig(job, "steps")
    return [step for step in found if isinstance(step, dict)] if isinstance(found, list) else []


def _machines(job: object) -> Iterator[str]:
    """Yield the machines that a job runs on, those of a matrix by their names."""
    matrix = formats.table(formats.dig(job, "strategy", "matrix"))
    included = matrix.get("include")
    rows = [matrix, *(included if isinstance(included, list) else [])]
    for stated in formats.texts(formats.dig(job, "runs-on")):
        key = _MATRIX.search(stated)
        values = _below(rows, key[1].split(".")) if key else []
        if key and values:
            yield from (stated[: key.start()] + one + stated[key.end() :] for one in values)
        else:
            yield stated


def _below(value: object, keys: Sequence[str]) -> list[str]:
    """Return the texts at a path of keys, through the lists on its way."""
    if isinstance(value, list):
        return [text for item in value for text in _below(item, keys)]
    if not keys:
        return [value] if isinstance(value, str) else []
    return _below(value.get(keys[0]), keys[1:]) if isinstance(value, dict) else []


def _gitlab(document: Mapping[str, Any]) -> Content:
    """Return stages and jobs of a .gitlab-ci.yml; what begins with a dot is a template, what is a setting no job."""
    jobs = [
        name
        for name, job in document.items()
        if isinstance(job, dict)
        and not name.startswith(".")
        and ("script" in job or "trigger" in job or "extends" in job)
    ]
    return {"stages": formats.texts(document.get("stages")), "jobs": jobs[:_MOST]}


def _walk(value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """Yield every key below a value with what stands under it."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key), item
            yield from _walk(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, depth + 1)


def _commands(document: Mapping[str, Any]) -> list[str]:
    """Return the lines that a service gives to a shell and that call a tool which builds, checks or tests; each once, in order."""
    found: dict[str, None] = {}
    for key, item in _walk(document):
        if key == "steps" and isinstance(item, list):
            found |= dict.fromkeys(_of_cargo(item))
        if key in _COMMANDS:
            lines = (command(line.strip()) for text in formats.texts(item) for line in text.splitlines())
            found |= {line: None for line in lines if _BUILDS.match(line)}
    return list(found)[:_MOST_COMMANDS]


def _of_cargo(steps: Sequence[object]) -> Iterator[str]:
    """Yield what steps tell cargo by way of an action."""
    for step in steps:
        uses, given = formats.dig(step, "uses"), formats.dig(step, "with", "command")
        if isinstance(uses, str) and "/cargo@" in uses and isinstance(given, str):
            more = formats.dig(step, "with", "args")
            line = command(" ".join(["cargo", given, *([more] if isinstance(more, str) else [])]))
            yield from [line] if line else []


def _versions(documents: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the versions of each runtime that the services are told to use."""
    found: dict[str, dict[str, None]] = {}
    for document in documents.values():
        for key, item in _walk(document):
            runtime = _VERSIONS.get(key.lower())
            if runtime:
                found.setdefault(runtime, {}).update(dict.fromkeys(filter(_is_version, _lines(item))))
    return {name: list(versions)[:30] for name, versions in sorted(found.items()) if versions}


def _lines(item: object) -> list[str]:
    """Return the texts and numbers that stand in a list, or on the lines of one text."""
    items = item if isinstance(item, list) else str(item).splitlines() if isinstance(item, str | int | float) else []
    return [str(one).strip() for one in items if isinstance(one, str | int | float) and not isinstance(one, bool)]


def _is_version(stated: str) -> bool:
    is_named = stated in ("stable", "beta", "nightly", "head", "latest", "lts/*")
    return is_named or (_VERSION.fullmatch(stated) is not None and any(one.isdigit() for one in stated))
