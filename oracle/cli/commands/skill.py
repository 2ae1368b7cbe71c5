"""`oracle skill`: list, show, print and match the skills of a workspace. `install` and `uninstall` are in `hook`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.commands.hook import skill_app
from oracle.cli.options import argument, option
from oracle.cli.output import Table, write_out
from oracle.cli.session import Call
from oracle.process import STANDARD_INPUT
from oracle.wording import joined, say, say_each, visible_lines

if TYPE_CHECKING:
    from oracle.app.skills.catalogue import ListedSkill, Skills

__all__ = ["skill_app"]

Workspace = Annotated[str, option("--workspace DIR", "The folder that the agent starts in; else this one.")]
Extra = Annotated[list[str] | None, option("--extra DIR", "A further folder with skills; repeatable.")]
Remote = Annotated[
    list[str] | None, option("--remote SYSTEM", "A remote system, as in darwin:ffmpeg,sips; repeatable.")
]


def _find(call: Call, workspace: str, extra: list[str] | None, remote: list[str] | None) -> Skills:
    from oracle.app.skills import catalogue

    with call.context() as context:
        found = catalogue.list_skills(context, workspace, extra=extra or (), remotes=remote or ())
    for sentence in found.problems:
        call.warn(sentence)
    return found


@skill_app.add("list", example="oracle skill list --why")
def list_skills(
    call: Call,
    *,
    why: Annotated[bool, option("--why", "Every gate with its reason.")] = False,
    workspace: Workspace = ".",
    extra: Extra = None,
    remote: Remote = None,
) -> None:
    """List the skills of a workspace, and which a model sees."""
    found = _find(call, workspace, extra, remote)
    document = {"skills": [item.as_json() for item in found.items], "problems": len(found.problems)}
    if why:
        rows = [
            (item.skill.name, item.skill.source, gate.name, say("ok") if gate.passes else say("no"), gate.reason)
            for item in found.items
            for gate in item.gates
        ]
        call.answer(document, Table(say_each("skill", "source", "gate", "verdict", "reason"), rows, stacked=(4,)))
        return
    lines = [(item.skill.name, item.skill.source, _state(item), item.skill.path) for item in found.items]
    call.answer(document, Table(say_each("skill", "source", "state", "path"), lines, stacked=(3,)))
    if not found.items:
        call.note(say("there is no skill"))


def _state(item: ListedSkill) -> str:
    if item.replaced_by:
        return say("replaced by {source}", source=item.replaced_by)
    held = [gate.name for gate in item.gates if not gate.passes]
    return say("held back: {gates}", gates=joined(", ", held)) if held else say("visible")


@skill_app.add("show", example="oracle skill show memory-oracle")
def show(
    call: Call,
    name: Annotated[str, argument("NAME", "The skill.")],
    *,
    workspace: Workspace = ".",
    extra: Extra = None,
    remote: Remote = None,
) -> None:
    """Print a skill, read from disk now."""
    from oracle.app.skills import catalogue

    item, text = catalogue.show(_find(call, workspace, extra, remote), name)
    if call.as_json:
        call.print_json({**item.as_json(), "text": text})
    else:
        write_out(visible_lines(text))


@skill_app.add("prompt", example="oracle skill prompt --budget 4000")
def prompt(
    call: Call,
    *,
    budget: Annotated[int, option("--budget N", "Characters at most (default 8000).", min=500)] = 8000,
    workspace: Workspace = ".",
    extra: Extra = None,
    remote: Remote = None,
) -> None:
    """Print the catalogue for a prompt, within a budget."""
    from oracle.app.skills import catalogue

    made = catalogue.prompt(_find(call, workspace, extra, remote), budget)
    if call.as_json:
        call.print_json(made.as_json())
    elif made.text:
        write_out(visible_lines(f"{made.text}\n"))
    if made.form == "cut":
        call.note(say("the catalogue was cut: {shown} of {total} skills", shown=made.shown, total=made.total))


@skill_app.add("match", example="oracle skill match 'Deliver the answer of Q-17'")
def match(
    call: Call,
    request: Annotated[str, argument("REQUEST", "What somebody asks for; - is standard input.")],
    *,
    workspace: Workspace = ".",
    extra: Extra = None,
    remote: Remote = None,
) -> None:
    """Name the one skill that fits a request; exit 4 if none clearly does."""
    from oracle.app.skills import catalogue

    text = sys.stdin.buffer.read().decode("utf-8", "replace") if request == STANDARD_INPUT else request
    found = catalogue.match(_find(call, workspace, extra, remote), text)
    lines = [found.skill.name, found.skill.path] if found.skill is not None else []
    call.answer(found.as_json(), lines)
    call.note(found.reason)
    if found.skill is None:
        raise typer.Exit(4)
