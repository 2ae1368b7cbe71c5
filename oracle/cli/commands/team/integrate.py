"""`oracle team integrate`: recover a commit that passed outside the main line."""

from __future__ import annotations

from typing import Annotated

from oracle.cli.options import NoNotify, OfProject, TaskId, option, single
from oracle.cli.session import Call
from oracle.wording import say

app = single()


@app.add(example="oracle team integrate T-7 --project shop --lane light --commit 1a2b3c4")
def integrate(
    call: Call,
    task_id: TaskId,
    *,
    project: OfProject,
    lane: Annotated[str, option("--lane light|medium|heavy", "Who repairs it: memory, a builder or the operator.")],
    commit: Annotated[str, option("--commit SHA", "light: the commit that memory landed.")] = "",
    reason: Annotated[str, option("--reason TEXT", "The reason for this lane.")] = "",
    no_notify: NoNotify = False,
) -> None:
    """Recover a commit that passed outside the main line."""
    from oracle.app.teamwork import integration

    with call.context() as context:
        done = integration.integrate(
            context, project, task_id, lane=lane, commit=commit, reason=reason, notifies=not no_notify
        )
    call.answer(done.as_json(), done.record)
    if done.repair:
        call.note(say("dispatched {repair}", repair=done.repair))
    if done.report:
        call.note(done.report)
