"""How a project is run and checked: `runtime`, `tests`, `lint`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oracle.scan import commands, formats, overview, versions
from oracle.scan.manifests import Manifest
from oracle.scan.tables import load, names, owners
from oracle.scan.walk import SourceTree, is_copy

Content = dict[str, object]

_MAX_ITEMS = 100


def detect_runtime(tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    """Return what the project needs to run: versions, dependencies by ecosystem, entry points."""
    return {
        "versions": versions.runtimes(tree, manifests),
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
    table = load("tests")
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
    named = [path for path in tree.named(*load("tests")["names"]) if not is_copy(path)]
    suffixes = tuple(load("tests")["suffixes"])
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
    for rule in load("tests")["imports"]:
        suffixes = tuple(rule["suffixes"])
        texts = [tree.text(path) or "" for path in [one for one in files if one.endswith(suffixes)][:5]]
        if any(word in text for word in rule["words"] for text in texts):
            found.append(rule["tool"])
    return found


def detect_lint(tree: SourceTree, manifests: Sequence[Manifest]) -> Content:
    """Return the tools for style, types and commits with their settings, hooks and commands."""
    table = load("lint")
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
