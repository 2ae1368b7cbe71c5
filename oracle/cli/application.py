"""The command tree of `oracle`, below the headings of `oracle --help`. A call loads the command that it names, and no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import typer

from oracle.cli.groups import Group, first_word
from oracle.cli.options import SETTINGS, Json, Lang, MemoryDir, begin, option
from oracle.cli.output import write_out
from oracle.wording import templates

EPILOG = (
    "`oracle help COMMAND` explains one. Exit codes: 0 ok, 1 invalid, 2 usage, 3 no receipt, 4 unknown, 5 not yours,"
    " 6 conflict, 7 exists, 8 records gone, 70 unexpected, 75 locked."
)


class OracleCommands(Group):
    """The commands of `oracle`."""

    package = "oracle.cli.commands"
    sections: ClassVar = dict(
        zip(
            templates("Knowledge", "Delivery", "Set-up", "Team", "Compat"),
            (
                "init write retire list show search ask backlinks graph check packet",
                "deliver ack handoffs resume log",
                "hook skill mcp daemon project scan config index doctor",
                "team",
                "compat migrate",
            ),
            strict=True,
        )
    )
    homes: ClassVar = {
        "root": "init index doctor",
        "write": "write retire",
        "records": "list check",
        "show": "show backlinks",
        "search": "search packet",
        "delivery": "ask deliver ack",
        "handoffs": "handoffs log resume",
        "hook": "hook skill",
        "servers": "daemon mcp",
        "project": "project scan",
        "compat": "compat migrate",
    }


def build() -> typer.Typer:
    """Return the application."""
    app = typer.Typer(
        name="oracle",
        cls=OracleCommands,
        epilog=EPILOG,
        invoke_without_command=True,
        **{**SETTINGS, "add_completion": True},
    )
    app.callback()(main)
    return app


def command() -> Any:
    """Return the application as the parser runs it; `--show-completion` is left out of the help."""
    found = typer.main.get_command(build())
    for one in found.params:
        one.hidden = one.name == "show_completion"  # type: ignore[attr-defined]
    return found


def ask_for_help(words: Sequence[str]) -> list[str]:
    """Return `help [COMMAND]...` as `[COMMAND]... --help`."""
    at = first_word(words)
    if words[at : at + 1] != ["help"]:
        return list(words)
    named = [word for word in words[at + 1 :] if not word.startswith("-") and word != "help"]
    return [*words[:at], *named, "--help"]


def _print_version(context: typer.Context, is_asked: bool) -> None:
    if is_asked:
        from oracle import __version__

        call = begin(context, memory_dir=None, as_json=False)
        call.answer({"version": __version__}, f"oracle {__version__}")
        raise typer.Exit


def main(
    context: typer.Context,
    *,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
    lang: Lang = "",
    version: Annotated[
        bool, option("--version,-V", "Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Write, link, search and trace the knowledge base of a team of coding agents."""
    begin(context, memory_dir=memory_dir, as_json=as_json)
    if context.invoked_subcommand is None:
        write_out(context.get_help() + "\n")
