"""Manifests: the files in which a project states its name, its dependencies and its commands.

The rules in `data/manifests.toml` say what each key of a manifest means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from oracle.domain.values import NOTHING, value
from oracle.scan import formats, readers
from oracle.scan.formats import load_data
from oracle.scan.readers import Facts
from oracle.scan.sanitize import address
from oracle.scan.walk import SourceTree, is_supporting

Rule = dict[str, Any]
Pairs = Iterator[tuple[str, str]]
MAX_MANIFESTS = 300
"""Manifests that are read of one repository, nearest to the top first."""

MAX_NAMES = 300
"""Dependencies that are kept of one list."""


@value
class Manifest:
    """What one manifest states. A dependency maps its name to a version range, "" for any version."""

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
        """The folder of the manifest, "." for the top."""
        return self.path.rpartition("/")[0] or "."

    @property
    def needs(self) -> frozenset[str]:
        """The names of all dependencies."""
        return frozenset((*self.dependencies, *self.dev_dependencies))


def read_all(tree: SourceTree) -> list[Manifest]:
    """Return the manifests of a repository, nearest to the top first."""
    rules: dict[str, Rule] = {}
    for rule in load_data("manifests")["rules"]:
        for path in tree.named(*rule["files"]):
            if not is_supporting(path) and path.startswith(rule.get("folder", "")):
                rules.setdefault(path, rule)
    paths = sorted(rules, key=lambda path: (path.count("/"), path))[:MAX_MANIFESTS]
    found = (read(rules[path], path, tree.text(path)) for path in paths)
    return [one for one in found if one is not None]


def read(rule: Rule, path: str, text: str | None) -> Manifest | None:
    """Return what a manifest states by its rule; None for a file that can't be read or is something else."""
    if text is None:
        return None
    if "reader" in rule:
        module, function = rule["reader"].split(":")
        facts = getattr(import_module(f"oracle.scan.{module}"), function)(path, text)
    else:
        facts = extract(rule, path, text)
    if facts is None:
        return None
    needs = {name: _ranges(facts.pop(name, ())) for name in ("dependencies", "dev_dependencies")}
    return Manifest(path, rule["ecosystem"], **{"build": rule.get("build", ""), **facts, **needs})


def _ranges(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return version ranges by name, in order; of an address without the user and password in it."""
    found: dict[str, str] = {}
    for name, stated in sorted(pairs):
        found.setdefault(name, (address(stated.partition("+")[2] or stated) or "") if "://" in stated else stated)
    return dict(list(found.items())[:MAX_NAMES])


_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]{0,100})\s*(?:\[[^\]\n]{0,200}\])?\s*([^;#\n]{0,200})")
_QUOTED = re.compile(r"""["']([^"'\n]+)["']""")
_VAGUE_NAMES = ("swift", "ios", "sdk", "core")


def extract(rule: Rule, path: str, text: str) -> Facts | None:
    """Return the fields of a manifest; None for a file that is something else."""
    if "format" not in rule:
        return _from_text(rule, path, re.sub(rule["skip"], "", text, flags=re.MULTILINE) if "skip" in rule else text)
    document = _load(rule["format"], text)
    if document is None or ("needs" in rule and formats.dig(document, rule["needs"]) is None):
        return None
    return _from_document(rule, document)


def _load(syntax: str, text: str) -> Any:  # noqa: ANN401 -- what a foreign file holds has no type
    if syntax == "lines":
        return [line for line in text.splitlines() if not line.lstrip().startswith(("-", "#"))]
    if syntax == "ini":
        return {name: dict(section) for name, section in formats.ini(text).items()}
    if syntax == "yaml":
        return formats.first_table(text)
    if syntax == "setup_py":
        return readers.setup_arguments(text)
    return formats.toml(text) if syntax == "toml" else formats.json(text)


# -- Documents ---------------------------------------------------------------------------------------------------------


def _from_document(rule: Rule, document: Any) -> Facts:  # noqa: ANN401
    def at(field: str) -> list[Any]:
        return _values(document, rule.get(field, ()))

    name = _first_text(at("name"))
    needs = [pair for one in at("dependencies") for pair in _dependencies(one)]
    runtimes = _texts_of(at("runtime_tables"))
    for runtime, paths in rule.get("runtimes", {}).items():
        stated = _first_text([*_values(document, paths), *(version for one, version in needs if one == runtime)])
        runtimes |= {runtime: stated} if stated else {}
    for stated in filter(None, map(formats.word, at("tool_versions"))):
        tool, _, version = stated.partition("@")
        runtimes[tool] = version.partition("+")[0]
    return {
        "name": name,
        "version": _first_text(at("version")),
        "runtimes": runtimes,
        "dependencies": [(one, version) for one, version in needs if one not in rule.get("runtimes", {})],
        "dev_dependencies": [pair for one in at("dev_dependencies") for pair in _dependencies(one)],
        "scripts": _texts_of(at("scripts")),
        "entry_points": {one: text for item in at("entry_points") for one, text in _entry_points(item, name)},
        "members": tuple(text for one in at("members") for text in formats.texts(one)),
        "tools": tuple(sorted(key.removeprefix("tool:") for one in at("tools") for key in formats.table(one))),
        **({"build": _first_text(at("build_at"))} if "build_at" in rule else {}),
    }


def _values(document: Any, paths: Sequence[str]) -> list[Any]:  # noqa: ANN401
    """Return what is at the key paths of a document."""
    found = []
    for path in paths:
        values = [document]
        for key in path.split("/") if path else ():
            values = [item for one in values for item in _children(one, key)]
        found += values
    return found


def _children(value: Any, key: str) -> list[Any]:  # noqa: ANN401
    if not isinstance(value, dict):
        return []
    return list(value.values()) if key == "*" else [value[key]] if key in value else []


def _first_text(values: Sequence[Any]) -> str:
    return next((one for one in values if isinstance(one, str) and one), "")


def _texts_of(tables: Sequence[Any]) -> dict[str, str]:
    """Return the texts of tables by their keys; the texts of a list become one line for a shell."""
    pairs = [pair for one in tables for pair in formats.table(one).items()]
    return {key: "; ".join(formats.texts(item)) for key, item in pairs if isinstance(item, str | list)}


def _entry_points(value: Any, name: str) -> Pairs:  # noqa: ANN401
    """Yield programs: of a table by name, of a list by the name of their file, a lone one by the name of its package."""
    if isinstance(value, str):
        yield name.rpartition("/")[2], value
    elif isinstance(value, dict):
        yield from ((key, item) for key, item in value.items() if isinstance(item, str))
    elif isinstance(value, list):
        yield from ((one.rpartition("/")[2], one) for one in value if isinstance(one, str))
        yield from ((one["name"], "bin") for one in value if isinstance(formats.dig(one, "name"), str))


def _dependencies(value: Any) -> Pairs:  # noqa: ANN401
    """Yield names and versions of a table, a list, or the lines of a text."""
    if isinstance(value, dict):
        yield from ((str(name), _version(spec)) for name, spec in value.items())
        return
    for one in value.splitlines() if isinstance(value, str) else value if isinstance(value, list) else ():
        line = formats.word(formats.dig(one, "name") if isinstance(one, dict) else one)
        found = _REQUIREMENT.match(line)
        if found and not line[found.end(1) :].startswith(("+", ":")):  # an address instead of a name
            version = found[2].split("--hash")[0].rstrip(" \\").removeprefix("@").strip("() ")
            yield found[1], re.sub(r"^=(?!=)", "==", version)


def _version(spec: Any) -> str:  # noqa: ANN401
    if isinstance(spec, dict):
        return "workspace" if spec.get("workspace") is True else formats.word(spec.get("version"))
    return formats.word(spec)


# -- Texts -------------------------------------------------------------------------------------------------------------


def _from_text(rule: Rule, path: str, text: str) -> Facts:
    runtimes = {name: _first(patterns, text) for name, patterns in rule.get("runtimes", {}).items()}
    for name, patterns in rule.get("at_least", {}).items():
        runtimes[name] = f">={least}" if (least := _first(patterns, text)) else ""
    of_tests = "unittest" in path  # programs there are tests
    programs = {} if of_tests else {kind: _items(own, text) for kind, own in rule.get("entry_points", {}).items()}
    return {
        "name": _first(rule.get("name", ()), text) or _name_of(path, rule.get("name_from", "")),
        "version": _first(rule.get("version", ()), text),
        "runtimes": {name: version.replace("_", ".") for name, version in runtimes.items() if version},
        "dependencies": _needs(rule.get("dependencies", ()), text),
        "dev_dependencies": _needs(rule.get("dev_dependencies", ()), text),
        "entry_points": {name: kind for kind, names in programs.items() for name in names},
        "members": tuple(
            one.lstrip(":").replace(":", "/").replace("\\", "/") for one in _items(rule.get("members", ()), text)
        ),
        "tools": tuple(sorted(set(_items(rule.get("tools", ()), text)))),
    }


def _matches(patterns: Sequence[str], text: str) -> list[re.Match[str]]:
    found = [match for pattern in patterns for match in re.finditer(pattern, text, re.MULTILINE)]
    return sorted(found, key=lambda match: match.start())


def _first(patterns: Sequence[str], text: str) -> str:
    """Return what the first match captures; quoted parts are joined by commas."""
    found = _matches(patterns, text)
    return ", ".join(_QUOTED.findall(found[0][1]) or [found[0][1].strip()]) if found else ""


def _items(patterns: Sequence[str], text: str) -> list[str]:
    """Return the names that patterns capture: quoted parts, else words."""
    return [one for found in _matches(patterns, text) for one in _QUOTED.findall(found[1]) or found[1].split()]


def _needs(patterns: Sequence[str], text: str) -> list[tuple[str, str]]:
    found = []
    for match in _matches(patterns, text):
        name = ":".join(_QUOTED.findall(match[1])) or match[1]
        version = (match[2] or "").strip() if len(match.groups()) > 1 else ""
        found.append((_name_of_address(name), "" if "$" in version else version))
    return found


def _name_of_address(name: str) -> str:
    """Return the name of a package that is stated by its address; a last word that says little gets its owner."""
    if "://" not in name and not name.endswith(".git"):
        return name
    owner, _, last = name.rstrip("/").removesuffix(".git").rpartition("/")
    return f"{owner.rpartition('/')[2]}/{last}" if last.lower() in _VAGUE_NAMES else last


def _name_of(path: str, source: str) -> str:
    folder, _, file = path.rpartition("/")
    return {"file": file, "folder": folder.rpartition("/")[2]}.get(source, "").rpartition(".")[0]
