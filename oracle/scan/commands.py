"""Commands: what a repository says of how it is built, tested and checked, and what its tools are called by."""

from __future__ import annotations

import re

from oracle.scan import formats, ruby
from oracle.scan.plain import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import Tree

    Content = dict[str, object]

_MOST, _LONGEST_PROGRAM = 100, 1 << 17
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_OTHERS = (
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    "Rakefile",
    "noxfile.py",
    "tox.ini",
    "magefile.go",
)
_RULE = re.compile(r"^([A-Za-z][\w./-]*(?:[ \t]+[A-Za-z][\w./-]*)*)[ \t]*::?(?!=)[^=]*$")
_RECIPE = re.compile(r"^@?([A-Za-z][\w-]{0,60})(?:[ \t]+[^:=\n]{0,200})?:(?!=)")
_NO_TEST = "no test specified"  # what `npm init` writes where there is no test


def stated(tree: Tree, manifests: Sequence[Manifest]) -> Content:
    """Return how the project is run: scripts and entry points at the top, targets of a Makefile, tasks of others like it."""
    top = [one for one in manifests if one.folder == "."]
    makefile = next((name for name in _MAKEFILES if tree.has(name)), None)
    return {
        "scripts": {name: text for one in top for name, text in list(one.scripts.items())[:_MOST]},
        "entry_points": entry_points(tree, top),
        "files": [name for name in (*_MAKEFILES, *_OTHERS) if tree.has(name)],
        "targets": list(targets(tree.text(makefile)))[:_MOST] if makefile else [],
        "tasks": {name: list(found)[:_MOST] for name, found in tasks(tree).items()},
    }


def entry_points(tree: Tree, manifests: Sequence[Manifest]) -> dict[str, str]:
    """Return the programs that manifests name, and those that Go and Rust know by where their files lie."""
    found = {name: text for one in manifests for name, text in list(one.entry_points.items())[:_MOST]}
    for one in manifests:
        folder = "" if one.folder == "." else f"{one.folder}/"
        own = re.sub(r"/v\d{1,3}$", "", one.name).rpartition("/")[2]
        if one.ecosystem == "go":
            found |= dict(_in_folders(tree, f"{folder}cmd/", "/main.go"))
            found |= {own: f"{folder}main.go"} if tree.has(f"{folder}main.go") else {}
        elif one.ecosystem == "rust" and own:
            programs = [pair for end in (".rs", "/main.rs") for pair in _in_folders(tree, f"{folder}src/bin/", end)]
            found |= {name: path for name, path in programs if name not in found}
            is_named = any(text == "bin" for text in one.entry_points.values())
            found |= {own: f"{folder}src/main.rs"} if tree.has(f"{folder}src/main.rs") and not is_named else {}
    return found


def _in_folders(tree: Tree, start: str, end: str) -> list[tuple[str, str]]:
    """Return name and path of the files whose path is a start, one name, and an end."""
    paths = [path for path in tree.below(start.rstrip("/")) if path.endswith(end)]
    names = [(path[len(start) : -len(end)], path) for path in paths]
    return [(name, path) for name, path in names if name and "/" not in name][:_MOST]


def about(tree: Tree, manifests: Sequence[Manifest], words: Sequence[str]) -> dict[str, str]:
    """Return what the repository states whose name tells that it is about something: its name and what it runs, "" unknown."""
    found = {name: text for one in manifests if one.folder == "." for name, text in one.scripts.items()}
    makefile = next((name for name in _MAKEFILES if tree.has(name)), None)
    found |= {f"make {name}": text for name, text in targets(tree.text(makefile)).items()} if makefile else {}
    for tool, names in tasks(tree).items():
        found |= {f"{tool} {name}": text for name, text in names.items()}
    return {
        name: text
        for name, text in found.items()
        if any(word in name.lower() for word in words) and _NO_TEST not in text
    }


def targets(text: str | None) -> dict[str, str]:
    """Return the targets of a Makefile that people call, with the first command of each."""
    found: dict[str, str] = {}
    open_: list[str] = []
    for line in (text or "").splitlines():
        if line.startswith("\t"):
            first = command(line.strip().lstrip("@-+"))
            for name in open_ if first and not first.startswith(("#", "$(info", "echo ")) else ():
                found[name] = found[name] or first
            continue
        rule = _RULE.match(line)
        if rule or (line.strip() and not line.startswith("#")):
            open_ = [name for name in rule[1].split() if "/" not in name and "." not in name] if rule else []
            for name in open_:
                found.setdefault(name, "")
    return found


def tasks(tree: Tree) -> dict[str, dict[str, str]]:
    """Return the tasks of the runners beside make: the name of the runner, its tasks with the first command of each."""
    found: dict[str, dict[str, str]] = {}
    for name in _OTHERS:
        text = tree.text(name) if tree.has(name) else None
        if text is None:
            continue
        if name == "Rakefile":
            found["rake"] = dict.fromkeys(ruby.tasks(text), "")
        elif name.lower().endswith("justfile"):
            found["just"] = _recipes(text)
        elif name.startswith("Taskfile"):
            found["task"] = _of_taskfile(text)
        elif name == "noxfile.py":
            found["nox -s"] = _sessions(text)
        elif name == "tox.ini":
            found["tox -e"] = _environments(text)
    return {name: listed for name, listed in found.items() if listed}


def _recipes(text: str) -> dict[str, str]:
    """Return the recipes of a justfile."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        recipe = _RECIPE.match(line)
        if recipe:
            name = recipe[1]
            found.setdefault(name, "")
        elif line.startswith((" ", "\t")) and name and not found[name]:
            found[name] = command(line.strip().lstrip("@-"))
    return {name: line for name, line in found.items() if name not in ("set", "alias", "export", "import", "mod")}


def _of_taskfile(text: str) -> dict[str, str]:
    listed = formats.table(formats.dig(next(iter(formats.yaml(text)), None), "tasks"))
    return {
        name: next(iter(formats.texts(formats.dig(one, "cmds") if isinstance(one, dict) else one)), "")
        for name, one in listed.items()
    }


def _sessions(text: str) -> dict[str, str]:
    """Return the sessions of a noxfile: functions that are decorated as such."""
    import ast

    tree = formats.parse(text, ast.parse) if len(text) <= _LONGEST_PROGRAM else None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if tree is not None else []
    return {one.name: "" for one in functions if any("session" in ast.unparse(mark) for mark in one.decorator_list)}


def _environments(text: str) -> dict[str, str]:
    """Return the environments of a tox.ini that have a section of their own."""
    sections = formats.ini(text)
    return {
        name.removeprefix("testenv:"): next(iter((sections[name].get("commands") or "").split("\n")[1:2]), "").strip()
        for name in sections.sections()
        if name.startswith("testenv:") and "{" not in name
    }


def usual(tree: Tree, manifests: Sequence[Manifest], frameworks: Sequence[str]) -> list[str]:
    """Return the commands by which the tools that were found run the tests, whatever the repository says of it."""
    top = {name for one in manifests if one.folder == "." for name in (one.build, one.ecosystem)}
    bridged = any("symfony/phpunit-bridge" in one.needs and "phpunit/phpunit" not in one.needs for one in manifests)
    workspace = any(one.ecosystem == "rust" and one.members for one in manifests)
    found = {
        "go": "go test ./...",
        "rust": "cargo test --workspace" if workspace else "cargo test",
        "maven": "./mvnw test" if tree.has("mvnw") else "mvn test",
        "gradle": "./gradlew test" if tree.has("gradlew") else "gradle test",
        "swift": "swift test",
        "meson": "meson test",
        "autotools": "make check",
    }
    by_framework = {
        "ctest": "ctest",
        "dotnet test": "dotnet test",
        "phpunit": "vendor/bin/simple-phpunit" if bridged else "vendor/bin/phpunit",
        "pest": "vendor/bin/pest",
        "rspec": "bundle exec rspec",
        "pytest": "pytest",
        "tox": "tox",
        "nox": "nox",
    }
    commands = [line for name, line in found.items() if name in top]
    commands += [line for name, line in by_framework.items() if name in frameworks]
    return [*commands, *(["bundle exec rake test"] if "test" in tasks(tree).get("rake", {}) else [])]
