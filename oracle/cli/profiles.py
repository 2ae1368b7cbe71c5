"""The command `profile`: a project's seats and places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, OfProject, begin
from oracle.cli.printing import Table, print_line, print_table
from oracle.errors import UsageError
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from oracle.cli.session import Call


def profile(
    context: typer.Context,
    action: Annotated[
        str, typer.Argument(metavar="ACTION", help="init or show.", autocompletion=completing.words("init", "show"))
    ],
    *,
    project: OfProject,
    seats: Annotated[
        str,
        typer.Option(
            "--seats",
            metavar="A,B",
            help="init: the seats of the team.",
            autocompletion=completing.listed(completing.roles),
        ),
    ] = "",
    repo: Annotated[str, typer.Option("--repo", metavar="DIR", help="init: the project's repository.")] = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Make or print a project's profile."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if action == "init":
        names = [seat.strip() for seat in seats.split(",") if seat.strip()]
        repository = Path(repo).absolute()
        with call.oracle() as oracle:
            path = oracle.init_profile(project, names, repo_root=str(repository) if repo else "")
        if repo and not repository.is_dir():
            call.warn(say("the repository {path} is no folder yet; the profile names it", path=repository))
        if call.as_json:
            call.print_json({"profile": path, "seats": names})
        else:
            print_line(path)
        return
    if action != "show" or seats or repo:
        raise UsageError(
            say("`oracle profile {action}` is no command.", action=action),
            hint=say("Write `oracle profile init` or `show`."),
        )
    _show_profile(call, project)


def _show_profile(call: Call, project: str) -> None:
    with call.oracle() as oracle:
        found = oracle.profile(project)
    places = {
        "profile": found.path,
        "project": found.project,
        "repo_root": found.repo_root,
        "tasks_root": found.tasks_root,
        "handoff_dir": found.handoff_dir,
    }
    if call.as_json:
        call.print_json({**places, "seats": {seat: found.role(seat) for seat in found.seats}})
        return
    rows: list[tuple[str, str]] = [*places.items()]
    rows += [(say("seat {seat}", seat=seat), found.role(seat)) for seat in found.seats]
    print_table(Table(say_each("what", "value"), rows))
