"""The registry of projects, `projects.json`, which other tools write: above all, where each repository is.

It is changed under a lock, with a backup, atomically. Entries of other tools are kept. It is always written as version 2:
`{"version": 2, "projects": [entry, …]}`, sorted by name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence

from oracle.domain.names import check_name, is_name, role_of
from oracle.errors import InvalidRecord, NewerVersion, OracleError, RecordExists, UsageError
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root, choose_home
from oracle.wording import say


def entry(root: Root, project: str, environ: Mapping[str, str]) -> Mapping[str, object]:
    """Return the registry's entry of a project, {} if there is none or the registry cannot be read."""
    return entries(_load(folder(root, environ))).get(project, {})


def folder(root: Root, environ: Mapping[str, str]) -> str:
    """Return the folder of a Root's registry: `CLAWSEAT_REGISTRY_HOME`, or `.clawseat` in the home folder of the Root."""
    return environ.get("CLAWSEAT_REGISTRY_HOME") or f"{root.home}/.clawseat"


def names(root: Root, environ: Mapping[str, str]) -> list[str]:
    """Return the names of the registered projects, whatever their status, sorted; none if the registry cannot be read."""
    return sorted(entries(_load(folder(root, environ))))


def entries(content: object) -> dict[str, dict[str, object]]:
    """Return the entries of a registry by name. It may be `{"projects": …}`, a list, or a map from name to entry.

    A list may contain bare names. Of two entries with one name, the first with more than a name counts.
    """
    projects = content.get("projects", content) if isinstance(content, dict) else content
    found: dict[str, dict[str, object]] = {}
    if isinstance(projects, dict):
        found = {name: {"name": name, **item} for name, item in projects.items() if isinstance(item, dict)}
    listed = sorted(projects, key=lambda item: not isinstance(item, dict)) if isinstance(projects, list) else []
    for item in listed:
        named = item if isinstance(item, dict) else {"name": item}
        name = named.get("name")
        if isinstance(name, str) and name:
            found.setdefault(name, named)
    return found


def repository(root: Root, project: str, environ: Mapping[str, str]) -> str:
    """Return the folder of a project's repository, "" if none is registered or it does not exist.

    The registry's `repo_path` comes before the profile's `repo_root`. A Root that holds its siblings itself has its
    registry beside it. If that does not name the project, the person's registry counts.
    """
    for place, home in _registries(root, environ).items():
        path = _path_in(entries(_load(place)).get(project, {}), home)
        if path and os.path.isdir(path):
            return path
    path = _profile_root(root, project, environ)
    return path if os.path.isdir(path) else ""


def project_at(root: Root, place: str, environ: Mapping[str, str]) -> str:
    """Return the project of a folder, "" if none is known: by its registered repository, else as a seat's workspace.

    Of several repositories that hold the folder, the innermost counts.
    """
    real = os.path.realpath(place)
    found: dict[str, str] = {}
    for folder, home in _registries(root, environ).items():
        for name, fields in entries(_load(folder)).items():
            if path := _path_in(fields, home) or _profile_root(root, name, environ):
                found.setdefault(os.path.realpath(path), name)
    holding = [path for path in found if real == path or real.startswith(f"{path}/")]
    if holding:
        return found[max(holding, key=len)]
    base = f"{os.path.realpath(root.workspaces)}/"
    return real[len(base) :].split("/")[0] if real.startswith(base) else ""


def _registries(root: Root, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the folders of the registries that count, the first before the others, each with the home that `~` means."""
    mine = choose_home(environ)
    stated = environ.get("CLAWSEAT_REGISTRY_HOME")
    return {stated: mine} if stated else {f"{root.home}/.clawseat": root.home, f"{mine}/.clawseat": mine}


def _path_in(entry: Mapping[str, object], home: str) -> str:
    found = entry.get("repo_path")
    return _expand(found, home) if isinstance(found, str) else ""


def _profile_root(root: Root, project: str, environ: Mapping[str, str]) -> str:
    try:
        if not os.path.exists(root.profile_file(project)):
            return ""
        from oracle.store.root import profile

        return profile.load(root, project, environ).repo_root
    except OracleError:
        return ""


def repository_spellings(root: Root, project: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return how texts spell the folder of a project's repository, its absolute path first, () without a repository."""
    path = repository(root, project, environ) if project else ""
    if not path:
        return ()
    home = choose_home(environ)
    below = path.removeprefix(home) if path.startswith(f"{home}/") else ""
    return tuple(dict.fromkeys([path, os.path.realpath(path), *(f"{head}{below}" for head in ("~", "$HOME") if below)]))


def _expand(text: str, home: str) -> str:
    path = text.strip()
    if "\0" in path or not path:
        return ""
    path = f"{home}/{path[2:]}" if path.startswith("~/") else path
    return os.path.normpath(path) if os.path.isabs(path) else ""


def _load(folder: str) -> object:
    path = f"{folder}/projects.json"
    try:
        return _content(path, steps.read(path))
    except OracleError:
        return None


# Change the registry ---------------------------------------------------------------------------------------------------

Entry = dict[str, object]
Make = Callable[[Entry], Entry]

VERSION = 2


def change(folder: str, name: str, make: Make) -> tuple[Entry, Entry]:
    """Replace a project's entry ({} if there is none) with the result of `make`. Returns the entry before and after.

    Nothing is written if it stays the same. Raises InvalidRecord for a registry that cannot be read, NewerVersion,
    LockTimeout, DiskFailure.
    """
    from oracle.store.disk import rewriting

    path = f"{folder}/projects.json"
    before: Entry = {}
    after: Entry = {}

    def alter(raw: bytes | None) -> bytes:
        nonlocal before, after
        content = _parse(path, raw)
        known = entries(content)
        before = known.get(name, {})
        after = make(dict(before))
        if after == before:
            return raw or b""
        if raw is not None:
            steps.replace(f"{path}.bak", raw)
            files.make_private(f"{path}.bak")
        text = json.dumps(_document(content, {**known, name: after}), ensure_ascii=False, indent=2) + "\n"
        return text.encode("utf-8", "replace")

    with steps.FileLock(path):
        if rewriting.change(path, alter):
            files.make_private(path)
    return before, after


def require_readable(folder: str) -> None:
    """Raise InvalidRecord or DiskFailure if the registry exists and cannot be read. A newer version can be read."""
    path = f"{folder}/projects.json"
    _content(path, steps.read(path))


def _parse(path: str, raw: bytes | None) -> object:
    content = _content(path, raw)
    version = content.get("version") if isinstance(content, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise NewerVersion(
            say("{path} has version {version}, which a newer program wrote.", path=path, version=version),
            hint=say("Upgrade this program."),
        )
    return content


def _content(path: str, raw: bytes | None) -> object:
    if raw is None or not raw.strip():
        return None
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        content = raw
    if not isinstance(content, dict | list):
        raise InvalidRecord(
            say("{path} is not a valid registry of projects; it was not changed.", path=path),
            hint=say("Correct it, or move it away."),
        )
    return content


def _document(content: object, entries: Mapping[str, Entry]) -> dict[str, object]:
    """Return the registry as version 2. Other keys and items are kept."""
    kept: dict[str, object] = {}
    others: list[object] = []
    if isinstance(content, dict):
        kept = content if "projects" in content else {key: item for key, item in content.items() if key not in entries}
    projects_ = content.get("projects") if isinstance(content, dict) else content
    if isinstance(projects_, list):
        others = [item for item in projects_ if _name_of_item(item) not in entries]
    elif isinstance(projects_, dict):
        kept = {**kept, **{key: item for key, item in projects_.items() if key not in entries}}
    return {**kept, "version": VERSION, "projects": [*(entries[name] for name in sorted(entries)), *others]}


def _name_of_item(item: object) -> object:
    name = item.get("name") if isinstance(item, dict) else item
    return name if isinstance(name, str) else None


# The first, minimal profile of a project, for a person to edit ---------------------------------------------------------


def init_profile(root: Root, project: str, seats: Sequence[str], *, repo_root: str = "") -> str:
    """Write a minimal profile and return its path. Raises RecordExists if there is one, InvalidName, UsageError."""
    name = check_name(project, "project")
    checked = [check_name(seat, "seat") for seat in seats]
    twice = sorted({seat for seat in checked if checked.count(seat) > 1})
    if twice:
        raise UsageError(say("Seats named twice: {twice}.", twice=twice), hint=say("Give each seat its own name."))
    if not checked:
        raise UsageError(
            say("A profile needs at least one seat."), hint=say("Name them: --seats memory,planner,builder,reviewer.")
        )
    path = root.profile_file(name)
    if not steps.create_once(
        path, render_profile(root, name, checked, repo_root=repo_root).encode("utf-8", "backslashreplace")
    ):
        raise RecordExists(
            say("The profile {path} already exists and was not changed.", path=path),
            hint=say("Edit it, or remove it first."),
        )
    return path


def render_profile(root: Root, project: str, seats: Sequence[str], *, repo_root: str = "") -> str:
    """Return the text of a minimal profile with every required key."""
    agents = "~/.agents" if root.agents != root.path else root.agents
    tree = f"{agents}/tasks/{project}"
    values = {
        "profile_name": project,
        "template_name": "gstack-harness",
        "project_name": project,
        "repo_root": repo_root or f"~/{project}",
        "tasks_root": tree,
        "project_doc": f"{tree}/PROJECT.md",
        "tasks_doc": f"{tree}/TASKS.md",
        "status_doc": f"{tree}/STATUS.md",
        "send_script": "{CLAWSEAT_ROOT}/core/shell-scripts/send-and-verify.sh",
        "agent_admin": "{CLAWSEAT_ROOT}/core/scripts/agent_admin.py",
        "workspace_root": f"{agents}/workspaces/{project}",
        "handoff_dir": f"{tree}/patrol/handoffs",
    }
    lines = [f"{key} = {_quote(value)}" for key, value in values.items()]
    lines.append(f"seats = [{', '.join(_quote(seat) for seat in seats)}]")
    lines += ["", "[seat_roles]"]
    lines += [f"{_quote(seat)} = {_quote(role_of(seat) or seat)}" for seat in seats]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    """Return a TOML basic string. JSON's escapes are valid in TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# Sessions of seats ----------------------------------------------------------------------------------------------------

_AGENTS = ("claude", "codex", "gemini", "opencode", "qwen")
"""Agents whose name launchers append to that of the seat."""


def session_names(project: str, seat: str, *, noted: str = "", registered: str = "", tool: str = "") -> tuple[str, ...]:
    """Return the exact names that the session of a seat may have, most likely first.

    In order: the name in the seat's `session.toml` (`noted`), the name in the registry of projects (`registered`),
    `<project>-<seat>`, and the same with the name of a tool. A prefix of a name never matches.
    """
    plain = f"{project}-{seat}" if project else seat
    tools = dict.fromkeys(filter(None, (tool, *_AGENTS)))
    return tuple(dict.fromkeys(filter(None, (noted, registered, plain, *(f"{plain}-{name}" for name in tools)))))


def find_session_names(root: Root, project: str, seat: str, *, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return `session_names` of a seat with the names in files of other tools. Raises InvalidName."""
    noted, tool = _read_session_file(root, check_name(project, "project"), check_name(seat, "seat"))
    registered = _read_registry(root, project, seat, environ=environ)
    return session_names(project, seat, noted=noted, registered=registered, tool=tool)


def _read_session_file(root: Root, project: str, seat: str) -> tuple[str, str]:
    """Return session and tool from `sessions/<project>/<seat>/session.toml`, "" for what can't be read."""
    try:
        raw = steps.read(f"{root.sessions}/{project}/{seat}/session.toml")
        if not raw:
            return "", ""
        import tomllib  # few seats have this file

        content = tomllib.loads(raw.decode("utf-8-sig"))
    except (OracleError, ValueError, RecursionError):
        return "", ""
    tool = _text(content.get("tool"))
    return _text(content.get("session")), tool if is_name(tool) else ""


def _read_registry(root: Root, project: str, seat: str, *, environ: Mapping[str, str]) -> str:
    seats = entry(root, project, environ).get("seats")
    return _text(seats.get(seat)) if isinstance(seats, dict) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
