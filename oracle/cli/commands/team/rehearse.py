"""`oracle team rehearse`: rehearse the chain of seats."""

from __future__ import annotations

from typing import Annotated

from oracle.cli import completion
from oracle.cli.commands.ack import print_signs
from oracle.cli.options import NoNotify, OfProject, group, option
from oracle.cli.session import Call
from oracle.wording import say

app = group("Rehearse the chain of seats, and verify it.", example="oracle team rehearse start --project shop")


@app.add("start", example="oracle team rehearse start --project shop")
def start(
    call: Call,
    *,
    project: OfProject,
    task_id: Annotated[str, option("--task-id ID", "The rehearsal's id; else one is made.", completion.handoffs)] = "",
    no_notify: NoNotify = False,
) -> None:
    """Begin a rehearsal: a workflow with a step for each seat."""
    from oracle.app.teamwork import rehearsal

    with call.context() as context:
        begun = rehearsal.rehearse(context, project, task_id=task_id, notifies=not no_notify)
    call.answer(begun.as_json(), begun.task_id)
    call.note(say("brief: {brief}", brief=begun.brief))


@app.add("verify", example="oracle team rehearse verify --project shop")
def verify(
    call: Call,
    *,
    project: OfProject,
    task_id: Annotated[str, option("--task-id ID", "The rehearsal; else the last.", completion.handoffs)] = "",
) -> None:
    """Check whether every seat reported; exit 1 when one did not."""
    from oracle.app.teamwork import rehearsal

    with call.context() as context:
        name, found = rehearsal.verify(context, project, task_id=task_id)
    if any(sign.held is False for sign in found):
        call.warn(say("the chain does not hold: dispatch no real task until it does"))
    print_signs(call, found, name)
