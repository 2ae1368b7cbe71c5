"""Read the manifests that no rule can describe: setup.py, pom.xml of Maven, projects of MSBuild, Gemfile, Rakefile.

Programs are not run: only what is written out in them counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from oracle.scan import formats

if TYPE_CHECKING:
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


_GEM = re.compile(r"""^\s*gem[\s(]+["']([\w.-]{1,100})["']((?:\s*,\s*["'][^"'\n]{1,60}["']){0,5})([^\n]{0,300})""")
_BLOCK = re.compile(
    r"(?:\bdo\b(?:\s*\|[^|\n]{0,60}\|)?\s*$|^\s*(?:if|unless|case|begin|def|class|module|while|until)\b)"
)
_NAMESPACE = re.compile(r"""\s*namespace[\s(]+[:"']?(\w+)""")
_TASK = re.compile(r"""\s*(?:multi)?task[\s(]+(?:[:"']([A-Za-z][\w:-]{0,60})|([a-z_]\w{0,60}):\s)""")
_TASK_OF_LIBRARY = re.compile(r"""\s*(?:\w+\s*=\s*)?([A-Z]\w+(?:::\w+){1,3})\.new(?:[\s(]+[:"']([\w:]+))?""")
_MAX_DEPTH = 30
_DEVELOPMENT_GROUPS = frozenset(
    """development dev test tests doc docs documentation lint linting rubocop ci tools build release benchmark benchmarks debug
    cucumber profile e2e system_test""".split()
)
_LIBRARY_TASKS = {
    "Rake::TestTask": "test",
    "RSpec::Core::RakeTask": "spec",
    "RuboCop::RakeTask": "rubocop",
    "Cucumber::Rake::Task": "cucumber",
}
"""Classes that define a task, and the name of the task unless another is stated."""


def _lines(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the lines of a program, each with the first lines of the blocks around it."""
    around: list[str] = []
    deeper = 0  # open blocks beyond the greatest depth that is tracked
    for line in text.splitlines():
        code = re.sub(r"(?:^|\s)#[^\n]*", "", line)
        if re.match(r"\s*end\b", code) and around:
            if deeper:
                deeper -= 1
            else:
                around.pop()
            continue
        yield code, tuple(around)
        if _BLOCK.search(code) and not re.search(r"\bend\s*$", code):
            if len(around) < _MAX_DEPTH:
                around.append(code)
            else:
                deeper += 1


def read_gemfile(_path: str, text: str) -> Facts:
    """Read a Gemfile. Gems of development groups, and all gems next to a gemspec, are for development."""
    ruby = re.search(r"""^[ \t]*ruby[\s(]+["']([^"'\n]{1,40})["']""", text, re.MULTILINE)
    has_gemspec = re.search(r"^[ \t]*gemspec\b", text, re.MULTILINE) is not None
    gems: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
    for line, around in _lines(text):
        found = _GEM.match(line)
        if found:
            is_development = has_gemspec or not _DEVELOPMENT_GROUPS.isdisjoint(_groups(found[3], around))
            gems[is_development].append((found[1], " ".join(re.findall(r"""["']([^"']+)["']""", found[2]))))
    return {
        "runtimes": {"ruby": ruby[1]} if ruby else {},
        "dependencies": gems[False],
        "dev_dependencies": gems[True],
    }


def _groups(options: str, around: tuple[str, ...]) -> list[str]:
    """Return the groups of a gem: those in its own options and those of the blocks around it."""
    stated = [options[options.index("group") :]] if "group" in options else []
    stated += [line for line in around if line.lstrip().startswith("group")]
    return re.findall(r"""[:"'](\w+)""", " ".join(stated))


def rake_tasks(text: str) -> list[str]:
    """Return the tasks of a Rakefile with their namespaces, in order."""
    found: list[str] = []
    for line, around in _lines(text):
        namespaces = [one[1] for one in map(_NAMESPACE.match, around) if one]
        own, of_library = _TASK.match(line), _TASK_OF_LIBRARY.match(line)
        name = (own[1] or own[2]).rstrip(":") if own else ""
        if not own and of_library and of_library[1] in _LIBRARY_TASKS:
            name = of_library[2] or _LIBRARY_TASKS[of_library[1]]
        found += [":".join([*namespaces, name])] if name else []
    return list(dict.fromkeys(found))
