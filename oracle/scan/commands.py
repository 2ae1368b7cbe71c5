"""What a repository states about itself: how it is built, tested and checked, and which versions it needs and has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from oracle.scan import formats
from oracle.scan.formats import load_data, owners
from oracle.scan.manifests import Manifest
from oracle.scan.readers import rake_tasks
from oracle.scan.sanitize import command
from oracle.scan.walk import SourceTree

Content = dict[str, object]
_MAX_ITEMS, _MAX_PROGRAM = 100, 1 << 17
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_RULE = re.compile(r"^([A-Za-z][\w./-]*(?:[ \t]+[A-Za-z][\w./-]*)*)[ \t]*::?(?!=)[^=]*$")
_RECIPE = re.compile(r"^@?([A-Za-z][\w-]{0,60})(?:[ \t]+[^:=\n]{0,200})?:(?!=)")
_NO_TEST = "no test specified"  # what `npm init` writes


def summarize(tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    """Return scripts and entry points of the manifests at the top, make targets, and tasks of other runners."""
    top = [one for one in manifests if one.folder == "."]
    return {
        "scripts": {name: text for one in top for name, text in list(one.scripts.items())[:_MAX_ITEMS]},
        "entry_points": entry_points(tree, top),
        "files": [name for name in (*_MAKEFILES, *_RUNNERS, "magefile.go") if tree.has(name)],
        "targets": list(_make_targets(tree))[:_MAX_ITEMS],
        "tasks": {name: list(found)[:_MAX_ITEMS] for name, found in tasks(tree).items()},
    }


def entry_points(tree: SourceTree, manifests: Sequence[Manifest]) -> dict[str, str]:
    """Return the programs that manifests name, and those that Go and Rust find by the place of a file."""
    found = {name: text for one in manifests for name, text in list(one.entry_points.items())[:_MAX_ITEMS]}
    for one in manifests:
        folder = "" if one.folder == "." else f"{one.folder}/"
        own = re.sub(r"/v\d{1,3}$", "", one.name).rpartition("/")[2]
        if one.ecosystem == "go":
            found |= dict(_in_folder(tree, f"{folder}cmd/", "/main.go"))
            found |= {own: f"{folder}main.go"} if tree.has(f"{folder}main.go") else {}
        elif one.ecosystem == "rust" and own:
            programs = [pair for end in (".rs", "/main.rs") for pair in _in_folder(tree, f"{folder}src/bin/", end)]
            found |= {name: path for name, path in programs if name not in found}
            is_named = any(text == "bin" for text in one.entry_points.values())
            found |= {own: f"{folder}src/main.rs"} if tree.has(f"{folder}src/main.rs") and not is_named else {}
    return found


def _in_folder(tree: SourceTree, start: str, end: str) -> list[tuple[str, str]]:
    """Return name and path of the files whose path is a start, a name without slashes, and an end."""
    paths = [path for path in tree.below(start.rstrip("/")) if path.endswith(end)]
    names = [(path[len(start) : -len(end)], path) for path in paths]
    return [(name, path) for name, path in names if name and "/" not in name][:_MAX_ITEMS]


def find(tree: SourceTree, manifests: Sequence[Manifest], words: Sequence[str]) -> dict[str, str]:
    """Return the stated commands whose name holds one of the words: name, and what it runs ("" if unknown)."""
    found = {name: text for one in manifests if one.folder == "." for name, text in one.scripts.items()}
    found |= {f"make {name}": text for name, text in _make_targets(tree).items()}
    for tool, names in tasks(tree).items():
        found |= {f"{tool} {name}": text for name, text in names.items()}
    return {
        name: text
        for name, text in found.items()
        if any(word in name.lower() for word in words) and _NO_TEST not in text
    }


def usual(tree: SourceTree, manifests: Sequence[Manifest], tools: Sequence[str]) -> list[str]:
    """Return the commands by which the tools of a project usually run the tests."""
    table = load_data("tests")
    known = {name for one in manifests if one.folder == "." for name in (one.build, one.ecosystem)}.union(tools)
    lines = {**table["usual_commands"]}
    lines |= {name: own["command"] for name, own in table["wrappers"].items() if tree.has(own["file"])}
    if any(one.ecosystem == "rust" and one.members for one in manifests):
        lines["rust"] = "cargo test --workspace"
    if any("symfony/phpunit-bridge" in one.needs and "phpunit/phpunit" not in one.needs for one in manifests):
        lines["phpunit"] = "vendor/bin/simple-phpunit"
    has_rake_test = "test" in tasks(tree).get("rake", {})
    return [*(line for name, line in lines.items() if name in known), *["bundle exec rake test"] * has_rake_test]


def _make_targets(tree: SourceTree) -> dict[str, str]:
    """Return the targets of the Makefile that people call, with the first command of each."""
    makefile = next((name for name in _MAKEFILES if tree.has(name)), None)
    found: dict[str, str] = {}
    current: list[str] = []
    for line in ((tree.text(makefile) if makefile else None) or "").splitlines():
        if line.startswith("\t"):
            first = command(line.strip().lstrip("@-+"))
            for name in current if first and not first.startswith(("#", "$(info", "echo ")) else ():
                found[name] = found[name] or first
            continue
        rule = _RULE.match(line)
        if rule or (line.strip() and not line.startswith("#")):
            current = [name for name in rule[1].split() if "/" not in name and "." not in name] if rule else []
            for name in current:
                found.setdefault(name, "")
    return found


def tasks(tree: SourceTree) -> dict[str, dict[str, str]]:
    """Return the tasks of the runners other than make, with the first command of each."""
    found = {}
    for file, (runner, read) in _RUNNERS.items():
        listed = read(tree.text(file) or "") if tree.has(file) else {}
        if listed:
            found[runner] = listed
    return found


def _justfile(text: str) -> dict[str, str]:
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


def _taskfile(text: str) -> dict[str, str]:
    listed = formats.table(formats.first_table(text).get("tasks"))
    return {
        name: next(iter(formats.texts(formats.dig(one, "cmds") if isinstance(one, dict) else one)), "")
        for name, one in listed.items()
    }


def _noxfile(text: str) -> dict[str, str]:
    """Return the functions of a noxfile that are decorated as sessions."""
    import ast

    tree = formats.parse(text, ast.parse) if len(text) <= _MAX_PROGRAM else None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if tree is not None else []
    return {one.name: "" for one in functions if any("session" in ast.unparse(mark) for mark in one.decorator_list)}


def _tox_ini(text: str) -> dict[str, str]:
    """Return the environments that have a section of their own."""
    sections = formats.ini(text)
    return {
        name.removeprefix("testenv:"): next(iter((sections[name].get("commands") or "").split("\n")[1:2]), "").strip()
        for name in sections.sections()
        if name.startswith("testenv:") and "{" not in name
    }


_RUNNERS: dict[str, tuple[str, Callable[[str], dict[str, str]]]] = {
    "justfile": ("just", _justfile),
    "Justfile": ("just", _justfile),
    ".justfile": ("just", _justfile),
    "Taskfile.yml": ("task", _taskfile),
    "Taskfile.yaml": ("task", _taskfile),
    "Rakefile": ("rake", lambda text: dict.fromkeys(rake_tasks(text), "")),
    "noxfile.py": ("nox -s", _noxfile),
    "tox.ini": ("tox -e", _tox_ini),
}
"""The file of each task runner, the command that runs its tasks, and the function that reads it."""


# Versions --------------------------------------------------------------------------------------------------------------

_VERSION = re.compile(r"v?\d[\w.+-]{0,40}")


def runtimes(tree: SourceTree, manifests: Sequence[Manifest]) -> dict[str, str]:
    """Return the version of each runtime and tool. Of several statements the one nearest to the top counts."""
    found: dict[str, str] = {}
    # a podspec states the language of its pods, a Package.swift the tools that read it
    ordered = sorted(manifests, key=lambda one: one.ecosystem == "cocoapods")
    for name, version in (*_stated(tree), *(pair for one in ordered for pair in one.runtimes.items())):
        found.setdefault(owners("versions", "aliases").get(name, name), version)
    return dict(sorted(found.items()))


def _stated(tree: SourceTree) -> Iterator[tuple[str, str]]:
    """Yield what files at the top state that are no manifests."""
    for name, runtime in owners("versions", "files").items():
        words = _text(tree, name).split()
        if words:
            yield runtime, words[0]
    yield from _version_managers(tree)
    for rule in load_data("versions")["patterns"]:
        version = _search(tree, rule["files"], rule["pattern"])
        if version:
            yield rule["runtime"], version


def _version_managers(tree: SourceTree) -> Iterator[tuple[str, str]]:
    """Yield what files of asdf, mise and SDKMAN state."""
    for line in _text(tree, ".tool-versions").splitlines():
        tool = line.partition("#")[0].split()
        if len(tool) > 1:
            yield tool[0], tool[1]
    for name in ("mise.toml", ".mise.toml"):
        for tool_name, stated in formats.table(formats.toml(_text(tree, name)).get("tools")).items():
            version = formats.dig(stated, "version") if isinstance(stated, dict) else stated
            if isinstance(version, str):
                yield tool_name, version
    for line in _text(tree, ".sdkmanrc").splitlines():
        tool_name, equals, version = line.partition("#")[0].partition("=")
        if equals:
            yield tool_name.strip(), version.strip()


def own_version(tree: SourceTree, manifest: Manifest | None) -> str:
    """Return the version of a project: that of its manifest, else that of a file for versions, else ""."""
    if manifest is not None and manifest.version:
        return manifest.version
    for name in tree.files:
        if "/" not in name and (name.upper() in ("VERSION", "VERSION.TXT") or name.endswith("_VERSION")):
            words = _text(tree, name).split()
            if len(words) == 1 and _VERSION.fullmatch(words[0]):
                return words[0]
    return _in_sources(tree, manifest) if manifest is not None else ""


def _in_sources(tree: SourceTree, manifest: Manifest) -> str:
    """Return the version that a source file or a file of properties states."""
    rules = load_data("versions")["own"]
    spellings = (re.sub(r"[-.]", "_", manifest.name), manifest.name.replace("-", "/"), manifest.name)
    names = [*spellings, *map(str.lower, spellings)]
    found = _search(tree, list(_named_by_pyproject(tree)), rules["python"]["pattern"])
    for rule in (rules.get(kind) for kind in (manifest.ecosystem, manifest.build)):
        if rule and not found:
            paths = [path.replace("{name}", name) for path in rule["files"] for name in names]
            found = _search(tree, paths, rule["pattern"])
    return found


def _named_by_pyproject(tree: SourceTree) -> Iterator[str]:
    """Yield the files that a pyproject.toml names as the source of the version."""
    tools = formats.table(formats.toml(_text(tree, "pyproject.toml")).get("tool"))
    path = formats.dig(tools, "hatch", "version", "path")
    if isinstance(path, str):
        yield path
    attribute = formats.dig(tools, "setuptools", "dynamic", "version", "attr")
    if isinstance(attribute, str):
        module = attribute.rpartition(".")[0].replace(".", "/")
        yield from (f"{module}.py", f"{module}/__init__.py", f"src/{module}.py", f"src/{module}/__init__.py")


def _search(tree: SourceTree, paths: Sequence[str], pattern: str) -> str:
    """Return the first group that matches in the first file with a match."""
    matches = (re.search(pattern, _text(tree, path), re.MULTILINE) for path in paths if tree.has(path))
    return next((found[found.lastindex or 0] for found in matches if found), "")


def _text(tree: SourceTree, name: str) -> str:
    return (tree.text(name) or "") if tree.has(name) else ""
