"""`oracle ack`: acknowledge a completion, or look for the signs of an acknowledgement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completion
from oracle.cli.options import OfProject, TaskId, group, option
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from oracle.app.delivery.acknowledge import Sign

app = group(
    "Acknowledge a completion, or check a dispatch.",
    example="oracle ack T-7 --project shop --from builder --to planner",
    default="acknowledge",
)


@app.add("acknowledge", example="oracle ack T-7 --project shop --from builder --to planner", hidden=True)
def acknowledge(
    call: Call,
    task_id: TaskId,
    *,
    project: OfProject,
    source: Annotated[str, option("--from SEAT", "The seat that completed it.", completion.members)],
    target: Annotated[str, option("--to SEAT", "The seat that has read it.", completion.members)],
) -> None:
    """Acknowledge what a seat completed."""
    from oracle.app.delivery import acknowledge, resume

    with call.context() as context:
        resume.before(context)
        done = acknowledge.acknowledge(context, project, task_id, source=source, target=target)
    document = {"task_id": task_id, "line": done.line, "receipt_path": done.receipt_path, "is_new": done.is_new}
    call.answer(document, done.line)
    if not done.is_new:
        call.note(say("it was acknowledged before; nothing was changed"))


@app.add("check", example="oracle ack check T-7 --project shop --fetch")
def check(
    call: Call,
    task_id: TaskId,
    *,
    project: OfProject,
    target: Annotated[str, option("--target SEAT", "Who was asked.", completion.members)] = "",
    remote: Annotated[str, option("--remote NAME", "Where commits are pushed.")] = "origin",
    branch: Annotated[str, option("--branch NAME", "The branch, if not that of the dispatch.")] = "",
    fetch: Annotated[bool, option("--fetch", "Ask the remote first.")] = False,
) -> None:
    """Look for the four signs that a dispatch was acknowledged."""
    from oracle.app.delivery import acknowledge

    with call.context() as context:
        found = acknowledge.check(context, project, task_id, target=target, remote=remote, branch=branch, fetch=fetch)
    print_signs(call, found, task_id)


def print_signs(call: Call, found: Sequence[Sign], task_id: str) -> None:
    """Print the signs, and end with 1 when one is missing."""
    missing = [sign for sign in found if sign.held is False]
    rows = [(sign.name, sign.word, sign.detail) for sign in found]
    document = {"task_id": task_id, "ok": not missing, "checks": [sign.as_json() for sign in found]}
    call.answer(document, Table(say_each("check", "it is", "detail"), rows))
    if missing:
        raise typer.Exit(1)
