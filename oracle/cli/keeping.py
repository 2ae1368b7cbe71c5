"""Commands that keep a team in order: ownership, compact-check, workspace, peers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, OfProject, Project, Since, begin
from oracle.cli.printing import Table, print_line, print_lines, print_table
from oracle.errors import OwnershipError, UsageError
from oracle.wording import Sentence, say, say_each

if TYPE_CHECKING:
    from oracle.app.codebase.ownership import Judged
    from oracle.cli.session import Call

Check = Annotated[
    str, typer.Argument(metavar="check", help="Change nothing.", autocompletion=completing.words("check"))
]


def _require_check(command: str, action: str) -> None:
    if action != "check":
        raise UsageError(
            say("`oracle {command} {action}` is no command.", command=command, action=action),
            hint=say("Write `oracle {command} check`.", command=command),
        )


def ownership(
    context: typer.Context,
    action: Check,
    *,
    staged: Annotated[bool, typer.Option("--staged", help="What is in the index.")] = False,
    repo: Annotated[str, typer.Option("--repo", metavar="DIR", help="The repository; else this folder's.")] = ".",
    seat: Annotated[
        str,
        typer.Option(
            "--seat",
            metavar="SEAT",
            envvar="ORACLE_SEAT",
            help="Who changed it (default memory).",
            autocompletion=completing.members,
        ),
    ] = "memory",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Tell whether a seat may commit its changes."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    _require_check("ownership", action)
    with call.oracle() as oracle:
        found = oracle.check_ownership(repo, seat=seat, staged=staged)
    wrong = [item for item in found if not item.is_allowed]
    if call.as_json:
        call.print_json({"seat": seat, "ok": not wrong, "files": [item.as_json() for item in found]})
    else:
        print_table(
            Table(say_each("verdict", "path", "line", "what", "text"), [row for item in found for row in _rows(item)])
        )
    if wrong:
        raise typer.Exit(OwnershipError.exit_code)


def _rows(item: Judged) -> list[tuple[str, ...]]:
    if not item.changes:
        return [(_verdict(item.is_allowed), item.path, "", "", item.why)]
    return [(_verdict(one.is_allowed), item.path, str(one.line), one.sort.value, one.text) for one in item.changes]


def _verdict(is_allowed: bool) -> Sentence:
    return say("ok") if is_allowed else say("no")


def compact_check(
    context: typer.Context,
    *,
    project: OfProject,
    since: Since = "",
    fact: Annotated[
        list[str] | None, typer.Option("--fact", metavar="TEXT", help="A fact that must be on disk; repeatable.")
    ] = None,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Tell whether the conversation may be compacted."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        oracle.root.require()
        found = oracle.check_compaction(project, since=since, facts=fact or ())
    if call.as_json:
        call.print_json(found.as_json())
    else:
        print_lines((*found.missing, found.line))
    if found.missing:
        raise typer.Exit(1)


def workspace(
    context: typer.Context,
    action: Check,
    *,
    folder: Annotated[
        str, typer.Option("--workspace", metavar="DIR", help="The folder that an agent starts in; else this one.")
    ] = "",
    repo: Annotated[str, typer.Option("--repo", metavar="DIR", help="The ClawSeat repository.")] = "",
    project: Project = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Tell whether workspaces are older than the repository."""
    from oracle.app.teamwork.workspaces import STALE

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    _require_check("workspace", action)
    with call.oracle() as oracle:
        found = oracle.check_workspaces(workspace=folder, project=project, repo=repo)
    if call.as_json:
        call.print_json({"stale": [item.as_json() for item in found]})
    elif found:
        print_lines(say("{stale} {page}", stale=STALE, page=item.page) for item in found)
        call.note(say("run `{command}`", command=found[0].command))
    if found:
        raise typer.Exit(1)


def peers(
    context: typer.Context,
    action: Annotated[
        str, typer.Argument(metavar="ACTION", help="list or record.", autocompletion=completing.words("list", "record"))
    ],
    peer: Annotated[
        str | None,
        typer.Argument(
            metavar="PEER",
            help="record: who delivered.",
            autocompletion=completing.after("action", {"record": completing.peers}),
        ),
    ] = None,
    task_id: Annotated[str | None, typer.Argument(metavar="TASK", help="record: which task, of several.")] = None,
    *,
    project: OfProject,
    summary: Annotated[
        str, typer.Option("--summary", metavar="TEXT", help="record: what follows from it, in your own words.")
    ] = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """List what peers delivered, or record one of it."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if action == "record" and peer:
        _record(call, project, peer, task_id=task_id or "", summary=summary)
        return
    if action != "list" or peer:
        raise UsageError(
            say("`oracle peers {action}` is no command.", action=action),
            hint=say("Write `oracle peers list` or `record PEER [TASK]`."),
        )
    with call.oracle() as oracle:
        found = oracle.peer_deliveries(project)
    if call.as_json:
        call.print_json({"deliveries": [item.as_json() for item in found]})
        return
    if not found:
        call.note(say("no peer delivered anything"))
    rows = [
        (item.delivery.peer, item.delivery.task_id, item.delivery.said("verdict"), item.record, item.delivery.folder)
        for item in found
    ]
    print_table(Table(say_each("peer", "task", "verdict", "record", "folder"), rows, stacked=(3, 4)))


def _record(call: Call, project: str, peer: str, *, task_id: str, summary: str) -> None:
    with call.oracle() as oracle:
        path = oracle.record_peer_delivery(project, peer, task_id=task_id, summary=summary)
    if call.as_json:
        call.print_json({"record": path})
    else:
        print_line(path)
