"""Our Stop hook in a host's settings file: put it in, take it out, tell how it stands. Hook room; writes that one file.

Everything else in the file is kept as it is: other keys, other hooks, their order, the indentation. What is ours is known by
the script that a command runs, whatever interpreter and spelling an older version used.
"""

from __future__ import annotations

import difflib
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oracle.errors import NotFound, UsageError
from oracle.hook import exact_json
from oracle.store.disk import steps
from oracle.wording import Sentence, say

OWN_PATHS = ("/scripts/hooks/stop_hook.py", "/_data/hooks/stop_hook.py")
OWN_NAME = "memory-stop-hook.sh"
"""How the paths of our scripts end; the last is a name of its own, which earlier installers wrote, blanks unquoted."""

EVENT = "Stop"
TIMEOUT = 10
_MOST_KEPT = 100
"""Backups beside a settings file; the last gives way."""


class InvalidSettings(UsageError):
    """The settings file is no JSON object, so that nothing in it could be kept."""

    code = "invalid_settings"


@dataclass(frozen=True, slots=True)
class Change:
    """What a settings file holds and what it should hold; nothing is written yet."""

    path: str
    before: str | None
    after: str

    @property
    def is_needed(self) -> bool:
        """Tell whether the two differ."""
        return (self.before or "") != self.after

    def diff(self) -> str:
        """Return the change as a unified diff, "" when nothing changes."""
        old = [] if self.before is None else self.before.splitlines(keepends=True)
        name = "/dev/null" if self.before is None else self.path
        lines = difflib.unified_diff(old, self.after.splitlines(keepends=True), name, self.path)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def apply(self) -> str:
        """Write it, atomically and with the file's own mode; return the path of the backup, "" for a new file.

        A backup that is there stays, so that the oldest is what stood there before us. A link is followed, so that settings
        kept elsewhere stay there. Raises DiskFailure.
        """
        path = os.path.realpath(self.path)
        backup = ""
        if self.before is not None:
            raw = self.before.encode("utf-8", "backslashreplace")
            backup = _backup_of(path, raw)
            steps.replace(backup, raw)
            os.chmod(backup, os.stat(path).st_mode & 0o777)
        steps.replace(path, self.after.encode("utf-8", "backslashreplace"))
        return backup


def _backup_of(path: str, raw: bytes) -> str:
    """Return where a file as it was is kept: in a backup that says the same, else beside those that are there."""
    places = [f"{path}.bak", *(f"{path}.bak{number}" for number in range(2, _MOST_KEPT))]
    free = (one for one in places if not os.path.lexists(one) or (os.path.isfile(one) and steps.read(one) == raw))
    return next(free, places[-1])


@dataclass(frozen=True, slots=True)
class Status:
    """How the hook stands in one file: the commands that are ours, and what keeps them from running."""

    path: str
    commands: tuple[str, ...]
    notes: tuple[str, ...]
    is_disabled: bool = False
    """Whether the file turns every hook off."""

    @property
    def is_installed(self) -> bool:
        """Tell whether the host will run it, as far as this file says."""
        return bool(self.commands) and not self.notes


def settings_file(workspace: str, given: str = "") -> str:
    """Return the settings file of a workspace, or the one that was given, as an absolute path. Raises NotFound."""
    if given:
        return os.path.abspath(os.path.expanduser(given))
    return f"{workspace_folder(workspace)}/.claude/settings.json"


def workspace_folder(workspace: str) -> str:
    """Return the absolute path of a workspace. Raises NotFound where there is no folder."""
    folder = os.path.abspath(os.path.expanduser(workspace))
    if not os.path.isdir(folder):
        raise NotFound(
            say("The workspace {folder} is not a folder.", folder=folder),
            hint=say("Name the folder that the agent is started in."),
        )
    return folder


def default_script() -> str:
    """Return the path of the Stop hook that belongs to this very program: a checkout's, or the installed one."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    places = (f"{os.path.dirname(package)}/scripts/hooks/stop_hook.py", f"{package}/_data/hooks/stop_hook.py")
    return next((path for path in places if os.path.isfile(path)), places[0])


def hook_command(script: str, *, root: str = "") -> str:
    """Return the command line that runs a hook script, for a Root that it would not find itself. Raises UsageError for no script.

    One quoted line and no `args`: hosts before 2.1.139 know nothing else, and the newer ones take it too, so that a file shared
    by several hosts works in all. The shell that it costs ends at once, replaced by the interpreter.
    """
    path = os.path.abspath(os.path.expanduser(script))
    if not os.path.isfile(path):
        raise UsageError(say("hook script not found: {path}", path=path), hint=say("Name it with --hook-script."))
    told = f"ORACLE_ROOT={shlex.quote(root)} " if root else ""
    if path.endswith(".py"):
        return f"{told}exec {shlex.join([sys.executable, '-I', '-S', path])}"
    return f"{told}bash {shlex.quote(path)}"


# Change ---------------------------------------------------------------------------------------------------------------


def plan_install(path: str, command: str) -> Change:
    """Return the change that makes a settings file run `command` at the end of each turn. Raises InvalidSettings.

    The place of a hook of ours that is there already is kept, a second one is taken out.
    """
    before, content = _read(path)
    hooks = _table(content, "hooks", path)
    groups = _list(hooks, EVENT, path)
    wanted = {"type": "command", "command": command, "timeout": TIMEOUT}
    kept = _replace_ours(groups, wanted, script=shlex.split(command)[-1])
    if kept is None:
        kept = [*groups, {"matcher": "", "hooks": [wanted]}]
    new = {**content, "hooks": {**hooks, EVENT: kept}}
    return Change(path, before, before if before is not None and new == content else _render(new, before, path))


def plan_uninstall(path: str) -> Change:
    """Return the change that takes every hook of ours out of a settings file, and nothing else. Raises InvalidSettings."""
    before, content = _read(path)
    hooks = _table(content, "hooks", path)
    new: dict[str, object] = {}
    for event, groups in hooks.items():
        kept = _without_ours(groups) if isinstance(groups, list) else groups
        if kept or not groups or not isinstance(groups, list):
            new[event] = kept
    whole = {**content, "hooks": new}
    if hooks and not new:
        del whole["hooks"]
    if before is None or "hooks" not in content or whole == content:
        return Change(path, before, before or "")
    return Change(path, before, _render(whole, before, path))


def _replace_ours(groups: list[object], wanted: Mapping[str, object], *, script: str) -> list[object] | None:
    """Return the groups with the first hook of ours replaced and others of ours left out, or None when none is ours."""
    found = False
    new: list[object] = []
    for group in groups:
        if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
            new.append(group)
            continue
        entries: list[object] = []
        for entry in group["hooks"]:
            if not is_ours(entry, script):
                entries.append(entry)
            elif not found:
                found = True
                entries.append(_renew(entry, wanted))
        if entries or not group["hooks"]:
            new.append({**group, "hooks": entries})
    return new if found else None


def _renew(entry: object, wanted: Mapping[str, object]) -> dict[str, object]:
    """Return an entry of ours as it should be; keys that a person added (a status message) stay."""
    kept = (
        {key: value for key, value in entry.items() if key not in ("args", "async")} if isinstance(entry, dict) else {}
    )
    return {**kept, **wanted}


def _without_ours(groups: list[object]) -> list[object]:
    new: list[object] = []
    for group in groups:
        if isinstance(group, dict) and isinstance(group.get("hooks"), list):
            entries = [entry for entry in group["hooks"] if not is_ours(entry)]
            if not entries and group["hooks"]:
                continue
            new.append({**group, "hooks": entries})
        else:
            new.append(group)
    return new


def is_ours(entry: object, script: str = "") -> bool:
    """Tell whether a hook runs one of our scripts, or the one named, whatever interpreter stands before it."""
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
            say("{path} is no valid JSON ({error}); it was left as it is.", path=path, error=error),
            hint=say("Take comments and trailing commas out of it, then try again."),
        ) from error
    if not isinstance(content, dict):
        raise _misshapen(path, say("is no JSON object"))
    return raw.decode("utf-8"), content


def _misshapen(path: str, what: Sentence) -> InvalidSettings:
    return InvalidSettings(
        say("{path} {what}; it was left as it is.", path=path, what=what),
        hint=say("Correct it as the host's documentation says."),
    )


def _table(content: Mapping[str, object], key: str, path: str) -> dict[str, object]:
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise _misshapen(path, say("has no table in {key}", key=key))
    return value


def _list(content: Mapping[str, object], key: str, path: str) -> list[object]:
    value = content.get(key, [])
    if not isinstance(value, list):
        raise _misshapen(path, say("has no list in hooks.{key}", key=key))
    return value


def _render(content: Mapping[str, object], before: str | None, path: str) -> str:
    try:
        return exact_json.render(content, before or "")
    except ValueError as error:
        raise _misshapen(path, say("holds what can't be written again as it is")) from error


# Status ---------------------------------------------------------------------------------------------------------------


def read_status(path: str) -> Status:
    """Return how the hook stands in a settings file. Raises InvalidSettings."""
    _, content = _read(path)
    hooks = content.get("hooks")
    groups = hooks.get(EVENT) if isinstance(hooks, dict) else None
    ours = [
        entry
        for group in (groups if isinstance(groups, list) else [])
        if isinstance(group, dict) and isinstance(group.get("hooks"), list)
        for entry in group["hooks"]
        if is_ours(entry)
    ]
    notes = [note for entry in ours for note in _notes(entry)]
    if len(ours) > 1:
        notes.append(say("It stands there more than once, so that every turn runs it more than once."))
    is_disabled = content.get("disableAllHooks") is True
    if is_disabled:
        notes.append(say("disableAllHooks is set in this file, so that the host runs no hook at all."))
    return Status(path, tuple(_printed(entry) for entry in ours), tuple(notes), is_disabled)


def _notes(entry: Mapping[str, object]) -> Iterable[str]:
    words = [word for word in _words(entry) if word.startswith("/")]
    for word in words:
        if not os.path.exists(word):
            yield say("{path} is not there: install the hook again.", path=word)
    if not words:
        yield say("Its command names no absolute path, so that it runs only from one folder.")
    timeout = entry.get("timeout")
    if isinstance(timeout, int | float) and timeout < TIMEOUT:
        yield say(
            "Its timeout of {seconds} s is short: a delivery may be cut off (it is finished later).", seconds=timeout
        )


def _printed(entry: Mapping[str, object]) -> str:
    args = entry.get("args")
    return " ".join([str(entry.get("command", "")), *(map(str, args) if isinstance(args, list) else ())])
