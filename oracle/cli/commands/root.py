"""`oracle init`, `oracle index` and `oracle doctor`: the Root, its index and its health."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.application import group
from oracle.cli.options import Fresh, Project, option, single
from oracle.cli.output import Table, columns, is_terminal, print_line, print_table, write_out
from oracle.cli.session import Call
from oracle.domain.layout import padded, wrap
from oracle.errors import UsageError
from oracle.wording import joined, say, say_each, say_many, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.doctor import Check


init_app = single()


@init_app.add(example="oracle init --memory-dir ~/.agents/memory")
def init(
    call: Call,
    *,
    shared: Annotated[bool, option("--shared", "Let the group of the folder read and write all of it.")] = False,
) -> None:
    """Create the Root if it does not exist."""
    from oracle.app import root

    call.says_root = True
    with call.context() as context:
        is_new = root.init(context, shared=shared)
        path = context.root.path
    told = say("Created the Root {path}", path=path) if is_new else say("The Root exists already: {path}", path=path)
    call.answer({"root": path, "made": is_new}, told)


_LABEL = 12
"""Columns of the name of a count."""

index_app = group("Look after the index: status, reconcile, embed.", example="oracle index status")


@index_app.add("status", example="oracle index status --fresh")
def status(call: Call, *, fresh: Fresh = False) -> None:
    """Count what the Root holds, and say how fresh the index is."""
    from oracle.app.overview import status

    with call.context() as context:
        counts: dict[str, Any] = status.status(context, fresh=fresh)
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
    looked = say("with every change until {moment}", moment=freshness["last_full_stat"])
    behind = say("behind the files: {reason}", reason=freshness["stale"]) if freshness["stale"] else looked
    lines.append((say("freshness"), behind))
    lines += [(say("overdue"), Overdue(**one).sentence) for one in counts["overdue_decisions"]]
    separator = "\n" + " " * _LABEL
    for name, text in lines:
        parts = [visible(text)]
        if is_terminal(sys.stdout):
            parts = wrap(parts[0], columns() - _LABEL)
        write_out(f"{padded(visible(name), _LABEL)}{separator.join(parts)}\n")


@index_app.add("reconcile", example="oracle index reconcile --check")
def reconcile(
    call: Call,
    *,
    check: Annotated[bool, option("--check", "Change nothing; say what would change, and exit 1.")] = False,
    full: Annotated[bool, option("--full", "Stat every file.")] = False,
    rebuild: Annotated[bool, option("--rebuild", "Build the index from the files.")] = False,
    publish: Annotated[bool, option("--publish", "Publish index.json and each project's _index/.")] = False,
    accept_removals: Annotated[bool, option("--accept-removals", "Accept that most records are gone.")] = False,
) -> None:
    """Make the index and its projections agree with the files."""
    from oracle.app import root
    from oracle.app.records.publish import publish_all

    if check:
        if full or rebuild or publish or accept_removals:
            raise UsageError(
                say("--check changes nothing, so it goes with no other option."), hint=say("Leave one of them out.")
            )
        _check(call)
        return
    with call.context() as context:
        report = root.reconcile(
            context, full=full, rebuild=rebuild, accept_removals=accept_removals, progress=call.waiting.report
        )
        published = publish_all(context) if publish else []
    counts = {"taken": report.taken, "dropped": report.dropped, "printed": report.printed}
    done = say("{taken} taken, {dropped} dropped, {printed} projections looked at", **counts)
    done = say("{done}; the index was rebuilt", done=done) if report.rebuilt else done
    told = [done, *(say("published {path}", path=path) for path in published)]
    call.answer({**counts, "rebuilt": report.rebuilt, "published": published}, told)


def _check(call: Call) -> None:
    from oracle.app import root

    with call.context() as context:
        differences = root.check(context)
    document = {"differences": [{"what": what, "path": path} for what, path in differences]}
    call.answer(document, Table(say_each("what", "path"), differences))
    if differences:
        raise typer.Exit(1)
    call.note(say("files, index and projections agree"))


@index_app.add("embed", example="oracle index embed --seconds 60")
def embed(
    call: Call,
    *,
    project: Project = "",
    seconds: Annotated[
        float | None, option("--seconds N", "Stop after N seconds; the next run goes on.", min=0)
    ] = None,
) -> None:
    """Make the vectors that a search by meaning needs."""
    from oracle.app.search import embedding

    with call.context() as context:
        done = embedding.embed(context, project, seconds=seconds, progress=call.waiting.report)
    rows = [
        (
            *(one.model, str(one.made), say("{whole} of {records}", whole=one.whole, records=done.records)),
            *(str(one.begun), one.about),
        )
        for one in done.models
    ]
    call.answer(done.as_json(), Table(say_each("model", "made", "whole", "begun", "package"), rows))
    if not done.is_complete:
        call.note(say("run it again for the rest"))


doctor_app = single()


@doctor_app.add(example="oracle doctor --brief")
def doctor(
    call: Call,
    *,
    repair: Annotated[bool, option("--repair", "Repair what is derived; never change a record.")] = False,
    brief: Annotated[bool, option("--brief", "Print only what is wrong, and the last line.")] = False,
) -> None:
    """Check the Root; exit 1 when something is wrong."""
    from oracle.app import doctor

    with call.context() as context:
        repaired = doctor.repair(context) if repair else []
        checks = doctor.examine(context)
    wrong = [check for check in checks if not check.ok]
    if call.as_json:
        call.print_json({"ok": not wrong, "checks": [check.as_json() for check in checks], "repaired": repaired})
    else:
        for line in repaired:
            call.note(line if line.startswith("not repaired") else say("repaired: {line}", line=line))
        rows = [(_verdict(check), check.name, check.detail, check.fix) for check in (wrong if brief else checks)]
        print_table(Table(say_each("verdict", "check", "detail", "fix"), rows, stacked=(2, 3)))
        print_line(_sum_up(wrong))
    if wrong:
        raise typer.Exit(1)


def _sum_up(wrong: Sequence[Check]) -> str:
    """Return the last line of the doctor: `15 warnings, 0 errors`."""
    warnings, errors = (sum(check.severity == severity for check in wrong) for severity in ("warning", "error"))
    return joined(
        ", ",
        [say_many("{n} warning", "{n} warnings", n=warnings), say_many("{n} error", "{n} errors", n=errors)],
    )


def _verdict(check: Check) -> str:
    if check.ok:
        return say("note") if check.fix else say("ok")
    return say("error") if check.severity == "error" else say("warning")
