"""Install, remove and report our hooks in all the settings files of a workspace that its client reads."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.hook.changes import FileChange
from oracle.hook.clients import CLAUDE, Client
from oracle.hook.settings import STOP, HookStatus, plan_install, plan_uninstall, read_status, settings_file
from oracle.wording import say


def settings_files(workspace: str, given: str = "", client: Client = CLAUDE) -> list[str]:
    """Return the settings files of a workspace that its host reads, or the one that was given. Raises NotFound."""
    path = settings_file(workspace, given, client)
    return [path] if given or client is not CLAUDE else [path, f"{path.removesuffix('.json')}.local.json"]


def plan_installs(
    paths: Sequence[str], command: str, client: Client = CLAUDE, *, events: Sequence[str] = (STOP,)
) -> list[FileChange]:
    """Return the changes that make a host run `command` where one is installed, else in the first file. Raises InvalidSettings."""
    planned = plan_renewal(paths, command, client, events=events)
    return planned or [plan_install(paths[0], command, client, events=events)]


def plan_renewal(
    paths: Sequence[str], command: str, client: Client = CLAUDE, *, events: Sequence[str] = ()
) -> list[FileChange]:
    """Return the changes of the files that have a hook: the first runs all events, the others none. Raises InvalidSettings."""
    found = {path: status.events for path in paths if (status := read_status(path, client)).commands}
    wanted = [name for name in client.events if name in {*events, *(one for has in found.values() for one in has)}]
    return [
        plan_uninstall(path) if position else plan_install(path, command, client, events=wanted)
        for position, path in enumerate(found)
    ]


def plan_uninstalls(paths: Sequence[str]) -> list[FileChange]:
    """Return the changes that remove the hook from every file, the first in any case. Raises InvalidSettings."""
    first, *others = map(plan_uninstall, paths)
    return [first, *(change for change in others if change.is_needed)]


def status_of(paths: Sequence[str], client: Client = CLAUDE) -> HookStatus:
    """Return the state of the hook in the settings files that a host reads. Raises InvalidSettings."""
    found = [read_status(path, client) for path in paths]
    having = [one for one in found if one.commands] or found[:1]
    notes = [note for one in found for note in one.notes]
    if len(having) > 1:
        notes.append(say("Both settings files have it, so every turn runs it twice: install it again."))
    commands = tuple(command for one in having for command in one.commands)
    events = tuple(dict.fromkeys(event for one in having for event in one.events))
    is_off = any(one.is_disabled for one in found)
    return HookStatus(having[0].path, commands, tuple(notes), is_off, having[0].advice, events)
