"""Install and remove our hooks in the settings file of a client, and report their state.

Everything else in the file is kept: other keys, other hooks, their order, the indentation. A hook of this program is
recognised by the script that it runs, whatever interpreter and spelling an older version used.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from oracle.domain.values import NOTHING
from oracle.errors import NotFound, UsageError
from oracle.hook.changes import FileChange, backups_of
from oracle.hook.clients import CLAUDE, Client, off_switch
from oracle.hook.command_lines import (
    STRICT,
    around_own,
    is_own,
    prompt_command,
    script_of,
    without_own_command,
    words_of,
)
from oracle.hook.settings_files import InvalidSettings, list_at, read, render, table
from oracle.wording import say

STOP = "stop"
"""Our name for the end of a turn."""


@dataclass(frozen=True, slots=True)
class HookStatus:
    """The state of the hook in one file: its commands, and what keeps them from running."""

    path: str
    commands: tuple[str, ...]
    notes: tuple[str, ...]
    is_disabled: bool = False
    """Whether the file turns all hooks off."""

    advice: tuple[str, ...] = ()
    """What a person must still do outside of the file."""

    events: tuple[str, ...] = ()
    """The events that it is installed for, by our names."""

    @property
    def all_notes(self) -> list[str]:
        """The notes and the advice."""
        return [*self.notes, *self.advice]

    @property
    def is_installed(self) -> bool:
        """Whether the host will run it, as far as this file says."""
        return bool(self.commands) and not self.notes


def settings_file(workspace: str, given: str = "", client: Client = CLAUDE) -> str:
    """Return the settings file of a workspace, or the one that was given, as an absolute path. Raises NotFound."""
    if given:
        return os.path.abspath(os.path.expanduser(given))
    return f"{workspace_folder(workspace)}/{client.place}"


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


def hook_command(script: str, *, root: str = "", is_strict: bool = False) -> str:
    """Return the command line that runs a hook script, with its Root if the script would not find it.

    It is one quoted line without `args`, which hosts of all versions accept: versions before 2.1.139 know no `args`.
    The shell that runs it is replaced by the interpreter at once. Raises UsageError for a missing script.
    """
    path = os.path.abspath(os.path.expanduser(script))
    if not os.path.isfile(path):
        raise UsageError(say("hook script not found: {path}", path=path), hint=say("Name it with --hook-script."))
    variable = f"ORACLE_ROOT={shlex.quote(root)} " if root else ""
    strict = f" {STRICT}" if is_strict else ""
    if path.endswith(".py"):
        return f"{variable}exec {shlex.join([sys.executable, '-I', '-S', path])}{strict}"
    return f"{variable}bash {shlex.quote(path)}{strict}"


# Change ---------------------------------------------------------------------------------------------------------------


def plan_install(path: str, command: str, client: Client = CLAUDE, *, events: Iterable[str] = (STOP,)) -> FileChange:
    """Return the change that makes a settings file run `command` at the end of each turn, and at `events`. Raises InvalidSettings.

    An installed hook is replaced where it is; further ones are removed.
    """
    before, content = read(path)
    new = content
    for name in events:
        line = command if name == STOP else prompt_command(command)
        wanted = {"type": "command", "command": line, "timeout": client.timeout}
        new = _with_hook(new, client.events[name], wanted, path) if line else new
    return FileChange(path, before, before if before is not None and new == content else render(new, before, path))


def _with_hook(content: dict[str, object], event: str, wanted: Mapping[str, object], path: str) -> dict[str, object]:
    hooks = table(content, "hooks", path)
    groups = list_at(hooks, event, path)
    kept = _replace_own(groups, wanted, script=script_of(str(wanted["command"])))
    if kept is None:
        kept = [*groups, {"matcher": "", "hooks": [wanted]}]
    return {**content, "hooks": {**hooks, event: kept}}


def plan_uninstall(path: str, old: Mapping[str, object] = NOTHING) -> FileChange:
    """Return the change that removes the hook from a settings file, and nothing else. Raises InvalidSettings.

    A file that only changed by our hook becomes what it was, byte for byte: its backup, or no file. What is empty in the
    `old` settings stays.
    """
    before, content = read(path)
    whole = _without_hook(content, path, old)
    if before is None or whole == content:
        return FileChange(path, before, before)
    after = _as_before(path, before, content, whole)
    return FileChange(path, before, after, keeps_backup=after is not None)


def _without_hook(content: Mapping[str, object], path: str, old: Mapping[str, object] = NOTHING) -> dict[str, object]:
    """Return settings without our hook and what it leaves empty, but for what is in the `old` settings."""
    hooks, before = table(content, "hooks", path), table(old, "hooks", path)
    new: dict[str, object] = {}
    for event, groups in hooks.items():
        kept = _without_own(groups) if isinstance(groups, list) else groups
        if kept or not groups or not isinstance(groups, list) or event in before:
            new[event] = kept
    if new == hooks:
        return dict(content)
    whole = {**content, "hooks": new}
    if not new and "hooks" not in old:
        del whole["hooks"]
    return whole


def added_keys(path: str) -> list[str]:
    """Return the names of what a person added to our hooks in a settings file. Raises InvalidSettings."""
    own = _own_entries(read(path)[1])
    return [
        f"hooks.{event}.{key}" for event, entry in own for key in entry if key not in ("type", "command", "timeout")
    ]


def _as_before(path: str, before: str, content: Mapping[str, object], whole: Mapping[str, object]) -> str | None:
    """Return the text without our hook: the backup that an installation made `before` from, else a new text.

    Returns None when an installation made the file and nothing else is in it.
    """
    backups = list(_backups(path))
    own = list(_own_entries(content))
    for text, found in backups:
        if _leads_to(before, text, found, own):
            return text
    if not whole and all(found and not _without_hook(found, path) for _, found in backups[:1]):
        return None
    return render(whole, before, path)


def replaced_commands(path: str) -> list[str]:
    """Return the other commands of our hook that an installation replaced, by the oldest backup. Raises InvalidSettings."""
    _, content = read(path)
    now = {_printed(entry) for _, entry in _own_entries(content)}
    for _, before in _backups(path):
        return [command for _, entry in _own_entries(before) if (command := _printed(entry)) not in now]
    return []


def _backups(path: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield text and content of each backup, oldest first."""
    for name in backups_of(os.path.realpath(path)):
        if os.path.isfile(name):
            with contextlib.suppress(InvalidSettings):
                text, content = read(name)
                yield text or "", content


def _leads_to(
    after: str, text: str, content: dict[str, object], own: Iterable[tuple[str, Mapping[str, object]]]
) -> bool:
    """Return whether settings without our hooks become the text `after` when these are added."""
    with contextlib.suppress(ValueError, IndexError, InvalidSettings):
        if _without_hook(content, "") != content:
            return False
        for event, entry in own:
            content = _with_hook(content, event, entry, "")
        return render(content, text, "") == after
    return False


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


def _renew(entry: Mapping[str, object], wanted: Mapping[str, object]) -> dict[str, object]:
    """Return an own entry as it should be. What a person added stays: other keys, other commands, a new timeout."""
    kept = {key: value for key, value in entry.items() if key not in ("args", "async")}
    mine = str(wanted["command"])
    before, old, after = around_own(entry)
    if before and "/" in old:  # `[ -x SCRIPT ] && bash SCRIPT`
        before = before.replace(old.split()[-1], shlex.quote(script_of(mine)))
    command = mine if not (before or after) else before + mine.replace("exec ", "", 1) + after
    is_reinstalled = script_of(mine) in words_of(entry)  # an older form had a timeout of its installer
    timeout = entry.get("timeout", wanted["timeout"]) if is_reinstalled else wanted["timeout"]
    return {**kept, **wanted, "command": command, "timeout": timeout}


def _without_own(groups: list[object]) -> list[object]:
    new: list[object] = []
    for group in groups:
        if isinstance(group, dict) and isinstance(group.get("hooks"), list):
            rest = [without_own_command(entry) if is_own(entry) else entry for entry in group["hooks"]]
            entries = [entry for entry in rest if entry is not None]
            if not entries and group["hooks"]:
                continue
            new.append({**group, "hooks": entries})
        else:
            new.append(group)
    return new


# Status ---------------------------------------------------------------------------------------------------------------


def read_status(path: str, client: Client = CLAUDE) -> HookStatus:
    """Return the state of the hook in a settings file. Raises InvalidSettings."""
    _, content = read(path)
    names = {event: name for name, event in client.events.items()}
    found = [(names[event], entry) for event, entry in _own_entries(content) if event in names]
    events, own = [name for name, _ in found], [entry for _, entry in found]
    notes = [note for name, entry in found for note in _notes(entry, client, is_stop=name == STOP)]
    if len(events) > len(set(events)):
        notes.append(say("It is installed more than once, so every turn runs it more than once."))
    off = off_switch(client, path, content)
    if off:
        notes.append(say("{setting} is set, so the host runs no hooks.", setting=off))
    advice = [client.advice] if own and not off and client.advice else []
    advice += [
        say(
            "The Root {path} that it names does not exist. Create it, or install the hook again.",
            path=word.partition("=")[2],
        )
        for entry in own
        for word in words_of(entry)
        if word.startswith("ORACLE_ROOT=") and not os.path.isdir(word.partition("=")[2])
    ]
    commands = (
        tuple(dict.fromkeys(_printed(entry) for entry in own))
        if len(events) == len(set(events))
        else tuple(map(_printed, own))
    )
    return HookStatus(
        path, commands, tuple(dict.fromkeys(notes)), bool(off), tuple(dict.fromkeys(advice)), tuple(events)
    )


def _own_entries(content: Mapping[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield our hooks in settings, each with its event."""
    hooks = content.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            entries = group.get("hooks") if isinstance(group, dict) else None
            for entry in entries if isinstance(entries, list) else ():
                if is_own(entry):
                    yield event, entry


def _notes(entry: Mapping[str, object], client: Client, *, is_stop: bool) -> Iterable[str]:
    words = [word for word in words_of(entry) if word.startswith("/")]
    for word in words:
        if not os.path.exists(word):
            yield say("{path} is missing: install the hook again.", path=word)
    if not words:
        yield say("Its command has no absolute path, so it runs only from one folder.")
    timeout = entry.get("timeout")
    if is_stop and isinstance(timeout, int | float) and timeout < client.timeout:
        seconds = timeout * CLAUDE.timeout / client.timeout
        yield say(
            "Its timeout of {seconds:g} s is short: a delivery may be interrupted and finished later.", seconds=seconds
        )


def _printed(entry: Mapping[str, object]) -> str:
    args = entry.get("args")
    return " ".join([str(entry.get("command", "")), *(map(str, args) if isinstance(args, list) else ())])
