"""Manifests: the files in which a project states its name, what it needs and how it is run. One reader a format."""

from __future__ import annotations

from importlib import import_module

from oracle.domain.values import NOTHING, value
from oracle.scan.plain import address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oracle.scan.walk import Tree

MOST_READ = 300
"""Manifests of one repository that are read, nearest to the top first."""

COPIES = frozenset(
    """_examples __fixtures__ __testfixtures__ benchmark benchmarks demo demos example examples fixture fixtures sample samples
    template templates third_party third-party vendor vendored""".split()
)
"""Folders of what only looks like a project: examples, fixtures, templates, copies of others."""

BESIDE = COPIES | frozenset("doc docs spec test testdata tests".split())
"""Folders whose manifests are those of something else than the project."""

_EXAMPLES = ("example-", "example_", "sample-", "sample_", "demo-")
_TESTS = ("-test", "-tests", "_test", "_tests")

MOST_NAMES = 300
"""Names of one list that are kept."""


@value
class Manifest:
    """What one manifest states; a dependency maps its name to the versions that will do, "" for any."""

    path: str
    ecosystem: str
    name: str = ""
    version: str = ""
    runtimes: Mapping[str, str] = NOTHING
    dependencies: Mapping[str, str] = NOTHING
    dev_dependencies: Mapping[str, str] = NOTHING
    scripts: Mapping[str, str] = NOTHING
    entry_points: Mapping[str, str] = NOTHING
    members: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    build: str = ""

    @property
    def folder(self) -> str:
        """The folder of the manifest, "." for the repository itself."""
        return self.path.rpartition("/")[0] or "."

    @property
    def needs(self) -> frozenset[str]:
        """The names of everything that it depends on, at run time or while developing."""
        return frozenset((*self.dependencies, *self.dev_dependencies))


READERS = {
    "pyproject.toml": "scripted:read_pyproject",
    "setup.cfg": "scripted:read_setup_cfg",
    "setup.py": "scripted:read_setup_py",
    "requirements*.txt": "scripted:read_requirements",
    "*requirements.txt": "scripted:read_requirements",
    "Pipfile": "scripted:read_pipfile",
    "environment.yml": "scripted:read_conda",
    "package.json": "scripted:read_package_json",
    "deno.json*": "scripted:read_deno",
    "composer.json": "scripted:read_composer",
    "Gemfile": "ruby:read_gemfile",
    "*.gemspec": "ruby:read_gemspec",
    "go.mod": "compiled:read_go_mod",
    "go.work": "compiled:read_go_work",
    "Cargo.toml": "compiled:read_cargo",
    "pom.xml": "jvm:read_pom",
    "settings.gradle*": "jvm:read_gradle_settings",
    "*.gradle": "jvm:read_gradle",
    "*.gradle.kts": "jvm:read_gradle",
    "*.versions.toml": "jvm:read_catalogue",
    "*.csproj": "dotnet:read_msbuild",
    "*.fsproj": "dotnet:read_msbuild",
    "*.vbproj": "dotnet:read_msbuild",
    "Directory.Build.props": "dotnet:read_shared",
    "packages.config": "dotnet:read_packages",
    "*.sln": "dotnet:read_solution",
    "Package.swift": "compiled:read_swift",
    "*.podspec": "compiled:read_podspec",
    "Podfile": "compiled:read_podfile",
    "project.pbxproj": "compiled:read_xcode",
    "CMakeLists.txt": "native:read_cmake",
    "meson.build": "native:read_meson",
    "configure.ac": "native:read_configure",
    "conanfile.txt": "native:read_conan",
    "vcpkg.json": "native:read_vcpkg",
}
"""The name of a manifest, and the function of this package that reads it."""

_LOOK_AROUND = ("jvm", "dotnet")
"""Modules whose readers are given the repository too: what they read inherits from files around it."""


def read_all(tree: Tree) -> list[Manifest]:
    """Return the manifests of a repository, nearest to the top first; one that says nothing, or of something else, is left out."""
    from fnmatch import fnmatchcase

    found: list[Manifest] = []
    paths = [one for one in tree.named(*READERS) if not lies_beside(one)]
    paths += [one for one in tree.below("requirements") if one.endswith(".txt")]
    for path in paths[:MOST_READ]:
        name = path.rpartition("/")[2]
        reader = next(
            (one for pattern, one in READERS.items() if fnmatchcase(name, pattern)), "scripted:read_requirements"
        )
        module, function = reader.split(":")
        text = tree.text(path)
        if text is not None:
            read = getattr(import_module(f"oracle.scan.{module}"), function)
            manifest = read(path, text, tree) if module in _LOOK_AROUND else read(path, text)
            found += [manifest] if manifest is not None else []
    return found


def lies_beside(path: str) -> bool:
    """Tell whether a file lies among examples, tests or copies of others, and says nothing of the project itself."""
    folders = path.lower().split("/")[:-1]
    return (
        not BESIDE.isdisjoint(folders)
        or any(one.startswith(_EXAMPLES) for one in folders)
        or any(one.endswith(_TESTS) for one in folders[:-1])
    )


def lies_among_copies(path: str) -> bool:
    """Tell whether a file lies among examples, fixtures, templates or copies of others; tests are the project's own."""
    folders = path.lower().split("/")[:-1]
    return not COPIES.isdisjoint(folders) or any(one.startswith(_EXAMPLES) for one in folders)


def wanted(pairs: Iterable[tuple[str, object]]) -> dict[str, str]:
    """Return dependencies in order, a place to fetch one from without who fetches it."""
    found: dict[str, str] = {}
    for name, spec in sorted((str(name), spec) for name, spec in pairs):
        words = spec if isinstance(spec, str) else ""
        found.setdefault(name, (address(words.partition("+")[2] or words) or "") if "://" in words else words)
    return dict(list(found.items())[:MOST_NAMES])
