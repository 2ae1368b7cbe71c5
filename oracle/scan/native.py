"""Manifests of C and C++: CMake, Meson, the autotools, Conan, vcpkg."""

from __future__ import annotations

import re

from oracle.scan import formats
from oracle.scan.manifests import Manifest, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read_cmake(path: str, text: str) -> Manifest:
    """Read a CMakeLists.txt, which is a program: the commands that name the project, its standards and its packages."""
    plain = re.sub(r"#[^\n]*", "", text)
    project = re.search(r"(?i)\bproject\s*\(\s*([\w.+-]{1,100})(?:[^)]{0,200}?VERSION\s+([\d.]{1,20}))?", plain)
    standards = re.findall(r"(?i)CMAKE_(CXX|C)_STANDARD\s+(\d{2})", plain)
    standards += re.findall(r"(?i)\b(c|cxx)_std_(\d{2})\b", plain)
    least = re.search(r"(?i)cmake_minimum_required\s*\(\s*VERSION\s+([\d.]{1,10})", plain)
    runtimes: dict[str, str] = {}
    for kind, number in standards:
        runtimes.setdefault({"CXX": "c++", "C": "c"}[kind.upper()], number)
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
    version = re.search(r"""\bproject\([^)]{0,600}?\bversion\s*:\s*'([^'\n]{1,40})'""", text)
    standards = re.findall(r"""\b(cpp|c)_std=(?:gnu|c)\+*(\d{2})""", text)
    programs = re.findall(r"""\bexecutable\(\s*'([^'\n]{1,100})'""", text)
    return Manifest(
        path,
        "c_cpp",
        name=project[1] if project else "",
        version=version[1] if version else "",
        runtimes={{"cpp": "c++", "c": "c"}[kind]: number for kind, number in standards},
        dependencies=wanted((name, "") for name in re.findall(r"""\bdependency\(\s*'([^'\n]{1,100})'""", text)),
        entry_points={} if re.search(r"(?:^|/)(?:unit)?tests?/", path) else dict.fromkeys(programs, "executable"),
        members=tuple(re.findall(r"""\bsubdir\(\s*'([^'\n]{1,200})'""", text)),
        build="meson",
    )


def read_configure(path: str, text: str) -> Manifest | None:
    """Read a configure.ac of the autotools: name, version, and what it looks for where they are written out."""
    plain = re.sub(r"(?m)(?:^|\s)(?:dnl\b|#)[^\n]*", "", text)
    stated = re.search(r"""\bAC_INIT\(\s*\[?"?([\w.+ -]{1,100})"?\]?\s*(?:,\s*\[?"?(\d[\w.+-]{0,40})"?\]?)?""", plain)
    if stated is None:
        return None
    standards = re.findall(r"\bAX_CXX_COMPILE_STDCXX\(\s*\[?(\d{2})", plain)
    modules = re.findall(r"\bPKG_CHECK_MODULES\(\s*\[?\w{1,60}\]?\s*,\s*\[?([\w.+-]{1,80})", plain)
    libraries = re.findall(r"\bAC_CHECK_LIB\(\s*\[?([\w.+-]{1,80})", plain)
    return Manifest(
        path,
        "c_cpp",
        name=stated[1].strip(),
        version=stated[2] or "",
        runtimes={"c++": standards[0]} if standards else {},
        dependencies=wanted((name, "") for name in (*modules, *libraries)),
        build="autotools",
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
    names = [item if isinstance(item, str) else formats.word(formats.dig(item, "name")) for item in items]
    return Manifest(
        path,
        "c_cpp",
        name=formats.word(table.get("name")),
        version=formats.word(table.get("version") or table.get("version-string")),
        dependencies=wanted((name, "") for name in names if name),
        build="vcpkg",
    )
