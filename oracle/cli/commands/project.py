"""`oracle project` and `oracle scan`: the projects, their entries and profiles, and facts about them and this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from oracle.cli import completion
from oracle.cli.application import group
from oracle.cli.options import NewProject, OfProject, argument, option
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.domain.names import MEMORY
from oracle.errors import UsageError
from oracle.wording import joined, say, say_each

Name = Annotated[str, argument("NAME", "The project.", completion.projects)]

project_app = group("Register projects, and set up their teams.", example="oracle project list")


@project_app.add("list", example="oracle project list --all")
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


@project_app.add("show", example="oracle project show shop")
def show(call: Call, name: Name) -> None:
    """Print what is known of a project: its entry and its profile."""
    from oracle.app.scans import projects

    with call.context() as context:
        found = projects.find(context, name)
    rows = [(key, _told(item)) for key, item in found.as_json().items()]
    call.answer(found.as_json(), Table(say_each("what", "value"), rows))


@project_app.add("add", example="oracle project add shop --repo ~/src/shop")
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
    from oracle.domain.spelling import is_one_slip_off, suggest
    from oracle.hook.clients import CLIENTS

    stated = {
        "repo_path": repo,
        "primary_seat": seat,
        "primary_seat_tool": tool,
        "template_name": template,
        "tmux_name": session,
    }
    if any(is_one_slip_off(tool, known) for known in CLIENTS if tool not in CLIENTS):
        raise UsageError(say("Unknown tool {tool!r}.", tool=tool), hint=suggest(tool, CLIENTS))
    with call.context() as context:
        found = projects.add(context, name, stated)
    call.answer(found.as_json(), Table(say_each("project", "outcome"), [(found.name, found.outcome)]))


@project_app.add("archive", example="oracle project archive shop")
def archive(call: Call, name: Name) -> None:
    """Mark a project as finished; its records stay."""
    from oracle.app.scans import projects

    with call.context() as context:
        found = projects.archive(context, name)
    call.answer(found.as_json(), Table(say_each("project", "outcome"), [(found.name, say("archived"))]))


@project_app.add("init", example="oracle project init shop --seats memory,planner,builder --repo ~/src/shop")
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
    if names and MEMORY not in names:
        names = [MEMORY, *names]
        call.note(say("memory was added to the seats: it answers what the others ask"))
    repository = str(Path(repo).expanduser().absolute()) if repo else ""
    with call.context() as context:
        path = team.init_profile(context, name, names, repo_root=repository)
    if repo and not Path(repository).is_dir():
        call.warn(say("the repository {path} does not exist yet; the profile names it", path=repository))
    call.answer({"profile": path, "seats": names}, path)


def _told(item: object) -> str:
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


scan_app = group("Scan this machine, or a project's repository, into facts.", example="oracle scan machine")


@scan_app.add("machine", example="oracle scan machine --only network,github")
def machine(
    call: Call,
    *,
    only: Annotated[
        str, option("--only A,B", "These scanners, not the usual ones.", completion.listed(completion.scanners))
    ] = "",
    network: Annotated[bool, option("--network", "Let gh ask its hosts who is signed in.")] = False,
    with_values: Annotated[bool, option("--with-secret-values", "Keep the values of credentials in the Root.")] = False,
) -> None:
    """Scan this machine; exit 1 when a scanner failed."""
    from oracle.app.scans import machine

    names = [name.strip() for name in only.split(",") if name.strip()]
    with call.context() as context:
        done = machine.scan(context, names, network=network, with_values=with_values)
    rows = [(item.name, item.path, item.error) for item in done]
    table = Table(say_each("scanner", "file", "failed"), rows, stacked=(1,))
    call.answer({"scanners": {item.name: item.as_json() for item in done}}, table)
    if not all(item.ok for item in done):
        raise typer.Exit(1)


@scan_app.add("project", example="oracle scan project --project shop --depth medium --commit")
def project(
    call: Call,
    *,
    project: OfProject,
    repo: Annotated[str, option("--repo DIR", "The repository (default: the registered one).")] = "",
    depth: Annotated[str, option("--depth shallow|medium|deep", "How much to look at.")] = "shallow",
    commit: Annotated[bool, option("--commit", "Write what is new.")] = False,
    force: Annotated[bool, option("--force-commit", "Write what is new or has changed.")] = False,
    new_project: NewProject = False,
) -> None:
    """Scan a project's repository."""
    from oracle.app.scans.project import scan_project

    with call.context() as context:
        found = scan_project(context, project, repo, depth=depth, commit=commit, force=force, new_project=new_project)
    kinds = {
        kind: {"path": found.paths[kind], "outcome": found.outcomes.get(kind, ""), "record": record}
        for kind, record in found.records.items()
    }
    rows = [(kind, found.outcomes.get(kind, say("not written")), found.paths[kind]) for kind in found.records]
    document = {"project": found.project, "repo": found.repository, "depth": depth, "kinds": kinds}
    call.answer(document, Table(say_each("kind", "outcome", "file"), rows, stacked=(2,)))
    if not found.outcomes:
        call.note(say("nothing was written; --commit writes, --json shows what"))
    changed = found.those("changed")
    if changed:
        call.warn(say("{changed}: not replaced, since the file differs; --force-commit replaces it", changed=changed))
        raise typer.Exit(1)
