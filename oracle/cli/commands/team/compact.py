"""`oracle team compact`: whether a conversation may be compacted."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli.options import OfProject, Since, option, single
from oracle.cli.session import Call

app = single()


@app.add(example="oracle team compact --project shop --fact 'Webhooks retry twice'")
def compact(
    call: Call,
    *,
    project: OfProject,
    since: Since = "",
    fact: Annotated[list[str] | None, option("--fact TEXT", "A fact that must be on disk; repeatable.")] = None,
) -> None:
    """Check whether the conversation may be compacted."""
    from oracle.app.teamwork import compaction

    with call.context() as context:
        context.root.require()
        found = compaction.check(context, project, since=since, facts=fact or ())
    call.answer(found.as_json(), (*found.missing, found.line))
    if found.missing:
        raise typer.Exit(1)
