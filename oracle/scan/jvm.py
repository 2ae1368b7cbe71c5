"""Manifests of Java and Kotlin: Maven and Gradle. What a build inherits from the folders above is looked up there."""

from __future__ import annotations

import re

from oracle.scan import formats
from oracle.scan.manifests import Manifest, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

    from oracle.scan.walk import Tree

    Managed = Mapping[str, tuple[str, str]]

_DEEPEST = 6
_PLACEHOLDER = re.compile(r"\$\{([\w.-]{1,80})\}|\$([\w.]{1,80})")


def _above(path: str) -> Iterator[str]:
    """Yield the folders of a file from its own to the top, each ending in `/` but the top."""
    folder = path.rpartition("/")[0]
    for _ in range(_DEEPEST):
        yield f"{folder}/" if folder else ""
        if not folder:
            return
        folder = folder.rpartition("/")[0]


def _settled(stated: str, known: Mapping[str, str]) -> str:
    """Return a text with what its placeholders stand for, "" where that is nowhere written out."""
    for _ in range(4):
        if "$" not in stated:
            break
        stated = _PLACEHOLDER.sub(lambda found: known.get(found[1] or found[2].rpartition(".")[2], "$"), stated)
    return "" if "$" in stated else stated


# -- Maven -----------------------------------------------------------------------------------------------------------------


def read_pom(path: str, text: str, tree: Tree | None = None) -> Manifest | None:
    """Read a pom.xml of Maven, with the properties and the managed versions of those above it."""
    root = formats.xml(text)
    if root is None:
        return None
    known, managed = _inherited(path, root, tree)
    needs = [
        (name, version or managed.get(name, ("", ""))[0], scope or managed.get(name, ("", ""))[1])
        for name, version, scope in _dependencies(_children(root, "dependencies"), known)
    ]
    java = _settled(_java(root), known)
    return Manifest(
        path,
        "java",
        name=":".join(filter(None, (known.get("project.groupId", ""), formats.text_of(root, "artifactId")))),
        version=_settled(known.get("project.version", ""), known),
        runtimes={"java": java} if java else {},
        dependencies=wanted((name, version) for name, version, scope in needs if scope != "test"),
        dev_dependencies=wanted((name, version) for name, version, scope in needs if scope == "test"),
        members=tuple((item.text or "").strip() for item in _children(root, "modules")),
        tools=tuple(formats.text_of(item, "artifactId") for item in root.iter() if formats.tag(item) == "plugin"),
        build="maven",
    )


def _inherited(path: str, root: Element, tree: Tree | None) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Return what the placeholders of a pom stand for, and the versions that it need not repeat; the nearest counts."""
    poms = [root]
    for folder in _above(path):
        name = f"{folder}pom.xml"
        above = formats.xml(tree.text(name)) if tree is not None and name != path and tree.has(name) else None
        poms += [above] if above is not None else []
    known: dict[str, str] = {}
    for one in poms:
        parent = next((item for item in one if formats.tag(item) == "parent"), None)
        for key in ("groupId", "version", "artifactId"):
            stated = formats.text_of(one, key) or (formats.text_of(parent, key) if parent is not None else "")
            known.setdefault(f"project.{key}", stated)
        for item in _children(one, "properties"):
            known.setdefault(formats.tag(item), (item.text or "").strip())
    managed: dict[str, tuple[str, str]] = {}
    for one in poms:
        listed = next((item for item in one if formats.tag(item) == "dependencyManagement"), None)
        for name, version, scope in (
            _dependencies(_children(listed, "dependencies"), known) if listed is not None else ()
        ):
            managed.setdefault(name, (version, scope))
    return known, managed


def _dependencies(items: list[Element], known: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for item in items:
        group, name, version = (
            _settled(formats.text_of(item, key), known) for key in ("groupId", "artifactId", "version")
        )
        if group and name:
            yield f"{group}:{name}", version, formats.text_of(item, "scope")


def _java(root: Element) -> str:
    """Return the Java that a pom states: as a property, else to the compiler."""
    stated = {formats.tag(item): (item.text or "").strip() for item in _children(root, "properties")}
    for key in ("maven.compiler.release", "java.version", "maven.compiler.source"):
        if stated.get(key):
            return stated[key]
    for plugin in root.iter():
        if formats.tag(plugin) == "plugin" and formats.text_of(plugin, "artifactId") == "maven-compiler-plugin":
            settings = {formats.tag(item): (item.text or "").strip() for item in _children(plugin, "configuration")}
            found = settings.get("release") or settings.get("source")
            if found:
                return found
    return ""


def _children(root: Element, name: str) -> list[Element]:
    return [child for item in root if formats.tag(item) == name for child in item]


# -- Gradle ----------------------------------------------------------------------------------------------------------------

_CONFIGURATION = (
    r"^\s*(api|compile|implementation|compileOnly|runtimeOnly|runtime|provided|kapt|ksp|annotationProcessor|classpath"
    r"|\w{0,20}[tT]est\w{0,30})"
)
_NEED = re.compile(
    _CONFIGURATION + r"""[\s(]{1,4}(?:platform\()?["']([\w.-]{1,100}:[\w.-]{1,100})(?::([^"'\n]{1,60}))?["']""",
    re.MULTILINE,
)
_CATALOGUED = re.compile(_CONFIGURATION + r"""[\s(]{1,4}(?:platform\()?libs\.([\w.]{1,100})""", re.MULTILINE)
_PLUGIN = re.compile(
    r"""^\s*(?:id[\s(]{1,3}["']([\w.-]{1,100})["']|kotlin\(["']([\w.-]{1,40})["']\)|apply\s+plugin:\s*["']([\w.-]{1,100})["']"""
    r"""|`?(checkstyle|pmd|spotbugs|jacoco)`?\s*$)""",
    re.MULTILINE,
)
_JAVA = re.compile(
    r"""(?:languageVersion[\s\S]{0,12}?JavaLanguageVersion\.of\(|jvmToolchain\(|(?:source|target)Compatibility\s*=?\s*(?:JavaVersion\.VERSION_)?["']?"""
    r"""|\brelease(?:\.set\(|\s*=\s*))(\d{1,2}(?:[._]\d{1,2})?)"""
)
_KOTLIN = re.compile(
    r"""(?:kotlin\(["'][\w.-]{1,40}["']\)|id[\s(]{1,3}["']org\.jetbrains\.kotlin[\w.]{0,40}["']\)?)\s*version\s*\(?\s*["']([\d.]{1,20})["']"""
    r"""|\bkotlin_?[vV]ersion\s*=[^\n]{0,120}?["']([\d.]{3,20})["']"""
)
_SET = re.compile(
    r"""^[ \t]*(?:(?:ext|def|val|var)[.\s]+)?(\w{1,60})\s*=[^\n]{0,120}?["']([\w.+-]{1,40})["'][ \t]*$""", re.MULTILINE
)
_OWN_VERSION = re.compile(r"""^version\s*=?\s*["']([\w.+-]{1,40})["']""", re.MULTILINE)


def read_gradle(path: str, text: str, tree: Tree | None = None) -> Manifest:
    """Read a script of Gradle, which is a program: plugins, Java, Kotlin and dependencies where they are written out."""
    known = _variables(path, text, tree)
    needs = [(kind, name, _settled(version, known)) for kind, name, version in _NEED.findall(text)]
    needs += _from_catalogue(text, tree)
    java, kotlin, version = _JAVA.search(text), _KOTLIN.search(text), _OWN_VERSION.search(text)
    runtimes = {
        **({"java": java[1].replace("_", ".")} if java else {}),
        **({"kotlin": kotlin[1] or kotlin[2]} if kotlin else {}),
    }
    named = _PLUGIN.findall(text)
    return Manifest(
        path,
        "java",
        version=version[1] if version else "",
        runtimes=runtimes,
        dependencies=wanted((name, version) for kind, name, version in needs if not _is_for_developing(kind)),
        dev_dependencies=wanted((name, version) for kind, name, version in needs if _is_for_developing(kind)),
        tools=tuple(sorted({one or (f"kotlin-{two}" if two else three or four) for one, two, three, four in named})),
        build="gradle",
    )


def _is_for_developing(configuration: str) -> bool:
    return "est" in configuration or configuration == "classpath"


def _variables(path: str, text: str, tree: Tree | None) -> dict[str, str]:
    """Return the variables that are written out in a script, and in the properties and scripts above it."""
    known = dict(_SET.findall(text))
    for folder in _above(path) if tree is not None and "$" in text else ():
        for name in ("gradle.properties", "build.gradle", "variables.gradle"):
            stated = tree.text(f"{folder}{name}") if tree is not None and tree.has(f"{folder}{name}") else None
            found = properties(stated).items() if name.endswith("properties") else _SET.findall(stated or "")
            for key, value in found:
                known.setdefault(key, value)
    return known


def properties(text: str | None) -> dict[str, str]:
    """Return the lines `key = value` of a file of properties."""
    pairs = [line.partition("=") for line in (text or "").splitlines() if not line.lstrip().startswith(("#", "!"))]
    return {key.strip(): value.strip() for key, between, value in pairs if between}


def _from_catalogue(text: str, tree: Tree | None) -> list[tuple[str, str, str]]:
    """Return the dependencies that a script takes out of the version catalogue of its build."""
    used = _CATALOGUED.findall(text)
    if tree is None or not used:
        return []
    table = formats.toml(tree.text("gradle/libs.versions.toml"))
    libraries = {_accessor(name): one for name, one in formats.table(table.get("libraries")).items()}
    bundles = {_accessor(name): formats.texts(one) for name, one in formats.table(table.get("bundles")).items()}
    found = []
    for kind, name in used:
        names = (
            map(_accessor, bundles.get(name.removeprefix("bundles."), [])) if name.startswith("bundles.") else [name]
        )
        found += [(kind, *_library(libraries[one], table)) for one in names if one in libraries]
    return [one for one in found if one[1]]


def _accessor(alias: str) -> str:
    return re.sub(r"[-_]", ".", alias)


def _library(stated: object, table: Mapping[str, object]) -> tuple[str, str]:
    """Return name and version of one library of a catalogue."""
    if isinstance(stated, str):
        group, _, rest = stated.partition(":")
        name, _, version = rest.partition(":")
        return f"{group}:{name}", version
    module = formats.dig(stated, "module")
    parts = [formats.dig(stated, "group"), formats.dig(stated, "name")]
    name = module if isinstance(module, str) else ":".join(one for one in parts if isinstance(one, str))
    return name, _version(formats.dig(stated, "version"), table)


def _version(stated: object, table: Mapping[str, object]) -> str:
    reference = formats.dig(stated, "ref")
    if isinstance(reference, str):
        stated = formats.dig(table, "versions", reference)
    if isinstance(stated, dict):
        stated = stated.get("prefer") or stated.get("require") or stated.get("strictly")
    return stated if isinstance(stated, str) else ""


def read_catalogue(path: str, text: str, _tree: Tree | None = None) -> Manifest:
    """Read a version catalogue: the plugins, and the Java and Kotlin that it names; libraries count where they are used."""
    table = formats.toml(text)
    plugins = [
        formats.dig(one, "id") if isinstance(one, dict) else str(one).partition(":")[0]
        for one in formats.table(table.get("plugins")).values()
    ]
    versions = {name: _version(formats.dig(table, "versions", name), table) for name in ("java", "jdk", "kotlin")}
    runtimes = {"java": versions["java"] or versions["jdk"], "kotlin": versions["kotlin"]}
    return Manifest(
        path,
        "java",
        runtimes={name: version for name, version in runtimes.items() if version},
        tools=tuple(sorted({one for one in plugins if isinstance(one, str)})),
        build="gradle",
    )


def read_gradle_settings(path: str, text: str, _tree: Tree | None = None) -> Manifest:
    """Read a settings.gradle: the name of the build, and the projects that it includes."""
    name = re.search(r"""rootProject\.name\s*=\s*["']([^"'\n]{1,100})["']""", text)
    included = re.findall(
        r"""^\s*include\s*(?:\(([^)]{1,4000})\)|((?:[^\n]{0,300},\s*\n){0,200}[^\n]{1,2000}))""", text, re.MULTILINE
    )
    quoted = [one for pair in included for one in re.findall(r"""["']([^"'\n]{1,200})["']""", "".join(pair))]
    members = [one.lstrip(":").replace(":", "/") for one in quoted]
    kotlin = _KOTLIN.search(text)
    return Manifest(
        path,
        "java",
        name=name[1] if name else "",
        runtimes={"kotlin": kotlin[1] or kotlin[2]} if kotlin else {},
        members=tuple(members),
        build="gradle",
    )
