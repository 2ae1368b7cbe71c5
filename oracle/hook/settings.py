"""Install and remove the Stop hook in the settings file of a host, and report its state.

Everything else in the file is kept: other keys, other hooks, their order, the indentation. A hook of this program is
recognised by the script that it runs, whatever interpreter and spelling an older version used.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oracle.errors import NotFound, UsageError
from oracle.hook import exact_json
from oracle.hook.changes import FileChange
from oracle.store.disk import steps
from oracle.wording import Sentence, say

OWN_PATHS = ("/scripts/hooks/stop_hook.py", "/_data/hooks/stop_hook.py")
OWN_NAME = "memory-stop-hook.sh"
"""Endings of the paths of the hook scripts, and a name that earlier installers wrote with unquoted blanks."""

EVENT = "Stop"
TIMEOUT = 10


class InvalidSettings(UsageError):
    """The settings file is not a JSON object, so that its content could not be kept."""

    code = "invalid_settings"


@dataclass(frozen=True, slots=True)
class HookStatus:
    """The state of the hook in one file: its commands, and what keeps them from running."""

    path: str
    commands: tuple[str, ...]
    notes: tuple[str, ...]
    is_disabled: bool = False
    """Whether the file turns all hooks off."""

    @property
    def is_installed(self) -> bool:
        """Whether the host will run it, as far as this file says."""
        return bool(self.commands) and not self.notes


def settings_file(workspace: str, given: str = "") -> str:
    """Return the settings file of a workspace, or the one that was given, as an absolute path. Raises NotFound."""
    if given:
        return os.path.abspath(os.path.expanduser(given))
    return f"{workspace_folder(workspace)}/.claude/settings.json"


def settings_files(workspace: str) -> tuple[str, str]:
    """Return the settings files of a workspace that its host reads, as absolute paths. Raises NotFound."""
    shared = settings_file(workspace)
    return shared, f"{shared.removesuffix('.json')}.local.json"


def workspace_folder(workspace: str) -> str:
    """Return the absolute path of a workspace. Raises NotFound when it is not a folder."""
    folder = os.path.abspath(os.path.expanduser(workspace))
    if not os.path.isdir(folder):
        raise NotFound(
            say("The workspace {folder} is not a folder.", folder=folder),
            hint=say("Name the folder that the agent is started in."),
        )
    return folder


def default_script() -> str:
    """Return the path of the Stop hook of this program: that of the checkout, or the installed one."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    places = (f"{os.path.dirname(package)}/scripts/hooks/stop_hook.py", f"{package}/_data/hooks/stop_hook.py")
    return next((path for path in places if os.path.isfile(path)), places[0])


def hook_command(script: str, *, root: str = "") -> str:
    """Return the command line that runs a hook script, with its Root if the script would not find it.

    It is one quoted line without `args`, which hosts of all versions accept: versions before 2.1.139 know no `args`.
    The shell that runs it is replaced by the interpreter at once. Raises UsageError for a missing script.
    """
    path = os.path.abspath(os.path.expanduser(script))
    if not os.path.isfile(path):
        raise UsageError(say("hook script not found: {path}", path=path), hint=say("Name it with --hook-script."))
    variable = f"ORACLE_ROOT={shlex.quote(root)} " if root else ""
    if path.endswith(".py"):
        return f"{variable}exec {shlex.join([sys.executable, '-I', '-S', path])}"
    return f"{variable}bash {shlex.quote(path)}"


# Change ---------------------------------------------------------------------------------------------------------------


def plan_install(path: str, command: str) -> FileChange:
    """Return the change that makes a settings file run `command` at the end of each turn. Raises InvalidSettings.

    An installed hook is replaced where it is; further ones are removed.
    """
    before, content = _read(path)
    hooks = _table(content, "hooks", path)
    groups = _list(hooks, EVENT, path)
    wanted = {"type": "command", "command": command, "timeout": TIMEOUT}
    kept = _replace_own(groups, wanted, script=shlex.split(command)[-1])
    if kept is None:
        kept = [*groups, {"matcher": "", "hooks": [wanted]}]
    new = {**content, "hooks": {**hooks, EVENT: kept}}
    return FileChange(path, before, before if before is not None and new == content else _render(new, before, path))


def plan_uninstall(path: str) -> FileChange:
    """Return the change that removes the hook from a settings file, and nothing else. Raises InvalidSettings."""
    before, content = _read(path)
    hooks = _table(content, "hooks", path)
    new: dict[str, object] = {}
    for event, groups in hooks.items():
        kept = _without_own(groups) if isinstance(groups, list) else groups
        if kept or not groups or not isinstance(groups, list):
            new[event] = kept
    whole = {**content, "hooks": new}
    if hooks and not new:
        del whole["hooks"]
    if before is None or "hooks" not in content or whole == content:
        return FileChange(path, before, before)
    return FileChange(path, before, _render(whole, before, path))


def plan_renewal(workspace: str, command: str) -> list[FileChange]:
    """Return the changes of a workspace's settings files that have a hook: the first runs `command`, the other none.

    Raises InvalidSettings, NotFound.
    """
    found = [path for path in settings_files(workspace) if read_status(path).commands]
    return [plan_uninstall(path) if position else plan_install(path, command) for position, path in enumerate(found)]


def _replace_own(groups: list[object], wanted: Mapping[str, object], *, script: str) -> list[object] | None:
    """Return the groups with the first own hook replaced and further ones left out, None when there is no own hook."""
    found = False
    new: list[object] = []
    for group in groups:
        if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
            new.append(group)
            continue
        entries: list[object] = []
        for entry in group["hooks"]:
            if not is_own(entry, script):
                entries.append(entry)
            elif not found:
                found = True
                entries.append(_renew(entry, wanted))
        if entries or not group["hooks"]:
            new.append({**group, "hooks": entries})
    return new if found else None


def _renew(entry: object, wanted: Mapping[str, object]) -> dict[str, object]:
    """Return an own entry as it should be. Keys that a person added, such as a status message, stay."""
    kept = (
        {key: value for key, value in entry.items() if key not in ("args", "async")} if isinstance(entry, dict) else {}
    )
    return {**kept, **wanted}


def _without_own(groups: list[object]) -> list[object]:
    new: list[object] = []
    for group in groups:
        if isinstance(group, dict) and isinstance(group.get("hooks"), list):
            entries = [entry for entry in group["hooks"] if not is_own(entry)]
            if not entries and group["hooks"]:
                continue
            new.append({**group, "hooks": entries})
        else:
            new.append(group)
    return new


def is_own(entry: object, script: str = "") -> bool:
    """Return whether a hook runs a script of this program, or the one named, with any interpreter."""
    if not isinstance(entry, dict):
        return False
    words = list(_words(entry))
    named = any(os.path.basename(word) == OWN_NAME or (script and word == script) for word in words)
    return named or ("-I" in words and any(word.endswith(OWN_PATHS) for word in words))


def _words(entry: Mapping[str, object]) -> Iterable[str]:
    command, args = entry.get("command"), entry.get("args")
    text = command if isinstance(command, str) else ""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return [*words, *(word for word in args if isinstance(word, str))] if isinstance(args, list) else words


# Read and print -------------------------------------------------------------------------------------------------------


def _read(path: str) -> tuple[str | None, dict[str, object]]:
    raw = steps.read(path)
    if raw is None:
        return None, {}
    try:
        text = raw.decode("utf-8-sig")
        content = exact_json.parse(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidSettings(
            say("{path} is not valid JSON ({error}); it was not changed.", path=path, error=error),
            hint=say("Remove comments and trailing commas, then try again."),
        ) from error
    if not isinstance(content, dict):
        raise _misshapen(path, say("is not a JSON object"))
    return raw.decode("utf-8"), content


def _misshapen(path: str, what: Sentence) -> InvalidSettings:
    return InvalidSettings(
        say("{path} {what}; it was not changed.", path=path, what=what),
        hint=say("Correct it as the host's documentation says."),
    )


def _table(content: Mapping[str, object], key: str, path: str) -> dict[str, object]:
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise _misshapen(path, say("has no object at {key}", key=key))
    return value


def _list(content: Mapping[str, object], key: str, path: str) -> list[object]:
    value = content.get(key, [])
    if not isinstance(value, list):
        raise _misshapen(path, say("has no list at hooks.{key}", key=key))
    return value


def _render(content: Mapping[str, object], before: str | None, path: str) -> str:
    try:
        return exact_json.render(content, before or "")
    except ValueError as error:
        raise _misshapen(path, say("has content that can't be rewritten unchanged")) from error


# Status ---------------------------------------------------------------------------------------------------------------


def read_status(path: str) -> HookStatus:
    """Return the state of the hook in a settings file. Raises InvalidSettings."""
    _, content = _read(path)
    hooks = content.get("hooks")
    groups = hooks.get(EVENT) if isinstance(hooks, dict) else None
    own = [
        entry
        for group in (groups if isinstance(groups, list) else [])
        if isinstance(group, dict) and isinstance(group.get("hooks"), list)
        for entry in group["hooks"]
        if is_own(entry)
    ]
    notes = [note for entry in own for note in _notes(entry)]
    if len(own) > 1:
        notes.append(say("It is installed more than once, so every turn runs it more than once."))
    is_disabled = content.get("disableAllHooks") is True
    if is_disabled:
        notes.append(say("disableAllHooks is set in this file, so the host runs no hooks."))
    return HookStatus(path, tuple(_printed(entry) for entry in own), tuple(notes), is_disabled)


def _notes(entry: Mapping[str, object]) -> Iterable[str]:
    words = [word for word in _words(entry) if word.startswith("/")]
    for word in words:
        if not os.path.exists(word):
            yield say("{path} is missing: install the hook again.", path=word)
    if not words:
        yield say("Its command has no absolute path, so it runs only from one folder.")
    timeout = entry.get("timeout")
    if isinstance(timeout, int | float) and timeout < TIMEOUT:
        yield say(
            "Its timeout of {seconds} s is short: a delivery may be interrupted and finished later.", seconds=timeout
        )


def _printed(entry: Mapping[str, object]) -> str:
    args = entry.get("args")
    return " ".join([str(entry.get("command", "")), *(map(str, args) if isinstance(args, list) else ())])
