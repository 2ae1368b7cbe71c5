"""Commands that look at what is there: scan, project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, begin
from oracle.cli.printing import Table, print_table, visible, write_out
from oracle.errors import UsageError
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from oracle.app.scans.projects import Registered
    from oracle.cli.session import Call

DEPTHS = "shallow|medium|deep"


def scan(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="WHAT", help="machine or project.", autocompletion=completing.words("machine", "project")
        ),
    ],
    *,
    only: Annotated[
        str,
        typer.Option(
            "--only",
            metavar="A,B",
            help="machine: these scanners, not the usual ones.",
            autocompletion=completing.listed(completing.scanners),
        ),
    ] = "",
    network: Annotated[bool, typer.Option("--network", help="machine: let gh ask its hosts who is signed in.")] = False,
    with_values: Annotated[
        bool, typer.Option("--with-secret-values", help="machine: keep the values of credentials in the Root.")
    ] = False,
    project: Annotated[
        str, typer.Option("--project", metavar="P", help="project: whose facts.", autocompletion=completing.projects)
    ] = "",
    repo: Annotated[
        str, typer.Option("--repo", metavar="DIR", help="project: the repository (default: the registered one).")
    ] = "",
    depth: Annotated[
        str,
        typer.Option(
            "--depth",
            metavar=DEPTHS,
            help="project: how much is looked at (default shallow).",
            autocompletion=completing.words(*DEPTHS.split("|")),
        ),
    ] = "",
    commit: Annotated[bool, typer.Option("--commit", help="project: write what is new.")] = False,
    force: Annotated[bool, typer.Option("--force-commit", help="project: write what is new or has changed.")] = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Scan this machine, or a project's repository, into facts."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    of_machine = only or network or with_values
    of_project = project or repo or depth or commit or force
    if action == "machine" and not of_project:
        _scan_machine(
            call, [name.strip() for name in only.split(",") if name.strip()], network=network, values=with_values
        )
    elif action == "project" and project and not of_machine:
        _scan_project(call, project, repo, depth or "shallow", commit=commit, force=force)
    else:
        raise _wrong_scan(action, is_missing_project=action == "project" and not project and not of_machine)


def _wrong_scan(action: str, *, is_missing_project: bool) -> UsageError:
    hint = say("Write `oracle scan machine [--only A,B]` or `oracle scan project --project P`.")
    if action not in ("machine", "project"):
        return UsageError(say("`oracle scan {action}` is no command.", action=action), hint=hint)
    if is_missing_project:
        return UsageError(say("Missing option '--project'."), hint=say("Write `oracle scan project --project P`."))
    other = "project" if action == "machine" else "machine"
    return UsageError(
        say("`oracle scan {action}` takes no option of `oracle scan {other}`.", action=action, other=other), hint=hint
    )


def _scan_machine(call: Call, only: list[str], *, network: bool, values: bool) -> None:
    with call.oracle() as oracle:
        done = oracle.scan_machine(only, network=network, with_values=values)
    if call.as_json:
        call.print_json({"scanners": {item.name: item.as_json() for item in done}})
    else:
        print_table(
            Table(
                say_each("scanner", "file", "failed"),
                [(item.name, item.path, item.error) for item in done],
                stacked=(1,),
            )
        )
    if not all(item.ok for item in done):
        raise typer.Exit(1)


def _scan_project(call: Call, project: str, repo: str, depth: str, *, commit: bool, force: bool) -> None:
    with call.oracle() as oracle:
        path = str(Path(repo).expanduser().absolute()) if repo else ""
        found = oracle.scan_project(project, path, depth=depth, commit=commit, force=force)
    if call.as_json:
        rows = {
            kind: {"path": found.paths[kind], "outcome": found.outcomes.get(kind, ""), "record": record}
            for kind, record in found.records.items()
        }
        call.print_json({"project": found.project, "repo": found.repository, "depth": depth, "kinds": rows})
    else:
        outcomes = [(kind, found.outcomes.get(kind, say("not written")), found.paths[kind]) for kind in found.records]
        print_table(Table(say_each("kind", "outcome", "file"), outcomes, stacked=(2,)))
        if not found.outcomes:
            call.note(say("nothing was written; --commit writes, --json shows what"))
    changed = found.those("changed")
    if changed:
        call.warn(
            say(
                "{changed}: left as it is, since it says something else; --force-commit replaces",
                changed=changed,
            )
        )
        raise typer.Exit(1)


def project(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="ACTION",
            help="add, list, show or archive.",
            autocompletion=completing.words("add", "list", "show", "archive"),
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The project.", autocompletion=completing.projects)] = "",
    *,
    repo: Annotated[str, typer.Option("--repo", metavar="DIR", help="add: the project's repository.")] = "",
    seat: Annotated[
        str,
        typer.Option("--seat", metavar="SEAT", help="add: its first seat (memory).", autocompletion=completing.seats),
    ] = "",
    tool: Annotated[
        str,
        typer.Option(
            "--tool",
            metavar="TOOL",
            help="add: the tool of that seat.",
            autocompletion=completing.words("claude", "codex", "gemini"),
        ),
    ] = "",
    template: Annotated[
        str, typer.Option("--template", metavar="NAME", help="add: the template it was made from.")
    ] = "",
    session: Annotated[str, typer.Option("--tmux", metavar="NAME", help="add: the tmux session of that seat.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="list: also those that are over.")] = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Register projects, and say which are over."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    stated = {
        "repo_path": str(Path(repo).expanduser().absolute()) if repo else "",
        "primary_seat": seat,
        "primary_seat_tool": tool,
        "template_name": template,
        "tmux_name": session,
    }
    is_listing = action == "list"
    if (
        action not in ("add", "list", "show", "archive")
        or bool(name) is is_listing
        or (any(stated.values()) and action != "add")
        or (everything and not is_listing)
    ):
        raise UsageError(
            say("The words of `oracle project` don't fit together."),
            hint=say("Write `oracle project list`, or `add`, `show` or `archive` with a name."),
        )
    with call.oracle() as oracle:
        if is_listing:
            _print_projects(call, oracle.projects(with_archived=everything))
            return
        if action == "add":
            found = oracle.add_project(name, stated)
        else:
            found = oracle.project(name) if action == "show" else oracle.archive_project(name)
    if call.as_json:
        call.print_json(found.as_json())
    elif action == "show":
        print_table(Table(say_each("what", "value"), [(key, _told(item)) for key, item in found.as_json().items()]))
    else:
        write_out(f"{visible(found.name)}\t{found.outcome}\n")


def _print_projects(call: Call, found: list[Registered]) -> None:
    if call.as_json:
        call.print_json({"projects": [item.as_json() for item in found]})
        return
    if not found:
        call.note(say("no project is registered; `oracle project add NAME` registers one"))
    rows = [(item.name, item.status, item.repository or str(item.entry.get("repo_path") or "")) for item in found]
    print_table(Table(say_each("project", "status", "repository"), rows))


def _told(item: object) -> str:
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
