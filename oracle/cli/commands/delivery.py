"""`oracle ask`, `oracle deliver` and `oracle ack`: ask a seat or the disk, answer, acknowledge."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.app.settings import SETTINGS
from oracle.cli import completion
from oracle.cli.answers import no_answer, not_quoted, paragraphs
from oracle.cli.application import group
from oracle.cli.options import (
    Meaning,
    NoNotify,
    OfProject,
    Project,
    Secrets,
    TaskId,
    argument,
    option,
    read_body,
    single,
)
from oracle.cli.output import Table, is_terminal, write_out
from oracle.cli.session import Call, note_wake_up
from oracle.errors import NOT_JUDGED, NotInFederation, UsageError
from oracle.process import read_input
from oracle.wording import say, say_each, say_many

if TYPE_CHECKING:
    from oracle.app.answers.reply import Reply
    from oracle.app.context import Context
    from oracle.app.delivery.acknowledge import Sign
    from oracle.app.delivery.deliver import Delivered


_FOR_PEOPLE = 5
"""Passages that may hold the answer which a terminal shows, the most probable ones."""

ask_app = single()


@ask_app.add(example="oracle ask --now 'Why do webhooks retry twice?'", former={"--target": "--to"}, has_hub=True)
def ask(
    call: Call,
    question: Annotated[str, argument("QUESTION", "The question; - is standard input.")],
    *,
    now: Annotated[bool, option("--now", "Answer from disk at once; no seat is asked.")] = False,
    project: Project = "",
    source: Annotated[str, option("--from SEAT", "The seat that asks.", completion.members)] = "",
    seat: Annotated[str, option("--seat SEAT", "--now: only what this seat knows.", completion.seats)] = "",
    no_synthesis: Annotated[bool, option("--no-synthesis", "--now: only quotes.")] = False,
    meaning: Meaning = False,
    target: Annotated[str, option("--to SEAT", "The seat that answers.", completion.members)] = "memory",
    task_id: Annotated[str, option("--task-id ID", "The task's id; else one is made.", completion.tasks)] = "",
    reply_to: Annotated[str, option("--reply-to SEAT", "Who gets the answer, if not --from.", completion.members)] = "",
    force_parallel_builder: Annotated[
        bool, option("--force-parallel-builder", "Ask a builder that has a task to do.")
    ] = False,
    no_notify: NoNotify = False,
    secrets: Secrets = "refuse",
) -> None:
    """Answer from disk at once, or ask a seat."""
    text = read_body(None, None, "-") if question == "-" else question
    if now:
        if source or task_id or reply_to or force_parallel_builder or target != "memory":
            raise UsageError(
                say("With --now no seat is asked."),
                hint=say("Leave --from, --to, --task-id, --reply-to and --force-parallel-builder out."),
            )
        _answer_now(call, text, project=project, seat=seat, in_prose=not no_synthesis, meaning=meaning)
        return
    _require_ends(project, source)
    if seat or no_synthesis or meaning or call.asks_hub:
        raise UsageError(
            say("--seat, --no-synthesis, --meaning and --hub belong to --now."),
            hint=say("Name the seat that is asked with --to."),
        )
    from oracle.app.delivery import dispatch, resume
    from oracle.app.delivery.order import QUERY, Order

    order = Order(
        *(project, task_id, source, target, text),
        reply_to=reply_to,
        kind=QUERY,
        notifies=not no_notify,
        stacks=force_parallel_builder,
        secrets=secrets,
    )
    with call.context() as context:
        resume.before(context, notifies=order.notifies)
        made = dispatch.dispatch(context, order)
    call.answer(made.as_json(), made.name.task_id)
    call.note(say("receipt: {receipt_path}", receipt_path=made.receipt_path))
    note_wake_up(call, made.wake_up)


def _require_ends(project: str, source: str) -> None:
    """Raise UsageError unless a question to a seat names its project and who asks."""
    if not project or not source:
        missing = "--project" if not project else "--from"
        raise UsageError(
            say("Missing option '{missing}'.", missing=missing),
            hint=say("See `oracle ask --help`, or answer at once with --now."),
        )


def _answer_now(call: Call, question: str, *, project: str, seat: str, in_prose: bool, meaning: bool) -> None:
    """Answer from disk and print it. Raises NotInMemory or NotInFederation where there is no answer; JSON holds the reply."""
    from oracle.app.answers.reply import ANSWERED, CANDIDATES
    from oracle.app.queries import lookup

    asked = {"question": question, "project": project, "seat": seat}
    with call.context() as context:
        found = lookup.find(context, "ask", asked, loads_models=meaning)
        call.take(found, context, meaning=meaning)
        reply = _by_programs(context, found.result, in_prose=in_prose)
        absence = _absence(context, project, seat) if reply.status == NotInFederation.code else ""
    document = {**reply.as_json(), **call.standing}
    if reply.status not in (ANSWERED, CANDIDATES):
        call.beside_error = document
        raise no_answer(reply, absence)
    if call.as_json:
        call.print_json(document)
    else:
        shown = paragraphs(reply, context)
        rest = len(reply.claims) - _FOR_PEOPLE if reply.status == CANDIDATES and is_terminal(sys.stdout) else 0
        write_out("\n".join(shown[:-rest] if rest > 0 else shown))
        if rest > 0:
            call.note(
                say_many(
                    "{n} passage more; a pipe (`| less`) or --json shows all",
                    "{n} passages more; a pipe (`| less`) or --json shows all",
                    n=rest,
                )
            )
        for item in reply.replaced:
            call.note(not_quoted(item))
    if reply.status == CANDIDATES:
        call.note(say("found, not judged: each passage says how probable it is that it holds the answer"))
        raise typer.Exit(NOT_JUDGED)


def _by_programs(context: Context, reply: Reply, *, in_prose: bool) -> Reply:
    """Return a reply as the programs that the settings name judge and retell it. Without settings nothing is imported."""
    if not os.path.exists(context.root.join(SETTINGS)):  # noqa: PTH110 -- not worth pathlib's import
        return reply
    from oracle.app.answers.owner_programs import judge, synthesise

    reply = judge(context, reply)
    return synthesise(context, reply) if in_prose else reply


def _absence(context: Context, project: str, seat: str) -> str:
    """Return what a person may do who named a project or a seat that has no folder, "" when both have one by now."""
    from oracle.app.records import listing

    try:
        listing.require_present(context, listing.check_filters({"project": project, "seat": seat}))
    except NotInFederation as error:
        return error.hint
    return ""


deliver_app = single()


@deliver_app.add(
    example="oracle deliver --project shop --task-id Q-17 --to planner --response-file a.json",
    former={"--target": "--to", "--seat": "--from"},
)
def deliver(
    call: Call,
    *,
    project: OfProject,
    task_id: Annotated[str, option("--task-id ID", "The task that is answered.", completion.handoffs)],
    source: Annotated[
        str, option("--from SEAT", "The seat that answers.", completion.members, envvar="ORACLE_SEAT")
    ] = "memory",
    target: Annotated[str, option("--to SEAT", "The seat that gets the answer.", completion.members)],
    inline: Annotated[str | None, option("--response-inline JSON", "The response.")] = None,
    file: Annotated[str | None, option("--response-file FILE", "A file with it; - is standard input.")] = None,
    summary: Annotated[str, option("--summary TEXT", "The summary in the receipt.")] = "",
    strict: Annotated[bool, option("--strict", "Deliver nothing when a claim does not hold.")] = False,
    supersede: Annotated[bool, option("--supersede", "Replace the answer that was delivered; it is kept.")] = False,
    unsolicited: Annotated[bool, option("--unsolicited", "Nobody asked for this answer.")] = False,
    no_notify: NoNotify = False,
    secrets: Secrets = "refuse",
) -> None:
    """Deliver an answer, exactly once."""
    from oracle.app.delivery import deliver, resume

    delivery = deliver.Delivery(
        project,
        task_id,
        target,
        _response(inline, file),
        source=source,
        summary=summary,
        is_strict=strict,
        supersedes=supersede,
        is_unsolicited=unsolicited,
        needs_question=True,
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

    return parse_response(read_input(file, "--response-file") if file is not None else str(inline))


def _print_delivered(call: Call, done: Delivered) -> None:
    ends = {"task": done.name.task_id, "seat": done.name.target}
    if not done.is_new:
        call.answer(done.as_json(), say("already delivered {task} to {seat}", **ends))
    else:
        call.answer(done.as_json(), say("delivered {task} to {seat}", **ends))
    if done.settled:
        call.note(say("the conflict is settled: {settled} kept aside, now superseded", settled=done.settled))
    if not done.is_new:
        return
    call.note(say("response: {response_path}", response_path=done.response_path))
    if done.redacted:
        from oracle.domain.safety.telling import tell_replaced

        again = say("If that was no secret, deliver it again with --supersede --secrets allow.")
        for line in tell_replaced(done.redacted, again=again):
            call.note(line)
    call.note(say("receipt: {receipt_path}", receipt_path=done.receipt_path))
    if done.all_verified is not None:
        call.note(
            say("every claim is verified")
            if done.all_verified
            else say("not every claim is verified; the response says which")
        )
    note_wake_up(call, done.wake_up)


ack_app = group(
    "Acknowledge a completion, or check a dispatch.",
    example="oracle ack T-7",
    default="acknowledge",
)


@ack_app.add("acknowledge", example="oracle ack T-7 --project shop --from builder --to planner", hidden=True)
def acknowledge(
    call: Call,
    task_id: TaskId,
    *,
    project: Project = "",
    source: Annotated[str, option("--from SEAT", "The seat that completed it.", completion.members)] = "",
    target: Annotated[
        str, option("--to SEAT", "The seat that has read it.", completion.members, envvar="ORACLE_SEAT")
    ] = "",
) -> None:
    """Acknowledge what a seat completed; one answer alone needs no options."""
    from oracle.app.delivery import acknowledge, resume

    with call.context() as context:
        resume.before(context)
        project, source, target = acknowledge.find_ends(context, task_id, project=project, source=source, target=target)
        done = acknowledge.acknowledge(context, project, task_id, source=source, target=target)
    document = {"task_id": task_id, "line": done.line, "receipt_path": done.receipt_path, "is_new": done.is_new}
    call.answer(document, done.line)
    if not done.is_new:
        call.note(say("it was acknowledged before; nothing was changed"))


@ack_app.add("check", example="oracle ack check T-7 --project shop --fetch", former={"--target": "--to"})
def check(
    call: Call,
    task_id: TaskId,
    *,
    project: OfProject,
    target: Annotated[str, option("--to SEAT", "Who was asked.", completion.members)] = "",
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
