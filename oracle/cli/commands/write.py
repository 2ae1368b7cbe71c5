"""`oracle write` and `oracle retire`: write records of Memory, and end them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion
from oracle.cli.completion import slugs
from oracle.cli.options import DryRun, NewProject, Secrets, Slug, WriterSeat, argument, option, read_body, single
from oracle.cli.output import print_line, write_out
from oracle.cli.session import Call
from oracle.wording import say, visible_lines

if TYPE_CHECKING:
    from oracle.app.records.views import Written


Slugs = list[str] | None

write_app = single()


@write_app.add(example="oracle write decision --project shop --title 'Retry webhooks' --body 'Twice.'")
def write(
    call: Call,
    kind: Annotated[str, argument("KIND", "decision, finding, task, plan or experience.", completion.own_kinds)],
    dash: Annotated[str | None, argument("-", "Read the body from standard input.")] = None,
    *,
    project: Annotated[str, option("--project P", "The project it belongs to.", completion.projects)],
    title: Annotated[str, option("--title T", "Its title, one line.")],
    body: Annotated[str | None, option("--body TEXT", "Its text, in Markdown.")] = None,
    body_file: Annotated[str | None, option("--body-file FILE", "A file with its text; - is standard input.")] = None,
    evidence: Annotated[Slugs, option("--evidence E", "TRUST:SOURCE, or JSON; repeatable. A finding needs it.")] = None,
    supersedes: Annotated[Slugs, option("--supersedes SLUG", "A record that it replaces; repeatable.", slugs)] = None,
    contradicts: Annotated[
        Slugs, option("--contradicts SLUG", "A record that it contradicts; repeatable.", slugs)
    ] = None,
    supports: Annotated[Slugs, option("--supports SLUG", "A record that it supports; repeatable.", slugs)] = None,
    extends: Annotated[Slugs, option("--extends SLUG", "A record that it adds to; repeatable.", slugs)] = None,
    derived_from: Annotated[
        Slugs, option("--derived-from SLUG", "A record that it follows from; repeatable.", slugs)
    ] = None,
    task_id: Annotated[str, option("--task-id ID", "The task it belongs to.", completion.tasks)] = "",
    related_task_ids: Annotated[
        str, option("--related-task-ids A,B", "Other tasks it concerns.", completion.listed(completion.tasks))
    ] = "",
    confidence: Annotated[str, option("--confidence high|medium|low", "How certain it is.")] = "medium",
    detail: Annotated[str, option("--detail TEXT", "A line of detail.")] = "",
    status: Annotated[str, option("--status STATUS", "Its status.", completion.statuses)] = "open",
    author: Annotated[str, option("--author AUTHOR", "The author (default: the seat).", completion.authors)] = "",
    seat: WriterSeat = "memory",
    new_project: NewProject = False,
    secrets: Secrets = "refuse",
    dry_run: DryRun = False,
) -> None:
    """Write a record and print its path."""
    from oracle.app.records import write
    from oracle.domain.records.drafts import Draft, parse_evidence

    draft = Draft(
        kind,
        project,
        title,
        read_body(body, body_file, dash),
        author=author or seat,
        seat=seat,
        status=status,
        detail=detail,
        task_id=task_id,
        confidence=confidence,
        evidence=parse_evidence(evidence or ()),
        related_task_ids=tuple(part.strip() for part in related_task_ids.split(",") if part.strip()),
        supersedes=tuple(supersedes or ()),
        contradicts=tuple(contradicts or ()),
        supports=tuple(supports or ()),
        extends=tuple(extends or ()),
        derived_from=tuple(derived_from or ()),
    )
    with call.context() as context:
        written = write.write(
            context, draft, secrets=secrets, dry_run=dry_run, needs_body=True, new_project=new_project
        )
    print_written(call, written)


def print_retired(call: Call, written: Written) -> None:
    """Print what a retirement did and how to undo it, or by what the record had ended before."""
    if written.already:
        call.answer(written.as_json(), written.already)
        return
    print_written(call, written)
    if not written.dry_run and not call.as_json:
        call.note(say("to take this back, remove that file: the record then holds again"))


def print_written(call: Call, written: Written) -> None:
    """Print what a write did, or would do."""
    if call.as_json:
        call.print_json(written.as_json())
        return
    if written.already:
        call.note(written.already)
    for line in written.warnings:
        call.warn(line)
    if written.redacted:
        from oracle.domain.safety.telling import tell_replaced

        again = say("If that was no secret, write it again with --secrets allow.")
        for line in tell_replaced(written.redacted, again=again):
            call.note(line)
    for slug in written.near_duplicates:
        call.note(say("{slug} still holds, and says nearly the same as what was retired", slug=slug))
    if written.dry_run:
        call.note(say("nothing was written; it would be {path}", path=written.path))
        write_out(visible_lines(written.text))
    else:
        print_line(written.path)


retire_app = single()


@retire_app.add(example="oracle retire retry-webhooks --reason 'The queue does it.'")
def retire(
    call: Call,
    slug: Slug,
    *,
    reason: Annotated[str, option("--reason R", "Why it no longer holds.")],
    seat: WriterSeat = "memory",
    secrets: Secrets = "refuse",
    dry_run: DryRun = False,
) -> None:
    """Retire a record; its file is not changed."""
    from oracle.app.records.retire import retire

    with call.context() as context:
        written = retire(context, slug, reason, seat=seat, secrets=secrets, dry_run=dry_run)
    print_retired(call, written)
