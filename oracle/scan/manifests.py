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

BESIDE = frozenset(
    """_examples benchmark benchmarks demo demos doc docs example examples fixture fixtures sample samples spec template
    templates test testdata tests third_party third-party vendor vendored""".split()
)
"""Folders whose manifests are those of something else than the project."""

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
    "Pipfile": "scripted:read_pipfile",
    "environment.yml": "scripted:read_conda",
    "package.json": "scripted:read_package_json",
    "deno.json*": "scripted:read_deno",
    "composer.json": "scripted:read_composer",
    "Gemfile": "scripted:read_gemfile",
    "*.gemspec": "scripted:read_gemspec",
    "go.mod": "compiled:read_go_mod",
    "go.work": "compiled:read_go_work",
    "Cargo.toml": "compiled:read_cargo",
    "pom.xml": "compiled:read_pom",
    "build.gradle*": "compiled:read_gradle",
    "settings.gradle*": "compiled:read_gradle_settings",
    "*.csproj": "compiled:read_msbuild",
    "*.fsproj": "compiled:read_msbuild",
    "*.vbproj": "compiled:read_msbuild",
    "*.sln": "compiled:read_solution",
    "Package.swift": "compiled:read_swift",
    "CMakeLists.txt": "compiled:read_cmake",
    "meson.build": "compiled:read_meson",
    "conanfile.txt": "compiled:read_conan",
    "vcpkg.json": "compiled:read_vcpkg",
}
"""The name of a manifest, and the function of this package that reads it."""


def read_all(tree: Tree) -> list[Manifest]:
    """Return the manifests of a repository, nearest to the top first; one that says nothing, or of something else, is left out."""
    from fnmatch import fnmatchcase

    found: list[Manifest] = []
    for path in [one for one in tree.named(*READERS) if not lies_beside(one)][:MOST_READ]:
        name = path.rpartition("/")[2]
        reader = next(reader for pattern, reader in READERS.items() if fnmatchcase(name, pattern))
        module, function = reader.split(":")
        text = tree.text(path)
        if text is not None:
            manifest = getattr(import_module(f"oracle.scan.{module}"), function)(path, text)
            found += [manifest] if manifest is not None else []
    return found


def lies_beside(path: str) -> bool:
    """Tell whether a file lies among examples, tests or copies of others, and says nothing of the project itself."""
    return not BESIDE.isdisjoint(path.split("/")[:-1])


def wanted(pairs: Iterable[tuple[str, object]]) -> dict[str, str]:
    """Return dependencies in order, a place to fetch one from without who fetches it."""
    found: dict[str, str] = {}
    for name, spec in sorted((str(name), spec) for name, spec in pairs):
        words = spec if isinstance(spec, str) else ""
        found.setdefault(name, (address(words.partition("+")[2] or words) or "") if "://" in words else words)
    return dict(list(found.items())[:MOST_NAMES])
