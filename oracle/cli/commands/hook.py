"""`oracle hook` and `oracle skill`: what a seat has in its workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli import completion
from oracle.cli.application import group
from oracle.cli.options import option
from oracle.cli.output import print_line, write_out
from oracle.cli.session import Call
from oracle.hook.clients import ALL_EVENTS, EVENTS
from oracle.wording import Sentence, say, visible_lines

if TYPE_CHECKING:
    from oracle.hook import settings
    from oracle.hook.changes import FileChange
    from oracle.hook.clients import Client


_EVENTS = (*EVENTS, ALL_EVENTS)

Workspace = Annotated[str, option("--workspace DIR", "The folder that the agent starts in.")]
Tool = Annotated[str, option("--tool claude|codex|gemini", "The client that runs the hook.")]
SettingsPath = Annotated[str, option("--settings-path FILE", "Instead of the tool's files in DIR.")]
DryRun = Annotated[bool, option("--dry-run", "Write nothing; print the change as a diff.")]

hook_app = group("Install, remove or check a seat's hooks.", example="oracle hook install --workspace ~/seats/memory")


@hook_app.add("install", example="oracle hook install --workspace ~/seats/memory --dry-run")
def install(
    call: Call,
    *,
    workspace: Workspace = ".",
    tool: Tool = "claude",
    settings_path: SettingsPath = "",
    events: Annotated[
        str,
        option(
            f"--events {'|'.join(_EVENTS)}",
            "When it runs; several with commas between them.",
            completion.listed(completion.words(*_EVENTS)),
        ),
    ] = "stop",
    strict: Annotated[bool, option("--strict", "Let the agent correct a marker that was not obeyed.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Install the Stop hook, and hooks for other events."""
    from oracle.app.context import name_root
    from oracle.hook import clients, settings, workspaces

    client = clients.find_client(tool)
    command = settings.hook_command(settings.default_script(), root=name_root(call.memory_dir), is_strict=strict)
    paths = workspaces.settings_files(workspace, settings_path, client)
    wanted = clients.find_events(client, events)
    _apply(call, workspaces.plan_installs(paths, command, client, events=wanted), client, dry_run=dry_run)


@hook_app.add("uninstall", example="oracle hook uninstall --workspace ~/seats/memory")
def uninstall(
    call: Call,
    *,
    workspace: Workspace = ".",
    tool: Tool = "claude",
    settings_path: SettingsPath = "",
    dry_run: DryRun = False,
) -> None:
    """Remove the hooks of every event."""
    from oracle.hook import clients, settings, workspaces

    client = clients.find_client(tool)
    paths = workspaces.settings_files(workspace, settings_path, client)
    replaced = [command for path in paths for command in settings.replaced_commands(path)]
    changes = workspaces.plan_uninstalls(paths)
    _apply(call, changes, client, dry_run=dry_run)
    for command in replaced if any(change.is_needed for change in changes) else ():
        call.note(say("before the installation it ran {command}", command=command))


@hook_app.add("status", example="oracle hook status --workspace ~/seats/memory")
def status(call: Call, *, workspace: Workspace = ".", tool: Tool = "claude", settings_path: SettingsPath = "") -> None:
    """Check whether hooks are installed, and for which events; exit 1 when none is."""
    from oracle.app.prompting.rest import resting
    from oracle.hook import clients, workspaces

    client = clients.find_client(tool)
    found = workspaces.status_of(workspaces.settings_files(workspace, settings_path, client), client)
    with call.context() as context:
        silence = resting(context.root, context.clock.now_ns()) or ()
    notes = [*found.all_notes, *silence]
    document = {
        "path": found.path,
        "installed": found.is_installed,
        "events": list(found.events),
        "commands": list(found.commands),
        "notes": notes,
    }
    call.answer(document, say("{standing}: {path}", standing=_standing(found), path=found.path))
    for command in found.commands:
        call.note(say("runs {command}", command=command))
    if found.events:
        call.note(say("events: {events}", events=list(found.events)))
    for line in notes:
        call.note(line)
    if not found.is_installed:
        raise typer.Exit(1)


def _apply(call: Call, changes: list[FileChange], client: Client, *, dry_run: bool) -> None:
    rows = [_apply_one(change, client, dry_run=dry_run) for change in changes]
    if call.as_json:
        call.print_json({**rows[0], **({"others": rows[1:]} if rows[1:] else {})})
        return
    for change, row in zip(changes, rows, strict=True):
        if dry_run and change.is_needed:
            write_out(visible_lines(change.diff()))
            continue
        print_line(change.outcome)
        for line in row["notes"]:
            call.note(line)


def _apply_one(change: FileChange, client: Client, *, dry_run: bool) -> dict[str, Any]:
    from oracle.hook import settings

    is_applied = change.is_needed and not dry_run
    backup = change.apply() if is_applied else ""
    kept = [say("the old file: {backup}", backup=backup)] if backup else []
    notes = [] if dry_run else settings.read_status(change.path, client).all_notes
    return {
        "path": change.path,
        "changed": is_applied,
        "diff": change.diff(),
        "backup": backup or None,
        "notes": [*kept, *notes],
    }


def _standing(found: settings.HookStatus) -> Sentence:
    if not found.commands:
        return say("not installed")
    if found.is_disabled:
        return say("installed, but hooks are disabled")
    return say("installed") if found.is_installed else say("installed, but faulty")


SkillTool = Annotated[str, option("--tool claude|codex|gemini", "The tool that reads it.")]

skill_app = group("Teach a workspace what its seat must know.", example="oracle skill install --seat builder")


@skill_app.add("install", example="oracle skill install --workspace ~/seats/builder --seat builder")
def install_skill(
    call: Call,
    *,
    workspace: Workspace = ".",
    tool: SkillTool = "claude",
    seat: Annotated[str, option("--seat SEAT", "Whose skill.", completion.members)] = "memory",
    dry_run: DryRun = False,
) -> None:
    """Write the skill of a seat into a workspace."""
    from oracle.app.context import name_root
    from oracle.app.records.new_project import refuse_mistyped_seat
    from oracle.hook import skills

    with call.context() as context:
        refuse_mistyped_seat(context, seat)
    change = skills.plan_install(workspace, tool=tool, seat=seat, root=name_root(call.memory_dir))
    _apply_skills(call, [change], dry_run=dry_run)


@skill_app.add("uninstall", example="oracle skill uninstall --workspace ~/seats/builder")
def uninstall_skill(
    call: Call,
    *,
    workspace: Workspace = ".",
    tool: SkillTool = "claude",
    seat: Annotated[str, option("--seat SEAT", "Only the skill of this seat.", completion.members)] = "",
    dry_run: DryRun = False,
) -> None:
    """Remove the skills that `install` wrote."""
    from oracle.hook import skills

    _apply_skills(call, skills.plan_uninstall(workspace, tool=tool, seat=seat), dry_run=dry_run)


def _apply_skills(call: Call, changes: list[FileChange], *, dry_run: bool) -> None:
    kept = [change.apply() if change.is_needed and not dry_run else "" for change in changes]
    if call.as_json:
        rows = [
            {
                "path": change.path,
                "changed": change.is_needed and not dry_run,
                "diff": change.diff(),
                "backup": backup or None,
            }
            for change, backup in zip(changes, kept, strict=True)
        ]
        call.print_json({"files": rows})
        return
    for change, backup in zip(changes, kept, strict=True):
        if dry_run and change.is_needed:
            write_out(visible_lines(change.diff()))
            continue
        print_line(change.outcome)
        if backup:
            call.note(say("it was changed by hand; the old file: {backup}", backup=backup))
    if not changes:
        call.note(say("there is no skill to remove"))
