"""The Typer application: which commands there are, in the order in which `oracle --help` names them.

A call pays for the command it names alone: the others are neither imported nor built.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, begin
from oracle.cli.printing import write_out

EPILOG = (
    "`oracle help COMMAND` explains a command, as `oracle COMMAND --help` does."
    " "
    "Exit codes: 0 fine, 1 wrong or invalid, 2 usage, 3 no receipt, 4 not known, 5 not Memory's to write, 6 another answer stands,"
    " 7 the record is there, 8 most records are gone, 70 unforeseen, 75 locked."
)

COMMANDS = {
    "init": "writing:init",
    "write": "writing:write",
    "retire": "writing:retire",
    "list": "reading:list_records",
    "timeline": "reading:timeline",
    "search": "searching:search",
    "show": "reading:show",
    "get": "reading:get",
    "packet": "packets:packet",
    "status": "reading:status",
    "links": "linking:links",
    "backlinks": "linking:backlinks",
    "graph": "linking:graph",
    "entities": "linking:entities",
    "orphans": "linking:orphans",
    "unresolved": "linking:unresolved",
    "stale": "checking:stale",
    "review": "checking:review",
    "profile": "profiles:profile",
    "ask": "delivery:ask",
    "deliver": "delivery:deliver",
    "handoffs": "handoffs:handoffs",
    "resume": "delivery:resume",
    "log": "journal:log",
    "hook": "hooks:hook",
    "skill": "skills:skill",
    "decision": "deciding:decision",
    "task": "workflow:task",
    "ack": "chains:ack",
    "integrate": "chains:integrate",
    "rehearse": "chains:rehearse",
    "peers": "keeping:peers",
    "ownership": "keeping:ownership",
    "workspace": "keeping:workspace",
    "compact-check": "keeping:compact_check",
    "language": "talking:language",
    "push": "talking:push",
    "feishu": "talking:feishu",
    "serve": "daemon:serve",
    "daemon": "daemon:daemon",
    "metrics": "daemon:metrics",
    "scan": "scanning:scan",
    "project": "scanning:project",
    "privacy": "guarding:privacy",
    "embed": "embedding:embed",
    "reconcile": "upkeep:reconcile",
    "doctor": "upkeep:doctor",
    "root": "upkeep:root",
    "mcp": "serving:mcp",
}
"""The module of this package and the function behind each command word."""


def build(words: Sequence[str] = ()) -> typer.Typer:
    """Return the application with the one command that `words` name, or with all when they name none (help, completion)."""
    named = _command_in(words)
    app = typer.Typer(
        name="oracle",
        epilog=EPILOG,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=not named,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(main)
    for name in [named] if named else COMMANDS:
        module, function = COMMANDS[name].split(":")
        app.command(name)(getattr(import_module(f"oracle.cli.{module}"), function))
    return app


def offer_language(command: object) -> None:
    """Let a shell that completes a line offer `--lang` behind the command word too, where it is taken out before parsing."""
    commands = getattr(command, "commands", {})
    spoken = [option for option in getattr(command, "params", ()) if option.name == "lang"]
    for one in commands.values() if "_ORACLE_COMPLETE" in os.environ else ():
        one.params.extend(spoken)


def _command_in(words: Sequence[str]) -> str:
    at = None if "_ORACLE_COMPLETE" in os.environ else _command_at(words)
    return words[at] if at is not None and words[at] in COMMANDS else ""


def _command_at(words: Sequence[str]) -> int | None:
    """Return where the command word stands, None when there is none."""
    rest = iter(enumerate(words))
    for at, word in rest:
        if word == "--memory-dir":
            next(rest, None)
        elif word.startswith(("--install-completion", "--show-completion")):
            return None
        elif not word.startswith("-"):
            return at
    return None


def ask_for_help(words: Sequence[str]) -> list[str]:
    """Return the words with `help [COMMAND]` in the place of a command word written as `[COMMAND] --help`."""
    at = _command_at(words)
    if at is None or words[at] != "help":
        return list(words)
    named = [word for word in words[at + 1 :] if not word.startswith("-")][:1]
    return [*words[:at], *(named if named != ["help"] else []), "--help"]


def _print_version(context: typer.Context, is_asked: bool) -> None:
    if is_asked:
        from oracle import __version__

        call = begin(context, memory_dir=None, as_json=False)
        if call.as_json:
            call.print_json({"version": __version__})
        else:
            write_out(f"oracle {__version__}\n")
        raise typer.Exit


def main(
    context: typer.Context,
    *,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    lang: Annotated[  # taken out of the words before they are parsed, since help and errors speak it too
        str,
        typer.Option(
            "--lang",
            metavar="auto|zh|en",
            help="The language to speak (default ORACLE_LANG, else en).",
            autocompletion=completing.words("auto", "zh", "en"),
        ),
    ] = "",
    version: Annotated[
        bool, typer.Option("--version", "-V", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Write, link, search and trace the knowledge base of a team of coding agents.

    Markdown files are the truth; what these commands print comes from an index that follows them.
    """
    begin(context, memory_dir=memory_dir, as_json=as_json)
    if context.invoked_subcommand is None:
        write_out(context.get_help() + "\n")
