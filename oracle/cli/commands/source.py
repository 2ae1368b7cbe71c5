"""`oracle source`: folders outside of the Root whose notes and memories are read in place."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completion
from oracle.cli.application import group
from oracle.cli.options import OfProject, Project, argument, option
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.domain.sources.source import KINDS, suffix_of
from oracle.wording import LIST, joined, say, say_each, say_many

if TYPE_CHECKING:
    from oracle.app.sources.registry import SourceState
    from oracle.wording import Sentence

Name = Annotated[str, argument("NAME", "The source.")]
Kind = Annotated[str, argument("KIND", f"{', '.join(KINDS[:-1])} or {KINDS[-1]}.", completion.words(*KINDS))]

_MOST_NAMED = 20
"""Files that are named on standard error."""

source_app = group("Read notes and memories of other programs in place.", example="oracle source list")


@source_app.add("add", example="oracle source add folder ~/notes --project shop")
def add(
    call: Call,
    kind: Kind,
    path: Annotated[str, argument("PATH", "The folder that holds the files.")],
    *,
    project: OfProject,
    seat: Annotated[str, option("--seat SEAT", "The seat whose records they are.", completion.seats)] = "",
    name: Annotated[str, option("--name NAME", "What to call it (default: its folder or kind).")] = "",
    long_term: Annotated[
        bool, option("--long-term", "Also OpenClaw's private MEMORY.md, for the seat of --seat alone.")
    ] = False,
) -> None:
    """Register a folder, and allow it on this machine."""
    from oracle.app.sources import registry

    with call.context() as context:
        found = registry.add(context, kind, path, project=project, seat=seat, name=name, long_term=long_term)
    _answer(call, found)


@source_app.add("list", example="oracle source list --project shop")
def list_sources(call: Call, *, project: Project = "") -> None:
    """List the sources with their records and problems."""
    from oracle.app.sources import registry

    with call.context() as context:
        found = registry.list_sources(context, project)
    rows = [
        (
            one.source.name,
            one.source.project,
            one.source.kind,
            str(one.records),
            str(len(one.problems)),
            one.source.folder,
        )
        for one in found
    ]
    table = Table(say_each("source", "project", "kind", "records", "problems", "folder"), rows, stacked=(5,))
    call.answer({"sources": [one.as_json() for one in found]}, table)
    for one in found:
        if one.why_not:
            call.warn(one.why_not)
    if not found:
        call.note(say("no sources yet; `oracle source add KIND PATH --project P` adds one"))


@source_app.add("allow", example="oracle source allow notes --project shop")
def allow(call: Call, name: Name, *, project: Project = "") -> None:
    """Allow a source that came with the Root to be read on this machine."""
    from oracle.app.sources import registry

    with call.context() as context:
        found = registry.allow(context, name, project=project)
    _answer(call, found)


@source_app.add("remove", example="oracle source remove notes --project shop")
def remove(call: Call, name: Name, *, project: Project = "") -> None:
    """Forget a source and its records; its files stay as they are."""
    from oracle.app.sources import registry

    with call.context() as context:
        found = registry.remove(context, name, project=project)
    call.answer(
        {"removed": found.as_json()},
        say("removed {name}; the files in {path} are as they were", name=found.name, path=found.folder),
    )


@source_app.add("check", example="oracle source check")
def check(
    call: Call, name: Annotated[str, argument("[NAME]", "The source (default: all).")] = "", *, project: Project = ""
) -> None:
    """Report what is wrong with the files of sources; exit 1 if something is."""
    from oracle.app.sources import registry

    with call.context() as context:
        found = [one for one in registry.list_sources(context, project) if name in ("", one.source.name)]
        if name and not found:
            registry.find(context, name, project=project)
    rows = [(f"{path}:{line}", reason) for one in found for path, line, reason in one.problems]
    rows += [(one.source.tree, one.why_not) for one in found if one.why_not]
    call.answer({"sources": [one.as_json() for one in found]}, Table(say_each("place", "problem"), rows, stacked=(1,)))
    for one in found:
        if one.left_out:
            call.note(_left_out(one))
    if rows:
        raise typer.Exit(1)
    call.note(say_many("{n} source has no problem", "{n} sources have no problem", n=len(found)))


def _left_out(found: SourceState) -> Sentence:
    """Name the files of a source that are not read because of their names."""
    rest = len(found.left_out) - _MOST_NAMED
    names = joined(LIST, found.left_out[:_MOST_NAMED])
    if rest > 0:
        names = say("{names} and {rest} more (--json lists all)", names=names, rest=rest)
    return say(
        "not read, since the names do not end in {suffix}: {names}", suffix=suffix_of(found.source.kind), names=names
    )


@source_app.add("import", example="oracle source import claude-code --apply")
def import_source(
    call: Call,
    name: Name,
    *,
    project: Project = "",
    apply: Annotated[bool, option("--apply", "Write the records; without it, say what would be written.")] = False,
) -> None:
    """Write the records of a source as records of Memory, once."""
    from oracle.app.sources import importing

    with call.context() as context:
        found = importing.import_source(context, name, project=project, dry_run=not apply)
    outcomes = dict(zip(importing.OUTCOMES, say_each("new", "already imported", "left out"), strict=True))
    rows = [(one.slug, outcomes[one.outcome], one.record or one.reason) for one in found]
    document = {"applied": apply, "records": [one.as_json() for one in found]}
    call.answer(document, Table(say_each("record", "outcome", "written as"), rows, stacked=(2,)))
    if not apply:
        call.note(say("nothing was written; --apply writes"))


@source_app.add("snapshot", example="oracle source snapshot --from-transcript session.jsonl --project shop")
def snapshot(
    call: Call,
    *,
    transcript: Annotated[str, option("--from-transcript FILE", "The transcript of a session.")],
    project: OfProject,
    seat: Annotated[
        str, option("--seat SEAT", "The seat of the session.", completion.seats, envvar="ORACLE_SEAT")
    ] = "",
    last: Annotated[int, option("--last N", "How many messages to keep.", min=1, max=1000)] = 15,
    name: Annotated[str, option("--name NAME", "What it is about (default: the first words).")] = "",
) -> None:
    """Keep the last messages of a session as a record, without credentials."""
    from oracle.app.sources import snapshots

    with call.context() as context:
        found = snapshots.snapshot(context, transcript, project=project, seat=seat, last=last, name=name)
    call.answer(found.as_json(), found.path)
    if not found.path:
        call.note(say("nobody said anything, so nothing was kept"))


@source_app.add("consolidate", example="oracle source consolidate --days 7")
def consolidate(
    call: Call,
    *,
    days: Annotated[int, option("--days N", "How many days of notes to read.", min=1, max=3650)] = 7,
    project: Project = "",
    plan: Annotated[str, option("--apply FILE", "Remember the accepted items of a plan.")] = "",
) -> None:
    """Propose what of daily notes belongs in long-term memory."""
    from oracle.app.sources import consolidation

    with call.context() as context:
        if plan:
            applied = consolidation.apply(context, plan)
            table = Table(say_each("memory", "written as"), [(one.text, one.record or one.reason) for one in applied])
            document: dict[str, object] = {"applied": [one.as_json() for one in applied]}
            call.answer(document, table)
            if applied and not any(one.record for one in applied):
                raise typer.Exit(1)
            if not applied:
                call.note(say('no item of the plan has "accept" set to true, so nothing was written'))
            return
        found = consolidation.plan(context, days=days, project=project)
    rows = [(one.type, one.source, one.text) for one in found]
    document = consolidation.document_of(found, days)
    call.answer(document, Table(say_each("type", "source", "memory"), rows, stacked=(2,)))
    if found:
        call.note(say('to review it: --json > PLAN, set "accept" to true where it is right, then --apply PLAN'))
    else:
        call.note(say("the snapshots and daily notes hold nothing new to remember; --days N reads older ones"))


def _answer(call: Call, found: SourceState) -> None:
    source = found.source
    counted = say_many("{n} record", "{n} records", n=found.records)
    call.answer(
        found.as_json(), say("{name}: {records} of {path}", name=source.name, records=counted, path=source.folder)
    )
    if found.why_not:
        call.warn(found.why_not)
    reasons = Counter(reason for _, _, reason in found.problems)
    if found.left_out:
        reasons[say("The name does not end in {suffix}.", suffix=suffix_of(source.kind))] = len(found.left_out)
    if reasons:
        files = len({path for path, _, _ in found.problems}) + len(found.left_out)
        counted = say_many(
            "{n} file is not read, or not as it is", "{n} files are not read, or not as they are", n=files
        )
        told = joined(" ", [say("{count}: {why}", count=count, why=why) for why, count in reasons.most_common()])
        call.note(
            say(
                "{files}; `oracle source check {name}` names them. {reasons}",
                files=counted,
                name=source.name,
                reasons=told,
            )
        )
