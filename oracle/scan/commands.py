"""Commands: how a repository says that it is built, tested and checked."""

from __future__ import annotations

import re

from oracle.scan import formats
from oracle.scan.readers import rake_tasks
from oracle.scan.sanitize import command
from oracle.scan.tables import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from oracle.scan.manifests import Manifest
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
    table = load("tests")
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
