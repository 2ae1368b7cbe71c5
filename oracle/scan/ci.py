"""Continuous integration: services, workflows, the commands that they run and the versions that they use."""

from __future__ import annotations

import re
from functools import cache

from oracle.scan import formats
from oracle.scan.sanitize import command
from oracle.scan.tables import load, names, owners

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import SourceTree

    Content = dict[str, object]
    Document = Mapping[str, Any]

_MAX_ITEMS, _MAX_FILES, _MAX_COMMANDS, _MAX_VERSIONS, _MAX_DEPTH = 100, 50, 60, 30, 12
_SUFFIXES = (".yml", ".yaml")
_VERSION = re.compile(r"[\w.+*<>=~^/ -]{1,30}")
_NAMED_VERSIONS = ("stable", "beta", "nightly", "head", "latest", "lts/*")
_MATRIX = re.compile(r"\$\{\{\s*matrix\.([\w.-]{1,60})\s*\}\}")


def detect_ci(tree: SourceTree, _: Sequence[Manifest]) -> Content:
    """Return services, workflows with triggers, jobs and actions, commands, and versions of runtimes."""
    table = load("ci")
    workflows = [path for path in tree.below(*table["workflow_folders"]) if path.endswith(_SUFFIXES)]
    systems = {"github actions": workflows[:_MAX_ITEMS]} if workflows else {}
    for name, paths in table["paths"].items():
        systems |= {name: found} if (found := list(filter(tree.has, paths))) else {}
    for name, paths in tree.by_owner(table["names"]).items():
        systems[name] = [*systems.get(name, ()), *paths]
    paths = [path for found in systems.values() for path in found if path.endswith(_SUFFIXES)]
    documents = {path: formats.first_table(tree.text(path)) for path in list(dict.fromkeys(paths))[:_MAX_FILES]}
    return {
        "systems": {name: paths[:20] for name, paths in sorted(systems.items())},
        "workflows": [_workflow(path, documents[path]) for path in workflows if path in documents],
        "gitlab": _gitlab(documents[".gitlab-ci.yml"]) if ".gitlab-ci.yml" in documents else None,
        "circleci_jobs": list(formats.table(documents.get(".circleci/config.yml", {}).get("jobs")))[:_MAX_ITEMS],
        "commands": {path: found for path, document in documents.items() if (found := _commands(document))},
        "versions": _versions(documents.values()),
    }


def _workflow(path: str, document: Document) -> Content:
    """Return a workflow of GitHub Actions. YAML 1.1 reads its key `on` as true."""
    triggers = document.get("on", document.get("True"))
    jobs = formats.table(document.get("jobs"))
    uses = [formats.dig(step, "uses") for job in jobs.values() for step in formats.items(formats.dig(job, "steps"))]
    return {
        "path": path,
        "name": formats.word(document.get("name")),
        "triggers": sorted(map(str, triggers)) if isinstance(triggers, dict | list) else formats.texts(triggers),
        "jobs": list(jobs)[:_MAX_ITEMS],
        "runs_on": sorted({one for job in jobs.values() for one in _runners(job)}),
        "uses": sorted({one for one in uses if isinstance(one, str)})[:_MAX_ITEMS],
    }


def _runners(job: object) -> Iterator[str]:
    """Yield the machines that a job runs on; those of a matrix by their names."""
    matrix = formats.table(formats.dig(job, "strategy", "matrix"))
    rows = [matrix, *formats.items(matrix.get("include"))]
    for stated in formats.texts(formats.dig(job, "runs-on")):
        key = _MATRIX.search(stated)
        values = _below(rows, key[1].split(".")) if key else []
        if key and values:
            yield from (stated[: key.start()] + one + stated[key.end() :] for one in values)
        else:
            yield stated


def _below(value: object, keys: Sequence[str]) -> list[str]:
    """Return the texts at a path of keys, in every item of the lists on its way."""
    if isinstance(value, list):
        return [text for item in value for text in _below(item, keys)]
    if not keys:
        return [value] if isinstance(value, str) else []
    return _below(value.get(keys[0]), keys[1:]) if isinstance(value, dict) else []


def _gitlab(document: Document) -> Content:
    """Return stages and jobs of a .gitlab-ci.yml. A name that begins with a dot is a template, not a job."""
    jobs = [
        name
        for name, job in document.items()
        if isinstance(job, dict)
        and not name.startswith(".")
        and not job.keys().isdisjoint(("script", "trigger", "extends"))
    ]
    return {"stages": formats.texts(document.get("stages")), "jobs": jobs[:_MAX_ITEMS]}


def _walk(value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """Yield every key below a value with the value of that key."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key), item
            yield from _walk(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, depth + 1)


@cache
def _build_line() -> re.Pattern[str]:
    """Return the pattern of a line that builds, checks or tests: variables and wrappers, then a known program."""
    programs = "|".join(map(re.escape, load("ci")["programs"]))
    return re.compile(
        r"(?:[A-Z_]{1,40}=\S{0,80}\s+|(?:sudo|time|xvfb-run(?: -\S+)?|\$\{\{[^}]{1,60}\}\})\s+){0,4}"
        rf"(?:{programs}|\./(?:configure|gradlew|mvnw|[\w./-]{{1,60}}\.sh)|[\w./-]{{0,40}}vendor/bin/[\w-]{{1,40}})(?:\s|$)",
        re.ASCII,
    )


def _commands(document: Document) -> list[str]:
    """Return the lines for a shell that build, check or test, each once, in order."""
    found: dict[str, None] = {}
    for key, item in _walk(document):
        if key == "steps":
            found |= dict.fromkeys(_cargo_lines(formats.items(item)))
        if key in names("ci", "command_keys"):
            lines = (command(line.strip()) for text in formats.texts(item) for line in text.splitlines())
            found |= {line: None for line in lines if _build_line().match(line)}
    return list(found)[:_MAX_COMMANDS]


def _cargo_lines(steps: Sequence[object]) -> Iterator[str]:
    """Yield the commands of steps that call cargo through an action."""
    for step in steps:
        uses, given = formats.word(formats.dig(step, "uses")), formats.word(formats.dig(step, "with", "command"))
        if "/cargo@" in uses and given:
            line = command(f"cargo {given} {formats.word(formats.dig(step, 'with', 'args'))}".rstrip())
            yield from [line] if line else []


def _versions(documents: Iterable[Document]) -> dict[str, list[str]]:
    """Return the versions of each runtime that the services use."""
    of_key = owners("ci", "version_keys")
    found: dict[str, dict[str, None]] = {}
    for document in documents:
        for key, item in _walk(document):
            runtime = of_key.get(key.lower())
            if runtime:
                found.setdefault(runtime, {}).update(dict.fromkeys(filter(_is_version, _scalars(item))))
    return {name: list(versions)[:_MAX_VERSIONS] for name, versions in sorted(found.items()) if versions}


def _scalars(item: object) -> list[str]:
    """Return the texts and numbers of a list, or of the lines of one text."""
    listed = item if isinstance(item, list) else str(item).splitlines() if isinstance(item, str | int | float) else []
    return [str(one).strip() for one in listed if isinstance(one, str | int | float) and not isinstance(one, bool)]


def _is_version(stated: str) -> bool:
    return stated in _NAMED_VERSIONS or (_VERSION.fullmatch(stated) is not None and any(map(str.isdigit, stated)))
