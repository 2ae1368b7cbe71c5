"""`oracle team peers`: what peers delivered."""

from __future__ import annotations

from typing import Annotated

from oracle.cli import completion
from oracle.cli.options import OfProject, argument, group, option
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.wording import say, say_each

app = group("List what peers delivered, or record it.", example="oracle team peers list --project shop")


@app.add("list", example="oracle team peers list --project shop")
def list_deliveries(call: Call, *, project: OfProject) -> None:
    """List what peers delivered, and the records of it."""
    from oracle.app.teamwork import peers

    with call.context() as context:
        found = peers.list_peers(context, project)
    rows = [
        (item.delivery.peer, item.delivery.task_id, item.delivery.said("verdict"), item.record, item.delivery.folder)
        for item in found
    ]
    table = Table(say_each("peer", "task", "verdict", "record", "folder"), rows, stacked=(3, 4))
    call.answer({"deliveries": [item.as_json() for item in found]}, table)
    if not found:
        call.note(say("no peer delivered anything"))


@app.add("record", example="oracle team peers record north --project shop")
def record(
    call: Call,
    peer: Annotated[str, argument("PEER", "Who delivered.", completion.peers)],
    task_id: Annotated[str, argument("TASK", "Which task, of several.")] = "",
    *,
    project: OfProject,
    summary: Annotated[str, option("--summary TEXT", "What follows from it, in your own words.")] = "",
) -> None:
    """Write a finding that cites a peer's delivery."""
    from oracle.app.teamwork import peers

    with call.context() as context:
        path = peers.synthesise(context, project, peer, task_id=task_id, summary=summary)
    call.answer({"record": path}, path)
