"""`oracle team workspace`: workspaces that are older than the repository."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli.options import Project, option, single
from oracle.cli.session import Call
from oracle.wording import say

app = single()


@app.add(example="oracle team workspace --project shop")
def workspace(
    call: Call,
    *,
    folder: Annotated[str, option("--workspace DIR", "The folder that an agent starts in; else this one.")] = "",
    repo: Annotated[str, option("--repo DIR", "The ClawSeat repository.")] = "",
    project: Project = "",
) -> None:
    """Name workspaces that are older than the repository."""
    from oracle.app.teamwork import workspaces
    from oracle.app.teamwork.workspaces import STALE

    with call.context() as context:
        found = workspaces.check(context, workspace=folder, project=project, repo=repo)
    told = [say("{stale} {page}", stale=STALE, page=item.page) for item in found]
    call.answer({"stale": [item.as_json() for item in found]}, told)
    if found:
        call.note(say("run `{command}`", command=found[0].command))
        raise typer.Exit(1)
