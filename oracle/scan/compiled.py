"""Manifests of Go, Rust, Java and Kotlin, .NET, Swift, C and C++."""

from __future__ import annotations

import re

from oracle.scan import formats
from oracle.scan.manifests import Manifest, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any
    from xml.etree.ElementTree import Element

_GRADLE_NEED = re.compile(
    r"""^\s*(api|implementation|compileOnly|runtimeOnly|kapt|ksp|annotationProcessor|classpath|\w{0,20}[tT]est\w{0,30})"""
    r"""[\s(]{1,4}(?:platform\()?["']([\w.-]{1,100}:[\w.-]{1,100})(?::([^"'\n]{1,60}))?["']""",
    re.MULTILINE,
)
_GRADLE_PLUGIN = re.compile(
    r"""^\s*(?:id[\s(]{1,3}["']([\w.-]{1,100})["']|kotlin\(["']([\w.-]{1,40})["']\))""", re.MULTILINE
)
_GRADLE_JAVA = re.compile(
    r"""(?:languageVersion[\s\S]{0,12}?JavaLanguageVersion\.of\(|jvmToolchain\(|(?:source|target)Compatibility\s*=?\s*(?:JavaVersion\.VERSION_)?["']?)"""
    r"""(\d{1,2}(?:[._]\d{1,2})?)"""
)
_QUOTED = re.compile(r"""["']([^"'\n]{1,200})["']""")


# -- Go and Rust -------------------------------------------------------------------------------------------------------


def read_go_mod(path: str, text: str) -> Manifest:
    """Read a go.mod (https://go.dev/ref/mod): module, go, toolchain, and what it requires directly."""
    one: dict[str, str] = {}
    needs: list[tuple[str, str]] = []
    for words in _go_lines(text):
        if words[0] == "require" and len(words) > 2:
            needs.append((words[1], words[2]))
        elif len(words) > 1:
            one.setdefault(words[0], words[1])
    runtimes = {name: version for name, version in one.items() if name in ("go", "toolchain")}
    return Manifest(path, "go", name=one.get("module", ""), runtimes=runtimes, dependencies=wanted(needs))


def read_go_work(path: str, text: str) -> Manifest:
    """Read a go.work: the modules that are worked on together."""
    lines = list(_go_lines(text))
    runtimes = {words[0]: words[1] for words in lines if words[0] in ("go", "toolchain") and len(words) > 1}
    members = tuple(words[1] for words in lines if words[0] == "use" and len(words) > 1)
    return Manifest(path, "go", runtimes=runtimes, members=members)


def _go_lines(text: str) -> Iterator[list[str]]:
    """Yield the statements as words; those of a block are given its word, indirect requirements are left out."""
    block = ""
    for line in text.splitlines():
        if line.rstrip().endswith("// indirect"):
            continue
        words = line.partition("//")[0].split()
        if words[-1:] == ["("]:
            block = words[0]
        elif words == [")"]:
            block = ""
        elif words:
            yield [block, *words] if block else words


def read_cargo(path: str, text: str) -> Manifest:
    """Read a Cargo.toml; what a member inherits is marked `workspace`."""
    table = formats.toml(text)
    package, workspace = formats.table(table.get("package")), formats.table(table.get("workspace"))
    shared = formats.table(workspace.get("package"))
    stated = {"rust": package.get("rust-version"), "edition": package.get("edition") or shared.get("edition")}
    bins = table.get("bin")
    names = [formats.dig(one, "name") for one in bins] if isinstance(bins, list) else []
    return Manifest(
        path,
        "rust",
        name=_word(package.get("name")),
        version=_word(package.get("version") or shared.get("version")),
        runtimes={name: item for name, item in stated.items() if isinstance(item, str)},
        dependencies=wanted(
            [*_crates(table.get("dependencies")), *_crates(workspace.get("dependencies"))],
        ),
        dev_dependencies=wanted([*_crates(table.get("dev-dependencies")), *_crates(table.get("build-dependencies"))]),
        entry_points={name: "bin" for name in names if isinstance(name, str)},
        members=tuple(formats.texts(workspace.get("members"))),
        tools=tuple(sorted(formats.table(table.get("lints")))),
    )


def _crates(table: object) -> Iterator[tuple[str, str]]:
    for name, spec in formats.table(table).items():
        version = formats.dig(spec, "version") if isinstance(spec, dict) else spec
        yield name, "workspace" if formats.dig(spec, "workspace") is True else _word(version)


# -- Java, Kotlin, .NET --------------------------------------------------------------------------------------------------


def read_pom(path: str, text: str) -> Manifest | None:
    """Read a pom.xml of Maven."""
    root = formats.xml(text)
    if root is None:
        return None
    properties = {formats.tag(item): (item.text or "").strip() for item in _children(root, "properties")}
    needs = [(_inner(item, "groupId"), _inner(item, "artifactId"), item) for item in _children(root, "dependencies")]
    named = [
        (f"{group}:{name}", _inner(item, "version"), _inner(item, "scope") == "test") for group, name, item in needs
    ]
    java = next(
        (
            properties[key]
            for key in ("maven.compiler.release", "java.version", "maven.compiler.source")
            if key in properties
        ),
        "",
    )
    return Manifest(
        path,
        "java",
        name=":".join(filter(None, (_inner(root, "groupId"), _inner(root, "artifactId")))),
        version=_inner(root, "version"),
        runtimes={"java": java} if java else {},
        dependencies=wanted((name, version) for name, version, is_test in named if not is_test),
        dev_dependencies=wanted((name, version) for name, version, is_test in named if is_test),
        members=tuple((item.text or "").strip() for item in _children(root, "modules")),
        tools=tuple(_inner(item, "artifactId") for build in _children(root, "build") for item in build),
        build="maven",
    )


def _children(root: Element, name: str) -> list[Element]:
    return [child for item in root if formats.tag(item) == name for child in item]


def _inner(root: Element, name: str) -> str:
    return next(((item.text or "").strip() for item in root if formats.tag(item) == name), "")


def read_gradle(path: str, text: str) -> Manifest:
    """Read a build.gradle, which is a program: plugins, Java and dependencies where they are written out."""
    needs = [(kind, name, version) for kind, name, version in _GRADLE_NEED.findall(text)]
    java = _GRADLE_JAVA.search(text)
    plugins = sorted({one or f"kotlin-{other}" for one, other in _GRADLE_PLUGIN.findall(text)})
    return Manifest(
        path,
        "java",
        runtimes={"java": java[1].replace("_", ".")} if java else {},
        dependencies=wanted((name, version) for kind, name, version in needs if "est" not in kind),
        dev_dependencies=wanted((name, version) for kind, name, version in needs if "est" in kind),
        tools=tuple(plugins),
        build="gradle",
    )


def read_gradle_settings(path: str, text: str) -> Manifest:
    """Read a settings.gradle: the name of the build, and the projects that it includes."""
    name = re.search(r"""rootProject\.name\s*=\s*["']([^"'\n]{1,100})["']""", text)
    included = re.findall(r"""^\s*include[\s(]([^\n]{1,2000})""", text, re.MULTILINE)
    members = [one.lstrip(":").replace(":", "/") for line in included for one in _QUOTED.findall(line)]
    return Manifest(path, "java", name=name[1] if name else "", members=tuple(members), build="gradle")


def read_msbuild(path: str, text: str) -> Manifest | None:
    """Read a project of MSBuild (.csproj and the like)."""
    root = formats.xml(text)
    if root is None:
        return None
    items = list(root.iter())
    values = {formats.tag(item): (item.text or "").strip() for item in items if item.text and item.text.strip()}
    needs = [
        (item.get("Include") or "", item.get("Version") or _inner(item, "Version"))
        for item in items
        if formats.tag(item) == "PackageReference" and item.get("Include")
    ]
    frameworks = (
        values.get("TargetFrameworks") or values.get("TargetFramework") or values.get("TargetFrameworkVersion", "")
    )
    return Manifest(
        path,
        "dotnet",
        name=values.get("AssemblyName") or path.rpartition("/")[2].rpartition(".")[0],
        version=values.get("Version", ""),
        runtimes={"dotnet": frameworks} if frameworks else {},
        dependencies=wanted(needs),
        entry_points={"exe": values["OutputType"]} if values.get("OutputType") else {},
        build="msbuild",
    )


def read_solution(path: str, text: str) -> Manifest:
    """Read a .sln of Visual Studio: the projects that are built together."""
    found = re.findall(
        r"""^Project\([^)\n]{1,60}\)\s*=\s*"[^"\n]{1,100}",\s*"([^"\n]{1,300}proj)\"""", text, re.MULTILINE
    )
    return Manifest(path, "dotnet", members=tuple(one.replace("\\", "/") for one in found), build="msbuild")


# -- Swift, C and C++ ----------------------------------------------------------------------------------------------------


def read_swift(path: str, text: str) -> Manifest:
    """Read a Package.swift, which is a program: its tools version, name, targets and packages where they are written out."""
    version = re.match(r"//\s*swift-tools-version:\s*([\d.]{1,10})", text)
    name = re.search(r"""Package\(\s*name:\s*"([^"\n]{1,100})\"""", text)
    packages = re.findall(r"""\.package\([^)]{0,200}?url:\s*"([^"\n]{1,300})"(?:[^)\n]{0,60}?"([\d.]{1,20})")?""", text)
    targets = re.findall(
        r"""\.(executableTarget|testTarget|target|macro|plugin)\(\s*name:\s*"([^"\n]{1,100})\"""", text
    )
    return Manifest(
        path,
        "swift",
        name=name[1] if name else "",
        runtimes={"swift": version[1]} if version else {},
        dependencies=wanted((url.rstrip("/").rpartition("/")[2].removesuffix(".git"), spec) for url, spec in packages),
        entry_points={target: kind for kind, target in targets if kind == "executableTarget"},
        members=tuple(target for kind, target in targets if kind != "testTarget"),
        build="swiftpm",
    )


def read_cmake(path: str, text: str) -> Manifest:
    """Read a CMakeLists.txt, which is a program: the commands that name the project, its standards and its packages."""
    plain = re.sub(r"#[^\n]*", "", text)
    project = re.search(r"(?i)\bproject\s*\(\s*([\w.+-]{1,100})(?:[^)]{0,200}?VERSION\s+([\d.]{1,20}))?", plain)
    standards = re.findall(r"(?i)CMAKE_(CXX|C)_STANDARD\s+(\d{2})", plain)
    least = re.search(r"(?i)cmake_minimum_required\s*\(\s*VERSION\s+([\d.]{1,10})", plain)
    runtimes = {{"CXX": "c++", "C": "c"}[kind.upper()]: number for kind, number in standards}
    return Manifest(
        path,
        "c_cpp",
        name=project[1] if project else "",
        version=(project[2] or "") if project else "",
        runtimes={**runtimes, **({"cmake": f">={least[1]}"} if least else {})},
        dependencies=wanted((name, "") for name in re.findall(r"(?i)\bfind_package\s*\(\s*([\w.+-]{1,100})", plain)),
        entry_points=dict.fromkeys(re.findall(r"(?i)\badd_executable\s*\(\s*([\w.+-]{1,100})", plain), "executable"),
        members=tuple(re.findall(r"(?i)\badd_subdirectory\s*\(\s*([\w./-]{1,200})", plain)),
        tools=tuple(
            sorted(set(re.findall(r"(?i)\b(enable_testing|gtest_discover_tests|catch_discover_tests)\b", plain)))
        ),
        build="cmake",
    )


def read_meson(path: str, text: str) -> Manifest:
    """Read a meson.build, which is a program: its project and dependencies where they are written out."""
    project = re.search(r"""\bproject\(\s*'([^'\n]{1,100})'""", text)
    standards = re.findall(r"""\b(cpp|c)_std=(?:gnu|c)\+*(\d{2})""", text)
    return Manifest(
        path,
        "c_cpp",
        name=project[1] if project else "",
        runtimes={{"cpp": "c++", "c": "c"}[kind]: number for kind, number in standards},
        dependencies=wanted((name, "") for name in re.findall(r"""\bdependency\(\s*'([^'\n]{1,100})'""", text)),
        members=tuple(re.findall(r"""\bsubdir\(\s*'([^'\n]{1,200})'""", text)),
        build="meson",
    )


def read_conan(path: str, text: str) -> Manifest:
    """Read a conanfile.txt: the packages that it requires."""
    sections = formats.ini(text)
    stated = [list(sections[name]) for name in ("requires", "tool_requires") if name in sections]
    pairs = [line.partition("@")[0].partition("/") for lines in stated for line in lines]
    return Manifest(path, "c_cpp", dependencies=wanted((name, version) for name, _, version in pairs), build="conan")


def read_vcpkg(path: str, text: str) -> Manifest:
    """Read a vcpkg.json."""
    table = formats.table(formats.json(text))
    listed = table.get("dependencies")
    items: list[Any] = listed if isinstance(listed, list) else []
    names = [item if isinstance(item, str) else _word(formats.dig(item, "name")) for item in items]
    return Manifest(
        path,
        "c_cpp",
        name=_word(table.get("name")),
        version=_word(table.get("version") or table.get("version-string")),
        dependencies=wanted((name, "") for name in names if name),
        build="vcpkg",
    )


def _word(item: object) -> str:
    return item if isinstance(item, str) else ""
