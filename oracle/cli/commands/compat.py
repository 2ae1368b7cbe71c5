"""`oracle compat` and `oracle migrate`: the programs of the older tools, and the switch from them."""

from __future__ import annotations

import os
import sys
from collections import Counter
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completion
from oracle.cli.application import group
from oracle.cli.options import argument, option, single
from oracle.cli.session import Call
from oracle.errors import OracleError, UsageError
from oracle.wording import LIST, Sentence, joined, say, say_many

if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.migration.clawseat import Hook, MigrationFindings


PROGRAMS = (
    *("agent_admin", "archive_merged_dispatches", "audit_planner_closeout", "check_compact_marker", "complete_handoff"),
    *("decision_log", "decision_payload", "dispatch_task", "extract_links", "install_memory_hook", "memory_deliver"),
    *("memory_router", "memory_write", "notify_seat", "query_memory", "scan_environment", "scan_index", "scan_project"),
    *("send_and_verify", "verify_handoff", "wave_count_since_compact"),
)

compat_app = single()


@compat_app.add(
    example="oracle compat dispatch_task --help",
    hidden=True,
    context_settings={"allow_interspersed_args": False},
)
def compat(
    call: Call,
    name: Annotated[str, argument("NAME", "The program.", completion.words(*PROGRAMS))] = "",
    words: Annotated[list[str] | None, argument("[WORD]...", "Its own flags and arguments.")] = None,
) -> None:
    """Run a program of the older tools, with its own flags."""
    if not name:
        call.answer({"programs": list(PROGRAMS)}, PROGRAMS)
        return
    if name not in PROGRAMS:
        near = get_close_matches(name, PROGRAMS)
        hint = say("Did you mean {names}?", names=near) if near else say("See what there is with `oracle compat`.")
        raise UsageError(say("Unknown program {name!r}.", name=name), hint=hint)
    from importlib import import_module

    from oracle.compat.door import serve

    if call.memory_dir is not None:
        os.environ["ORACLE_ROOT"] = call.memory_dir
    sys.argv = [name, *(words or [])]
    raise typer.Exit(serve(import_module(f"oracle.compat.{name}").main))


migrate_app = group("Switch over from an older tool, and back.", example="oracle migrate clawseat --check")


@migrate_app.add("clawseat", example="oracle migrate clawseat --check")
def clawseat(
    call: Call,
    *,
    home: Annotated[str, option("--home DIR", "The home of the team; its Root is DIR/.agents/memory.")] = "",
    clawseat_root: Annotated[str, option("--clawseat-root DIR", "The checkout that skills call.")] = "",
    check: Annotated[bool, option("--check", "Change nothing; say what would change, and exit 1.")] = False,
    undo: Annotated[bool, option("--undo", "Put back what migrations changed.")] = False,
) -> None:
    """Switch a team over from ClawSeat: replace hooks, finish answers, keep the old paths working."""
    if check and undo:
        raise UsageError(say("--check and --undo exclude each other."), hint=say("Leave one of them out."))
    if home:
        if call.memory_dir is not None:
            raise UsageError(say("--home and --memory-dir exclude each other."), hint=say("Leave one of them out."))
        call.memory_dir = str(Path(home).expanduser().absolute() / ".agents" / "memory")
    with call.context() as context:
        if undo:
            _undo(call, context)
        else:
            _migrate(call, context, clawseat_root, check=check)


def _migrate(call: Call, context: Context, clawseat_root: str, *, check: bool) -> None:
    from oracle.app.context import name_root
    from oracle.app.migration import clawseat, shims
    from oracle.hook import settings

    context.root.require()
    clawseat.warn_once(context)
    named = name_root(call.memory_dir)
    command = settings.hook_command(settings.default_script(), root=named)
    hooks, commands = _hooks(call, context, command)
    folder = clawseat.choose_clawseat_root(context, clawseat_root, commands)
    files = shims.files_of(folder, root=named, hook=command)
    found = clawseat.survey(context, folder, hooks, files)
    done = [] if check else clawseat.migrate(context, hooks, files)
    call.answer({**found.as_json(), "checked": check, "finished": list(done)}, [*_lines(found, check=check), *done])
    for problem in () if call.as_json else found.problems:
        call.warn(problem)
    if check and found.changes:
        raise typer.Exit(1)


def _hooks(call: Call, context: Context, command: str) -> tuple[list[Hook], list[str]]:
    """Return the settings files with our hook or the older one, and the commands that they run now."""
    from oracle.app.migration.clawseat import Hook, find_workspaces
    from oracle.hook import settings, workspaces

    hooks: list[Hook] = []
    commands: list[str] = []
    for workspace in find_workspaces(context):
        try:
            for change in workspaces.plan_renewal(workspaces.settings_files(workspace), command):
                commands += settings.read_status(change.path).commands
                hooks.append(Hook(change.path, "{}\n" if change.after is None else change.after, change.is_needed))
        except OracleError as error:
            call.warn(say("{workspace}: {fault}", workspace=workspace, fault=error.sentence))
    return hooks, commands


def _undo(call: Call, context: Context) -> None:
    from oracle.app.migration import clawseat

    undone = clawseat.undo(context)
    restored, removed = list(undone.restored), list(undone.removed)
    told = [say_many("restored {n} file", "restored {n} files", n=len(restored))] if restored or not removed else []
    told += [say_many("removed {n} file", "removed {n} files", n=len(removed))] if removed else []
    call.answer({"restored": restored, "removed": removed, "left": list(undone.left)}, joined("; ", told))
    for path in () if call.as_json else undone.left:
        call.warn(say("{path} changed since the migration and was left as it is", path=path))


def _lines(found: MigrationFindings, *, check: bool) -> list[Sentence]:
    calls = sum(len(one.answered) + len(one.others) for one in found.calls)
    lines = [
        say("Root: {root}", root=found.root),
        say("old paths: {folder}", folder=found.clawseat_root),
        say("projects: {projects}", projects=found.projects or say("none")),
        say_many("{n} workspace", "{n} workspaces", n=len(found.workspaces)),
        say_many("{n} open handoff", "{n} open handoffs", n=found.open_handoffs),
        say_many("{n} old path named in skills", "{n} old paths named in skills", n=calls),
    ]
    if not found.changes:
        return [*lines, say("nothing to change")]
    changes = joined(LIST, _counts(found))
    return [
        *lines,
        say("would change: {changes}", changes=changes) if check else say("changed: {changes}", changes=changes),
    ]


def _counts(found: MigrationFindings) -> list[Sentence]:
    number = Counter(one.what for one in found.changes)
    counts = {
        "mode": say_many("{n} mode", "{n} modes", n=number["mode"]),
        "hook": say_many("{n} hook", "{n} hooks", n=number["hook"]),
        "answer": say_many("{n} half-delivered answer", "{n} half-delivered answers", n=number["answer"]),
        "shim": say_many("{n} file of an old path", "{n} files of old paths", n=number["shim"]),
    }
    return [sentence for what, sentence in counts.items() if number[what]]
