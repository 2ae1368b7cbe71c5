"""`oracle skill`: the skill of a seat in its workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion
from oracle.cli.options import group, option
from oracle.cli.output import print_line, visible_lines, write_out
from oracle.cli.session import Call
from oracle.wording import Sentence, say

if TYPE_CHECKING:
    from oracle.hook.changes import FileChange

Workspace = Annotated[str, option("--workspace DIR", "The folder that the agent starts in.")]
Tool = Annotated[str, option("--tool claude|codex|gemini", "The tool that reads it.")]
DryRun = Annotated[bool, option("--dry-run", "Write nothing; print the change as a diff.")]

app = group("Teach a workspace what its seat must know.", example="oracle skill install --seat builder")


@app.add("install", example="oracle skill install --workspace ~/seats/builder --seat builder")
def install(
    call: Call,
    *,
    workspace: Workspace = ".",
    tool: Tool = "claude",
    seat: Annotated[str, option("--seat SEAT", "Whose skill.", completion.members)] = "memory",
    dry_run: DryRun = False,
) -> None:
    """Write the skill of a seat into a workspace."""
    from oracle.app.context import name_root
    from oracle.hook import skills

    change = skills.plan_install(workspace, tool=tool, seat=seat, root=name_root(call.memory_dir))
    _apply(call, [change], dry_run=dry_run)


@app.add("uninstall", example="oracle skill uninstall --workspace ~/seats/builder")
def uninstall(
    call: Call,
    *,
    workspace: Workspace = ".",
    tool: Tool = "claude",
    seat: Annotated[str, option("--seat SEAT", "Only the skill of this seat.", completion.members)] = "",
    dry_run: DryRun = False,
) -> None:
    """Remove the skills that `install` wrote."""
    from oracle.hook import skills

    _apply(call, skills.plan_uninstall(workspace, tool=tool, seat=seat), dry_run=dry_run)


def _apply(call: Call, changes: list[FileChange], *, dry_run: bool) -> None:
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
        print_line(_outcome(change))
        if backup:
            call.note(say("it was changed by hand; the old file: {backup}", backup=backup))
    if not changes:
        call.note(say("there is no skill to remove"))


def _outcome(change: FileChange) -> Sentence:
    if not change.is_needed:
        return say("unchanged: {path}", path=change.path)
    if change.after is None:
        return say("removed: {path}", path=change.path)
    return say("updated: {path}", path=change.path)
