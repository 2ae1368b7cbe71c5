"""Commands that write Memory's own records: init, write, retire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.arguments import read_body
from oracle.cli.options import DryRun, Json, MemoryDir, Secrets, Slug, WriterSeat, begin
from oracle.cli.printing import print_line, visible_lines, write_out
from oracle.errors import OwnershipError
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.app.records.views import Written
    from oracle.cli.session import Call

Slugs = list[str] | None


def init(context: typer.Context, *, memory_dir: MemoryDir = None, as_json: Json = False) -> None:
    """Make the Root; one that is there is left as it is."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        is_new = oracle.init()
        path = oracle.root.path
    if call.as_json:
        call.print_json({"root": path, "made": is_new})
    else:
        print_line(
            say("Made the Root {path}", path=path) if is_new else say("The Root is there already: {path}", path=path)
        )


def write(
    context: typer.Context,
    kind: Annotated[
        str,
        typer.Argument(metavar="KIND", help="decision, finding, task or plan.", autocompletion=completing.own_kinds),
    ],
    dash: Annotated[str | None, typer.Argument(metavar="-", help="Read the body from standard input.")] = None,
    *,
    project: Annotated[
        str,
        typer.Option("--project", metavar="P", help="The project it belongs to.", autocompletion=completing.projects),
    ],
    title: Annotated[str, typer.Option("--title", metavar="T", help="Its title, one line.")],
    body: Annotated[str | None, typer.Option("--body", metavar="TEXT", help="Its text, in Markdown.")] = None,
    body_file: Annotated[
        str | None, typer.Option("--body-file", metavar="FILE", help="A file with its text; - is standard input.")
    ] = None,
    evidence: Annotated[
        Slugs, typer.Option("--evidence", metavar="E", help="TRUST:SOURCE, or JSON; repeatable. A finding needs it.")
    ] = None,
    supersedes: Annotated[
        Slugs,
        typer.Option("--supersedes", metavar="SLUG", help="It replaces this record.", autocompletion=completing.slugs),
    ] = None,
    contradicts: Annotated[
        Slugs,
        typer.Option("--contradicts", metavar="SLUG", help="It speaks against it.", autocompletion=completing.slugs),
    ] = None,
    supports: Annotated[
        Slugs, typer.Option("--supports", metavar="SLUG", help="It speaks for it.", autocompletion=completing.slugs)
    ] = None,
    extends: Annotated[
        Slugs, typer.Option("--extends", metavar="SLUG", help="It adds to it.", autocompletion=completing.slugs)
    ] = None,
    derived_from: Annotated[
        Slugs,
        typer.Option("--derived-from", metavar="SLUG", help="It follows from it.", autocompletion=completing.slugs),
    ] = None,
    task_id: Annotated[
        str,
        typer.Option("--task-id", metavar="ID", help="The task it belongs to.", autocompletion=completing.tasks),
    ] = "",
    related_task_ids: Annotated[
        str,
        typer.Option(
            "--related-task-ids", metavar="A,B", help="Other tasks it concerns.", autocompletion=completing.tasks
        ),
    ] = "",
    confidence: Annotated[
        str,
        typer.Option(
            "--confidence",
            metavar="high|medium|low",
            help="How sure we are.",
            show_default=True,
            autocompletion=completing.words("high", "medium", "low"),
        ),
    ] = "medium",
    detail: Annotated[str, typer.Option("--detail", metavar="TEXT", help="A line of detail.")] = "",
    status: Annotated[
        str,
        typer.Option(
            "--status", metavar="STATUS", help="Its status.", show_default=True, autocompletion=completing.statuses
        ),
    ] = "open",
    author: Annotated[
        str,
        typer.Option(
            "--author", metavar="AUTHOR", help="Who says so (default: the seat).", autocompletion=completing.authors
        ),
    ] = "",
    seat: WriterSeat = "memory",
    secrets: Secrets = "refuse",
    dry_run: DryRun = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Write one of Memory's records and print its path."""
    from oracle.domain.records.drafts import Draft
    from oracle.domain.records.evidence_args import parse_evidence

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    _require_kind(kind)
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
    with call.oracle() as oracle:
        written = oracle.write(draft, secrets=secrets, dry_run=dry_run)
    _print_written(call, written)


def _require_kind(kind: str) -> None:
    """Raise OwnershipError for a kind that is nearly one of Memory's; what else there is to say of kinds is said later."""
    from difflib import get_close_matches

    from oracle.domain.names.seats import ORPHAN_KINDS

    if kind not in ORPHAN_KINDS and (meant := get_close_matches(kind.lower(), ORPHAN_KINDS, n=1, cutoff=0.7)):
        raise OwnershipError(
            say("Memory does not write records of the kind {kind!r}; did you mean {meant}?", kind=kind, meant=meant[0]),
            hint=say(
                "Its kinds are decision, finding, task and plan; a seat writes its own records into its own folder."
            ),
        )


def retire(
    context: typer.Context,
    slug: Slug,
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="R", help="Why it no longer holds.")],
    seat: WriterSeat = "memory",
    secrets: Secrets = "refuse",
    dry_run: DryRun = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Retire a record; its bytes are left as they are."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        written = oracle.retire(slug, reason, seat=seat, secrets=secrets, dry_run=dry_run)
    _print_written(call, written)


def _print_written(call: Call, written: Written) -> None:
    if call.as_json:
        call.print_json(written.as_json())
        return
    if written.already:
        call.note(written.already)
    for line in written.warnings:
        call.warn(line)
    for line in written.redacted:
        call.note(say("redacted: {line}", line=line))
    for slug in written.near_duplicates:
        call.note(say("says nearly the same as what was retired: {slug}", slug=slug))
    if written.dry_run:
        call.note(say("nothing was written; it would be {path}", path=written.path))
        write_out(visible_lines(written.text))
    else:
        print_line(written.path)
