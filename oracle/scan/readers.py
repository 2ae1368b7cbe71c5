"""Read the manifests that no rule can describe: setup.py, pom.xml of Maven, projects of MSBuild, packages.config."""

from __future__ import annotations

import re

from oracle.scan import formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any
    from xml.etree.ElementTree import Element

    Facts = dict[str, Any]

_MAX_PROGRAM, _MAX_STATEMENTS = 1 << 17, 500
_PLACEHOLDER = re.compile(r"\$\{([\w.-]{1,80})\}")
_TEST_PROJECT = re.compile(r"(?i)(?:^|[.-])(?:unit|integration)?tests?(?:$|[.-])")


def setup_arguments(text: str) -> dict[str, Any] | None:
    """Return the arguments of setup() in a setup.py that are literals or names of literals. The program is not run."""
    import ast

    tree = formats.parse(text, ast.parse) if len(text) <= _MAX_PROGRAM else None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None else []
    call = next((one for one in calls if getattr(one.func, "id", getattr(one.func, "attr", "")) == "setup"), None)
    if tree is None or call is None:
        return None
    constants = {
        target.id: _literal(node.value)
        for node in tree.body[:_MAX_STATEMENTS]
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {
        word.arg: constants.get(word.value.id) if isinstance(word.value, ast.Name) else _literal(word.value)
        for word in call.keywords
        if word.arg
    }


def _literal(node: Any) -> Any:  # noqa: ANN401 -- a node of `ast`, which is imported where it is needed
    import ast

    return formats.parse(ast.unparse(node), ast.literal_eval)


# -- Maven -------------------------------------------------------------------------------------------------------------


def read_pom(_path: str, text: str) -> Facts | None:
    """Read a pom.xml. Placeholders stand for its own properties; other files are not looked at."""
    root = formats.xml(text)
    if root is None:
        return None
    properties = _texts(root, "properties")
    parent = _texts(root, "parent")
    for key in ("groupId", "version"):
        properties[f"project.{key}"] = formats.text_of(root, key) or parent.get(key, "")
    needs = list(_maven_dependencies(root, properties))
    java = _settle(_java(root, properties), properties)
    return {
        "name": ":".join(filter(None, (properties["project.groupId"], formats.text_of(root, "artifactId")))),
        "version": _settle(properties["project.version"], properties),
        "runtimes": {"java": java} if java else {},
        "dependencies": [(name, version) for name, version, scope in needs if scope != "test"],
        "dev_dependencies": [(name, version) for name, version, scope in needs if scope == "test"],
        "members": tuple((item.text or "").strip() for item in _children(root, "modules")),
        "tools": tuple(formats.text_of(item, "artifactId") for item in root.iter() if formats.tag(item) == "plugin"),
        "build": "maven",
    }


def _maven_dependencies(root: Element, properties: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, version and scope of each dependency."""
    for item in _children(root, "dependencies"):
        group, name, version = (
            _settle(formats.text_of(item, key), properties) for key in ("groupId", "artifactId", "version")
        )
        if group and name:
            yield f"{group}:{name}", version, formats.text_of(item, "scope")


def _settle(stated: str, properties: Mapping[str, str]) -> str:
    """Return a text with the values of its placeholders, "" when one of them is unknown."""
    for _ in range(4):
        if "$" not in stated:
            break
        stated = _PLACEHOLDER.sub(lambda found: properties.get(found[1], "$"), stated)
    return "" if "$" in stated else stated


def _java(root: Element, properties: Mapping[str, str]) -> str:
    """Return the Java version of a pom: a property, else a setting of the compiler."""
    stated = (properties.get(key) for key in ("maven.compiler.release", "java.version", "maven.compiler.source"))
    found = next(filter(None, stated), "")
    for plugin in () if found else root.iter():
        if formats.tag(plugin) == "plugin" and formats.text_of(plugin, "artifactId") == "maven-compiler-plugin":
            settings = _texts(plugin, "configuration")
            found = found or settings.get("release") or settings.get("source", "")
    return found


# -- .NET --------------------------------------------------------------------------------------------------------------


def read_msbuild(path: str, text: str) -> Facts | None:
    """Read a project of MSBuild, or the Directory.Build.props that projects share. Packages of tests are for development."""
    root = formats.xml(text)
    if root is None:
        return None
    values = _texts(root, "PropertyGroup")
    needs = [
        (name, _known(item.get("Version") or formats.text_of(item, "Version")))
        for item, name in _included(root, "PackageReference")
    ]
    needs += [(name.partition(",")[0], "") for item, name in _included(root, "Reference") if _is_local(item)]
    stem, _, suffix = path.rpartition("/")[2].rpartition(".")
    is_shared = suffix == "props"
    is_tests = values.get("IsTestProject") == "true" or _TEST_PROJECT.search(stem) is not None
    frameworks = next(
        (values[key] for key in ("TargetFrameworks", "TargetFramework", "TargetFrameworkVersion") if key in values), ""
    )
    name = "" if is_shared else values.get("AssemblyName") or stem
    kind = values.get("OutputType", "")
    return {
        "name": name,
        "version": "" if is_shared else values.get("Version") or values.get("VersionPrefix", ""),
        "runtimes": {"dotnet": frameworks} if frameworks else {},
        "dev_dependencies" if is_tests or is_shared else "dependencies": needs,
        "entry_points": {name: kind} if kind.lower() in ("exe", "winexe") else {},
        "build": "msbuild",
    }


def read_packages_config(path: str, text: str) -> Facts | None:
    """Read a packages.config, which names the packages of older projects."""
    root = formats.xml(text)
    if root is None:
        return None
    needs = [(item.get("id") or "", item.get("version") or "") for item in root if formats.tag(item) == "package"]
    is_tests = _TEST_PROJECT.search(path.rpartition("/")[0].rpartition("/")[2]) is not None
    return {
        "dev_dependencies" if is_tests else "dependencies": [pair for pair in needs if pair[0]],
        "build": "msbuild",
    }


def _included(root: Element, kind: str) -> list[tuple[Element, str]]:
    items = [(item, item.get("Include") or "") for item in root.iter() if formats.tag(item) == kind]
    return [(item, name) for item, name in items if name]


def _is_local(reference: Element) -> bool:
    """Return whether a library is referred to by a file of the repository. Packages of NuGet are in packages.config."""
    hint = formats.text_of(reference, "HintPath").replace("\\", "/")
    return bool(hint) and "packages/" not in hint


# -- XML ---------------------------------------------------------------------------------------------------------------


def _children(root: Element, name: str) -> list[Element]:
    return [child for item in root if formats.tag(item) == name for child in item]


def _texts(root: Element, name: str) -> dict[str, str]:
    """Return the texts below all children of a name, by tag: the first that is known before the build runs."""
    found: dict[str, str] = {}
    for item in _children(root, name):
        text = _known((item.text or "").strip())
        if text:
            found.setdefault(formats.tag(item), text)
    return found


def _known(stated: str) -> str:
    """Return a value, "" for one that MSBuild computes."""
    return "" if "$(" in stated else stated
