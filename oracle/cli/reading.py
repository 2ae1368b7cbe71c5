"""Commands that read records and facts: list, timeline, show, get, status."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli import completing
from oracle.cli.arguments import parse_lines, split_place
from oracle.cli.options import (
    Author,
    Fresh,
    Json,
    Kind,
    MemoryDir,
    Project,
    Seat,
    Since,
    Slug,
    Status,
    Task,
    Until,
    begin,
)
from oracle.cli.printing import Table, is_terminal, padded, print_table, visible, visible_lines, write_out
from oracle.cli.session import record_json, replaced_by, with_chains
from oracle.errors import NotFound, NotInMemory, UsageError
from oracle.wording import joined, say, say_each, say_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.api import Oracle
    from oracle.app.records.views import Shown, Summary

_HEADINGS = say_each("slug", "when", "kind", "seat", "status", "title", "replaced")


def list_records(
    context: typer.Context,
    project: Project = "",
    *,
    seat: Seat = "",
    kind: Kind = "",
    status: Status = "",
    author: Author = "",
    task: Task = "",
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="At most N records; 0 is all.")] = 0,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """List records, newest first."""
    filters = filters_of(
        project=project, seat=seat, kind=kind, status=status, author=author, task=task, since=since, until=until
    )
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle("records") as oracle:
        found = oracle.records(filters, limit=limit, newest_first=True, fresh=fresh)
        _require_some(oracle, found, filters)
        records = with_chains(oracle, found)
        standing = oracle.standing() if call.as_json else {}
    if call.as_json:
        call.print_json({"records": [record_json(*item) for item in records], **standing})
    else:
        print_table(records_table(records))


def timeline(
    context: typer.Context,
    project: Project = "",
    *,
    seat: Seat = "",
    kind: Kind = "",
    status: Status = "",
    author: Author = "",
    task: Task = "",
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="The newest N records; 0 is all.")] = 0,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """List records in the order they came, one line each."""
    filters = filters_of(
        project=project, seat=seat, kind=kind, status=status, author=author, task=task, since=since, until=until
    )
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle("records") as oracle:
        found = oracle.records(filters, limit=limit, newest_first=True, fresh=fresh)[::-1]
        _require_some(oracle, found, filters)
        records = with_chains(oracle, found)
        standing = oracle.standing() if call.as_json else {}
    if call.as_json:
        call.print_json({"records": [record_json(*item) for item in records], **standing})
        return
    rows = [
        (record.sort_ts, record.kind, seat_of(record), record.title, record.slug, mark(record, chain))
        for record, chain in records
    ]
    if is_terminal(sys.stdout):
        faint = frozenset(index for index, (record, _) in enumerate(records) if record.retired_by)
        print_table(
            Table(say_each("when", "kind", "seat", "title", "slug", "replaced"), rows, faint, stacked=(3, 4, 5))
        )
    else:
        write_out("".join("\t".join(filter(None, map(visible, row))) + "\n" for row in rows))


def show(
    context: typer.Context,
    slug: Slug,
    *,
    lines: Annotated[
        str | None, typer.Option("--lines", metavar="A:B", help="Only these lines: A:B, A-B, A:, :B or A.")
    ] = None,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """Print a record's own lines, read from disk now."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    span = parse_lines(lines)
    with call.oracle() as oracle:
        shown = _show_place(oracle, slug, lines, fresh=fresh) or oracle.show(
            slug, first_line=span[0], last_line=span[1], fresh=fresh
        )
    if call.as_json:
        call.print_json(shown.as_json())
        return
    if shown.chain:
        slug, status = shown.record.slug, shown.record.effective_status
        call.note(say("{slug} is {status} {by}", slug=slug, status=status, by=replaced_by(shown.chain)))
    if shown.supersedes:
        call.note(say("it stands in place of {supersedes}", supersedes=shown.supersedes))
    for slug, _ in shown.claims:
        call.note(say("{slug} claims that it no longer holds; only its own seat or memory can end it", slug=slug))
    for line, reason in shown.problems:
        call.note(say("line {line}: {reason}", line=line, reason=reason))
    write_out(visible_lines(shown.text) + "\n" if shown.text else "")


def _show_place(oracle: Oracle, text: str, lines: str | None, *, fresh: bool) -> Shown | None:
    """Show NAME:LINES; None when no lines stand behind the name, or the colon belongs to the name of a record."""
    name, place = split_place(text)
    if not place or name.startswith("entity"):
        return None
    if not name.endswith((".md", ".json")) and _is_record(oracle, text):
        return None
    if lines is not None:
        raise UsageError(
            say("The lines are given twice, as {place} and as {lines}.", place=place, lines=lines),
            hint=say("Write `oracle show {name} --lines {lines}`.", name=name, lines=lines),
        )
    first, last = parse_lines(place)
    return oracle.show(name, first_line=first, last_line=last, fresh=fresh)


def _is_record(oracle: Oracle, text: str) -> bool:
    try:
        return bool(oracle.show(text, last_line=1))
    except NotFound:
        return False


def get(
    context: typer.Context,
    key: Annotated[
        str,
        typer.Argument(metavar="KEY", help="A dotted key, as in network.endpoints.0.", autocompletion=completing.facts),
    ],
    *,
    project: Annotated[
        str,
        typer.Option(
            "--project",
            metavar="P",
            help="Look among this project's facts first.",
            autocompletion=completing.projects,
        ),
    ] = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Print the fact at a dotted key."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        fact = oracle.reveal(key, project)
    if fact.legacy:
        call.warn(say("{path} is of the old flat layout; machine/ wins once it has the file.", path=fact.path))
    if call.as_json:
        call.print_json({"key": key, "value": fact.value, "path": fact.path, "legacy": fact.legacy})
        return
    text = fact.value if isinstance(fact.value, str) else json.dumps(fact.value, ensure_ascii=False, indent=2)
    write_out(visible_lines(text) + "\n")


def status(
    context: typer.Context,
    *,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """Count what the Root holds, and say how fresh the index is."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        counts: dict[str, Any] = oracle.status(fresh=fresh)
    if call.as_json:
        call.print_json(counts)
        return
    _print_counts(counts)
    headings = say_each("project", "seat", "kind", "records", "newest")
    rows = [[str(group[name]) for name in headings] for group in counts["groups"]]
    if rows:
        write_out("\n")
        print_table(Table(headings, rows))


def _print_counts(counts: dict[str, Any]) -> None:
    from oracle.app.decisions.overdue import Overdue

    names = say_each("root", "records", "edges", "targets", "unresolved", "problems")
    lines: list[tuple[str, str]] = [(name, str(counts[name])) for name in names]
    lines.append((say("facts"), joined(", ", counts["facts"]) or say("none")))
    if "embedded" in counts:
        read = joined(" and ", [f"{one['whole']} {one['model']}" for one in counts["embedded"]["models"]])
        lines.append(
            (
                say("embedded"),
                say_many("{read} of {n} record", "{read} of {n} records", n=counts["embedded"]["records"], read=read),
            )
        )
    freshness = counts["freshness"]
    looked = say("every file stat'ed at {moment}", moment=freshness["last_full_stat"])
    behind = say("behind the files: {reason}", reason=freshness["stale"]) if freshness["stale"] else looked
    lines.append((say("freshness"), behind))
    lines += [(say("overdue"), Overdue(**one).sentence) for one in counts["overdue_decisions"]]
    for name, text in lines:
        write_out(f"{padded(visible(name), 11)} {visible(text)}\n")


def records_table(records: Sequence[tuple[Summary, Sequence[str]]]) -> Table:
    """Return the table of a listing: slug, when, kind, seat, status, title, and by what a record was replaced."""
    rows = [
        (
            record.slug,
            record.sort_ts,
            record.kind,
            seat_of(record),
            record.effective_status,
            record.title,
            replaced_by(chain),
        )
        for record, chain in records
    ]
    faint = frozenset(index for index, (record, _) in enumerate(records) if record.retired_by)
    return Table(_HEADINGS, rows, faint, stacked=(5, 0, 6))


def mark(record: Summary, chain: Sequence[str]) -> str:
    """Return what stands behind a record that no longer holds, as in `[superseded by A, then B]`."""
    if record.retired_by:
        return visible(say("[{status} {by}]", status=record.effective_status, by=replaced_by(chain)))
    return f"[{record.status}]" if record.status in ("superseded", "retired") else ""


def seat_of(record: Summary) -> str:
    """Return the seat of a record as it is printed."""
    return visible(record.seat_shown) or "-"


def filters_of(**values: str) -> dict[str, str]:
    """Return the filters that were given."""
    return {name: value for name, value in values.items() if value}


def _require_some(oracle: Oracle, found: Sequence[object], filters: dict[str, str]) -> None:
    if not found and not filters:
        sentence = say("not_in_memory_db: the Root {path} holds no records.", path=oracle.root.path)
        raise NotInMemory(sentence, hint=say("Write one with `oracle write`, or name another Root with --memory-dir."))
    if not found:
        hint = known_words(oracle, filters) or say("See `oracle status`.")
        raise NotInMemory(say("not_in_memory_db: no record passes these filters."), hint=hint)


def known_words(oracle: Oracle, filters: dict[str, str]) -> str:
    """Return what kinds or statuses records have, when one was asked for that none has."""
    from oracle.app.overview import completion

    for name in ("kind", "status"):
        asked = filters.get(name, "").strip().lower()
        known = completion.names(oracle, name) if asked else []
        if known and asked not in (word.lower() for word in known):
            return (
                say("Kinds there are: {known}.", known=known)
                if name == "kind"
                else say("Statuses there are: {known}.", known=known)
            )
    return ""
