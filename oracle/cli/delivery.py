"""Commands of delivery: profile, ask, deliver, handoffs, resume, log, hook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.arguments import read_body
from oracle.cli.options import Json, MemoryDir, Project, Secrets, WriterSeat, begin
from oracle.cli.printing import Table, print_line, print_lines, print_table, visible, visible_lines, write_out
from oracle.errors import UsageError
from oracle.wording import Said, say, say_each

if TYPE_CHECKING:
    from oracle.app.completing import Delivered
    from oracle.app.handoffs import Listed, Story
    from oracle.cli.session import Call
    from oracle.hook import settings

OfProject = Annotated[
    str,
    typer.Option(
        "--project", metavar="P", help="The project, which has a profile.", autocompletion=completing.projects
    ),
]
NoNotify = Annotated[bool, typer.Option("--no-notify", help="Wake nobody.")]


# Profile --------------------------------------------------------------------------------------------------------------


def profile(
    context: typer.Context,
    action: Annotated[
        str, typer.Argument(metavar="ACTION", help="init or show.", autocompletion=completing.words("init", "show"))
    ],
    *,
    project: OfProject,
    seats: Annotated[str, typer.Option("--seats", metavar="A,B", help="init: the seats of the team.")] = "",
    repo: Annotated[str, typer.Option("--repo", metavar="DIR", help="init: the project's repository.")] = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Make or print a project's profile."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if action == "init":
        names = [seat.strip() for seat in seats.split(",") if seat.strip()]
        with call.oracle() as oracle:
            path = oracle.init_profile(project, names, repo_root=str(Path(repo).absolute()) if repo else "")
        call.print_json({"profile": path, "seats": names}) if call.as_json else print_line(path)
        return
    if action != "show" or seats or repo:
        raise UsageError(
            say("`oracle profile {action}` is no command.", action=action),
            hint=say("Write `oracle profile init` or `show`."),
        )
    _show_profile(call, project)


def _show_profile(call: Call, project: str) -> None:
    with call.oracle() as oracle:
        found = oracle.profile(project)
    places = {
        "profile": found.path,
        "project": found.project,
        "repo_root": found.repo_root,
        "tasks_root": found.tasks_root,
        "handoff_dir": found.handoff_dir,
    }
    if call.as_json:
        call.print_json({**places, "seats": {seat: found.role(seat) for seat in found.seats}})
        return
    rows: list[tuple[str, str]] = [*places.items()]
    rows += [(say("seat {seat}", seat=seat), found.role(seat)) for seat in found.seats]
    print_table(Table(say_each("what", "value"), rows))


# Ask and deliver ------------------------------------------------------------------------------------------------------


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked; - is standard input.")],
    *,
    now: Annotated[bool, typer.Option("--now", help="Answer from disk at once; no seat is asked.")] = False,
    project: Project = "",
    source: Annotated[
        str, typer.Option("--from", metavar="SEAT", help="The seat that asks.", autocompletion=completing.seats)
    ] = "",
    seat: Annotated[
        str,
        typer.Option(
            "--seat", metavar="SEAT", help="--now: only what this seat knows.", autocompletion=completing.seats
        ),
    ] = "",
    no_synthesis: Annotated[bool, typer.Option("--no-synthesis", help="--now: quotes alone.")] = False,
    target: Annotated[
        str, typer.Option("--target", metavar="SEAT", help="The seat that answers.", autocompletion=completing.seats)
    ] = "memory",
    task_id: Annotated[str, typer.Option("--task-id", metavar="ID", help="The task's id; else one is made.")] = "",
    reply_to: Annotated[
        str, typer.Option("--reply-to", metavar="SEAT", help="Who gets the answer, if not --from.")
    ] = "",
    no_notify: NoNotify = False,
    secrets: Secrets = "refuse",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Answer from disk at once, or ask a seat."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    text = read_body(None, None, "-") if question == "-" else question
    if now:
        if source or task_id or reply_to or target != "memory":
            raise UsageError(
                say("With --now no seat is asked."), hint=say("Leave --from, --target, --task-id and --reply-to out.")
            )
        from oracle.cli.answering import answer_now

        answer_now(call, text, project=project, seat=seat, in_prose=not no_synthesis)
        return
    if not project or not source:
        missing = "--project" if not project else "--from"
        raise UsageError(
            say("Missing option '{missing}'.", missing=missing),
            hint=say("See `oracle ask --help`, or answer at once with --now."),
        )
    if seat or no_synthesis:
        raise UsageError(
            say("--seat and --no-synthesis belong to --now."), hint=say("The seat that is asked is --target.")
        )
    from oracle.app.ask import QUERY, Order

    order = Order(
        *(project, task_id, source, target, text),
        reply_to=reply_to,
        kind=QUERY,
        notifies=not no_notify,
        secrets=secrets,
    )
    with call.oracle() as oracle:
        made = oracle.dispatch(order)
    if call.as_json:
        call.print_json(made.as_json())
        return
    print_line(made.name.task_id)
    call.note(say("receipt: {receipt_path}", receipt_path=made.receipt_path))
    if made.wake_up.result == "sent":
        call.note(say("woke {seat} in {detail}", seat=made.wake_up.seat, detail=made.wake_up.detail))
    elif made.wake_up.result == "attended":
        call.note(say("{seat} is not woken: {detail}", seat=made.wake_up.seat, detail=made.wake_up.detail))


def deliver(
    context: typer.Context,
    *,
    project: OfProject,
    task_id: Annotated[str, typer.Option("--task-id", metavar="ID", help="The task that is answered.")],
    target: Annotated[
        str,
        typer.Option(
            "--target", metavar="SEAT", help="The seat that gets the answer.", autocompletion=completing.seats
        ),
    ],
    inline: Annotated[str | None, typer.Option("--response-inline", metavar="JSON", help="The response.")] = None,
    file: Annotated[
        str | None, typer.Option("--response-file", metavar="FILE", help="A file with it; - is standard input.")
    ] = None,
    summary: Annotated[str, typer.Option("--summary", metavar="TEXT", help="What the receipt says of it.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Deliver nothing when a claim does not hold.")] = False,
    supersede: Annotated[bool, typer.Option("--supersede", help="Replace the answer that stands; it is kept.")] = False,
    no_notify: NoNotify = False,
    secrets: Secrets = "refuse",
    seat: WriterSeat = "memory",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Deliver an answer, exactly once."""
    from oracle.app.deliver import Delivery

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    delivery = Delivery(
        project,
        task_id,
        target,
        _response(inline, file),
        source=seat,
        summary=summary,
        is_strict=strict,
        supersedes=supersede,
        notifies=not no_notify,
        secrets=secrets,
    )
    with call.oracle() as oracle:
        done = oracle.deliver(delivery)
    _print_delivered(call, done)


def _response(inline: str | None, file: str | None) -> dict[str, object]:
    if (inline is None) == (file is None):
        raise UsageError(
            say("One response is needed."), hint=say("Give --response-inline or --response-file, not both.")
        )
    from oracle.domain.responses import parse_response
    from oracle.store import given

    content = parse_response(given.read(file, "--response-file") if file is not None else str(inline))
    if not isinstance(content, dict):
        raise UsageError(say("The response is no JSON object."), hint=say('Give an object, as in {{"answer": "…"}}.'))
    return content


def _print_delivered(call: Call, done: Delivered) -> None:
    if call.as_json:
        call.print_json(done.as_json())
        return
    name = done.name
    if not done.is_new:
        print_line(say("already delivered {task} to {seat}", task=name.task_id, seat=name.target))
        if done.settled:
            call.note(say("the conflict is settled: {settled} kept aside, now superseded", settled=done.settled))
        return
    print_line(say("delivered {task} to {seat}", task=name.task_id, seat=name.target))
    call.note(say("response: {response_path}", response_path=done.response_path))
    for line in done.redacted:
        call.note(say("redacted: {line}", line=line))
    call.note(say("receipt: {receipt_path}", receipt_path=done.receipt_path))
    if done.all_verified is not None:
        call.note(
            say("every claim is verified")
            if done.all_verified
            else say("not every claim is verified; the response says which")
        )
    if done.wake_up.result == "sent":
        call.note(say("woke {seat} in {detail}", seat=done.wake_up.seat, detail=done.wake_up.detail))


# Handoffs -------------------------------------------------------------------------------------------------------------


def handoffs(
    context: typer.Context,
    action: Annotated[str | None, typer.Argument(metavar="show", help="Tell the story of one task.")] = None,
    task_id: Annotated[str | None, typer.Argument(metavar="ID", help="show: the task's id.")] = None,
    *,
    project: Project = "",
    state: Annotated[str, typer.Option("--state", metavar="STATE", help="Only those in this state.")] = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """List handoffs, or tell the story of one."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if action is None:
        _list_handoffs(call, project, state)
        return
    if action != "show" or not task_id or state:
        raise UsageError(
            say("`oracle handoffs {action}` is no command.", action=action),
            hint=say("Write `oracle handoffs show ID`."),
        )
    with call.oracle() as oracle:
        story = oracle.handoff(task_id, project)
    if call.as_json:
        call.print_json(story.as_json())
    else:
        print_lines(_tell(story))


def _list_handoffs(call: Call, project: str, state: str) -> None:
    with call.oracle() as oracle:
        oracle.root.require()
        found = oracle.handoffs(project, state)
    if not found.items:
        call.note(say("nothing is handed over"))
    for sentence in found.problems:
        call.warn(sentence)
    if call.as_json:
        call.print_json(
            {
                "handoffs": [item.as_json() for item in found.items],
                "problems": len(found.problems),
                "faults": list(found.problems),
            }
        )
        return
    headings = say_each("project", "task", "from", "to", "state", "age", "next", "action")
    print_table(Table(headings, [_row(item) for item in found.items]))


def _row(item: Listed) -> tuple[str, ...]:
    handoff, state = item.handoff, item.handoff.state
    ends = (handoff.asker, handoff.answerer, state.step.value, _age_of(item), handoff.next_seat() or say("nobody"))
    return (item.project, handoff.task_id, *ends, state.action)


def _age_of(item: Listed) -> Said:
    age = _age(item.age)
    return say("{age}, stale", age=age) if item.is_stale else age


def _age(seconds: float) -> Said:
    if seconds >= 86400:
        return say("{days} d", days=int(seconds // 86400))
    if seconds >= 3600:
        return say("{hours} h", hours=int(seconds // 3600))
    if seconds >= 60:
        return say("{minutes} min", minutes=int(seconds // 60))
    return say("{seconds} s", seconds=int(seconds))


def _tell(story: Story) -> list[str]:
    from oracle.domain import timestamps

    lines: list[str] = []
    for item in story.listed:
        lines += _tell_state(story, item)
    for chapter in story.chapters:
        moment = timestamps.from_mtime(int(chapter.changed_at * 1e9))
        kind = chapter.receipt.kind.value or say("unknown")
        lines.append(
            say("{moment}  {kind}{suffix}  {path}", moment=moment, kind=kind, suffix=chapter.suffix, path=chapter.path)
        )
        for key in ("title", "summary", "verdict", "commit", "lineage_status", "notified_at", "consumed_at"):
            text = chapter.receipt.text(key)
            lines += [f"    {key}: {text}"] if text and text != "unknown" else []
    told = {sentence for item in story.listed for sentence in item.handoff.problems}
    untold = dict.fromkeys(text for one in story.chapters for text in one.receipt.problems if text not in told)
    lines += [say("problem: {text}", text=text) for text in untold]
    lines += [say("response  {path}", path=story.response_path)] if story.response_path else []
    lines += [f"    {line}" for line in story.answer.splitlines()]
    lines += [say("kept aside  {path}", path=path) for path in story.kept_aside]
    lines += [say("wake-up waits  {text}", text=text) for text in story.wake_ups]
    lines += [_tell_event(event) for event in story.events]
    return lines


def _tell_state(story: Story, item: Listed) -> list[str]:
    handoff, state = item.handoff, item.handoff.state
    ends = {"task": handoff.task_id, "asker": handoff.asker, "answerer": handoff.answerer, "project": story.project}
    return [
        say("{task}: {asker} asks {answerer} in {project}", **ends),
        say(
            "  {state} for {age}; next {seat}: {action}",
            state=state.step.value,
            age=_age_of(item),
            seat=handoff.next_seat() or say("nobody"),
            action=state.action,
        ),
        *([f"  $ {item.command}"] if item.command else ()),
        *(say("  problem: {text}", text=text) for text in handoff.problems),
    ]


def _tell_event(event: dict[str, object]) -> Said:
    return say("{moment}  event {event}{rest}", moment=event.get("ts"), event=event.get("event"), rest=_rest(event))


def _rest(event: dict[str, object]) -> str:
    kept = {key: item for key, item in event.items() if key not in ("ts", "event", "project", "task_id") and item != ""}
    return "".join(f" {key}={item}" for key, item in kept.items())


def resume(context: typer.Context, *, memory_dir: MemoryDir = None, as_json: Json = False) -> None:
    """Finish what was left undone; send what waits."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    with call.oracle() as oracle:
        found = oracle.resume()
    if call.as_json:
        call.print_json(found.as_json())
        return
    print_lines(found.done)
    for line in found.left:
        call.warn(line)
    if not found.done and not found.left:
        call.note(say("nothing was left undone"))


# Journal --------------------------------------------------------------------------------------------------------------


def log(
    context: typer.Context,
    *,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until interrupted.")] = False,
    project: Project = "",
    task: Annotated[str, typer.Option("--task", metavar="ID", help="Only events of this task.")] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="The last N events; 0 is all.")] = 20,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Print what happened, the newest last."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if follow:
        _follow(call, project, task, limit)
    with call.oracle() as oracle:
        oracle.root.require()
        found = oracle.events(project, task, limit)
    if not found:
        call.note(say("no event fits"))
    if call.as_json:
        call.print_json({"events": found})
    else:
        print_lines(map(_event, found))


def _follow(call: Call, project: str, task: str, limit: int) -> None:
    """Print events as they come; no spinner, since waiting is what was asked for."""
    from oracle.app.oracle import Oracle

    with Oracle.open(call.memory_dir, warn=call.warn) as oracle:
        oracle.root.require()
        for event in oracle.follow(project, task, limit):
            write_out(_line(event, call))


def _line(event: dict[str, object], call: Call) -> str:
    return f"{visible(json.dumps(event, ensure_ascii=False) if call.as_json else _event(event))}\n"


def _event(event: dict[str, object]) -> str:
    parts = [str(event.get(key, "")) for key in ("ts", "event", "project", "task_id")]
    return f"{'  '.join(part for part in parts if part)}{_rest(event)}"


# Hook -----------------------------------------------------------------------------------------------------------------


def hook(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="ACTION",
            help="install, uninstall or status.",
            autocompletion=completing.words("install", "uninstall", "status"),
        ),
    ],
    *,
    workspace: Annotated[
        str, typer.Option("--workspace", metavar="DIR", help="The folder that the agent starts in.")
    ] = ".",
    settings_path: Annotated[
        str, typer.Option("--settings-path", metavar="FILE", help="Instead of DIR/.claude/settings.json.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing; print the change as a diff.")] = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Install, remove or look at a seat's Stop hook."""
    from oracle.hook import settings
    from oracle.store.layout import name_root

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    path = settings.settings_file(workspace, settings_path)
    if action == "status":
        _print_status(call, settings.read_status(path))
        return
    if action == "install":
        command = settings.hook_command(settings.default_script(), root=name_root(call.memory_dir))
        change = settings.plan_install(path, command)
    elif action == "uninstall":
        change = settings.plan_uninstall(path)
    else:
        raise UsageError(
            say("`oracle hook {action}` is no command.", action=action), hint=say("Write install, uninstall or status.")
        )
    _change(call, change, dry_run=dry_run)


def _change(call: Call, change: settings.Change, *, dry_run: bool) -> None:
    from oracle.hook import settings

    backup = change.apply() if change.is_needed and not dry_run else ""
    notes = settings.read_status(change.path).notes if not dry_run else ()
    if call.as_json:
        call.print_json(
            {
                "path": change.path,
                "changed": change.is_needed and not dry_run,
                "diff": change.diff(),
                "backup": backup or None,
                "notes": list(notes),
            }
        )
        return
    if dry_run:
        if change.is_needed:
            write_out(visible_lines(change.diff()))
        else:
            print_line(say("unchanged: {path}", path=change.path))
        return
    print_line(
        say("updated: {path}", path=change.path) if change.is_needed else say("unchanged: {path}", path=change.path)
    )
    if backup:
        call.note(say("the file as it was: {backup}", backup=backup))
    for line in notes:
        call.note(line)


def _standing(found: settings.Status) -> Said:
    if not found.commands:
        return say("not installed")
    if found.is_disabled:
        return say("installed, but hooks are disabled")
    return say("installed") if found.is_installed else say("installed, but faulty")


def _print_status(call: Call, found: settings.Status) -> None:
    if call.as_json:
        call.print_json(
            {
                "path": found.path,
                "installed": found.is_installed,
                "commands": list(found.commands),
                "notes": list(found.notes),
            }
        )
    else:
        print_line(say("{standing}: {path}", standing=_standing(found), path=found.path))
        for command in found.commands:
            call.note(say("runs {command}", command=command))
        for line in found.notes:
            call.note(line)
    if not found.is_installed:
        raise typer.Exit(1)
