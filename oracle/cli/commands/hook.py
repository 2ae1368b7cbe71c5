"""`oracle hook`: a seat's Stop hook in the settings of its agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import group, option
from oracle.cli.output import print_line, visible_lines, write_out
from oracle.cli.session import Call
from oracle.wording import Sentence, say

if TYPE_CHECKING:
    from oracle.hook import settings
    from oracle.hook.changes import FileChange

Workspace = Annotated[str, option("--workspace DIR", "The folder that the agent starts in.")]
SettingsPath = Annotated[str, option("--settings-path FILE", "Instead of DIR/.claude/settings.json.")]
DryRun = Annotated[bool, option("--dry-run", "Write nothing; print the change as a diff.")]

app = group("Install, remove or check a seat's Stop hook.", example="oracle hook install --workspace ~/seats/memory")


@app.add("install", example="oracle hook install --workspace ~/seats/memory --dry-run")
def install(
    call: Call, *, workspace: Workspace = ".", settings_path: SettingsPath = "", dry_run: DryRun = False
) -> None:
    """Install the Stop hook."""
    from oracle.app.context import name_root
    from oracle.hook import settings

    command = settings.hook_command(settings.default_script(), root=name_root(call.memory_dir))
    change = settings.plan_install(settings.settings_file(workspace, settings_path), command)
    _apply(call, change, dry_run=dry_run)


@app.add("uninstall", example="oracle hook uninstall --workspace ~/seats/memory")
def uninstall(
    call: Call, *, workspace: Workspace = ".", settings_path: SettingsPath = "", dry_run: DryRun = False
) -> None:
    """Remove the Stop hook."""
    from oracle.hook import settings

    _apply(call, settings.plan_uninstall(settings.settings_file(workspace, settings_path)), dry_run=dry_run)


@app.add("status", example="oracle hook status --workspace ~/seats/memory")
def status(call: Call, *, workspace: Workspace = ".", settings_path: SettingsPath = "") -> None:
    """Check whether the Stop hook is installed; exit 1 when it is not."""
    from oracle.hook import settings

    found = settings.read_status(settings.settings_file(workspace, settings_path))
    document = {
        "path": found.path,
        "installed": found.is_installed,
        "commands": list(found.commands),
        "notes": list(found.notes),
    }
    call.answer(document, say("{standing}: {path}", standing=_standing(found), path=found.path))
    for command in found.commands:
        call.note(say("runs {command}", command=command))
    for line in found.notes:
        call.note(line)
    if not found.is_installed:
        raise typer.Exit(1)


def _apply(call: Call, change: FileChange, *, dry_run: bool) -> None:
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


def _standing(found: settings.HookStatus) -> Sentence:
    if not found.commands:
        return say("not installed")
    if found.is_disabled:
        return say("installed, but hooks are disabled")
    return say("installed") if found.is_installed else say("installed, but faulty")
