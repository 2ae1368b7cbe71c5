"""Manifests of .NET: projects of MSBuild, what they share, solutions, packages of NuGet."""

from __future__ import annotations

import re

from oracle.scan import formats
from oracle.scan.manifests import Manifest, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element

    from oracle.scan.walk import Tree

_TESTS = re.compile(r"(?i)(?:^|[.-])(?:unit|integration)?tests?(?:$|[.-])")


def read_msbuild(path: str, text: str, tree: Tree | None = None) -> Manifest | None:
    """Read a project of MSBuild (.csproj and the like); the packages of one that tests are for developing."""
    root = formats.xml(text)
    if root is None:
        return None
    values = _properties(root)
    central = _central(tree)
    needs = wanted(
        (name, _written(item.get("Version") or formats.text_of(item, "Version")) or central.get(name, ""))
        for item, name in _included(root, "PackageReference")
    )
    needs |= {name.partition(",")[0]: "" for item, name in _included(root, "Reference") if _lies_here(item)}
    own = path.rpartition("/")[2].rpartition(".")[0]
    is_tests = values.get("IsTestProject") == "true" or _TESTS.search(own) is not None
    frameworks = _frameworks(values)
    name = values.get("AssemblyName") or own
    return Manifest(
        path,
        "dotnet",
        name=name,
        version=values.get("Version") or values.get("VersionPrefix", ""),
        runtimes={"dotnet": frameworks} if frameworks else {},
        dependencies={} if is_tests else needs,
        dev_dependencies=needs if is_tests else {},
        entry_points={name: values["OutputType"]} if values.get("OutputType", "").lower() in ("exe", "winexe") else {},
        build="msbuild",
    )


def read_shared(path: str, text: str, _tree: Tree | None = None) -> Manifest | None:
    """Read a Directory.Build.props: what the projects below it have in common."""
    root = formats.xml(text)
    if root is None:
        return None
    frameworks = _frameworks(_properties(root))
    needs = {name: _written(item.get("Version") or "") for item, name in _included(root, "PackageReference")}
    return Manifest(
        path,
        "dotnet",
        runtimes={"dotnet": frameworks} if frameworks else {},
        dev_dependencies=wanted(needs.items()),
        build="msbuild",
    )


def read_packages(path: str, text: str, _tree: Tree | None = None) -> Manifest | None:
    """Read a packages.config, as older projects name their packages."""
    root = formats.xml(text)
    if root is None:
        return None
    listed = [(item.get("id") or "", item.get("version") or "") for item in root if formats.tag(item) == "package"]
    needs = wanted((name, version) for name, version in listed if name)
    is_tests = _TESTS.search(path.rpartition("/")[0].rpartition("/")[2]) is not None
    return Manifest(
        path,
        "dotnet",
        dependencies={} if is_tests else needs,
        dev_dependencies=needs if is_tests else {},
        build="msbuild",
    )


def read_solution(path: str, text: str, _tree: Tree | None = None) -> Manifest:
    """Read a .sln of Visual Studio: the projects that are built together."""
    found = re.findall(
        r"""^Project\([^)\n]{1,60}\)\s*=\s*"[^"\n]{1,100}",\s*"([^"\n]{1,300}proj)\"""", text, re.MULTILINE
    )
    name = path.rpartition("/")[2].removesuffix(".sln")
    return Manifest(path, "dotnet", name=name, members=tuple(one.replace("\\", "/") for one in found), build="msbuild")


def _central(tree: Tree | None) -> Mapping[str, str]:
    """Return the versions that a Directory.Packages.props at the top states for all projects."""
    root = formats.xml(tree.text("Directory.Packages.props")) if tree is not None else None
    if root is None:
        return {}
    return {name: _written(item.get("Version") or "") for item, name in _included(root, "PackageVersion")}


def _properties(root: Element) -> dict[str, str]:
    """Return the properties of a project, the first value that is written out."""
    found: dict[str, str] = {}
    for group in root:
        if formats.tag(group) == "PropertyGroup":
            for item in group:
                value = _written((item.text or "").strip())
                if value:
                    found.setdefault(formats.tag(item), value)
    return found


def _frameworks(values: Mapping[str, str]) -> str:
    return values.get("TargetFrameworks") or values.get("TargetFramework") or values.get("TargetFrameworkVersion", "")


def _included(root: Element, kind: str) -> list[tuple[Element, str]]:
    items = [(item, item.get("Include") or "") for item in root.iter() if formats.tag(item) == kind]
    return [(item, name) for item, name in items if name]


def _lies_here(reference: Element) -> bool:
    """Tell whether a library that is referred to by its file lies in the repository; packages.config names those of NuGet."""
    hint = formats.text_of(reference, "HintPath").replace("\\", "/")
    return bool(hint) and "packages/" not in hint


def _written(stated: str) -> str:
    """Return a value, "" where it is one that only a build knows."""
    return "" if "$(" in stated else stated
