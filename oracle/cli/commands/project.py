"""`oracle project`: the projects, their registry entries and profiles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from oracle.cli import completion
from oracle.cli.options import argument, group, option
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.wording import joined, say, say_each

Name = Annotated[str, argument("NAME", "The project.", completion.projects)]

app = group("Register projects, and set up their teams.", example="oracle project list")


@app.add("list", example="oracle project list --all")
def list_projects(
    call: Call, *, everything: Annotated[bool, option("--all", "Also archived projects.")] = False
) -> None:
    """List the projects that are registered or have a profile."""
    from oracle.app.scans import projects

    with call.context() as context:
        found = projects.list_all(context, with_archived=everything)
    rows = [(item.name, item.status, joined(", ", item.seats), item.place) for item in found]
    table = Table(say_each("project", "status", "seats", "repository"), rows, stacked=(2, 3))
    call.answer({"projects": [item.as_json() for item in found]}, table)
    if not found:
        call.note(say("no projects yet; `oracle project add NAME` registers one"))


@app.add("show", example="oracle project show shop")
def show(call: Call, name: Name) -> None:
    """Print what is known of a project: its entry and its profile."""
    from oracle.app.scans import projects

    with call.context() as context:
        found = projects.find(context, name)
    rows = [(key, _told(item)) for key, item in found.as_json().items()]
    call.answer(found.as_json(), Table(say_each("what", "value"), rows))


@app.add("add", example="oracle project add shop --repo ~/src/shop")
def add(
    call: Call,
    name: Name,
    *,
    repo: Annotated[str, option("--repo DIR", "The project's repository.")] = "",
    seat: Annotated[str, option("--seat SEAT", "Its first seat (default memory).", completion.seats)] = "",
    tool: Annotated[
        str, option("--tool TOOL", "The tool of that seat.", completion.words("claude", "codex", "gemini"))
    ] = "",
    template: Annotated[str, option("--template NAME", "The template it was made from.")] = "",
    session: Annotated[str, option("--tmux NAME", "The tmux session of that seat.")] = "",
) -> None:
    """Register a project, or change its entry."""
    from oracle.app.scans import projects

    stated = {
        "repo_path": str(Path(repo).expanduser().absolute()) if repo else "",
        "primary_seat": seat,
        "primary_seat_tool": tool,
        "template_name": template,
        "tmux_name": session,
    }
    with call.context() as context:
        found = projects.add(context, name, stated)
    call.answer(found.as_json(), Table(say_each("project", "outcome"), [(found.name, found.outcome)]))


@app.add("archive", example="oracle project archive shop")
def archive(call: Call, name: Name) -> None:
    """Mark a project as finished; its records stay."""
    from oracle.app.scans import projects

    with call.context() as context:
        found = projects.archive(context, name)
    call.answer(found.as_json(), Table(say_each("project", "outcome"), [(found.name, found.outcome)]))


@app.add("init", example="oracle project init shop --seats memory,planner,builder --repo ~/src/shop")
def init(
    call: Call,
    name: Name,
    *,
    seats: Annotated[str, option("--seats A,B", "The seats of the team.", completion.listed(completion.roles))] = "",
    repo: Annotated[str, option("--repo DIR", "The project's repository.")] = "",
) -> None:
    """Write a project's profile: its seats and places."""
    from oracle.app.delivery import team

    names = [seat.strip() for seat in seats.split(",") if seat.strip()]
    repository = Path(repo).absolute()
    with call.context() as context:
        path = team.init_profile(context, name, names, repo_root=str(repository) if repo else "")
    if repo and not repository.is_dir():
        call.warn(say("the repository {path} does not exist yet; the profile names it", path=repository))
    call.answer({"profile": path, "seats": names}, path)


def _told(item: object) -> str:
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
