"""A made-up credential in every parameter of every command, program and tool: none is kept on disk, in a name or a text.

The parameters and the calls around them are read from the parsers, their examples and the schemas, so a new one is tested
without being listed here.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import itertools
import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from oracle.app.decisions.handover import send
from oracle.app.teamwork.workflow import create_task
from oracle.cli.application import command
from oracle.cli.commands.compat import PROGRAMS
from oracle.compat.door import report
from oracle.domain.delivery.markers import Marker
from oracle.domain.records.drafts import Draft
from oracle.domain.values import fields_of
from oracle.errors import OracleError
from oracle.hook.stop import HookRun, handle
from oracle.mcp.tools import BY_NAME
from tests.app.squad import Squad
from tests.app.test_decisions import ID, payload
from tests.cli import transcript
from tests.mcp.clients import call
from tests.scan.made_up import Fakes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SERVING = {"mcp", "daemon", "compat"}  # they run until they are stopped, or run another program
ASIDE = {"memory_dir", "help", "lang", "secrets"}
PLAIN = {  # what a parameter of this name is given while another one is tested
    "project": "shop", "seat": "memory", "kind": "decision", "author": "memory", "test_policy": "EXTEND", "title": "Retry",
    "body": "Twice.", "objective": "Do it.", "status": "done", "step": "build", "limit": "5", "threshold": "3", "depth": "1",
    "command": "list", "response_inline": '{"answer": "Twice."}', "message": "Look.", "user_summary": "Done.",
    "decision_id": ID, "choose": "A",
}  # fmt: skip
WORK = (  # tried in turn, until a program takes the call
    {"task_id": "Q-17", "source": "memory", "target": "planner"},
    {"task_id": "T-9", "source": "builder", "target": "planner"},
    {"task_id": "N-1", "source": "planner", "target": "builder", "kind": "task"},
)
EXTENTS = ("example", "required", "all")


class World:
    """A Root with a project and work of each sort, laid out once and copied for each call."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made = folder / "made"
        squad = Squad(self.made, project="shop", seats=("memory", "planner", "builder"))
        squad.oracle.init()
        squad.oracle.write(Draft("decision", "shop", "Retry webhooks", "Twice.", author="memory"))
        squad.ask("Q-17")
        squad.ask("T-7", target="builder", kind="task")
        squad.complete("T-7", target="planner", user_summary="Done.")
        squad.ask("T-9", target="builder", kind="task", stacks=True)
        create_task(squad.oracle, "shop", "T-8")
        send(squad.oracle, payload(from_seat="shop-memory"), project="shop")
        (self.made / "home" / "src" / "shop").mkdir(parents=True)
        self.given = folder / "given"
        self.given.mkdir()
        (self.given / "a.json").write_text('{"answer": "Twice."}', encoding="utf-8")
        (self.given / "d.json").write_bytes(payload())
        self.calls = 0
        self.place: Path | None = None
        self.before: dict[str, tuple[int, ...]] = {}

    def copy(self) -> Path:
        """Return a copy of it, with its own paths in its profile."""
        self.calls += 1
        place = self.folder / str(self.calls)
        shutil.copytree(self.made, place, symlinks=True)
        for path in place.rglob("*.toml"):
            path.write_text(path.read_text(encoding="utf-8").replace(str(self.made), str(place)), encoding="utf-8")
        return place

    def untouched(self) -> Path:
        """Return a copy that no call has changed."""
        if self.place is None:
            self.place = self.copy()
            self.before = look(self.place)
        return self.place

    def touched(self) -> list[Path]:
        """Return what the last call changed in its copy, which is then given to no other call."""
        assert self.place is not None
        after = look(self.place)
        if after != self.before:
            self.place = None
        return [Path(name) for name, status in after.items() if status != self.before.get(name)]


def look(place: Path) -> dict[str, tuple[int, ...]]:
    """Return what every file and folder below a place is known by; a change of one shows in it."""
    found = {}
    for folder, folders, names in os.walk(place):
        for name in (*folders, *names):
            path = f"{folder}/{name}"
            status = os.lstat(path)
            found[path] = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_mode)
    return found


class Parameter:
    """One parameter of a command or a program."""

    def __init__(self, name: str, option: str, metavar: str, *, choices: Sequence[str] = (), required: bool) -> None:
        self.name = name
        self.option = option
        self.metavar = metavar
        self.choices = choices or (metavar.split("|") if "|" in metavar else ())
        self.required = required

    def plain(self, place: Path, work: dict[str, str]) -> str:
        """Return what is given while another parameter is tested, "" for one that nothing is known of."""
        if self.name == "profile":
            return str(next(place.rglob("*profile*.toml")))
        known = {**PLAIN, **work}.get(self.name, "")
        return self.choices[0] if self.choices and known not in self.choices else known

    def trials(self, folder: Path, token: str) -> list[str]:
        """Return what is given to test it: a token, a text with one, a file with one in it, a folder that is called so."""
        if self.metavar == "JSON":
            return [json.dumps({"answer": token, "sources": [token], token: 1})]
        if self.metavar in ("FILE", "PATH"):
            file = folder / "input.json"
            content = payload(context=token) if "payload" in self.name else json.dumps({"answer": token}).encode()
            file.write_bytes(content)
            return [str(file), token]
        if self.metavar == "DIR":
            (folder / token).mkdir()
            return [str(folder / token), token]
        return [token]


class Program:
    """A command or a program: its words, its parameters, and what its example gives for some of them."""

    def __init__(
        self,
        words: list[str],
        parameters: list[Parameter],
        example: dict[str, list[str]],
        run: Any,
        flags: Sequence[str] = (),
    ) -> None:
        self.words = words
        self.flags = flags
        self.parameters = [one for one in parameters if one.name not in ASIDE]
        self.policies = ("refuse", "redact") if any(one.name == "secrets" for one in parameters) else ("",)
        self.example = example
        self.run = run

    def call(self, place: Path, tested: Parameter, value: str, work: dict[str, str], extent: str) -> list[str]:
        """Return the words of a call in which one parameter has this value."""
        words = []
        for one in self.parameters:
            plain = one.plain(place, work)
            values = [plain] if plain and extent == "all" else []
            values = self.example.get(one.name, []) if extent == "example" else values
            values = [value] if one is tested else values or ([plain or "x"] if one.required else [])
            for item in values:
                words += [one.option, item] if one.option.startswith("-") else [item]
        return words


def listed(value: Any) -> list[str]:
    """Return the values of a parameter as words."""
    many = value if isinstance(value, list | tuple) else [value]
    return [str(item) for item in many if item not in (None, "", False)]


def commands() -> Iterator[Program]:
    """Yield every command of `oracle` that ends by itself."""

    def below(one: Any, words: list[str]) -> Iterator[Program]:
        if hasattr(one, "list_commands"):
            context = click.Context(one)
            for name in one.list_commands(context):
                if name not in SERVING:
                    yield from below(one.get_command(context, name), [*words, name])
            return
        parameters = [
            Parameter(str(item.name), item.opts[0], item.metavar or "", required=item.required)
            for item in one.params
            if not getattr(item, "is_flag", False)
        ]
        given = shlex.split(str(one.epilog).removeprefix("Example: oracle "))
        given = given[len(words) :] if given[: len(words)] == words else given[len(words) - 1 :]
        context = one.make_context(words[-1], given, resilient_parsing=True)
        flags = [str(item.name) for item in one.params if getattr(item, "is_flag", False)]
        yield Program(words, parameters, {name: listed(context.params[name]) for name in context.params}, None, flags)

    yield from below(command(), [])


class ParserSeenError(Exception):
    """The program has made its parser."""


def programs() -> Iterator[Program]:
    """Yield every program that parses its words with argparse, and each of its commands."""
    seen: list[argparse.ArgumentParser] = []

    def stop(parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        seen.append(parser)
        raise ParserSeenError

    for name in PROGRAMS:
        module = importlib.import_module(f"oracle.compat.{name}")
        with pytest.MonkeyPatch.context() as patch, contextlib.suppress(ParserSeenError, SystemExit, OracleError):
            patch.setattr(argparse.ArgumentParser, "parse_args", stop)
            patch.setattr(argparse.ArgumentParser, "parse_known_args", stop)
            patch.setattr(sys, "stderr", io.StringIO())
            module.main(["--unknown-option"])
        if seen:
            yield from _below(seen.pop(), [name], module.main)


def _below(parser: argparse.ArgumentParser, words: list[str], run: Any) -> Iterator[Program]:
    parameters = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield from _below(child, [*words, name], run)
        elif action.nargs != 0:
            option = action.option_strings[-1] if action.option_strings else action.dest
            parameters.append(
                Parameter(
                    action.dest.strip("<>"),
                    option,
                    str(action.metavar or ""),
                    choices=tuple(action.choices or ()),
                    required=action.required,
                )
            )
    yield Program(words, parameters, {}, run, [action.dest for action in parser._actions if action.nargs == 0])


def holding(place: Path, token: str, paths: Iterable[Path] | None = None) -> list[str]:
    """Return which of the files and folders below a place have a token in their name or their content."""
    found = [
        path
        for path in (place.rglob("*") if paths is None else paths)
        if token in path.name or (path.is_file() and token.encode() in path.read_bytes())
    ]
    return [str(path.relative_to(place)).replace(token, "<token>") for path in found]


@pytest.fixture(scope="module")
def outset(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


def kept(outset: World, program: Program, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return where a token is kept that a parameter of a program was given, by the parameter."""
    fake = Fakes()
    found = []
    monkeypatch.chdir(outset.given)
    attempts = list(itertools.product(WORK, EXTENTS))
    for one, policy in itertools.product(program.parameters, program.policies):
        token = fake(f"{program.words}{one.name}{policy}")
        for value in one.trials(outset.given, token):
            answers = set()
            for attempt in list(attempts):
                place = outset.untouched()
                words = [*(["--secrets", policy] if policy else []), *program.call(place, one, value, *attempt)]
                code, said = run(program, place, words, monkeypatch)
                found += [f"{one.name} {policy}: {path}" for path in holding(place, token, outset.touched())]
                if outset.place is None:
                    shutil.rmtree(place)
                answer = (code, said.replace(str(place), ""))
                is_taken = code == 0 or "secret" in said or "must not leave" in said
                if is_taken:
                    attempts.sort(key=lambda other: other is not attempt)  # the next one is likely to be taken as well
                if is_taken or answer in answers:
                    break
                answers.add(answer)
    return list(dict.fromkeys(found))


def run(program: Program, place: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Run a program on words, with its Root and home at a place; return the exit code and what it says."""
    monkeypatch.setenv("HOME", str(place / "home"))
    monkeypatch.setenv("ORACLE_ROOT", str(place / "home" / ".agents" / "memory"))
    if program.run is None:
        code, out, err = transcript.call([*program.words, *words], monkeypatch)
        return code, out + err
    streams = {name: io.TextIOWrapper(io.BytesIO()) for name in ("stdin", "stdout", "stderr")}
    with monkeypatch.context() as patch:
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        patch.setattr(sys, "argv", [program.words[0]])
        try:
            code = int(program.run([*program.words[1:], *words]))
        except SystemExit as ended:
            code = int(ended.code or 0)
        except OracleError as error:
            code = report(error)
        for stream in streams.values():
            stream.flush()
        return code, "".join(stream.buffer.getvalue().decode() for stream in streams.values())


@pytest.mark.parametrize("program", [*commands(), *programs()], ids=lambda one: " ".join(one.words))
def test_no_parameter_keeps_a_credential(outset: World, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(outset, program, monkeypatch) == []


def with_token(example: Any, token: str) -> Any:
    """Return the example of an argument with a token in the place of each text, and a key of its own for a map."""
    if isinstance(example, str):
        return token
    if isinstance(example, list):
        return [with_token(item, token) for item in example]
    if isinstance(example, dict):
        return {**{key: with_token(item, token) for key, item in example.items()}, token: token}
    return example


TOOLS = [(tool.name, name) for tool in BY_NAME.values() for name in tool.arguments]


@pytest.mark.parametrize(("tool", "name"), TOOLS)
def test_no_argument_of_a_tool_keeps_a_credential(
    outset: World, tool: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = Fakes()(f"{tool} {name}")
    arguments = BY_NAME[tool].arguments
    place = outset.copy()
    monkeypatch.setenv("HOME", str(place / "home"))
    given = {**{one: arguments[one]["examples"][0] for one in BY_NAME[tool].required}, "project": "shop"}
    given[name] = with_token(arguments[name]["examples"][0], token)
    call(place / "home" / ".agents" / "memory", tool, **{one: given[one] for one in given if one in arguments})
    assert holding(place, token) == []


SENT = ("session_id", "cwd", "transcript_path", "hook_event_name", "last_assistant_message")
MARKED = fields_of(Marker)


@pytest.mark.parametrize("name", [*SENT, *MARKED, "ORACLE_SEAT"])
def test_no_field_of_a_hook_keeps_a_credential(outset: World, name: str) -> None:
    token = Fakes()(name)
    place = outset.copy()
    marks = {"seat": "planner", "task_id": "Q-17", "project": "shop"} | ({name: token} if name in MARKED else {})
    message = f"Twice. [DELIVER:{','.join(f'{key}={value}' for key, value in marks.items())}]"
    sent = {"hook_event_name": "Stop", "last_assistant_message": message} | ({name: token} if name in SENT else {})
    if name == "last_assistant_message":
        sent[name] = f"{token} {message}"
    environ = {"HOME": str(place / "home"), "ORACLE_ROOT": str(place / "home" / ".agents" / "memory")}
    handle(json.dumps(sent).encode(), HookRun(environ | ({name: token} if name == "ORACLE_SEAT" else {}), 0.0))
    assert holding(place, token) == []
