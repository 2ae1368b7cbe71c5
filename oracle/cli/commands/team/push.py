"""`oracle team push`: tell the people of a project by Feishu."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli import completion
from oracle.cli.options import OfProject, Project, WriterSeat, argument, group, option, read_body
from oracle.cli.output import Table, print_line, visible_lines, write_out
from oracle.cli.session import Call
from oracle.wording import say, say_each

app = group(
    "Send a message to the people of a project by Feishu.",
    example="oracle team push 'T-7 is done.' --project shop",
    default="send",
)


@app.add("send", example="oracle team push 'T-7 is done.' --project shop --verdict PASS", hidden=True)
def send(
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


@app.add("mentions", example="oracle team push mentions --project shop")
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
