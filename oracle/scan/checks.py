"""How a project is run and checked: `runtime`, `tests`, `lint` and `ci`, continuous integration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from oracle.scan import commands, formats, overview
from oracle.scan.formats import load_data, names, owners
from oracle.scan.manifests import Manifest
from oracle.scan.sanitize import command
from oracle.scan.walk import SourceTree, is_copy

Content = dict[str, object]

_MAX_ITEMS = 100


def detect_runtime(tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    """Return what the project needs to run: versions, dependencies by ecosystem, entry points."""
    return {
        "versions": commands.runtimes(tree, manifests),
        "package_managers": overview.package_managers(tree, manifests),
        "build_systems": sorted({one.build for one in manifests if one.build}),
        "frameworks": overview.frameworks(manifests),
        "dependencies": _by_ecosystem(manifests, "dependencies"),
        "dev_dependencies": _by_ecosystem(manifests, "dev_dependencies"),
        "entry_points": commands.entry_points(tree, manifests),
        "lock_files": overview.lock_files(tree)[:_MAX_ITEMS],
    }


def _by_ecosystem(manifests: Sequence[Manifest], field: str) -> dict[str, Mapping[str, str]]:
    """Return the dependencies of each ecosystem. Of two version ranges the one nearer to the top counts."""
    found: dict[str, dict[str, str]] = {}
    for one in reversed(manifests):
        needs = getattr(one, field)
        if needs:
            found.setdefault(one.ecosystem, {}).update(needs)
    return {name: dict(sorted(needs.items())) for name, needs in sorted(found.items())}


def detect_tests(tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    """Return how the project is tested: tools, settings, folders, files and commands."""
    table = load_data("tests")
    of_dependency = owners("tests", "dependencies")
    configured = tree.by_owner(table["files"], with_copies=False)
    files = _test_files(tree)
    folders = {_test_folder(path) for path in tree.files if "/" in path} - {""}
    stated = commands.find(tree, manifests, table["words"])
    found = {of_dependency[name] for one in manifests for name in one.needs if name in of_dependency}
    found |= {tool for one in manifests for tool in one.tools} & names("tests", "sections")
    found |= {word for text in stated.values() for word in text.split()} & set(of_dependency.values())
    found.update(configured, _imported(tree, files))
    if files or folders:
        built_in = table["built_in"]
        found |= {built_in[one.ecosystem] for one in manifests if one.ecosystem in built_in}
    if any("enable_testing" in one.tools for one in manifests):
        found.add("ctest")
    return {
        "frameworks": sorted(found),
        "config_files": sorted({path for paths in configured.values() for path in paths})[:_MAX_ITEMS],
        "folders": sorted(folders)[:_MAX_ITEMS],
        "file_count": len(files),
        "examples": files[:5],
        "commands": stated,
        "usual_commands": commands.usual(tree, manifests, sorted(found)),
    }


def _test_files(tree: SourceTree) -> list[str]:
    """Return the files that hold tests: by their name or, in some languages, by the name of their folder."""
    named = [path for path in tree.named(*load_data("tests")["names"]) if not is_copy(path)]
    suffixes = tuple(load_data("tests")["suffixes"])
    inside = {
        path
        for path in tree.files
        if path.endswith(suffixes)
        and path.rpartition("/")[0].rpartition("/")[2] in names("tests", "folders")
        and not is_copy(path)
    }
    return [*named, *sorted(inside.difference(named), key=lambda path: (path.count("/"), path))]


def _test_folder(path: str) -> str:
    """Return the folder nearest to the top on the way to a file that is named like one for tests."""
    parts = path.split("/")[:-1]
    at = next((at for at, part in enumerate(parts) if part in names("tests", "folders")), None)
    return "" if at is None or is_copy(path) else "/".join(parts[: at + 1])


def _imported(tree: SourceTree, files: Sequence[str]) -> list[str]:
    """Return the tools that the first test files of a language import."""
    found = []
    for rule in load_data("tests")["imports"]:
        suffixes = tuple(rule["suffixes"])
        texts = [tree.text(path) or "" for path in [one for one in files if one.endswith(suffixes)][:5]]
        if any(word in text for word in rule["words"] for text in texts):
            found.append(rule["tool"])
    return found


def detect_lint(tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    """Return the tools for style, types and commits with their settings, hooks and commands."""
    table = load_data("lint")
    of_dependency = owners("lint", "dependencies") | {name: name for name in table["same_name"]}
    tools = tree.by_owner(table["files"], with_copies=False)
    for one in manifests:
        for name in {*one.tools, *one.needs}.intersection(of_dependency):
            tools.setdefault(of_dependency[name], [one.path])
    if tree.below(".husky"):
        tools.setdefault("husky", [".husky"])
    return {
        "tools": {name: paths[:5] for name, paths in sorted(tools.items())},
        "hooks": _hooks(tree),
        "type_checkers": sorted(names("lint", "type_checkers").intersection(tools)),
        "commands": commands.find(tree, manifests, table["words"]),
    }


def _hooks(tree: SourceTree) -> list[str]:
    """Return the ids of the hooks of pre-commit, and the files that husky runs."""
    settings = tree.text(".pre-commit-config.yaml") if tree.has(".pre-commit-config.yaml") else None
    repositories = formats.items(formats.first_table(settings).get("repos"))
    ids = [formats.dig(hook, "id") for one in repositories for hook in formats.items(formats.dig(one, "hooks"))]
    husky = [path for path in tree.below(".husky") if path.count("/") == 1 and "." not in path.rpartition("/")[2]]
    return [*(name for name in ids if isinstance(name, str)), *husky][:_MAX_ITEMS]


# Continuous integration ------------------------------------------------------------------------------------------------

Document = Mapping[str, Any]
_MAX_FILES, _MAX_COMMANDS, _MAX_VERSIONS, _MAX_DEPTH = 50, 60, 30, 12
_SUFFIXES = (".yml", ".yaml")
_VERSION = re.compile(r"[\w.+*<>=~^/ -]{1,30}")
_NAMED_VERSIONS = ("stable", "beta", "nightly", "head", "latest", "lts/*")
_MATRIX = re.compile(r"\$\{\{\s*matrix\.([\w.-]{1,60})\s*\}\}")


def detect_ci(tree: SourceTree, _: Sequence[Manifest]) -> Content:
    """Return services, workflows with triggers, jobs and actions, commands, and versions of runtimes."""
    table = load_data("ci")
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
    programs = "|".join(map(re.escape, load_data("ci")["programs"]))
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
