"""`oracle setup`: give every agent on this machine the hooks, the MCP server and a skill, and take them back."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from oracle.cli.options import option, single
from oracle.cli.output import Table, print_line, print_table, write_out
from oracle.cli.session import Call
from oracle.errors import NotFound, OracleError, UsageError
from oracle.wording import say, say_each, visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.context import Context
    from oracle.app.migration.ledger import Ledger
    from oracle.hook.setup import Host, Removal, SetupStep

_NEW_MODE = 0o644

setup_app = single()


@setup_app.add(example="oracle setup --yes")
def setup(
    call: Call,
    *,
    tool: Annotated[str, option("--tool claude|codex|gemini", "Only this agent.")] = "",
    yes: Annotated[bool, option("--yes,-y", "Do it without a question.")] = False,
    undo: Annotated[bool, option("--undo", "Put every file back as it was.")] = False,
    dry_run: Annotated[bool, option("--dry-run", "Write nothing; print the changes as diffs.")] = False,
) -> None:
    """Set up the agents on this machine, or undo it."""
    from oracle.hook import clients
    from oracle.hook import setup as hosts

    if tool:
        clients.find_client(tool)
    with call.context() as context:
        found = hosts.find_hosts(str(Path.home()), os.environ)
        if undo:
            _undo(call, context, found, tool)
            return
        wanted = [host for host in found if not tool or host.tool == tool]
        if not wanted:
            raise NotFound(
                say("No agent was found on this machine: neither claude, codex nor gemini."),
                hint=say("Install one, then run `oracle setup` again."),
            )
        steps = _plan(call, wanted)
        if dry_run:
            for step in steps:
                write_out(visible_lines(step.change.diff()))
            return
        if not call.as_json:
            print_table(_table(wanted, steps))
        needed = [step for step in steps if step.change.is_needed]
        is_done = bool(needed) and (yes or (call.can_ask and call.is_agreed(say("Change these files?"))))
        if is_done:
            fresh = steps if yes else _plan(call, wanted)  # a file may change while the question waits
            _do(call, context, [step for step in fresh if step.change.is_needed])
        else:
            call.note(_why_nothing(wanted, steps))
        if call.as_json:
            call.print_json({"steps": [_json_of(step, is_done=is_done) for step in steps]})


def _plan(call: Call, hosts: Sequence[Host]) -> list[SetupStep]:
    from oracle.app.context import name_root
    from oracle.hook import settings, settings_files
    from oracle.hook.setup import plan_setup, why_left_out
    from oracle.mcp.binding import server_entry

    root = name_root(call.memory_dir)
    command = settings.hook_command(settings.default_script(), root=root)
    server = server_entry(root=root) if find_spec("mcp") is not None else None
    if server is None:
        call.warn(say("the MCP server is left out: its extra is not installed (pipx install 'memory-oracle[mcp]')"))
    found: list[SetupStep] = []
    left: list[str] = []
    for host in hosts:
        try:
            found += [] if why_left_out(host) else plan_setup(host, command=command, server=server, root=root)
        except OracleError as error:  # the other agents are set up all the same
            _warn_left_out(call, host, error)
            left.append(host.tool)
    if left and not found:
        raise settings_files.InvalidSettings(
            say("Nothing can be set up for {tools}.", tools=left),
            hint=say("Correct what the warning names, then run `oracle setup` again."),
        )
    return found


def _why_nothing(wanted: Sequence[Host], steps: Sequence[SetupStep]) -> str:
    from oracle.hook.setup import why_left_out

    if any(step.change.is_needed for step in steps):
        return say("nothing was changed; `oracle setup --yes` does it")
    is_all = {step.host.tool for step in steps} == {host.tool for host in wanted if not why_left_out(host)}
    return say("everything is set up already") if is_all else say("the other agents are set up already")


def _warn_left_out(call: Call, host: Host, error: OracleError) -> None:
    call.warn(say("{tool} is left out: {error} {hint}", tool=host.tool, error=error, hint=error.hint))


def _table(hosts: Sequence[Host], steps: Sequence[SetupStep]) -> Table:
    from oracle.hook.setup import HOOK, SERVER, SKILL, why_left_out

    names = {HOOK: say("hook"), SERVER: say("MCP server"), SKILL: say("skill")}
    rows: list[tuple[str, ...]] = [
        (
            step.host.tool,
            ", ".join(names[part] for part in step.parts),
            step.change.path,
            say("to change") if step.change.is_needed else say("already there"),
        )
        for step in steps
    ]
    rows += [(host.tool, "", host.program, reason) for host in hosts if (reason := why_left_out(host))]
    return Table(say_each("agent", "what", "file", "state"), rows)


def _do(call: Call, context: Context, steps: Sequence[SetupStep]) -> None:
    from oracle.app.migration.ledger import open_ledger
    from oracle.app.records.once import make_root
    from oracle.hook.clients import CLIENTS

    make_root(context)
    planned = {}
    for step in steps:
        path = Path(step.change.path).resolve()
        mode = path.stat().st_mode & 0o777 if path.exists() else _NEW_MODE
        planned[str(path)] = ((step.change.after or "").encode("utf-8", "surrogateescape"), mode)
    open_ledger(context.root, context.root.setup).write(planned)
    if call.as_json:
        return
    for step in steps:
        print_line(say("updated: {path}", path=step.change.path))
    for tool in dict.fromkeys(step.host.tool for step in steps):
        if CLIENTS[tool].advice:
            call.note(CLIENTS[tool].advice)
    call.note(say("`oracle setup --undo` puts every file back as it was"))


def _json_of(step: SetupStep, *, is_done: bool) -> dict[str, object]:
    return {
        "agent": step.host.tool,
        "parts": list(step.parts),
        "path": step.change.path,
        "changed": is_done and step.change.is_needed,
        "diff": step.change.diff(),
    }


def _undo(call: Call, context: Context, found: Sequence[Host], tool: str) -> None:
    from oracle.app.migration.ledger import open_ledger

    ledger = open_ledger(context.root, context.root.setup)
    if ledger.is_empty:
        raise UsageError(
            say("There is no set-up to undo for the Root {root}.", root=context.root.path),
            hint=say("Name the Root of the set-up with --memory-dir."),
        )
    hosts = [host for host in found if not tool or host.tool == tool]
    own = {os.path.realpath(path) for host in hosts for path in host.files.values()}
    if tool and own.isdisjoint(ledger.paths):
        raise UsageError(
            say("There is no set-up of {tool} to undo for the Root {root}.", tool=tool, root=context.root.path),
            hint=say("Name the Root of the set-up with --memory-dir."),
        )
    plans, unread = _plan_removals(call, hosts, ledger)
    undone = ledger.undo((own if tool else set(ledger.paths)) - unread)
    cleaned = [path for path in undone.left if path in plans and plans[path].change.is_needed]
    backups = {path: plans[path].change.apply() for path in cleaned}
    if call.as_json:
        removed = [*undone.removed, *(path for path in cleaned if plans[path].change.after is None)]
        call.print_json({"restored": list(undone.restored), "removed": removed, "cleaned": cleaned})
        return
    for path in undone.restored:
        print_line(say("restored: {path}", path=path))
    for path in undone.removed:
        print_line(say("removed: {path}", path=path))
    for path in cleaned:
        print_line(plans[path].change.outcome)
        call.note(say("{path} changed since the set-up; only what is ours was taken out", path=path))
        if lost := plans[path].lost:
            call.note(say("{names} went with it; the old file: {backup}", names=list(lost), backup=backups[path]))
        elif backups[path]:
            call.note(say("it was changed by hand; the old file: {backup}", backup=backups[path]))


def _plan_removals(call: Call, hosts: Sequence[Host], ledger: Ledger) -> tuple[dict[str, Removal], set[str]]:
    """Return the change of each file of the set-up, and the files that can't be read: an undo of them is still possible."""
    from oracle.hook.setup import plan_removal

    plans: dict[str, Removal] = {}
    unread: set[str] = set()
    for host in hosts:
        for path in dict.fromkeys(host.files.values()):
            real = os.path.realpath(path)
            try:
                if real in ledger.paths:
                    plans[real] = plan_removal(host, path, ledger.old_bytes(real))
            except OracleError as error:  # all other files are cleaned all the same
                _warn_left_out(call, host, error)
                unread.add(real)
    return plans, unread
