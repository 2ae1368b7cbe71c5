"""The command `hook`: a seat's Stop hook in the settings of its agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, begin
from oracle.cli.printing import print_line, visible_lines, write_out
from oracle.errors import UsageError
from oracle.wording import Sentence, say

if TYPE_CHECKING:
    from oracle.cli.session import Call
    from oracle.hook import settings


def hook(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="ACTION",
            help="install, uninstall or status.",
            autocompletion=completing.words("install", "uninstall", "status"),
        ),
    ],
    *,
    workspace: Annotated[
        str, typer.Option("--workspace", metavar="DIR", help="The folder that the agent starts in.")
    ] = ".",
    settings_path: Annotated[
        str, typer.Option("--settings-path", metavar="FILE", help="Instead of DIR/.claude/settings.json.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing; print the change as a diff.")] = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Install, remove or look at a seat's Stop hook."""
    from oracle.hook import settings
    from oracle.store.root.layout import name_root

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    path = settings.settings_file(workspace, settings_path)
    if action == "status":
        _print_status(call, settings.read_status(path))
        return
    if action == "install":
        command = settings.hook_command(settings.default_script(), root=name_root(call.memory_dir))
        change = settings.plan_install(path, command)
    elif action == "uninstall":
        change = settings.plan_uninstall(path)
    else:
        raise UsageError(
            say("`oracle hook {action}` is no command.", action=action), hint=say("Write install, uninstall or status.")
        )
    _change(call, change, dry_run=dry_run)


def _change(call: Call, change: settings.Change, *, dry_run: bool) -> None:
    from oracle.hook import settings

    backup = change.apply() if change.is_needed and not dry_run else ""
    notes = settings.read_status(change.path).notes if not dry_run else ()
    if call.as_json:
        call.print_json(
            {
                "path": change.path,
                "changed": change.is_needed and not dry_run,
                "diff": change.diff(),
                "backup": backup or None,
                "notes": list(notes),
            }
        )
        return
    if dry_run:
        if change.is_needed:
            write_out(visible_lines(change.diff()))
        else:
            print_line(say("unchanged: {path}", path=change.path))
        return
    print_line(
        say("updated: {path}", path=change.path) if change.is_needed else say("unchanged: {path}", path=change.path)
    )
    if backup:
        call.note(say("the file as it was: {backup}", backup=backup))
    for line in notes:
        call.note(line)


def _standing(found: settings.Status) -> Sentence:
    if not found.commands:
        return say("not installed")
    if found.is_disabled:
        return say("installed, but hooks are disabled")
    return say("installed") if found.is_installed else say("installed, but faulty")


def _print_status(call: Call, found: settings.Status) -> None:
    if call.as_json:
        call.print_json(
            {
                "path": found.path,
                "installed": found.is_installed,
                "commands": list(found.commands),
                "notes": list(found.notes),
            }
        )
    else:
        print_line(say("{standing}: {path}", standing=_standing(found), path=found.path))
        for command in found.commands:
            call.note(say("runs {command}", command=command))
        for line in found.notes:
            call.note(line)
    if not found.is_installed:
        raise typer.Exit(1)
