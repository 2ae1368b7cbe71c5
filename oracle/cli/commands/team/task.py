"""`oracle team task`: a task's workflow and its steps."""

from __future__ import annotations

from typing import Annotated

from oracle.cli import completion
from oracle.cli.options import OfProject, TaskId, argument, group, option
from oracle.cli.output import Table, visible, write_out
from oracle.cli.session import Call
from oracle.wording import say, say_each

app = group("Create a task's workflow, and update its steps.", example="oracle team task create T-7 --project shop")


@app.add("create", example="oracle team task create T-7 --project shop")
def create(
    call: Call,
    task_id: TaskId,
    *,
    project: OfProject,
    template: Annotated[
        str, option("--workflow-template NAME", "What the workflow follows.", completion.words("brief-driven"))
    ] = "brief-driven",
) -> None:
    """Create a task's workflow.md and STATUS.md."""
    from oracle.app.teamwork import workflow

    with call.context() as context:
        folder, is_new = workflow.create_task(context, project, task_id, template=template)
    call.answer({"task_id": task_id, "folder": folder, "made": is_new}, folder)
    if is_new:
        path = f"{folder}/workflow.md"
        call.note(say("it has no steps yet; write them into {path}, each below a line `## Step 1: NAME`", path=path))
    else:
        call.note(say("its workflow.md exists and was not changed"))


@app.add("list-pending", example="oracle team task list-pending --project shop --owner-role builder")
def list_pending(
    call: Call,
    *,
    project: OfProject,
    role: Annotated[str, option("--owner-role ROLE", "Whose steps.", completion.roles)],
) -> None:
    """List the steps that a role may begin now."""
    from oracle.app.teamwork import workflow

    with call.context() as context:
        found = workflow.list_pending(context, project, role)
    document = {"steps": [{"task_id": task_id, "step": step} for task_id, step in found]}
    call.answer(document, Table(say_each("task", "step"), found))
    if not found:
        call.note(say("no step is ready to begin"))


@app.add("update-status", example="oracle team task update-status T-7 build done --project shop")
def update_status(
    call: Call,
    task_id: TaskId,
    step: Annotated[str, argument("STEP", "The step, by name or number.")],
    status: Annotated[str, argument("STATUS", "pending, in_progress, done or blocked.", completion.step_statuses)],
    *,
    project: OfProject,
) -> None:
    """Change the status of a step, and wake whom it names."""
    from oracle.app.teamwork import workflow

    with call.context() as context:
        done = workflow.update_step(context, project, task_id, step, status=status)
    if call.as_json:
        call.print_json(done.as_json())
        return
    write_out(f"{visible(done.task_id)}\t{visible(done.step.name)}\t{visible(done.step.status)}\n")
    if not done.is_new:
        call.note(say("it had this status already; nothing was changed"))


@app.add("auto-supersede", example="oracle team task auto-supersede --project shop --age-days 7")
def auto_supersede(
    call: Call,
    *,
    project: OfProject,
    age_days: Annotated[float, option("--age-days N", "Older than N days.", min=0)] = 3.0,
) -> None:
    """Supersede old open tasks that nobody delivered."""
    from oracle.app.teamwork import workflow

    with call.context() as context:
        found = workflow.supersede_old(context, project, days=age_days)
    document = {"superseded": [{"seat": seat, "task_id": task_id} for seat, task_id in found]}
    call.answer(document, Table(say_each("seat", "task"), found))
    call.note(say("{count} superseded", count=len(found)))
