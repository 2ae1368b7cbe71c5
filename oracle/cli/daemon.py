"""Commands of the daemon: serve, daemon, metrics."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, begin
from oracle.cli.printing import Table, print_line, print_table, visible_lines, write_out
from oracle.errors import UsageError
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from oracle.cli.session import Call
    from oracle.store.root.layout import Root

Hold = Annotated[bool, typer.Option("--hold", help="Keep questions open that nobody answers.")]

ACTIONS = ("start", "stop", "status", "logs", "install")


def serve(
    context: typer.Context,
    *,
    once: Annotated[bool, typer.Option("--once", help="Do what is due one time, as for cron.")] = False,
    hold: Hold = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Follow the files and answer what memory is asked."""
    from oracle.daemon.__main__ import echo
    from oracle.daemon.serve import Daemon

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    daemon = Daemon(_root(call), hold=hold)
    daemon.log.addHandler(echo(logging.WARNING if once else logging.INFO))
    if not once:
        daemon.run()
        return
    numbers = daemon.once()
    if call.as_json:
        call.print_json(numbers)
        return
    for kind, number in {**_counted(numbers, "counts"), **_counted(numbers, "queue")}.items():
        write_out(f"{kind}\t{number}\n")


def _counted(numbers: dict[str, object], key: str) -> dict[str, object]:
    found = numbers.get(key)
    return found if isinstance(found, dict) else {}


def daemon(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="ACTION",
            help="start, stop, status, logs or install.",
            autocompletion=completing.words(*ACTIONS),
        ),
    ],
    *,
    hold: Hold = False,
    lines: Annotated[int, typer.Option("--lines", metavar="N", min=0, help="logs: the last N lines; 0 is all.")] = 20,
    manager: Annotated[
        str,
        typer.Option(
            "--manager",
            metavar="systemd|launchd",
            help="install: what starts the daemon.",
            autocompletion=completing.words("systemd", "launchd"),
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="install: write nothing; print the unit.")] = False,
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Start, stop or install the daemon, or tell how it is."""
    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    if action not in ACTIONS:
        raise UsageError(
            say("`oracle daemon {action}` is no command.", action=action), hint=say("Write {actions}.", actions=ACTIONS)
        )
    if action == "start":
        _start(call, hold=hold)
    elif action == "stop":
        _stop(call)
    elif action == "status":
        _status(call)
    elif action == "logs":
        _logs(call, lines)
    else:
        _install(call, hold=hold, manager=manager, dry_run=dry_run)


def _root(call: Call) -> Root:
    from oracle.api import Oracle

    root = Oracle.open(call.memory_dir).root
    root.require()
    return root


def _start(call: Call, *, hold: bool) -> None:
    from oracle.daemon import control

    with call.waiting:
        pid = control.start(_root(call), hold=hold)
    if call.as_json:
        call.print_json({"pid": pid})
    else:
        print_line(say("serving as process {pid}", pid=pid))


def _stop(call: Call) -> None:
    from oracle.daemon import control

    with call.waiting:
        pid = control.stop(_root(call))
    if call.as_json:
        call.print_json({"stopped": bool(pid), "pid": pid or None})
    else:
        print_line(say("stopped process {pid}", pid=pid) if pid else say("no daemon was running"))


def _status(call: Call) -> None:
    from oracle.daemon import control

    found = control.status(_root(call))
    if call.as_json:
        call.print_json(found)
    elif found["running"]:
        print_table(Table(say_each("what", "value"), _told(found)))
    else:
        print_line(say("not running"))
    if not found["running"]:
        raise typer.Exit(1)


def _told(found: dict[str, object]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (say("process"), str(found.get("pid"))),
        (say("uptime"), say("{seconds} s", seconds=found.get("uptime_seconds", "?"))),
    ]
    for key in ("watching", "index", "queue", "lag_seconds", "counts", "process"):
        table = _counted(found, key)
        rows += [(f"{key.removesuffix('_seconds')} {name}", _cell(item)) for name, item in table.items() if item != ""]
    errors = found.get("last_errors")
    for item in errors if isinstance(errors, list) else []:
        rows.append(
            (
                say("error"),
                say(
                    "{moment} {item}: {message}",
                    moment=item.get("ts"),
                    item=item.get("item"),
                    message=item.get("message"),
                ),
            )
        )
    if found["silent"]:
        rows.append((say("silent for"), say("{seconds} s", seconds=found["age_seconds"])))
    return rows


def _cell(item: object) -> str:
    if item is None:
        return say("none yet")
    return ", ".join(map(str, item)) if isinstance(item, list) else str(item)


def _logs(call: Call, lines: int) -> None:
    from oracle.daemon import control

    found = control.logs(_root(call), lines)
    if call.as_json:
        call.print_json({"lines": found})
        return
    for entry in found:
        print_line("  ".join(str(entry.get(key, "")) for key in ("ts", "level", "message")))


def _install(call: Call, *, hold: bool, manager: str, dry_run: bool) -> None:
    from oracle.daemon import service

    made = service.unit(_root(call), hold=hold, manager=manager or service.own_manager(), environ=os.environ)
    changed = False if dry_run else service.install(made)
    if call.as_json:
        call.print_json({"path": made.path, "changed": changed, "unit": made.text, "enable": made.enable})
        return
    if dry_run:
        write_out(visible_lines(made.text))
        return
    print_line(say("written: {path}", path=made.path) if changed else say("unchanged: {path}", path=made.path))
    call.note(say("take it up with: {enable}", enable=made.enable))


def metrics(context: typer.Context, *, memory_dir: MemoryDir = None, as_json: Json = False) -> None:
    """Print the daemon's numbers for Prometheus."""
    from oracle.daemon import control
    from oracle.daemon.metrics import render

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    found = control.status(_root(call))
    if call.as_json:
        call.print_json(found)
    else:
        write_out(render(found))
