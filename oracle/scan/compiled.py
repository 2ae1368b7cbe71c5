"""Manifests of Go, Rust, Swift and the packages of Apple's platforms."""

from __future__ import annotations

import re

from oracle.scan import formats
from oracle.scan.manifests import Manifest, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


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
        name=formats.word(package.get("name")),
        version=formats.word(package.get("version") or shared.get("version")),
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
        yield name, "workspace" if formats.dig(spec, "workspace") is True else formats.word(version)


# -- Swift ---------------------------------------------------------------------------------------------------------------


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
        dependencies=wanted((_of_url(url), spec) for url, spec in packages),
        entry_points={target: kind for kind, target in targets if kind == "executableTarget"},
        members=tuple(target for kind, target in targets if kind != "testTarget"),
        build="swiftpm",
    )


def _of_url(url: str) -> str:
    """Return the name of a package by where it lies; a last word that says nothing gets the one before it."""
    owner, _, name = url.rstrip("/").removesuffix(".git").rpartition("/")
    return f"{owner.rpartition('/')[2]}/{name}" if name.lower() in ("swift", "ios", "sdk", "core") else name


def read_podspec(path: str, text: str) -> Manifest:
    """Read a .podspec of CocoaPods, which is a Ruby program: name, version, Swift and pods where they are written out."""
    stated = dict(re.findall(r"""\.(name|version|swift_versions?)\s*=\s*\[?\s*["']([^"'\n]{1,100})["']""", text))
    swift = stated.get("swift_version") or stated.get("swift_versions")
    needs = re.findall(r"""\.dependency[\s(]{1,3}["']([\w./+-]{1,100})["'](?:\s*,\s*["']([^"'\n]{1,60})["'])?""", text)
    return Manifest(
        path,
        "cocoapods",
        name=stated.get("name", ""),
        version=stated.get("version", ""),
        runtimes={"swift": swift} if swift else {},
        dependencies=wanted(needs),
        build="cocoapods",
    )


def read_podfile(path: str, text: str) -> Manifest:
    """Read a Podfile, which is a Ruby program: the pods that it names."""
    needs = re.findall(
        r"""^\s*pod\s+["']([\w./+-]{1,100})["'](?:\s*,\s*["']([^"'\n]{1,60})["'])?""", text, re.MULTILINE
    )
    return Manifest(path, "cocoapods", dependencies=wanted(needs), build="cocoapods")


def read_xcode(path: str, text: str) -> Manifest:
    """Read the project of Xcode: its name is that of its folder, its Swift what its settings state."""
    swift = re.search(r"\bSWIFT_VERSION = ([\d.]{1,10});", text)
    name = path.rpartition("/")[0].rpartition("/")[2].removesuffix(".xcodeproj")
    return Manifest(path, "xcode", name=name, runtimes={"swift": swift[1]} if swift else {}, build="xcodebuild")
