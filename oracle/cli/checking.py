"""Commands that look records over and change nothing: stale, review."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from oracle.cli.options import Fresh, Json, MemoryDir, Project, begin
from oracle.cli.printing import Table, print_table
from oracle.wording import say, say_each, say_many

if TYPE_CHECKING:
    from oracle.cli.session import Call


def stale(
    context: typer.Context,
    *,
    project: Project = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """List records that name what is no longer in the repository."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle("records") as oracle:
        found = oracle.stale(project, fresh=fresh)
        standing = oracle.standing() if call.as_json else {}
    _warn_of_unregistered(call, [name for name, path in found.repositories if not path])
    if call.as_json:
        call.print_json({**found.as_json(), **standing})
        return
    rows = [
        (item.record.slug, str(one.named.line), one.named.sort.value, one.named.name, one.liveness.value, one.detail)
        for item in found.records
        for one in item.worst_names
    ]
    print_table(Table(say_each("slug", "line", "what", "name", "it is", "detail"), rows, stacked=(3, 0, 5)))
    call.note(
        say_many(
            "{n} name looked up, {unchecked} unchecked",
            "{n} names looked up, {unchecked} unchecked",
            n=found.looked_up,
            unchecked=found.unchecked,
        )
    )


def review(
    context: typer.Context,
    *,
    project: Project = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    fresh: Fresh = False,
) -> None:
    """List records that people should decide between."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle("remarks") as oracle:
        found = oracle.review(project, fresh=fresh)
        standing = oracle.standing() if call.as_json else {}
    if call.as_json:
        call.print_json({"remarks": [item.as_json() for item in found], **standing})
        return
    if not found:
        call.note(say("nothing waits for a decision of people"))
    rows = [
        (
            item.sort.value,
            item.record.slug,
            item.other.slug,
            "" if item.likeness is None else f"{item.likeness:.2f}",
            item.sentence,
        )
        for item in found
    ]
    print_table(Table(say_each("what", "record", "other", "alike", "it"), rows, stacked=(1, 2, 4)))


def _warn_of_unregistered(call: Call, names: list[str]) -> None:
    if names:
        call.warn(
            say(
                "no repository of {names} is there: neither `repo_path` in projects.json nor `repo_root` in the "
                "profile names a folder; `oracle project add` does",
                names=names,
            )
        )
