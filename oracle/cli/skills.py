"""The command that gives a workspace the skill of a seat: skill."""

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
    from oracle.hook.skills import Change


def skill(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="ACTION", help="install or uninstall.", autocompletion=completing.words("install", "uninstall")
        ),
    ],
    *,
    workspace: Annotated[
        str, typer.Option("--workspace", metavar="DIR", help="The folder that the agent starts in.")
    ] = ".",
    tool: Annotated[
        str,
        typer.Option(
            "--tool",
            metavar="claude|codex|gemini",
            help="What reads it (default claude).",
            autocompletion=completing.words("claude", "codex", "gemini"),
        ),
    ] = "claude",
    seat: Annotated[
        str,
        typer.Option(
            "--seat",
            metavar="SEAT",
            help="install: whose skill (default memory); uninstall: only that of this seat.",
            autocompletion=completing.members,
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing; print the change as a diff.")] = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Teach a workspace what its seat has to know."""
    from oracle.hook import skills
    from oracle.store.root.layout import name_root

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if action == "install":
        changes = [skills.plan_install(workspace, tool=tool, seat=seat or "memory", root=name_root(call.memory_dir))]
    elif action == "uninstall":
        changes = skills.plan_uninstall(workspace, tool=tool, seat=seat)
    else:
        raise UsageError(
            say("`oracle skill {action}` is no command.", action=action), hint=say("Write install or uninstall.")
        )
    kept = [change.apply() if change.is_needed and not dry_run else "" for change in changes]
    _print(call, changes, kept, dry_run=dry_run)


def _print(call: Call, changes: list[Change], kept: list[str], *, dry_run: bool) -> None:
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
            call.note(say("it was changed by hand; as it was: {backup}", backup=backup))
    if not changes:
        call.note(say("no skill of ours is there"))


def _outcome(change: Change) -> Sentence:
    if not change.is_needed:
        return say("unchanged: {path}", path=change.path)
    if change.after is None:
        return say("removed: {path}", path=change.path)
    return say("updated: {path}", path=change.path)
