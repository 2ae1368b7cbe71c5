"""The command `log`: what happened, event by event."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, Project, begin
from oracle.cli.printing import print_lines, visible, write_out
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.cli.session import Call


def log(
    context: typer.Context,
    *,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until interrupted.")] = False,
    project: Project = "",
    task: Annotated[
        str, typer.Option("--task", metavar="ID", help="Only events of this task.", autocompletion=completing.handoffs)
    ] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="The last N events; 0 is all.")] = 20,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Print what happened, the newest last."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if follow:
        _follow(call, project, task, limit)
    with call.oracle() as oracle:
        oracle.root.require()
        found = oracle.events(project, task, limit)
    if not found:
        call.note(say("no event fits"))
    if call.as_json:
        call.print_json({"events": found})
    else:
        print_lines(map(_event, found))


def _follow(call: Call, project: str, task: str, limit: int) -> None:
    """Print events as they come; no spinner, since waiting is what was asked for."""
    from oracle.app.oracle import Oracle

    with Oracle.open(call.memory_dir, warn=call.warn) as oracle:
        oracle.root.require()
        for event in oracle.follow(project, task, limit):
            write_out(_line(event, call))


def _line(event: dict[str, object], call: Call) -> str:
    return f"{visible(json.dumps(event, ensure_ascii=False) if call.as_json else _event(event))}\n"


def _event(event: dict[str, object]) -> str:
    parts = [str(event.get(key, "")) for key in ("ts", "event", "project", "task_id")]
    return f"{'  '.join(part for part in parts if part)}{details_of(event)}"


def details_of(event: dict[str, object]) -> str:
    """Return what an event says beside its time, name, project and task, as ` key=value` after ` key=value`."""
    kept = {key: item for key, item in event.items() if key not in ("ts", "event", "project", "task_id") and item != ""}
    return "".join(f" {key}={item}" for key, item in kept.items())
