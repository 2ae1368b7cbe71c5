"""`oracle team task`, `rehearse`, `integrate` and `peers`: workflows, the chain of seats, repairs and deliveries."""

from __future__ import annotations

from typing import Annotated

from oracle.cli import completion
from oracle.cli.application import group
from oracle.cli.commands.delivery import print_signs
from oracle.cli.options import NewProject, NoNotify, OfProject, TaskId, argument, option, single
from oracle.cli.output import Table, on_terminal, write_out
from oracle.cli.session import Call
from oracle.domain.names import say_state
from oracle.wording import say, say_each, visible

task_app = group(
    "Create a task's workflow, and update its steps.", example="oracle team task create T-7 --project shop"
)


@task_app.add("create", example="oracle team task create T-7 --project shop")
def create(
    call: Call,
    task_id: TaskId,
    *,
    project: OfProject,
    template: Annotated[
        str, option("--workflow-template NAME", "What the workflow follows.", completion.words("brief-driven"))
    ] = "brief-driven",
    new_project: NewProject = False,
) -> None:
    """Create a task's workflow.md and STATUS.md."""
    from oracle.app.teamwork import workflow

    with call.context() as context:
        folder, is_new = workflow.create_task(context, project, task_id, template=template, new_project=new_project)
    call.answer({"task_id": task_id, "folder": folder, "made": is_new}, folder)
    if is_new:
        path = f"{folder}/workflow.md"
        call.note(say("it has no steps yet; write them into {path}, each below a line `## Step 1: NAME`", path=path))
    else:
        call.note(say("its workflow.md exists and was not changed"))


@task_app.add("list-pending", example="oracle team task list-pending --project shop --owner-role builder")
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


@task_app.add("update-status", example="oracle team task update-status T-7 build done --project shop")
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
    write_out(
        f"{visible(done.task_id)}\t{visible(done.step.name)}\t{visible(on_terminal(say_state(done.step.status)))}\n"
    )
    if not done.is_new:
        call.note(say("it had this status already; nothing was changed"))


@task_app.add("auto-supersede", example="oracle team task auto-supersede --project shop --age-days 7")
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


rehearse_app = group("Rehearse the chain of seats, and verify it.", example="oracle team rehearse start --project shop")


@rehearse_app.add("start", example="oracle team rehearse start --project shop")
def start(
    call: Call,
    *,
    project: OfProject,
    task_id: Annotated[str, option("--task-id ID", "The rehearsal's id; else one is made.", completion.handoffs)] = "",
    no_notify: NoNotify = False,
) -> None:
    """Begin a rehearsal: a workflow with a step for each seat."""
    from oracle.app.teamwork import rehearsal

    with call.context() as context:
        begun = rehearsal.rehearse(context, project, task_id=task_id, notifies=not no_notify)
    call.answer(begun.as_json(), begun.task_id)
    call.note(say("brief: {brief}", brief=begun.brief))


@rehearse_app.add("verify", example="oracle team rehearse verify --project shop")
def verify(
    call: Call,
    *,
    project: OfProject,
    task_id: Annotated[str, option("--task-id ID", "The rehearsal; else the last.", completion.handoffs)] = "",
) -> None:
    """Check whether every seat reported; exit 1 when one did not."""
    from oracle.app.teamwork import rehearsal

    with call.context() as context:
        name, found = rehearsal.verify(context, project, task_id=task_id)
    if any(sign.held is False for sign in found):
        call.warn(say("the chain does not hold: dispatch no real task until it does"))
    print_signs(call, found, name)


integrate_app = single()


@integrate_app.add(example="oracle team integrate T-7 --project shop --lane light --commit 1a2b3c4")
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


peers_app = group("List what peers delivered, or record it.", example="oracle team peers list --project shop")


@peers_app.add("list", example="oracle team peers list --project shop")
def list_deliveries(call: Call, *, project: OfProject) -> None:
    """List what peers delivered, and the records of it."""
    from oracle.app.teamwork import peers

    with call.context() as context:
        found = peers.list_peers(context, project)
    rows = [
        (item.delivery.peer, item.delivery.task_id, item.delivery.said("verdict"), item.record, item.delivery.folder)
        for item in found
    ]
    table = Table(say_each("peer", "task", "verdict", "record", "folder"), rows, stacked=(3, 4))
    call.answer({"deliveries": [item.as_json() for item in found]}, table)
    if not found:
        call.note(say("no peer delivered anything"))


@peers_app.add("record", example="oracle team peers record north --project shop")
def record(
    call: Call,
    peer: Annotated[str, argument("PEER", "Who delivered.", completion.peers)],
    task_id: Annotated[str, argument("TASK", "Which task, of several.")] = "",
    *,
    project: OfProject,
    summary: Annotated[str, option("--summary TEXT", "What follows from it, in your own words.")] = "",
) -> None:
    """Write a finding that cites a peer's delivery."""
    from oracle.app.teamwork import peers

    with call.context() as context:
        path = peers.synthesise(context, project, peer, task_id=task_id, summary=summary)
    call.answer({"record": path}, path)
