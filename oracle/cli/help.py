"""The parser's texts in the operator's language: errors, and help with a formatter that counts terminal cells.

The parser fills in its English texts itself. The patterns of `find_sentence` take them apart again.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import lru_cache
from shutil import get_terminal_size
from typing import Any

import typer

from oracle.cli.i18n.translate import translate_help
from oracle.domain.layout import cells, wrap
from oracle.wording import Sentence, joined, say, spoken, templates

ERRORS = templates(
    "Missing option {names}.",
    "Missing argument {names}.",
    "Missing command.",
    "No such option: {name} (Possible options: {near})",
    "No such option: {name}",
    "Got unexpected extra argument(s) ({words})",
    "Option {name} requires an argument.",
    "Option {name} does not take a value.",
    "Argument {name} takes {count} values.",
    "Invalid value for {names}: {what}",
    "{value} is not a whole number.",
    "{value} is not a number.",
    "{value} is too small; {least} is the least.",
    "{value} is not between {least} and {most}.",
)
"""What the parser says about a command line. The first template that fits a text is taken."""

NOTES = templates("default: {default}", "env var: {var}", "required")
"""What the parser adds to the help of an option, in brackets."""


def find_sentence(text: str, known: tuple[str, ...]) -> str:
    """Return the text as a sentence of one of the known templates; the text itself if none fits."""
    for template in known:
        found = _pattern(template).fullmatch(text)
        if found:
            return say(template, **{name: find_sentence(value, known) for name, value in found.groupdict().items()})
    return text


@lru_cache
def _pattern(template: str) -> re.Pattern[str]:
    parts = string.Formatter().parse(template)
    return re.compile(
        "".join(f"{re.escape(text)}(?P<{name}>.*)" if name else re.escape(text) for text, name, *_ in parts)
    )


_PARSERS_WORDS = templates(
    "Usage: ",
    "[OPTIONS]",
    "COMMAND [ARGS]...",
    "Arguments",
    "Options",
    "Commands",
    "Show this message and exit.",
    "Install completion for the current shell.",
    "Show completion for the current shell, to copy it or customize the installation.",
)
"""What the parser adds to help texts."""

_NOTES = re.compile(r"(?P<text>.*?)\s*(?:\[(?P<notes>(?:default|env var|required|x[<>=]|\d).*)\])?", re.DOTALL)


def translate_command(command: Any) -> None:
    """Translate the help of a command and of the commands below it."""
    command.context_class = _Context
    command.help = translate_help(command.help)
    command.short_help = (command.help or "").partition("\n\n")[0].removesuffix("。").removesuffix(".")
    epilog = command.epilog
    command.epilog = spoken(epilog) if isinstance(epilog, Sentence) else translate_help(epilog)
    for parameter in command.params:
        parameter.help = translate_help(getattr(parameter, "help", None) or "")
    for below in getattr(command, "commands", {}).values():
        translate_command(below)


_NARROWEST, _NARROW, _TIGHT_COLUMN = 20, 50, 4
"""Columns: what help needs at least, from where on a description is beside its name, and its indent below a name."""


class _Formatter(typer.Context.formatter_class):  # type: ignore[valid-type,misc]
    """The parser's formatter, with its own words translated. It fits a terminal that is narrower than 50 columns too."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.width: int = max(min(int(self.width), get_terminal_size().columns), _NARROWEST)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the usage line."""
        for word in ("[OPTIONS]", "COMMAND [ARGS]..."):
            args = args.replace(word, translate_help(word))
        super().write_usage(prog, args, prefix or translate_help("Usage: "))

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        self.write(f"{'':>{self.current_indent}}{spoken(say('{heading}:', heading=translate_help(heading)))}\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        indent = " " * self.current_indent
        paragraphs = [wrap(part, self.width - self.current_indent) for part in text.split("\n\n")]
        self.write("\n\n".join("\n".join(f"{indent}{line}" for line in lines) for lines in paragraphs) + "\n")

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names with their descriptions, beside the name or, for a long one, below it."""
        rows = list(rows)
        col_max = col_max if self.width >= _NARROW else _TIGHT_COLUMN
        first_column = min(max(cells(name) for name, _ in rows), col_max) + col_spacing
        indent = " " * self.current_indent
        for name, meaning in rows:
            is_long = cells(name) > first_column - col_spacing
            lines = wrap(_translated(meaning), max(self.width - first_column - self.current_indent, 10))
            begins = f"{indent}{name}" + ("\n" + indent if is_long and lines else "")
            pad = first_column if is_long else first_column - cells(name)
            self.write(f"{begins}{' ' * pad}{lines[0]}\n" if lines else f"{begins}\n")
            for line in lines[1:]:
                self.write(f"{indent}{' ' * first_column}{line}\n")


def _translated(meaning: str) -> str:
    found = _NOTES.fullmatch(meaning)
    if found is None:
        return translate_help(meaning)
    notes = spoken(joined("; ", [find_sentence(note, NOTES) for note in (found["notes"] or "").split("; ")]))
    return translate_help(found["text"]) + (f" [{notes}]" if notes else "")


class _Context(typer.Context):
    formatter_class = _Formatter
