"""How a project is checked and run: `runtime`, `tests`, `lint`."""

from __future__ import annotations

from fnmatch import fnmatchcase

from oracle.scan import formats, overview, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import Tree

    Content = dict[str, object]

_MOST = 100
_TESTED_BY_ITSELF = {"go": "go test", "rust": "cargo test", "swift": "swift test", "dotnet": "dotnet test"}
_TEST_WORDS = ("test", "spec", "e2e", "coverage")
_LINT_WORDS = ("lint", "format", "fmt", "typecheck", "type-check", "check", "style")
_LAST = -1


def detect_runtime(tree: Tree, manifests: Sequence[Manifest]) -> Content:
    """Return what runs and what it needs: versions, dependencies by ecosystem, entry points, images."""
    return {
        "versions": overview.runtimes(tree, manifests),
        "package_managers": overview.package_managers(tree, manifests),
        "build_systems": sorted({one.build for one in manifests if one.build}),
        "frameworks": overview.frameworks(manifests),
        "dependencies": _by_ecosystem(manifests, "dependencies"),
        "dev_dependencies": _by_ecosystem(manifests, "dev_dependencies"),
        "entry_points": {name: text for one in manifests for name, text in one.entry_points.items()},
        "lock_files": tree.named(*words.LOCKS)[:_MOST],
    }


def _by_ecosystem(manifests: Sequence[Manifest], field: str) -> dict[str, Mapping[str, str]]:
    """Return dependencies of each ecosystem; of two packages that want different versions the nearer to the top counts."""
    found: dict[str, dict[str, str]] = {}
    for one in reversed(manifests):
        needs = getattr(one, field)
        if needs:
            found.setdefault(one.ecosystem, {}).update(needs)
    return {name: dict(sorted(needs.items())) for name, needs in sorted(found.items())}


def detect_tests(tree: Tree, manifests: Sequence[Manifest]) -> Content:
    """Return how the project is tested: tools, settings, folders, files and commands."""
    configured = _configured(tree, words.TEST_FILES)
    needed = {words.TEST_TOOLS[name] for one in manifests for name in one.needs if name in words.TEST_TOOLS}
    sections = {tool for one in manifests for tool in one.tools} & {
        "pytest",
        "jest",
        "vitest",
        "mocha",
        "ava",
        "tox",
        "coverage",
        "nyc",
    }
    files = tree.named(*words.TEST_PATTERNS)
    folders = {_test_folder(path) for path in tree.files if "/" in path} - {""}
    builtin = (
        {_TESTED_BY_ITSELF[one.ecosystem] for one in manifests if one.ecosystem in _TESTED_BY_ITSELF}
        if files or folders
        else set()
    )
    return {
        "frameworks": sorted({*needed, *sections, *configured, *_standard_library(tree, files), *builtin}),
        "config_files": sorted({path for paths in configured.values() for path in paths})[:_MOST],
        "folders": sorted(folders)[:_MOST],
        "file_count": len(files),
        "examples": files[:5],
        "commands": _commands(manifests, _TEST_WORDS),
    }


def _test_folder(path: str) -> str:
    """Return the nearest folder to the top on the way to a file that is named as one of tests."""
    parts = path.split("/")[:_LAST]
    at = next((at for at, part in enumerate(parts) if part in words.TEST_FOLDERS), None)
    return "" if at is None else "/".join(parts[: at + 1])


def _standard_library(tree: Tree, files: Sequence[str]) -> list[str]:
    """Return the modules of a language's own library that the first test files import."""
    found = []
    for suffix, word, name in (
        (".py", "import unittest", "unittest"),
        (".js", "node:test", "node:test"),
        (".ts", "node:test", "node:test"),
    ):
        heads = [tree.text(path) or "" for path in [one for one in files if one.endswith(suffix)][:5]]
        if any(word in head for head in heads):
            found.append(name)
    return found


def detect_lint(tree: Tree, manifests: Sequence[Manifest]) -> Content:
    """Return what watches over style, types and commits: tools with their settings, hooks, commands."""
    tools = _configured(tree, words.LINT_FILES)
    for one in manifests:
        for name in {*one.tools, *one.needs} & set(words.LINT_TOOLS):
            tools.setdefault(words.LINT_TOOLS[name], [one.path])
    if any("eslintConfig" in one.tools for one in manifests):
        tools.setdefault("eslint", ["package.json"])
    return {
        "tools": {name: paths[:5] for name, paths in sorted(tools.items())},
        "hooks": _hooks(tree),
        "type_checkers": sorted({"mypy", "pyright", "typescript", "ty", "phpstan", "psalm"} & set(tools)),
        "commands": _commands(manifests, _LINT_WORDS),
    }


def _hooks(tree: Tree) -> list[str]:
    """Return the ids of the hooks of pre-commit."""
    documents = formats.yaml(tree.text(".pre-commit-config.yaml")) if tree.has(".pre-commit-config.yaml") else []
    listed = formats.dig(documents[0], "repos") if documents else None
    hooks = [hook for one in listed for hook in _list(formats.dig(one, "hooks"))] if isinstance(listed, list) else []
    ids = [formats.dig(hook, "id") for hook in hooks]
    return [name for name in ids if isinstance(name, str)][:_MOST]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _configured(tree: Tree, files: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the tools that files configure, with the files, nearest to the top first."""
    found: dict[str, list[str]] = {}
    for path in tree.named(*files):
        name = path.rpartition("/")[2]
        tool = next(tool for pattern, tool in files.items() if fnmatchcase(name, pattern))
        found.setdefault(tool, []).append(path)
    return found


def _commands(manifests: Sequence[Manifest], about: Sequence[str]) -> dict[str, str]:
    """Return the scripts of the manifests at the top whose names tell what they are about."""
    scripts = {name: text for one in manifests if one.folder == "." for name, text in one.scripts.items()}
    return {name: text for name, text in scripts.items() if any(word in name.lower() for word in about)}
