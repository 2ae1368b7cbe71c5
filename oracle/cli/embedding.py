"""The command of the semantic extra: make the vectors by which a search finds what is meant, beside what is written."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli.options import Json, MemoryDir, Project, begin
from oracle.cli.printing import Table, print_table
from oracle.wording import say, say_each


def embed(
    context: typer.Context,
    *,
    project: Project = "",
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="N", min=0, help="Stop after N seconds; go on another time.")
    ] = None,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Make the vectors that a search by meaning needs."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        done = oracle.embed(project, seconds=seconds, progress=call.waiting.report)
    if call.as_json:
        call.print_json(done.as_json())
        return
    rows = [
        (
            one.model,
            str(one.made),
            say("{whole} of {records}", whole=one.whole, records=done.records),
            str(one.begun),
            one.about,
        )
        for one in done.models
    ]
    print_table(Table(say_each("model", "made", "whole", "begun", "package"), rows))
    if not done.is_complete:
        call.note(say("run it again for the rest"))
