"""Declare commands and their options, and parse words with a form of their own: a body, lines, a place in a record.

Shared options are declared once.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, ClassVar, TypeVar

import typer
from typer.core import TyperCommand

from oracle.app.settings import LANGUAGES
from oracle.cli import completion
from oracle.cli.completion import Offer
from oracle.cli.session import Call
from oracle.errors import UsageError
from oracle.process import STANDARD_INPUT, read_text_input
from oracle.wording import say

Function = TypeVar("Function", bound=Callable[..., None])

_FREE_TEXT, _ROOT = "TEXT", "memory_dir"
SETTINGS: dict[str, Any] = {
    "rich_markup_mode": None,
    "add_completion": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


def option(spelling: str, meaning: str, offer: Offer | None = None, **more: Any) -> Any:
    """Return the declaration of an option such as `--state STATE`. Choices (`--lane light|heavy`) are offered to the shell."""
    names, _, metavar = spelling.partition(" ")
    choices = completion.words(*metavar.split("|")) if "|" in metavar else None
    return typer.Option(
        *names.split(","), metavar=metavar or None, help=meaning, autocompletion=offer or choices, **more
    )


def argument(metavar: str, meaning: str, offer: Offer | None = None) -> Any:
    """Return the declaration of an argument."""
    return typer.Argument(metavar=metavar, help=meaning, autocompletion=offer)


MemoryDir = Annotated[str | None, option("--memory-dir DIR", "The Root; else ORACLE_ROOT, else ~/.agents/memory.")]
Json = Annotated[bool, option("--json", "Print one JSON document.")]
Lang = Annotated[str, option(f"--lang {'|'.join(LANGUAGES)}", "The language to speak (default ORACLE_LANG, else en).")]

Slug = Annotated[str, argument("SLUG", "A record: its slug, path or title, or a part of its slug.", completion.slugs)]
Target = Annotated[str, argument("TARGET", "A record, or an entity: HARBOR-5, a commit, a path.", completion.targets)]
TaskId = Annotated[str, argument("ID", "The task.", completion.handoffs)]
Fresh = Annotated[bool, option("--fresh", "Stat every file first.")]
Meaning = Annotated[bool, option("--meaning", "Search by meaning even if no daemon has the models loaded.")]
Full = Annotated[bool, option("--full", "Print names in full.")]
Project = Annotated[str, option("--project P", "Only this project.", completion.projects)]
OfProject = Annotated[str, option("--project P", "The project.", completion.projects)]
Since = Annotated[str, option("--since DATE", "Not before this date or time (UTC).")]
Types = Annotated[list[str] | None, option("--type T", "Only edges of this type; repeatable.", completion.types)]
WriterSeat = Annotated[str, option("--seat SEAT", "The seat that writes.", completion.members, envvar="ORACLE_SEAT")]
Secrets = Annotated[str, option("--secrets refuse|redact|allow", "What to do with secrets.")]
NoNotify = Annotated[bool, option("--no-notify", "Wake nobody.")]
Hub = Annotated[bool, option("--hub", "Ask the records of the whole team.")]
DryRun = Annotated[bool, option("--dry-run", "Write nothing; print what would be written.")]
NewProject = Annotated[bool, option("--new-project", "The project is new, though a similar one exists.")]


class Filters(dict[str, str]):
    """The filters of a listing that were given, by name."""


_FILTERS = {
    "project": Project,
    "seat": Annotated[str, option("--seat SEAT", "Only this seat.", completion.seats)],
    "kind": Annotated[str, option("--kind KIND", "Only this kind.", completion.kinds)],
    "status": Annotated[str, option("--status STATUS", "Only this status, as in superseded.", completion.statuses)],
    "author": Annotated[str, option("--author AUTHOR", "Only this author.", completion.authors)],
    "task": Annotated[str, option("--task ID", "Only records that mention this task.", completion.tasks)],
    "since": Since,
    "until": Annotated[str, option("--until DATE", "Not after this date or time (UTC).")],
}


class _Command(TyperCommand):
    """A command that still takes former spellings of its options; neither help nor a shell shows them."""

    former: ClassVar[Mapping[str, str]] = {}
    """Each former spelling, with the present one."""

    def make_parser(self, ctx: Any) -> Any:
        parser = super().make_parser(ctx)
        for old, new in self.former.items():
            present: Any = next(one for one in self.params if new in one.opts)
            parser.add_option(present, [old], dest=present.name, nargs=present.nargs)
        return parser


class Commands(typer.Typer):
    """The command of a word, or the commands below it."""

    def add(
        self,
        name: str = "",
        *,
        example: str,
        former: Mapping[str, str] | None = None,
        has_hub: bool = False,
        **settings: Any,
    ) -> Callable[[Function], Function]:
        """Register a function that takes a `Call` first; `--memory-dir` and `--json` are added to its options.

        `has_hub` adds `--hub`. `former` names options as scripts may still spell them, with the present spelling of each.
        """
        if former:
            settings["cls"] = type("Command", (_Command,), {"former": former})

        def register(function: Function) -> Function:
            epilog = say("Example: {example}", example=example)
            asked: Any = {**SETTINGS["context_settings"], **settings.get("context_settings", {})}
            self.command(name or None, epilog=epilog, **{**settings, "context_settings": asked})(
                _with_call(function, has_hub=has_hub)
            )
            return function

        return register


def single() -> Commands:
    """Return the place of one command."""
    return Commands(**SETTINGS)


def begin(context: typer.Context, *, memory_dir: str | None, as_json: bool) -> Call:
    """Return this call; options after a command word win over those before it. Raises UsageError for an empty option."""
    _require_values(context)
    call = context.obj
    if not isinstance(call, Call):  # the application was called by something other than `run`
        call = context.obj = Call()
    if memory_dir is not None:
        call.memory_dir = memory_dir
    call.as_json = call.as_json or as_json
    return call


def _with_call(function: Callable[..., None], *, has_hub: bool) -> Callable[..., None]:
    """Return the function as the parser calls it: with a context, the shared options, and each filter by itself."""
    _, *own = inspect.signature(function, eval_str=True).parameters.values()
    filters = next((one.name for one in own if one.annotation is Filters), "")

    @wraps(function)
    def run(context: typer.Context, *, memory_dir: str | None, as_json: bool, **given: Any) -> None:
        call = begin(context, memory_dir=memory_dir, as_json=as_json)
        call.asks_hub = has_hub and given.pop("hub")
        call.is_fresh = bool(given.get("fresh"))
        if filters:
            named = {name: given.pop(name) for name in _FILTERS}
            given[filters] = Filters({name: text for name, text in named.items() if text})
        function(call, **given)

    parameters = [_parameter("context", typer.Context, inspect.Parameter.empty)]
    for one in own:
        if one.name == filters:
            parameters += [_parameter(name, kind, "") for name, kind in _FILTERS.items()]
        else:
            parameters.append(_parameter(one.name, one.annotation, one.default))
    if has_hub:
        parameters.append(_parameter("hub", Hub, False))
    parameters += [_parameter("memory_dir", MemoryDir, None), _parameter("as_json", Json, False)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


def _parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _require_values(context: typer.Context) -> None:
    """Refuse an option that was given with nothing: `--project "$P"` of a variable that is not set would mean every project.

    Free text may be empty.
    """
    for declared in context.command.params:
        if declared.metavar == _FREE_TEXT or declared.name == _ROOT:  # its name is checked where the Root is opened
            continue
        value = context.params.get(declared.name or "")
        is_empty = value == "" or (isinstance(value, list | tuple) and "" in value)
        if is_empty and declared.param_type_name == "option":
            source = context.get_parameter_source(declared.name or "")
            if source is not None and source.name == "COMMANDLINE":
                raise UsageError(
                    say("{option} is empty.", option=declared.opts[0]), hint=say("Give it a value, or leave it out.")
                )


_LINES = re.compile(r"(\d*):(\d*)|(\d+)(?:-(\d+))?", re.ASCII)
_PLACE = re.compile(r"(.+?):(\d+(?:[:-]\d+)?)", re.ASCII | re.DOTALL)


def read_body(body: str | None, body_file: str | None, dash: str | None) -> str:
    """Return the body from the one place that was named, "" when none was. Raises UsageError for two, and for bad bytes."""
    if dash is not None and dash != STANDARD_INPUT:
        raise UsageError(
            say("Unexpected word {dash!r}: only - is allowed here.", dash=dash),
            hint=say(
                "Name a file with --body-file, as in --body-file {dash}; give the text with --body, or - to "
                "read it from standard input.",
                dash=shlex.quote(dash),
            ),
        )
    places = [place for place in (body, body_file, dash) if place is not None]
    if len(places) > 1:
        raise UsageError(
            say("The body was given more than once."),
            hint=say("Choose one of --body, --body-file and - (standard input)."),
        )
    if STANDARD_INPUT in places:
        return read_text_input(STANDARD_INPUT)
    return read_text_input(body_file, "--body-file") if body_file is not None else body or ""


def parse_lines(text: str | None) -> tuple[int, int]:
    """Return (first, last) of `A:B`, `A-B`, `A:`, `:B` or `A`, from 1 and inclusive, last 0 for the end. Raises UsageError."""
    if text is None:
        return 1, 0
    match = _LINES.fullmatch(text.strip())
    if match is None or text.strip() == ":":
        raise _bad_lines(text)
    if match[3]:
        first = _number(match[3], text)
        last = _number(match[4] or match[3], text)
    else:
        first = _number(match[1], text) if match[1] else 1
        last = _number(match[2], text) if match[2] else 0
    if first < 1 or (last < first and last) or (not last and (match[2] or match[4])):
        raise _bad_lines(text)
    return first, last


def _number(digits: str, text: str) -> int:
    if len(digits) > 9:
        raise _bad_lines(text)
    return int(digits)


def _bad_lines(text: str) -> UsageError:
    return UsageError(
        say("--lines {text!r} names no lines.", text=text), hint=say("Write A:B, A-B, A:, :B or A, as in --lines 1:20.")
    )


def split_place(text: str) -> tuple[str, str]:
    """Return (name, lines) of a place as a search prints it, `NAME:12-20`, `NAME:12:20` or `NAME:12`; lines "" without any."""
    match = _PLACE.fullmatch(text.strip())
    return (match[1], match[2]) if match else (text, "")
