"""Commands that hand something over: ask, deliver, resume."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.arguments import read_body
from oracle.cli.options import Json, MemoryDir, NoNotify, OfProject, Project, Secrets, WriterSeat, begin
from oracle.cli.printing import print_line, print_lines
from oracle.cli.session import note_wake_up
from oracle.errors import UsageError
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.app.delivery.deliver import Delivered
    from oracle.app.delivery.dispatch import Dispatched
    from oracle.cli.session import Call


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked; - is standard input.")],
    *,
    now: Annotated[bool, typer.Option("--now", help="Answer from disk at once; no seat is asked.")] = False,
    project: Project = "",
    source: Annotated[
        str, typer.Option("--from", metavar="SEAT", help="The seat that asks.", autocompletion=completing.members)
    ] = "",
    seat: Annotated[
        str,
        typer.Option(
            "--seat", metavar="SEAT", help="--now: only what this seat knows.", autocompletion=completing.seats
        ),
    ] = "",
    no_synthesis: Annotated[bool, typer.Option("--no-synthesis", help="--now: quotes alone.")] = False,
    target: Annotated[
        str, typer.Option("--target", metavar="SEAT", help="The seat that answers.", autocompletion=completing.members)
    ] = "memory",
    task_id: Annotated[
        str,
        typer.Option(
            "--task-id", metavar="ID", help="The task's id; else one is made.", autocompletion=completing.tasks
        ),
    ] = "",
    reply_to: Annotated[
        str,
        typer.Option(
            "--reply-to", metavar="SEAT", help="Who gets the answer, if not --from.", autocompletion=completing.members
        ),
    ] = "",
    no_notify: NoNotify = False,
    secrets: Secrets = "refuse",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Answer from disk at once, or ask a seat."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    text = read_body(None, None, "-") if question == "-" else question
    if now:
        if source or task_id or reply_to or target != "memory":
            raise UsageError(
                say("With --now no seat is asked."), hint=say("Leave --from, --target, --task-id and --reply-to out.")
            )
        from oracle.cli.answering import answer_now

        answer_now(call, text, project=project, seat=seat, in_prose=not no_synthesis)
        return
    _require_ends(project, source)
    if seat or no_synthesis:
        raise UsageError(
            say("--seat and --no-synthesis belong to --now."), hint=say("The seat that is asked is --target.")
        )
    from oracle.app.delivery.order import QUERY, Order

    order = Order(
        *(project, task_id, source, target, text),
        reply_to=reply_to,
        kind=QUERY,
        notifies=not no_notify,
        secrets=secrets,
    )
    with call.oracle() as oracle:
        made = oracle.dispatch(order)
    _print_dispatched(call, made)


def _require_ends(project: str, source: str) -> None:
    """Raise UsageError unless a question to a seat names its project and who asks."""
    if not project or not source:
        missing = "--project" if not project else "--from"
        raise UsageError(
            say("Missing option '{missing}'.", missing=missing),
            hint=say("See `oracle ask --help`, or answer at once with --now."),
        )


def _print_dispatched(call: Call, made: Dispatched) -> None:
    if call.as_json:
        call.print_json(made.as_json())
        return
    print_line(made.name.task_id)
    call.note(say("receipt: {receipt_path}", receipt_path=made.receipt_path))
    note_wake_up(call, made.wake_up)


def deliver(
    context: typer.Context,
    *,
    project: OfProject,
    task_id: Annotated[
        str,
        typer.Option("--task-id", metavar="ID", help="The task that is answered.", autocompletion=completing.handoffs),
    ],
    target: Annotated[
        str,
        typer.Option(
            "--target", metavar="SEAT", help="The seat that gets the answer.", autocompletion=completing.members
        ),
    ],
    inline: Annotated[str | None, typer.Option("--response-inline", metavar="JSON", help="The response.")] = None,
    file: Annotated[
        str | None, typer.Option("--response-file", metavar="FILE", help="A file with it; - is standard input.")
    ] = None,
    summary: Annotated[str, typer.Option("--summary", metavar="TEXT", help="What the receipt says of it.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Deliver nothing when a claim does not hold.")] = False,
    supersede: Annotated[bool, typer.Option("--supersede", help="Replace the answer that stands; it is kept.")] = False,
    no_notify: NoNotify = False,
    secrets: Secrets = "refuse",
    seat: WriterSeat = "memory",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Deliver an answer, exactly once."""
    from oracle.app.delivery.deliver import Delivery

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    delivery = Delivery(
        project,
        task_id,
        target,
        _response(inline, file),
        source=seat,
        summary=summary,
        is_strict=strict,
        supersedes=supersede,
        notifies=not no_notify,
        secrets=secrets,
    )
    with call.oracle() as oracle:
        done = oracle.deliver(delivery)
    _print_delivered(call, done)


def _response(inline: str | None, file: str | None) -> dict[str, object]:
    if (inline is None) == (file is None):
        raise UsageError(
            say("One response is needed."), hint=say("Give --response-inline or --response-file, not both.")
        )
    from oracle.domain.records.responses import parse_response
    from oracle.store.disk import input_file

    content = parse_response(input_file.read(file, "--response-file") if file is not None else str(inline))
    if not isinstance(content, dict):
        raise UsageError(say("The response is no JSON object."), hint=say('Give an object, as in {{"answer": "…"}}.'))
    return content


def _print_delivered(call: Call, done: Delivered) -> None:
    if call.as_json:
        call.print_json(done.as_json())
        return
    name = done.name
    if not done.is_new:
        print_line(say("already delivered {task} to {seat}", task=name.task_id, seat=name.target))
        if done.settled:
            call.note(say("the conflict is settled: {settled} kept aside, now superseded", settled=done.settled))
        return
    print_line(say("delivered {task} to {seat}", task=name.task_id, seat=name.target))
    call.note(say("response: {response_path}", response_path=done.response_path))
    for line in done.redacted:
        call.note(say("redacted: {line}", line=line))
    call.note(say("receipt: {receipt_path}", receipt_path=done.receipt_path))
    if done.all_verified is not None:
        call.note(
            say("every claim is verified")
            if done.all_verified
            else say("not every claim is verified; the response says which")
        )
    note_wake_up(call, done.wake_up)


def resume(context: typer.Context, *, memory_dir: MemoryDir = None, as_json: Json = False) -> None:
    """Finish what was left undone; send what waits."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        found = oracle.resume()
    if call.as_json:
        call.print_json(found.as_json())
        return
    print_lines(found.done)
    for line in found.left:
        call.warn(line)
    if not found.done and not found.left:
        call.note(say("nothing was left undone"))
