"""Options that several commands share, each spelled and explained once."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli import completing
from oracle.cli.session import Call
from oracle.errors import UsageError
from oracle.wording import say

_FREE_TEXT, _ROOT = "TEXT", "memory_dir"

Slug = Annotated[
    str,
    typer.Argument(
        metavar="SLUG",
        help="A record: its slug, its path, or the words of its title.",
        autocompletion=completing.slugs,
    ),
]
Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A slug, or an entity as in entity:taskid:ARENA-228.",
        autocompletion=completing.targets,
    ),
]

MemoryDir = Annotated[
    str | None,
    typer.Option("--memory-dir", metavar="DIR", help="The Root; else ORACLE_ROOT, else ~/.agents/memory."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Stat every file first.")]

Project = Annotated[
    str, typer.Option("--project", metavar="P", help="Only this project.", autocompletion=completing.projects)
]
OfProject = Annotated[
    str, typer.Option("--project", metavar="P", help="The project.", autocompletion=completing.projects)
]
Seat = Annotated[str, typer.Option("--seat", metavar="SEAT", help="Only this seat.", autocompletion=completing.seats)]
Kind = Annotated[str, typer.Option("--kind", metavar="KIND", help="Only this kind.", autocompletion=completing.kinds)]
Status = Annotated[
    str,
    typer.Option(
        "--status", metavar="STATUS", help="Only this status, as in superseded.", autocompletion=completing.statuses
    ),
]
Author = Annotated[
    str, typer.Option("--author", metavar="AUTHOR", help="Only this author.", autocompletion=completing.authors)
]
Task = Annotated[
    str,
    typer.Option(
        "--task", metavar="ID", help="Only records that mention this task id.", autocompletion=completing.tasks
    ),
]
Since = Annotated[str, typer.Option("--since", metavar="DATE", help="Not before this date or time (UTC).")]
Until = Annotated[str, typer.Option("--until", metavar="DATE", help="Not after this date or time (UTC).")]

Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="T", help="Only edges of this type; repeatable.", autocompletion=completing.types),
]

WriterSeat = Annotated[
    str,
    typer.Option(
        "--seat",
        metavar="SEAT",
        envvar="ORACLE_SEAT",
        help="The seat that writes (default memory).",
        autocompletion=completing.members,
    ),
]
Secrets = Annotated[
    str,
    typer.Option(
        "--secrets",
        metavar="refuse|redact|allow",
        help="What to do with secrets (default refuse).",
        autocompletion=completing.words("refuse", "redact", "allow"),
    ),
]
NoNotify = Annotated[bool, typer.Option("--no-notify", help="This call wakes nobody.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Write nothing; print the record.")]


def begin(context: typer.Context, *, memory_dir: str | None, as_json: bool) -> Call:
    """Return this call, the words after the command word winning over those before it. Raises UsageError for an empty option."""
    _require_values(context)
    call = context.obj
    if not isinstance(call, Call):  # the application was called by something other than `run`
        call = context.obj = Call()
    if memory_dir is not None:
        call.memory_dir = memory_dir
    call.as_json = call.as_json or as_json
    return call


def _require_values(context: typer.Context) -> None:
    """Refuse an option that was given with nothing: `--project "$P"` of a variable that is not set would mean every project.

    What holds free text may be empty.
    """
    for option in context.command.params:
        if option.metavar == _FREE_TEXT or option.name == _ROOT:  # of the Root speaks whoever opens it
            continue
        value = context.params.get(option.name or "")
        is_empty = value == "" or (isinstance(value, list | tuple) and "" in value)
        if is_empty and option.param_type_name == "option":
            source = context.get_parameter_source(option.name or "")
            if source is not None and source.name == "COMMANDLINE":
                raise UsageError(
                    say("{option} is empty.", option=option.opts[0]), hint=say("Give it a value, or leave it out.")
                )
