"""Commands that look after a Root: reconcile, doctor, root."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import Json, MemoryDir, begin
from oracle.cli.printing import Table, print_line, print_lines, print_table
from oracle.errors import UsageError
from oracle.wording import joined, say, say_each, say_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.doctor import Check
    from oracle.cli.session import Call


def reconcile(
    context: typer.Context,
    *,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; say what would change, and exit 1.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Stat every file.")] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Build the index anew.")] = False,
    publish: Annotated[bool, typer.Option("--publish", help="Publish index.json and each project's _index/.")] = False,
    accept_removals: Annotated[
        bool, typer.Option("--accept-removals", help="Believe a tree that is suddenly empty.")
    ] = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Make the index and its projections agree with the files."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if check:
        if full or rebuild or publish or accept_removals:
            raise UsageError(
                say("--check changes nothing, so it goes with no other option."), hint=say("Leave one of them out.")
            )
        _check(call)
        return
    with call.oracle() as oracle:
        report = oracle.reconcile(
            full=full, rebuild=rebuild, accept_removals=accept_removals, progress=call.waiting.report
        )
        published = oracle.publish() if publish else []
    if call.as_json:
        call.print_json(
            {
                "taken": report.taken,
                "dropped": report.dropped,
                "printed": report.printed,
                "rebuilt": report.rebuilt,
                "published": published,
            }
        )
        return
    counts = {"taken": report.taken, "dropped": report.dropped, "printed": report.printed}
    done = say("{taken} taken, {dropped} dropped, {printed} projections looked at", **counts)
    print_line(say("{done}; the index was built anew", done=done) if report.rebuilt else done)
    print_lines(say("published {path}", path=path) for path in published)


def _check(call: Call) -> None:
    with call.oracle() as oracle:
        differences = oracle.check()
    if call.as_json:
        call.print_json({"differences": [{"what": what, "path": path} for what, path in differences]})
    elif differences:
        print_table(Table(say_each("what", "path"), differences))
    else:
        call.note(say("files, index and projections agree"))
    if differences:
        raise typer.Exit(1)


def doctor(
    context: typer.Context,
    *,
    fix: Annotated[bool, typer.Option("--fix", help="Repair what is derived; never touch a record.")] = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Check the Root; exit 1 when something is wrong."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        repaired = oracle.repair() if fix else []
        checks = oracle.doctor()
    wrong = [check for check in checks if not check.ok]
    if call.as_json:
        call.print_json({"ok": not wrong, "checks": [check.as_json() for check in checks], "repaired": repaired})
    else:
        for line in repaired:
            call.note(line if line.startswith("not repaired") else say("repaired: {line}", line=line))
        rows = [(_verdict(check), check.name, check.detail, check.fix) for check in checks]
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


def root(context: typer.Context, *, memory_dir: MemoryDir = None, as_json: Json = False) -> None:
    """Print the Root that this call would use."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        path = oracle.root.path
    if call.as_json:
        call.print_json({"root": path, "exists": os.path.isdir(path)})  # noqa: PTH112 -- pathlib is not worth its import
    else:
        print_line(path)
