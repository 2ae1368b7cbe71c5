"""The command tree of `oracle`: what a word with others below it does, and the headings of `oracle --help`.

A call loads the command that it names, and no other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from shutil import get_terminal_size
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from oracle.cli.options import SETTINGS, Commands, Json, Lang, MemoryDir, begin, option
from oracle.cli.output import write_out
from oracle.errors import UsageError
from oracle.wording import is_english, say, templates

COMMANDS = "Commands"

MOVED = {
    "timeline": "list --timeline",
    "entities": "list --entities",
    "get": "show",
    "links": "show --links",
    "orphans": "check --only orphans",
    "unresolved": "check --only unresolved",
    "stale": "check --only stale",
    "review": "check --only review",
    "profile": "project",
    "serve": "daemon run",
    "root": "config get root",
    "status": "index status",
    "feishu": "team push mentions",
    "compact-check": "team compact",
}
"""Words that people may still type for a command, or expect, and the command that does it. Words below another are found."""


class Group(TyperGroup):
    """Commands below a word."""

    package: ClassVar[str] = ""
    """The package with a module for each command, loaded when it is named; "" where all are loaded already."""

    sections: ClassVar[Mapping[str, str]] = {}
    """The commands of `package` below their headings, as `--help` prints them."""

    unlisted: ClassVar[str] = ""
    """Commands of `package` that run and complete, but that `--help` leaves out."""

    homes: ClassVar[Mapping[str, str]] = {}
    """Modules of `package` that hold several commands, each with its words; another word has a module of its name."""

    default: ClassVar[str] = ""
    """The hidden command that runs when no other is named."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the command words in the order of the help."""
        return " ".join(self.sections.values()).split() or list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, loaded now when it is needed for the first time; None when there is none."""
        known = [*self.list_commands(ctx), *self.unlisted.split()]
        if cmd_name not in self.commands and cmd_name in known and self.package:
            home = next((name for name, words in self.homes.items() if cmd_name in words.split()), cmd_name)
            module = import_module(f"{self.package}.{home}")
            command = typer.main.get_command(getattr(module, f"{cmd_name}_app"))
            command.name = cmd_name
            if needs_own_help():
                from oracle.cli.help import translate_command

                translate_command(command)
            if (
                "_ORACLE_COMPLETE" in os.environ
            ):  # a shell offers --lang anywhere: it is taken out before words are parsed
                lang = [one for one in ctx.find_root().command.params if one.name == "lang"]
                for one in (command, *getattr(command, "commands", {}).values()):
                    one.params.extend(lang)
            self.commands[cmd_name] = command
        return self.commands.get(cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before words that name no other."""
        if self.default and self._runs_default(ctx, args):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def _runs_default(self, ctx: Any, args: list[str]) -> bool:
        word = "".join(args[first_word(args) :][:1])
        if not word:
            return not ctx.resilient_parsing and not any(one.required for one in self.commands[self.default].params)
        if word in self.commands or word in ctx.help_option_names:
            return False
        takes_words = any(one.param_type_name == "argument" for one in self.commands[self.default].params)
        return takes_words or word.startswith("-")

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that the first word names. Raises UsageError with the one that may be meant."""
        word = args[0]
        if not ctx.resilient_parsing and self.get_command(ctx, word) is None:
            raise UsageError(say("No such command {word!r}.", word=word), hint=self._advise(ctx, word))
        name, command, rest = super().resolve_command(ctx, args)
        return "" if name == self.default else name, command, rest

    def _advise(self, ctx: Any, word: str) -> str:
        """Return what to type instead of an unknown command word."""
        path = ctx.command_path
        meant = [MOVED[word]] if ctx.parent is None and word in MOVED else []
        meant = meant or [name for name, _ in walk(self) if name.split(" ")[-1] == word]
        meant = meant or get_close_matches(word, self.list_commands(ctx))
        if meant:
            return say("Did you mean {commands}?", commands=[f"`{path} {name}`" for name in meant[:5]])
        if ctx.parent is None:
            return say("See `{command} --help`.", command=path)
        return say(
            "Try one of {commands}.", commands=[name for name in self.list_commands(ctx) if name != self.default]
        )

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write how the default command is called, then the others."""
        pieces = " ".join(self.collect_usage_pieces(ctx))
        if self.default:
            own = self.commands[self.default].collect_usage_pieces(self._below(ctx))
            formatter.write_usage(ctx.command_path, " ".join(own))
            formatter.write_usage(ctx.command_path, pieces, prefix=" " * len("Usage: "))
        else:
            formatter.write_usage(ctx.command_path, pieces)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands below their headings, then the options."""
        self.format_commands(ctx, formatter)
        command = self.commands.get(self.default)
        TyperCommand.format_options(command or self, self._below(ctx) if command else ctx, formatter)  # type: ignore[arg-type]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line for each command."""
        sections = self.sections or {COMMANDS: " ".join(self.list_commands(ctx))}
        width = max(len(word) for word in self.list_commands(ctx) if word != self.default)
        if not self.sections:
            formatter.write("\n")
        for heading, words in sections.items():
            formatter.write_heading(heading)
            found = [(word, self.get_command(ctx, word)) for word in words.split()]
            with formatter.indentation():
                formatter.write_dl(
                    [(word.ljust(width), one.get_short_help_str(100)) for word, one in found if not one.hidden]
                )

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Offer the commands, and what the default command takes."""
        found = super().shell_complete(ctx, incomplete)
        command = self.commands.get(self.default)
        if command is not None:
            below = self._below(ctx)
            takes = [one for one in command.params if one.param_type_name == "argument"][:1]
            found += [item for one in takes for item in one.shell_complete(below, incomplete)]
            found += command.shell_complete(below, incomplete)
        return found

    def _below(self, ctx: Any) -> Any:
        return self.commands[self.default].make_context("", [], parent=ctx, resilient_parsing=True)


def needs_own_help() -> bool:
    """Return whether the parser's own help does not fit: in another language, or where the terminal is too narrow for it."""
    return not is_english() or get_terminal_size().columns < _PARSERS_COLUMNS


def first_word(words: Sequence[str]) -> int:
    """Return the place of the first word behind `--json` and `--memory-dir DIR`."""
    at = 0
    while at < len(words) and (words[at] == "--json" or words[at].startswith("--memory-dir")):
        at += 2 if words[at] == "--memory-dir" else 1
    return at


def walk(group: Group, *, hidden: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield every command below a group: the words that lead to it, and itself."""
    for word in [*group.list_commands(None), *group.unlisted.split()]:
        command = group.get_command(None, word)
        if hidden or not command.hidden:
            yield word, command
        if isinstance(command, Group):
            yield from ((f"{word} {path}", below) for path, below in walk(command, hidden=hidden))


def group(meaning: str, *, example: str, kind: type[Group] = Group, default: str = "") -> Commands:
    """Return the place of several commands below one word. Called bare it prints them, or runs a `default` that needs no words."""
    kind = type("Group", (kind,), {"default": default}) if default else kind
    epilog = say("Example: {example}", example=example)
    app = Commands(cls=kind, help=meaning, epilog=epilog, invoke_without_command=True, **SETTINGS)
    app.callback()(_print_commands)
    return app


def _print_commands(context: typer.Context, *, memory_dir: MemoryDir = None, as_json: Json = False) -> None:
    begin(context, memory_dir=memory_dir, as_json=as_json)
    if context.invoked_subcommand is None:
        write_out(context.get_help() + "\n")


# The application -------------------------------------------------------------------------------------------------------

_PARSERS_COLUMNS = 52
"""The narrowest terminal for the parser's own help: it keeps to 50 columns at least, and leaves two free."""
EPILOG = "Exit codes: see references/exit-codes.md."


class OracleCommands(Group):
    """The commands of `oracle`."""

    package = "oracle.cli.commands"
    sections: ClassVar = dict(
        zip(
            templates("Knowledge", "Delivery", "Set-up", "Team"),
            (
                "init write retire remember forget list show search ask backlinks graph check packet experience export watch web",
                "deliver ack handoffs resume log",
                "setup source hook skill mcp daemon project scan config index doctor migrate",
                "team hub",
            ),
            strict=True,
        )
    )
    unlisted = "compat"
    homes: ClassVar = {
        "root": "init index doctor",
        "write": "write retire",
        "remember": "remember forget",
        "records": "list check",
        "show": "show backlinks",
        "search": "search packet",
        "delivery": "ask deliver ack",
        "handoffs": "handoffs log resume",
        "servers": "daemon mcp",
        "project": "project scan",
        "compat": "compat migrate",
    }

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options as one more group, without a blank line before them."""
        self.format_commands(ctx, formatter)
        formatter.write_heading("Options")
        with formatter.indentation():
            formatter.write_dl([line for one in self.get_params(ctx) if (line := one.get_help_record(ctx))])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the last line as a heading of its own, without a blank line, so that the help fits on one screen."""
        formatter.write_text(f"{self.epilog}")


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
    """Return the application as the parser runs it; what sets up completion is left out of the help."""
    found = typer.main.get_command(build())
    for one in found.params:
        one.hidden = one.name in ("show_completion", "install_completion")  # type: ignore[attr-defined]
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
