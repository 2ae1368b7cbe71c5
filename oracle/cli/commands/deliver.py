"""`oracle deliver`: deliver the answer to a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion
from oracle.cli.options import NoNotify, OfProject, Secrets, WriterSeat, option, single
from oracle.cli.session import Call, note_wake_up
from oracle.errors import UsageError
from oracle.process import read_input
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.app.delivery.deliver import Delivered

app = single()


@app.add(example="oracle deliver --project shop --task-id Q-17 --target planner --response-file a.json")
def deliver(
    call: Call,
    *,
    project: OfProject,
    task_id: Annotated[str, option("--task-id ID", "The task that is answered.", completion.handoffs)],
    target: Annotated[str, option("--target SEAT", "The seat that gets the answer.", completion.members)],
    inline: Annotated[str | None, option("--response-inline JSON", "The response.")] = None,
    file: Annotated[str | None, option("--response-file FILE", "A file with it; - is standard input.")] = None,
    summary: Annotated[str, option("--summary TEXT", "The summary in the receipt.")] = "",
    strict: Annotated[bool, option("--strict", "Deliver nothing when a claim does not hold.")] = False,
    supersede: Annotated[bool, option("--supersede", "Replace the answer that was delivered; it is kept.")] = False,
    no_notify: NoNotify = False,
    secrets: Secrets = "refuse",
    seat: WriterSeat = "memory",
) -> None:
    """Deliver an answer, exactly once."""
    from oracle.app.delivery import deliver, resume

    delivery = deliver.Delivery(
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
    with call.context() as context:
        resume.before(context, notifies=delivery.notifies)
        done = deliver.deliver(context, delivery)
    _print_delivered(call, done)


def _response(inline: str | None, file: str | None) -> dict[str, object]:
    if (inline is None) == (file is None):
        raise UsageError(
            say("One response is needed."), hint=say("Give --response-inline or --response-file, not both.")
        )
    from oracle.domain.records.responses import parse_response

    content = parse_response(read_input(file, "--response-file") if file is not None else str(inline))
    if not isinstance(content, dict):
        raise UsageError(
            say("The response is not a JSON object."), hint=say('Give an object, as in {{"answer": "…"}}.')
        )
    return content


def _print_delivered(call: Call, done: Delivered) -> None:
    ends = {"task": done.name.task_id, "seat": done.name.target}
    if not done.is_new:
        call.answer(done.as_json(), say("already delivered {task} to {seat}", **ends))
        if done.settled:
            call.note(say("the conflict is settled: {settled} kept aside, now superseded", settled=done.settled))
        return
    call.answer(done.as_json(), say("delivered {task} to {seat}", **ends))
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
