"""The command `decision`: check, hand over and settle what people decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, NoNotify, Project, begin
from oracle.cli.printing import print_line
from oracle.cli.session import note_wake_up
from oracle.errors import UsageError
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.app.decisions.handover import Resolution, Sent
    from oracle.cli.session import Call

ACTIONS = ("validate", "send", "resolve")


def decision(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(metavar="ACTION", help="validate, send or resolve.", autocompletion=completing.words(*ACTIONS)),
    ],
    decision_id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="resolve: the decision's id.",
            autocompletion=completing.after("action", {"resolve": completing.decisions}),
        ),
    ] = None,
    *,
    payload_file: Annotated[
        str, typer.Option("--payload-file", metavar="FILE", help="validate, send: the payload; - is standard input.")
    ] = "",
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="send: the session of the seat, as in demo-koder.")
    ] = "",
    choose: Annotated[
        str, typer.Option("--choose", metavar="OPTION", help="resolve: what was chosen; else the default, in its time.")
    ] = "",
    by: Annotated[str, typer.Option("--by", metavar="WHO", help="resolve: who chose.")] = "operator",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="resolve: why.")] = "",
    project: Project = "",
    no_notify: NoNotify = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Hand a decision to people and record it."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if action == "resolve":
        _resolve(call, decision_id or "", project, choose=choose, by=by, reason=reason)
        return
    if action not in ACTIONS or decision_id:
        command = f"oracle decision {action}{' ID' if decision_id else ''}"
        raise UsageError(
            say("`{command}` is no command.", command=command),
            hint=say("Write `oracle decision validate`, `send` or `resolve ID`."),
        )
    if not payload_file:
        raise UsageError(
            say("Missing option '--payload-file'."), hint=say("Name the file of the payload; - is standard input.")
        )
    from oracle.store.disk import input_file

    raw = input_file.read(payload_file, "--payload-file")
    if action == "send":
        with call.oracle() as oracle:
            _print_sent(call, oracle.send_decision(raw, session=session, project=project, notifies=not no_notify))
        return
    from oracle.app.decisions import payload as decision_payloads

    payload = decision_payloads.validate(raw)
    if call.as_json:
        call.print_json({"valid": True, "decision_id": payload.text("decision_id")})
    else:
        print_line(say("ok"))


def _print_sent(call: Call, sent: Sent) -> None:
    if call.as_json:
        call.print_json(sent.as_json())
        return
    ends = {"task": sent.name.task_id, "seat": sent.name.target}
    print_line(say("sent {task} to {seat}", **ends) if sent.is_new else say("already sent {task} to {seat}", **ends))
    call.note(say("receipt: {receipt_path}", receipt_path=sent.receipt_path))
    note_wake_up(call, sent.wake_up)


def _resolve(call: Call, decision_id: str, project: str, *, choose: str, by: str, reason: str) -> None:
    if not decision_id or not project:
        missing = "'ID'" if not decision_id else "'--project'"
        raise UsageError(
            say("Missing {missing}.", missing=missing),
            hint=say("Write `oracle decision resolve ID --project P --choose A`."),
        )
    with call.oracle() as oracle:
        done = oracle.resolve_decision(project, decision_id, choice=choose, by=by, reason=reason)
    _print_resolved(call, done)


def _print_resolved(call: Call, done: Resolution) -> None:
    if call.as_json:
        call.print_json(done.as_json())
    elif not done.choice:
        print_line(say("{decision} waits: its default is to wait", decision=done.decision_id))
    else:
        print_line(
            say(
                "{decision}: {choice} ({label}), by {who}",
                decision=done.decision_id,
                choice=done.choice,
                label=done.label,
                who=done.by,
            )
        )
        call.note(say("record: {record}", record=done.record))
