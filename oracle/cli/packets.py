"""The command that gives an agent the memories for its next step: packet."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, begin
from oracle.cli.printing import Table, print_table
from oracle.wording import say, say_each

Texts = list[str] | None


def packet(
    context: typer.Context,
    *,
    role: Annotated[
        str,
        typer.Option(
            "--role",
            metavar="planner|executor|critic|responder",
            help="Who takes the step.",
            autocompletion=completing.words("planner", "executor", "critic", "responder"),
        ),
    ],
    goal: Annotated[str, typer.Option("--goal", metavar="T", help="What the step is to reach, in any language.")],
    project: Annotated[
        str,
        typer.Option(
            "--project", metavar="P", help="This project and what is shared.", autocompletion=completing.projects
        ),
    ] = "",
    task_id: Annotated[
        str, typer.Option("--task-id", metavar="ID", help="The task at hand.", autocompletion=completing.tasks)
    ] = "",
    session_id: Annotated[
        str, typer.Option("--session-id", metavar="ID", help="The agent's session.", autocompletion=completing.sessions)
    ] = "",
    constraint: Annotated[
        Texts, typer.Option("--constraint", metavar="T", help="A rule that holds for this step; repeatable.")
    ] = None,
    failure: Annotated[
        Texts, typer.Option("--failure", metavar="T", help="What went wrong lately; repeatable.")
    ] = None,
    question: Annotated[Texts, typer.Option("--question", metavar="T", help="What is still open; repeatable.")] = None,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Choose the few memories that a role needs next."""
    from oracle.domain.records.packets import Request

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
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
    with call.oracle() as oracle:
        routed = oracle.packet(request)
        standing = oracle.standing() if call.as_json else {}
    if call.as_json:
        call.print_json({**routed.as_json(), **standing})
        return
    sections = routed.packet.sections
    rows = [(name, item.text, item.id) for name, items in sections.items() for item in items]
    if not rows:
        call.note(say("nothing is remembered that helps here"))
    print_table(Table(say_each("section", "text", "memory"), rows, stacked=(1, 2)))
