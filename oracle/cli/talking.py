"""Commands for talking to people: language, push, feishu."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oracle.cli import completing
from oracle.cli.arguments import read_body
from oracle.cli.options import Json, MemoryDir, Project, WriterSeat, begin
from oracle.cli.printing import Table, print_line, print_table, visible_lines, write_out
from oracle.errors import NotFound, UsageError
from oracle.wording import say, say_each


def language(
    context: typer.Context,
    messages: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MESSAGE]...", help="What the operator wrote, oldest first; - is standard input."),
    ] = None,
    *,
    transcript: Annotated[
        str, typer.Option("--transcript", metavar="FILE", help="What they typed in a transcript of Claude Code.")
    ] = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Decide which language to answer in."""
    from oracle.domain.language import decide

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if bool(messages) == bool(transcript):
        raise UsageError(
            say("Either messages or a transcript are needed."),
            hint=say('Write `oracle language "MESSAGE" "MESSAGE"`, or --transcript FILE.'),
        )
    found = decide(_typed(transcript) if transcript else _given(messages or []))
    if call.as_json:
        call.print_json(found.as_json())
    else:
        write_out(f"{found.language}\n")


def _typed(path: str) -> tuple[str, ...]:
    from oracle.hook.payload import read_operator

    if not Path(path).expanduser().is_file():
        raise NotFound(
            say("The transcript {path} is not there.", path=path),
            hint=say("The Stop hook gets its path as transcript_path."),
        )
    return read_operator(path)


def _given(messages: list[str]) -> list[str]:
    if messages != ["-"]:
        return messages
    from oracle.store.disk import input_file

    return input_file.read("-", "--transcript").decode("utf-8", "replace").splitlines()


def push(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="At most four lines; - is standard input.")],
    *,
    project: Annotated[
        str, typer.Option("--project", metavar="P", help="Whose people.", autocompletion=completing.projects)
    ],
    session: Annotated[
        str, typer.Option("--session", metavar="NAME", help="Where an answer goes; else the seat's own session.")
    ] = "",
    task_id: Annotated[
        str, typer.Option("--task-id", metavar="ID", help="The task it is about.", autocompletion=completing.handoffs)
    ] = "",
    verdict: Annotated[
        str,
        typer.Option(
            "--verdict",
            metavar="WORD",
            help="PASS, FAIL or BLOCKED.",
            autocompletion=completing.words("PASS", "FAIL", "BLOCKED"),
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Send nothing; print the message.")] = False,
    seat: WriterSeat = "memory",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Tell the people of a project by Feishu."""
    from oracle.app.teamwork.push import Message

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    body = read_body(None, None, "-") if text == "-" else text
    message = Message(body, project, seat=seat, session=session, task_id=task_id, verdict=verdict)
    with call.oracle() as oracle:
        made = oracle.prepare_push(message) if dry_run else oracle.push(message)
    if call.as_json:
        call.print_json({"sent": not dry_run, "cut": made.is_cut, "text": made.text()})
    elif dry_run:
        write_out(visible_lines(made.text() + "\n"))
    else:
        print_line(say("pushed to {project}", project=made.project))
    if made.is_cut:
        call.note(say("the text was too long and was cut"))


def feishu(
    context: typer.Context,
    action: Annotated[
        str, typer.Argument(metavar="check", help="Change nothing.", autocompletion=completing.words("check"))
    ],
    *,
    project: Project = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Tell whether a robot must be mentioned."""
    from oracle.app.teamwork.mentions import ABSENT, OFF

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if action != "check":
        raise UsageError(
            say("`oracle feishu {action}` is no command.", action=action), hint=say("Write `oracle feishu check`.")
        )
    with call.oracle() as oracle:
        found = oracle.check_mentions(project)
    wrong = [item for item in found if item.state in (ABSENT, OFF)]
    if call.as_json:
        call.print_json({"ok": not wrong, "layers": [item.as_json() for item in found]})
    else:
        rows = [(str(item.layer), item.state, item.place, item.detail) for item in found]
        print_table(Table(say_each("layer", "state", "place", "detail"), rows))
    if wrong:
        raise typer.Exit(1)
