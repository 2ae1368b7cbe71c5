"""`oracle team decision`: check, hand over and settle what people decide."""

from __future__ import annotations

from typing import Annotated

from oracle.cli import completion
from oracle.cli.options import NoNotify, OfProject, Project, argument, group, option
from oracle.cli.session import Call, note_wake_up
from oracle.process import read_input
from oracle.wording import say

PayloadFile = Annotated[str, option("--payload-file FILE", "The payload; - is standard input.")]

app = group("Hand a decision to people, and record it.", example="oracle team decision send --payload-file d.json")


@app.add("validate", example="oracle team decision validate --payload-file d.json")
def validate(call: Call, *, payload_file: PayloadFile) -> None:
    """Check a decision payload."""
    from oracle.app.decisions import payload

    checked = payload.validate(_read(payload_file))
    call.answer({"valid": True, "decision_id": checked.text("decision_id")}, say("ok"))


@app.add("send", example="oracle team decision send --payload-file d.json --session shop-planner")
def send(
    call: Call,
    *,
    payload_file: PayloadFile,
    session: Annotated[str, option("--session NAME", "The session of the seat, as in demo-koder.")] = "",
    project: Project = "",
    no_notify: NoNotify = False,
) -> None:
    """Hand a decision to people."""
    from oracle.app.decisions import handover

    raw = _read(payload_file)
    with call.context() as context:
        sent = handover.send(context, raw, session=session, project=project, notifies=not no_notify)
    ends = {"task": sent.name.task_id, "seat": sent.name.target}
    told = say("sent {task} to {seat}", **ends) if sent.is_new else say("already sent {task} to {seat}", **ends)
    call.answer(sent.as_json(), told)
    call.note(say("receipt: {receipt_path}", receipt_path=sent.receipt_path))
    if not call.as_json:
        note_wake_up(call, sent.wake_up)


@app.add("resolve", example="oracle team decision resolve D-1 --project shop --choose a")
def resolve(
    call: Call,
    decision_id: Annotated[str, argument("ID", "The decision.", completion.decisions)],
    *,
    project: OfProject,
    choose: Annotated[str, option("--choose OPTION", "The choice; else the default, once it is due.")] = "",
    by: Annotated[str, option("--by WHO", "Who chose.")] = "operator",
    reason: Annotated[str, option("--reason TEXT", "Why.")] = "",
) -> None:
    """Record what was decided."""
    from oracle.app.decisions import handover

    with call.context() as context:
        done = handover.resolve(context, project, decision_id, choice=choose, by=by, reason=reason)
    if not done.choice:
        call.answer(done.as_json(), say("{decision} waits: its default is to wait", decision=done.decision_id))
        return
    chosen = {"decision": done.decision_id, "choice": done.choice, "label": done.label, "who": done.by}
    call.answer(done.as_json(), say("{decision}: {choice} ({label}), by {who}", **chosen))
    call.note(say("record: {record}", record=done.record))


def _read(path: str) -> bytes:
    return read_input(path, "--payload-file")
