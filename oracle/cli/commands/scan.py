"""`oracle scan`: look at this machine or at a project's repository, and keep facts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oracle.cli import completion
from oracle.cli.options import OfProject, group, option
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.wording import say, say_each

app = group("Scan this machine, or a project's repository, into facts.", example="oracle scan machine")


@app.add("machine", example="oracle scan machine --only network,github")
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


@app.add("project", example="oracle scan project --project shop --depth medium --commit")
def project(
    call: Call,
    *,
    project: OfProject,
    repo: Annotated[str, option("--repo DIR", "The repository (default: the registered one).")] = "",
    depth: Annotated[str, option("--depth shallow|medium|deep", "How much to look at.")] = "shallow",
    commit: Annotated[bool, option("--commit", "Write what is new.")] = False,
    force: Annotated[bool, option("--force-commit", "Write what is new or has changed.")] = False,
) -> None:
    """Scan a project's repository."""
    from oracle.app.scans.project import scan_project

    path = str(Path(repo).expanduser().absolute()) if repo else ""
    with call.context() as context:
        found = scan_project(context, project, path, depth=depth, commit=commit, force=force)
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
