"""How a project is checked and run: `runtime`, `tests`, `lint`."""

from __future__ import annotations

from fnmatch import fnmatchcase

from oracle.scan import commands, formats, overview, versions, words
from oracle.scan.manifests import lies_among_copies, lies_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import Tree

    Content = dict[str, object]

_MOST = 100
_TESTED_BY_ITSELF = {"go": "go test", "rust": "cargo test", "swift": "swift test", "dotnet": "dotnet test"}
_TEST_WORDS = ("test", "spec", "e2e", "coverage")
_LINT_WORDS = (
    *("lint", "format", "fmt", "typecheck", "type-check", "check", "style", "vet", "prettier", "clippy", "rubocop"),
    *("phpstan", "psalm", "mypy", "ruff", "cs-fix", "spotless"),
)
_LAST = -1


def detect_runtime(tree: Tree, manifests: Sequence[Manifest]) -> Content:
    """Return what runs and what it needs: versions, dependencies by ecosystem, entry points, images."""
    return {
        "versions": versions.runtimes(tree, manifests),
        "package_managers": overview.package_managers(tree, manifests),
        "build_systems": sorted({one.build for one in manifests if one.build}),
        "frameworks": overview.frameworks(manifests),
        "dependencies": _by_ecosystem(manifests, "dependencies"),
        "dev_dependencies": _by_ecosystem(manifests, "dev_dependencies"),
        "entry_points": commands.entry_points(tree, manifests),
        "lock_files": [path for path in tree.named(*words.LOCKS) if not lies_beside(path)][:_MOST],
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
    files = _test_files(tree)
    folders = {_test_folder(path) for path in tree.files if "/" in path} - {""}
    builtin = (
        {_TESTED_BY_ITSELF[one.ecosystem] for one in manifests if one.ecosystem in _TESTED_BY_ITSELF}
        if files or folders
        else set()
    )
    if any("enable_testing" in one.tools for one in manifests):
        builtin.add("ctest")
    stated = commands.about(tree, manifests, _TEST_WORDS)
    called = {word for text in stated.values() for word in text.split()} & set(words.TEST_TOOLS.values())
    found = sorted({*called, *needed, *sections, *configured, *_by_their_text(tree, files), *builtin})
    return {
        "frameworks": found,
        "config_files": sorted({path for paths in configured.values() for path in paths})[:_MOST],
        "folders": sorted(folders)[:_MOST],
        "file_count": len(files),
        "examples": files[:5],
        "commands": stated,
        "usual_commands": commands.usual(tree, manifests, found),
    }


def _test_files(tree: Tree) -> list[str]:
    """Return the files that hold tests, by their own names or, where a language goes by folders, by that of theirs."""
    named = [path for path in tree.named(*words.TEST_PATTERNS) if not lies_among_copies(path)]
    known = set(named)
    inside = [
        path
        for path in tree.files
        if path.endswith(words.TESTS_BY_FOLDER)
        and path.rpartition("/")[0].rpartition("/")[2] in words.TEST_FOLDERS
        and path not in known
        and not lies_among_copies(path)
    ]
    return [*named, *sorted(inside, key=lambda path: (path.count("/"), path))]


def _test_folder(path: str) -> str:
    """Return the nearest folder to the top on the way to a file that is named as one of tests."""
    parts = path.split("/")[:_LAST]
    at = next((at for at, part in enumerate(parts) if part in words.TEST_FOLDERS), None)
    return "" if at is None or lies_among_copies(path) else "/".join(parts[: at + 1])


def _by_their_text(tree: Tree, files: Sequence[str]) -> list[str]:
    """Return the frameworks that the first test files of a language import and no manifest need name."""
    found = []
    for suffixes, word, name in words.TEST_IMPORTS:
        heads = [tree.text(path) or "" for path in [one for one in files if one.endswith(suffixes)][:5]]
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
    if tree.below(".husky"):
        tools.setdefault("husky", [".husky"])
    return {
        "tools": {name: paths[:5] for name, paths in sorted(tools.items())},
        "hooks": _hooks(tree),
        "type_checkers": sorted({"mypy", "pyright", "typescript", "ty", "phpstan", "psalm"} & set(tools)),
        "commands": commands.about(tree, manifests, _LINT_WORDS),
    }


def _hooks(tree: Tree) -> list[str]:
    """Return the ids of the hooks of pre-commit, and the files that husky runs."""
    documents = formats.yaml(tree.text(".pre-commit-config.yaml")) if tree.has(".pre-commit-config.yaml") else []
    listed = formats.dig(documents[0], "repos") if documents else None
    hooks = [hook for one in listed for hook in _list(formats.dig(one, "hooks"))] if isinstance(listed, list) else []
    ids = [formats.dig(hook, "id") for hook in hooks]
    husky = [path for path in tree.below(".husky") if path.count("/") == 1 and "." not in path.rpartition("/")[2]]
    return [*(name for name in ids if isinstance(name, str)), *husky][:_MOST]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _configured(tree: Tree, files: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the tools that files configure, with the files, nearest to the top first."""
    found: dict[str, list[str]] = {}
    for path in [one for one in tree.named(*files) if not lies_among_copies(one)]:
        name = path.rpartition("/")[2]
        tool = next(tool for pattern, tool in files.items() if fnmatchcase(name, pattern))
        found.setdefault(tool, []).append(path)
    return found
