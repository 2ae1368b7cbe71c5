"""Commands of the chain: ack, integrate, rehearse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, NoNotify, OfProject, begin
from oracle.cli.printing import Table, print_line, print_table
from oracle.errors import UsageError
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.delivery.ack_signs import Sign
    from oracle.cli.session import Call


def ack(
    context: typer.Context,
    task_id: Annotated[str, typer.Argument(metavar="ID", help="The task.", autocompletion=completing.handoffs)],
    *,
    project: OfProject,
    target: Annotated[
        str, typer.Option("--target", metavar="SEAT", help="Who was asked.", autocompletion=completing.members)
    ] = "",
    remote: Annotated[str, typer.Option("--remote", metavar="NAME", help="Where commits are pushed.")] = "origin",
    branch: Annotated[str, typer.Option("--branch", metavar="NAME", help="If not the dispatch's.")] = "",
    fetch: Annotated[bool, typer.Option("--fetch", help="Ask the remote first.")] = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Tell whether a dispatch was acknowledged."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        found = oracle.check_ack(project, task_id, target=target, remote=remote, branch=branch, fetch=fetch)
    print_signs(call, found, {"task_id": task_id})


def print_signs(call: Call, found: Sequence[Sign], beside: dict[str, object]) -> None:
    """Print what was looked for, and end with 1 when something is missing."""
    missing = [sign for sign in found if sign.held is False]
    if call.as_json:
        call.print_json({**beside, "ok": not missing, "checks": [sign.as_json() for sign in found]})
    else:
        print_table(
            Table(say_each("check", "it is", "detail"), [(sign.name, sign.word, sign.detail) for sign in found])
        )
    if missing:
        raise typer.Exit(1)


def integrate(
    context: typer.Context,
    task_id: Annotated[str, typer.Argument(metavar="ID", help="The task.", autocompletion=completing.handoffs)],
    *,
    project: OfProject,
    lane: Annotated[
        str,
        typer.Option(
            "--lane",
            metavar="light|medium|heavy",
            help="Who puts it right: memory, a builder or the operator.",
            autocompletion=completing.words("light", "medium", "heavy"),
        ),
    ],
    commit: Annotated[str, typer.Option("--commit", metavar="SHA", help="light: what memory landed.")] = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why this lane.")] = "",
    no_notify: NoNotify = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Recover a commit that passed outside the main line."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        done = oracle.integrate(project, task_id, lane=lane, commit=commit, reason=reason, notifies=not no_notify)
    if call.as_json:
        call.print_json(done.as_json())
        return
    print_line(done.record)
    if done.repair:
        call.note(say("dispatched {repair}", repair=done.repair))
    if done.report:
        call.note(done.report)


def rehearse(
    context: typer.Context,
    action: Annotated[
        str | None,
        typer.Argument(
            metavar="verify", help="Look whether the seats reported.", autocompletion=completing.words("verify")
        ),
    ] = None,
    *,
    project: OfProject,
    task_id: Annotated[
        str,
        typer.Option(
            "--task-id",
            metavar="ID",
            help="The rehearsal; else a new one, or the last.",
            autocompletion=completing.handoffs,
        ),
    ] = "",
    no_notify: NoNotify = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Rehearse the chain of seats, or verify it."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if action not in (None, "verify"):
        raise UsageError(
            say("`oracle rehearse {action}` is no command.", action=action),
            hint=say("Write `oracle rehearse` or `rehearse verify`."),
        )
    with call.oracle() as oracle:
        if action is None:
            begun = oracle.rehearse(project, task_id=task_id, notifies=not no_notify)
        else:
            name, found = oracle.verify_rehearsal(project, task_id=task_id)
    if action is not None:
        if any(sign.held is False for sign in found):
            call.warn(say("the chain does not hold: dispatch no real task until it does"))
        print_signs(call, found, {"task_id": name})
        return
    if call.as_json:
        call.print_json(begun.as_json())
        return
    print_line(begun.task_id)
    call.note(say("brief: {brief}", brief=begun.brief))
