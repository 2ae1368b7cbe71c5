"""`oracle packet`: choose the memories for an agent's next step."""

from __future__ import annotations

from typing import Annotated

from oracle.cli import completion
from oracle.cli.options import option, single
from oracle.cli.output import Table
from oracle.cli.session import Call
from oracle.wording import say, say_each

Texts = list[str] | None

app = single()


@app.add(example="oracle packet --role executor --goal 'Make webhooks retry' --project shop")
def packet(
    call: Call,
    *,
    role: Annotated[str, option("--role planner|executor|critic|responder", "Who takes the step.")],
    goal: Annotated[str, option("--goal T", "The aim of the step, in any language.")],
    project: Annotated[str, option("--project P", "This project and what is shared.", completion.projects)] = "",
    task_id: Annotated[str, option("--task-id ID", "The task at hand.", completion.tasks)] = "",
    session_id: Annotated[str, option("--session-id ID", "The agent's session.", completion.sessions)] = "",
    constraint: Annotated[Texts, option("--constraint T", "A rule that holds for this step; repeatable.")] = None,
    failure: Annotated[Texts, option("--failure T", "What went wrong lately; repeatable.")] = None,
    question: Annotated[Texts, option("--question T", "What is still open; repeatable.")] = None,
) -> None:
    """Choose the few memories that a role needs next."""
    from oracle.app.memories import packets
    from oracle.domain.records.packets import Request

    request = Request(
        goal=goal,
        role=role,
        project=project,
        task_id=task_id,
        session_id=session_id,
        constraints=tuple(constraint or ()),
        failures=tuple(failure or ()),
        questions=tuple(question or ()),
    )
    with call.context() as context:
        routed = packets.route(context, request)
        standing = call.standing_of(context)
    rows = [(name, item.text, item.id) for name, items in routed.packet.sections.items() for item in items]
    if not rows:
        call.note(say("nothing is remembered that helps here"))
    table = Table(say_each("section", "text", "memory"), rows, stacked=(1, 2), names=(2,))
    call.answer({**routed.as_json(), **standing}, table)
