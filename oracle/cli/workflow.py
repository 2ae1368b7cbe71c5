"""The command `task`: a task's workflow and its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, OfProject, begin
from oracle.cli.printing import Table, print_line, print_table, visible, write_out
from oracle.errors import UsageError
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from oracle.cli.session import Call

ACTIONS = ("create", "list-pending", "update-status", "auto-supersede")
_WORDS = {"create": ("ID",), "list-pending": (), "update-status": ("ID", "STEP", "STATUS"), "auto-supersede": ()}


def task(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="ACTION",
            help="create, list-pending, update-status or auto-supersede.",
            autocompletion=completing.words(*ACTIONS),
        ),
    ],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID [STEP STATUS]]",
            help="The task; update-status: its step.",
            autocompletion=completing.after(
                "action", {"update-status": completing.steps, "create": completing.handoffs}
            ),
        ),
    ] = None,
    *,
    project: OfProject,
    template: Annotated[
        str,
        typer.Option(
            "--workflow-template",
            metavar="NAME",
            help="create: what the workflow follows.",
            autocompletion=completing.words("brief-driven"),
        ),
    ] = "brief-driven",
    owner_role: Annotated[
        str,
        typer.Option(
            "--owner-role", metavar="ROLE", help="list-pending: whose steps.", autocompletion=completing.roles
        ),
    ] = "",
    age_days: Annotated[
        float, typer.Option("--age-days", metavar="N", min=0, help="auto-supersede: older than N days.")
    ] = 3.0,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Make a task's workflow, or go on with it."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    given = words or []
    _check(action, given, owner_role)
    if action == "create":
        _create(call, project, given[0], template)
    elif action == "list-pending":
        _list_pending(call, project, owner_role)
    elif action == "update-status":
        _update(call, project, given)
    else:
        _supersede(call, project, age_days)


def _check(action: str, words: list[str], owner_role: str) -> None:
    if action not in _WORDS:
        raise UsageError(
            say("`oracle task {action}` is no command.", action=action),
            hint=say("Write one of {actions}.", actions=ACTIONS),
        )
    if len(words) != len(_WORDS[action]):
        form = " ".join(("oracle task", action, *_WORDS[action], "--project P"))
        raise UsageError(
            say(
                "`oracle task {action}` takes {count} words, not {given}.",
                action=action,
                count=len(_WORDS[action]),
                given=len(words),
            ),
            hint=say("Write `{form}`.", form=form),
        )
    if action == "list-pending" and not owner_role:
        raise UsageError(
            say("Missing option '--owner-role'."), hint=say("Say whose steps, as in --owner-role builder.")
        )


def _create(call: Call, project: str, task_id: str, template: str) -> None:
    with call.oracle() as oracle:
        folder, is_new = oracle.create_task(project, task_id, template=template)
    if call.as_json:
        call.print_json({"task_id": task_id, "folder": folder, "made": is_new})
        return
    print_line(folder)
    if is_new:
        path = f"{folder}/workflow.md"
        call.note(say("it has no steps yet; write them into {path}, each below a line `## Step 1: NAME`", path=path))
    else:
        call.note(say("its workflow.md was there and was left as it is"))


def _list_pending(call: Call, project: str, role: str) -> None:
    with call.oracle() as oracle:
        found = oracle.pending_steps(project, role)
    if call.as_json:
        call.print_json({"steps": [{"task_id": task_id, "step": step} for task_id, step in found]})
        return
    if not found:
        call.note(say("nothing may begin now"))
    print_table(Table(say_each("task", "step"), found))


def _update(call: Call, project: str, words: list[str]) -> None:
    task_id, step, status = words
    with call.oracle() as oracle:
        done = oracle.update_step(project, task_id, step, status=status)
    if call.as_json:
        call.print_json(done.as_json())
        return
    write_out(f"{visible(done.task_id)}\t{visible(done.step.name)}\t{visible(done.step.status)}\n")
    if not done.is_new:
        call.note(say("it was so already; nothing was changed"))


def _supersede(call: Call, project: str, days: float) -> None:
    with call.oracle() as oracle:
        found = oracle.supersede_old_tasks(project, days=days)
    if call.as_json:
        call.print_json({"superseded": [{"seat": seat, "task_id": task_id} for seat, task_id in found]})
        return
    print_table(Table(say_each("seat", "task"), found))
    call.note(say("{count} superseded", count=len(found)))
