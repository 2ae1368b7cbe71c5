"""Versions: those that are wanted of languages and tools, and the project's own where its manifest does not say it."""

from __future__ import annotations

import re

from oracle.scan import formats
from oracle.scan.jvm import properties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.scan.manifests import Manifest
    from oracle.scan.walk import Tree

_FILES = {
    ".python-version": "python",
    ".node-version": "node",
    ".nvmrc": "node",
    ".ruby-version": "ruby",
    ".java-version": "java",
    ".go-version": "go",
    ".php-version": "php",
    ".swift-version": "swift",
    ".xcode-version": "xcode",
    ".bazelversion": "bazel",
}
"""Files whose first word is a version."""

_OTHER_NAMES = {"nodejs": "node", "golang": "go", "dotnet-core": "dotnet"}
"""What the version managers call a runtime, and what everybody else does."""

_KOTLIN = ("kotlin_version", "kotlinVersion", "kotlin.version")
_WRAPPERS = {
    "gradle/wrapper/gradle-wrapper.properties": re.compile(r"/(gradle)-([\d.]{1,20}(?:-rc-\d)?)-(?:bin|all)"),
    ".mvn/wrapper/maven-wrapper.properties": re.compile(r"/apache-(maven)-([\d.]{1,20})-bin"),
}
_IN_PYTHON = re.compile(
    r"""^(?:__version__|VERSION|version)\s*(?::\s*[\w.]{1,20})?\s*=\s*["']([\w.+!-]{1,40})["']""", re.MULTILINE
)
_IN_RUBY = re.compile(r"""^\s*(?:\w{1,60}\s*=\s*)?VERSION\s*=\s*["']([\w.+-]{1,40})["']""", re.MULTILINE)
_VERSION = re.compile(r"v?\d[\w.+-]{0,40}")


def runtimes(tree: Tree, manifests: Sequence[Manifest]) -> dict[str, str]:
    """Return the version that is wanted of each language and tool; what the nearest file to the top states counts."""
    found: dict[str, str] = {}
    # a podspec says which language its pods are written in, a Package.swift which tools read it
    ordered = sorted(manifests, key=lambda one: one.ecosystem == "cocoapods")
    for name, version in (*_stated(tree), *(pair for one in ordered for pair in one.runtimes.items())):
        found.setdefault(_OTHER_NAMES.get(name, name), version)
    return dict(sorted(found.items()))


def _stated(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield what the files at the top say that are for nothing but versions."""
    for name, runtime in _FILES.items():
        words = _read(tree, name).split()
        if words:
            yield runtime, words[0]
    yield from _of_managers(tree)
    yield from _of_rust(tree)
    sdk = formats.dig(formats.json(_read(tree, "global.json")), "sdk", "version")
    if isinstance(sdk, str):
        yield "dotnet-sdk", sdk
    heroku = re.match(r"([a-z]{1,20})-([\d.]{1,20})\s*$", _read(tree, "runtime.txt"))
    if heroku:
        yield heroku[1], heroku[2]
    of_gradle = properties(_read(tree, "gradle.properties"))
    kotlin = next((of_gradle[key] for key in _KOTLIN if key in of_gradle), "")
    if kotlin:
        yield "kotlin", kotlin
    for name, pattern in _WRAPPERS.items():
        wrapper = pattern.search(_read(tree, name))
        if wrapper:
            yield wrapper[1], wrapper[2]


def _of_managers(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield what asdf, mise and SDKMAN are told."""
    for line in _read(tree, ".tool-versions").splitlines():
        tool = line.partition("#")[0].split()
        if len(tool) > 1:
            yield tool[0], tool[1]
    for name in ("mise.toml", ".mise.toml"):
        for tool_name, stated in formats.table(formats.toml(_read(tree, name)).get("tools")).items():
            version = formats.dig(stated, "version") if isinstance(stated, dict) else stated
            if isinstance(version, str):
                yield tool_name, version
    for line in _read(tree, ".sdkmanrc").splitlines():
        tool_name, between, version = line.partition("#")[0].partition("=")
        if between:
            yield tool_name.strip(), version.strip()


def _of_rust(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield the channel of rustup; its older file may hold the channel alone."""
    for name in ("rust-toolchain.toml", "rust-toolchain"):
        text = _read(tree, name)
        channel = formats.dig(formats.toml(text), "toolchain", "channel")
        if isinstance(channel, str):
            yield "rust", channel
        elif text.strip() and "\n" not in text.strip() and "[" not in text:
            yield "rust", text.strip()


def own_version(tree: Tree, manifest: Manifest | None) -> str:
    """Return the version of a project that its manifest states, else that a file of it does whose name says so, else ""."""
    if manifest is not None and manifest.version:
        return manifest.version
    for name in tree.files:
        if "/" not in name and (name.upper() in ("VERSION", "VERSION.TXT") or name.endswith("_VERSION")):
            words = _read(tree, name).split()
            if len(words) == 1 and _VERSION.fullmatch(words[0]):
                return words[0]
    for name, pattern in (*_named_by_pyproject(tree), *_candidates(manifest)) if manifest is not None else ():
        found = pattern.search(_read(tree, name))
        if found:
            return found[1]
    return _of_gradle(tree) if manifest is not None and manifest.build == "gradle" else ""


def _named_by_pyproject(tree: Tree) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the files out of which a pyproject.toml lets its backend take the version."""
    tools = formats.table(formats.toml(_read(tree, "pyproject.toml")).get("tool"))
    path = formats.dig(tools, "hatch", "version", "path")
    if isinstance(path, str):
        yield path, _IN_PYTHON
    attribute = formats.dig(tools, "setuptools", "dynamic", "version", "attr")
    if isinstance(attribute, str):
        module = attribute.rpartition(".")[0].replace(".", "/")
        for name in (f"{module}.py", f"{module}/__init__.py", f"src/{module}.py", f"src/{module}/__init__.py"):
            yield name, _IN_PYTHON


def _candidates(manifest: Manifest) -> Iterator[tuple[str, re.Pattern[str]]]:
    if manifest.ecosystem == "python":
        package = re.sub(r"[-.]", "_", manifest.name)
        for folder in (f"src/{package}", package, f"src/{package.lower()}", package.lower()):
            for module in ("__init__", "_version", "__about__", "version", "__version__"):
                yield f"{folder}/{module}.py", _IN_PYTHON
    if manifest.ecosystem == "ruby":
        for package in (manifest.name.replace("-", "/"), manifest.name, manifest.name.replace("-", "_")):
            for module in ("version", "const"):
                yield f"lib/{package}/{module}.rb", _IN_RUBY


def _of_gradle(tree: Tree) -> str:
    """Return the version that the properties of a build of Gradle state."""
    version = properties(_read(tree, "gradle.properties")).get("version", "")
    return version if _VERSION.fullmatch(version) else ""


def _read(tree: Tree, name: str) -> str:
    return (tree.text(name) or "") if tree.has(name) else ""
