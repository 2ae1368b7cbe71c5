"""`oracle team decision`, `push` and `language`: what people decide, read and speak."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oracle.cli import completion
from oracle.cli.application import group
from oracle.cli.options import NoNotify, OfProject, Project, WriterSeat, argument, option, read_body, single
from oracle.cli.output import Table, print_line, write_out
from oracle.cli.session import Call, note_wake_up
from oracle.errors import NotFound, UsageError
from oracle.process import read_input
from oracle.wording import say, say_each, visible_lines

PayloadFile = Annotated[str, option("--payload-file FILE", "The payload; - is standard input.")]

decision_app = group(
    "Hand a decision to people, and record it.", example="oracle team decision send --payload-file d.json"
)


@decision_app.add("validate", example="oracle team decision validate --payload-file d.json")
def validate(call: Call, *, payload_file: PayloadFile) -> None:
    """Check a decision payload."""
    from oracle.app.decisions import payload

    checked = payload.validate(_read(payload_file))
    call.answer({"valid": True, "decision_id": checked.text("decision_id")}, say("ok"))


@decision_app.add("send", example="oracle team decision send --payload-file d.json --session shop-planner")
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


@decision_app.add("resolve", example="oracle team decision resolve D-1 --project shop --choose a")
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


push_app = group(
    "Send a message to the people of a project by Feishu.",
    example="oracle team push 'T-7 is done.' --project shop",
    default="send",
)


@push_app.add("send", example="oracle team push 'T-7 is done.' --project shop --verdict PASS", hidden=True)
def push_text(
    call: Call,
    text: Annotated[str, argument("TEXT", "At most four lines; - is standard input.")],
    *,
    project: OfProject,
    session: Annotated[str, option("--session NAME", "Where an answer goes; else the seat's own session.")] = "",
    task_id: Annotated[str, option("--task-id ID", "The task it is about.", completion.handoffs)] = "",
    verdict: Annotated[
        str, option("--verdict WORD", "PASS, FAIL or BLOCKED.", completion.words("PASS", "FAIL", "BLOCKED"))
    ] = "",
    dry_run: Annotated[bool, option("--dry-run", "Send nothing; print the message.")] = False,
    seat: WriterSeat = "memory",
) -> None:
    """Send a message to the people of a project by Feishu."""
    from oracle.app.teamwork import push
    from oracle.app.teamwork.push import Message

    body = read_body(None, None, "-") if text == "-" else text
    message = Message(body, project, seat=seat, session=session, task_id=task_id, verdict=verdict)
    with call.context() as context:
        made = push.prepare(context, message) if dry_run else push.send(context, message)
    if call.as_json:
        call.print_json({"sent": not dry_run, "cut": made.is_cut, "text": made.text()})
    elif dry_run:
        write_out(visible_lines(made.text() + "\n"))
    else:
        print_line(say("pushed to {project}", project=made.project))
    if made.is_cut:
        call.note(say("the text was too long and was cut"))


@push_app.add("mentions", example="oracle team push mentions --project shop")
def mentions(call: Call, *, project: Project = "") -> None:
    """Check whether the robot must be mentioned; exit 1 if not everywhere."""
    from oracle.app.teamwork import push
    from oracle.app.teamwork.push import ABSENT, OFF

    with call.context() as context:
        found = push.check_mentions(context, project)
    wrong = [item for item in found if item.state in (ABSENT, OFF)]
    rows = [(str(item.layer), item.state, item.place, item.detail) for item in found]
    document = {"ok": not wrong, "layers": [item.as_json() for item in found]}
    call.answer(document, Table(say_each("layer", "state", "place", "detail"), rows))
    if wrong:
        raise typer.Exit(1)


language_app = single()


@language_app.add(example="oracle team language 'Where is the report?'")
def language(
    call: Call,
    messages: Annotated[
        list[str] | None, argument("[MESSAGE]...", "What the operator wrote, oldest first; - is standard input.")
    ] = None,
    *,
    transcript: Annotated[str, option("--transcript FILE", "Read it from a transcript of Claude Code.")] = "",
) -> None:
    """Decide which language to answer in."""
    from oracle.domain.language import decide

    if bool(messages) == bool(transcript):
        raise UsageError(
            say("Give either messages or a transcript."),
            hint=say('Write `oracle team language "MESSAGE" "MESSAGE"`, or --transcript FILE.'),
        )
    found = decide(_typed(transcript) if transcript else _given(messages or []))
    call.answer(found.as_json(), found.language)


def _typed(path: str) -> tuple[str, ...]:
    from oracle.hook.payload import read_operator

    if not Path(path).expanduser().is_file():
        raise NotFound(
            say("There is no transcript {path}.", path=path),
            hint=say("The Stop hook gets its path as transcript_path."),
        )
    return read_operator(path)


def _given(messages: list[str]) -> list[str]:
    if messages != ["-"]:
        return messages
    return read_input("-").decode("utf-8", "replace").splitlines()
