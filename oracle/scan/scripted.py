"""Manifests of Python, JavaScript and TypeScript, PHP."""

from __future__ import annotations

import re

from oracle.scan import formats
from oracle.scan.manifests import Manifest, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]{0,100})\s*(?:\[[^\]\n]{0,200}\])?\s*([^;#\n]{0,200})")
_LONGEST_PROGRAM, _MOST_STATEMENTS = 1 << 17, 500
_PLAIN_REQUIREMENTS = frozenset(
    f"{name}.txt" for name in "requirements default base main common prod production".split()
)


# -- Python ------------------------------------------------------------------------------------------------------------


def read_pyproject(path: str, text: str) -> Manifest:
    """Read a pyproject.toml: the standard tables, and those of Poetry."""
    table = formats.toml(text)
    project, tools = formats.table(table.get("project")), formats.table(table.get("tool"))
    poetry = formats.table(tools.get("poetry"))
    needs = formats.table(poetry.get("dependencies"))
    python = needs.pop("python", None)
    groups = [
        *formats.table(project.get("optional-dependencies")).values(),
        *formats.table(table.get("dependency-groups")).values(),
    ]
    poetry_groups = [
        formats.table(poetry.get("dev-dependencies")),
        *(formats.table(formats.dig(group, "dependencies")) for group in formats.table(poetry.get("group")).values()),
    ]
    return Manifest(
        path,
        "python",
        name=formats.word(project.get("name") or poetry.get("name")),
        version=formats.word(project.get("version") or poetry.get("version")),
        runtimes=_python(project.get("requires-python") or python),
        dependencies=wanted([*_requirements(formats.texts(project.get("dependencies"))), *_specs(needs)]),
        dev_dependencies=wanted(
            [
                *(pair for group in groups for pair in _requirements(formats.texts(group))),
                *(pair for group in poetry_groups for pair in _specs(group)),
            ]
        ),
        entry_points=_words({**formats.table(poetry.get("scripts")), **formats.table(project.get("scripts"))}),
        scripts=_words(formats.table(formats.dig(tools, "poe", "tasks"))),
        members=tuple(formats.texts(formats.dig(tools, "uv", "workspace", "members"))),
        tools=tuple(sorted(tools)),
        build=formats.word(formats.dig(table, "build-system", "build-backend")),
    )


def read_setup_cfg(path: str, text: str) -> Manifest | None:
    """Read a setup.cfg: what setuptools takes from it, and which tools it configures."""
    sections = formats.ini(text)
    options = dict(sections["options"]) if "options" in sections else {}
    metadata = dict(sections["metadata"]) if "metadata" in sections else {}
    extras = sections["options.extras_require"].values() if "options.extras_require" in sections else ()
    return Manifest(
        path,
        "python",
        name=formats.word(metadata.get("name")),
        version=formats.word(metadata.get("version")),
        runtimes=_python(options.get("python_requires")),
        dependencies=wanted(_requirements((options.get("install_requires") or "").splitlines())),
        dev_dependencies=wanted(_requirements(line for extra in extras for line in (extra or "").splitlines())),
        tools=tuple(sorted(name.removeprefix("tool:") for name in sections.sections())),
    )


def read_setup_py(path: str, text: str) -> Manifest | None:
    """Read the call of setup() in a setup.py without running it: arguments that are written out count."""
    import ast

    tree = formats.parse(text, ast.parse) if len(text) <= _LONGEST_PROGRAM else None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None else []
    call = next((one for one in calls if getattr(one.func, "id", getattr(one.func, "attr", "")) == "setup"), None)
    if call is None:
        return None
    names = _constants(tree)
    stated = {
        word.arg: names.get(word.value.id)
        if isinstance(word.value, ast.Name)
        else formats.parse(ast.unparse(word.value), ast.literal_eval)
        for word in call.keywords
        if word.arg
    }
    extras = [formats.texts(extra) for extra in formats.table(stated.get("extras_require")).values()]
    return Manifest(
        path,
        "python",
        name=formats.word(stated.get("name")),
        version=formats.word(stated.get("version")),
        runtimes=_python(stated.get("python_requires")),
        dependencies=wanted(_requirements(formats.texts(stated.get("install_requires")))),
        dev_dependencies=wanted(_requirements(line for extra in extras for line in extra)),
        build="setuptools",
    )


def _constants(tree: Any) -> dict[str, object]:  # noqa: ANN401 -- a module of `ast`, which is loaded where it is needed
    """Return the names that a module gives to values that are written out, at its top."""
    import ast

    return {
        target.id: formats.parse(ast.unparse(node.value), ast.literal_eval)
        for node in tree.body[:_MOST_STATEMENTS]
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def read_requirements(path: str, text: str) -> Manifest:
    """Read a requirements.txt; those of a file with another name are for developing, but for the plain ones of a folder."""
    needs = wanted(_requirements(line for line in text.splitlines() if not line.lstrip().startswith(("-", "#"))))
    if path.rpartition("/")[2] in _PLAIN_REQUIREMENTS:
        return Manifest(path, "python", dependencies=needs)
    return Manifest(path, "python", dev_dependencies=needs)


def read_pipfile(path: str, text: str) -> Manifest:
    """Read a Pipfile."""
    table = formats.toml(text)
    return Manifest(
        path,
        "python",
        runtimes=_python(formats.dig(table, "requires", "python_version")),
        dependencies=wanted(_specs(formats.table(table.get("packages")))),
        dev_dependencies=wanted(_specs(formats.table(table.get("dev-packages")))),
        scripts=_words(formats.table(table.get("scripts"))),
    )


def read_conda(path: str, text: str) -> Manifest | None:
    """Read an environment.yml of conda."""
    table = formats.table(next(iter(formats.yaml(text)), None))
    if "dependencies" not in table:
        return None
    needs = dict(_requirements(line.replace("=", "==", 1) for line in formats.texts(table["dependencies"])))
    python = needs.pop("python", "")
    return Manifest(
        path,
        "python",
        name=formats.word(table.get("name")),
        runtimes=_python(python),
        dependencies=wanted(needs.items()),
    )


def _requirements(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, versions) of PEP 508 requirements, without extras, markers and hashes."""
    for line in lines:
        found = _REQUIREMENT.match(line)
        if found and not line[found.end(1) :].startswith(("+", ":")):  # an address instead of a name
            yield found[1], found[2].split("--hash")[0].rstrip(" \\").removeprefix("@").strip("() ")


def _python(spec: object) -> dict[str, str]:
    return {"python": spec} if isinstance(spec, str) and spec else {}


# -- JavaScript and PHP --------------------------------------------------------------------------------------------------


def read_package_json(path: str, text: str) -> Manifest | None:
    """Read a package.json."""
    table = formats.table(formats.json(text))
    if not table:
        return None
    stated = table.get("workspaces")
    members = formats.texts(formats.dig(stated, "packages") if isinstance(stated, dict) else stated)
    commands = table.get("bin")
    own = formats.word(table.get("name")).rpartition("/")[2]  # the command of a scoped package goes without the scope
    named = commands if isinstance(commands, dict) else {own: commands} if commands else {}
    manager = formats.word(table.get("packageManager"))
    return Manifest(
        path,
        "node",
        name=formats.word(table.get("name")),
        version=formats.word(table.get("version")),
        runtimes=_words(
            {**formats.table(table.get("volta")), **formats.table(table.get("engines")), **_manager(manager)}
        ),
        dependencies=wanted(formats.table(table.get("dependencies")).items()),
        dev_dependencies=wanted(
            [
                *formats.table(table.get("devDependencies")).items(),
                *formats.table(table.get("peerDependencies")).items(),
            ]
        ),
        scripts=_words(formats.table(table.get("scripts"))),
        entry_points=_words(named),
        members=tuple(members),
        tools=tuple(sorted(table)),
    )


def _manager(stated: str) -> dict[str, str]:
    name, _, version = stated.partition("@")
    return {name: version.partition("+")[0]} if name else {}


def read_deno(path: str, text: str) -> Manifest | None:
    """Read a deno.json or deno.jsonc."""
    table = formats.table(formats.json(text))
    return Manifest(
        path,
        "deno",
        name=formats.word(table.get("name")),
        version=formats.word(table.get("version")),
        dependencies=wanted(formats.table(table.get("imports")).items()),
        scripts=_words(formats.table(table.get("tasks"))),
        members=tuple(formats.texts(table.get("workspace"))),
    )


def read_composer(path: str, text: str) -> Manifest | None:
    """Read a composer.json."""
    table = formats.table(formats.json(text))
    needs = formats.table(table.get("require"))
    php = needs.pop("php", None)
    scripts = {name: "; ".join(formats.texts(item)) for name, item in formats.table(table.get("scripts")).items()}
    return Manifest(
        path,
        "php",
        name=formats.word(table.get("name")),
        version=formats.word(table.get("version")),
        runtimes={"php": php} if isinstance(php, str) else {},
        dependencies=wanted(needs.items()),
        dev_dependencies=wanted(formats.table(table.get("require-dev")).items()),
        scripts=scripts,
        entry_points={one.rpartition("/")[2]: one for one in formats.texts(table.get("bin"))},
    )


def _specs(table: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield (name, versions) of tables in which a version may be a text or stand in a table of its own."""
    for name, spec in table.items():
        yield name, spec.get("version", "") if isinstance(spec, dict) else spec


def _words(table: dict[str, Any]) -> dict[str, str]:
    return {name: item for name, item in table.items() if isinstance(item, str)}
