"""`oracle daemon` and `oracle mcp`: the processes that follow the files and serve agents."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli import completion
from oracle.cli.application import group
from oracle.cli.options import WriterSeat, option, single
from oracle.cli.output import Table, print_line, write_out
from oracle.cli.session import Call
from oracle.errors import UsageError
from oracle.wording import say, say_each, visible_lines

if TYPE_CHECKING:
    from oracle.app.context import Context


Hold = Annotated[bool, option("--hold", "Keep questions open that nobody answers.")]

daemon_app = group("Run the daemon, which follows the files and answers.", example="oracle daemon start")


@daemon_app.add("start", example="oracle daemon start --hold")
def start(call: Call, *, hold: Hold = False) -> None:
    """Serve the Root in the background."""
    from oracle.daemon import control

    with call.waiting:
        pid = control.start(_opened(call).root, hold=hold)
    call.answer({"pid": pid}, say("serving as process {pid}", pid=pid))


@daemon_app.add("stop", example="oracle daemon stop")
def stop(call: Call) -> None:
    """Stop the daemon after its current step."""
    from oracle.daemon import control

    with call.waiting:
        pid = control.stop(_opened(call).root)
    told = say("stopped process {pid}", pid=pid) if pid else say("no daemon was running")
    call.answer({"stopped": bool(pid), "pid": pid or None}, told)


@daemon_app.add("status", example="oracle daemon status --json")
def status(call: Call) -> None:
    """Print the state of the daemon; exit 1 when none runs."""
    from oracle.daemon import control

    found = control.status(_opened(call).root)
    call.answer(found, Table(say_each("what", "value"), _told(found)) if found["running"] else say("not running"))
    if not found["running"]:
        raise typer.Exit(1)


@daemon_app.add("logs", example="oracle daemon logs --lines 50")
def logs(call: Call, *, lines: Annotated[int, option("--lines N", "The last N lines; 0 is all.", min=0)] = 20) -> None:
    """Print the last lines of the daemon's log."""
    from oracle.daemon import control

    found = control.logs(_opened(call).root, lines)
    told = ["  ".join(str(entry.get(key, "")) for key in ("ts", "level", "message")) for entry in found]
    call.answer({"lines": found}, told)


@daemon_app.add("run", example="oracle daemon run --once")
def run(
    call: Call,
    *,
    once: Annotated[bool, option("--once", "Do once what is due, as for cron.")] = False,
    hold: Hold = False,
) -> None:
    """Serve the Root in the foreground, until interrupted."""
    from oracle.daemon.__main__ import echo
    from oracle.daemon.serve import Daemon

    daemon = Daemon(_opened(call).root, hold=hold)
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


@daemon_app.add("install", example="oracle daemon install --dry-run")
def install(
    call: Call,
    *,
    hold: Hold = False,
    manager: Annotated[str, option("--manager systemd|launchd", "What starts the daemon.")] = "",
    dry_run: Annotated[bool, option("--dry-run", "Write nothing; print the unit.")] = False,
) -> None:
    """Write a systemd unit or a launchd plist for the daemon."""
    from oracle.daemon import control

    made = control.unit(_opened(call).root, hold=hold, manager=manager or control.own_manager(), environ=os.environ)
    changed = False if dry_run else control.install(made)
    if call.as_json:
        call.print_json({"path": made.path, "changed": changed, "unit": made.text, "enable": made.enable})
        return
    if dry_run:
        write_out(visible_lines(made.text))
        return
    print_line(say("written: {path}", path=made.path) if changed else say("unchanged: {path}", path=made.path))
    call.note(say("enable it with: {enable}", enable=made.enable))


@daemon_app.add("metrics", example="oracle daemon metrics")
def metrics(call: Call) -> None:
    """Print the daemon's numbers for Prometheus."""
    from oracle.daemon import control
    from oracle.daemon.stats import render

    found = control.status(_opened(call).root)
    if call.as_json:
        call.print_json(found)
    else:
        write_out(render(found))


def _opened(call: Call) -> Context:
    from oracle.app.context import Context

    context = Context.open(call.memory_dir)
    context.root.require()
    return context


def _counted(numbers: dict[str, object], key: str) -> dict[str, object]:
    found = numbers.get(key)
    return found if isinstance(found, dict) else {}


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
                    message=str(item.get("message")),
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


PORT = 7654
"""The port where clients look for the server by default."""

mcp_app = single()


@mcp_app.add(example="oracle mcp --seat builder --project shop")
def mcp(
    call: Call,
    *,
    http: Annotated[bool, option("--http", "Serve HTTP on 127.0.0.1, not standard input and output.")] = False,
    port: Annotated[
        int | None, option("--port N", f"--http: the port; 0 is any free one (default {PORT}).", min=0)
    ] = None,
    seat: WriterSeat = "memory",
    project: Annotated[str, option("--project P", "The only project to write in.", completion.projects)] = "",
    print_config: Annotated[
        str,
        option("--print-config claude|codex|gemini", "Print what the client's configuration must hold; serve nothing."),
    ] = "",
) -> None:
    """Serve these operations to an agent as MCP tools."""
    from oracle.app.context import Context
    from oracle.process import take_streams

    if print_config:
        _refuse_mistyped(Context.open(call.memory_dir), seat, project)
        _print_config(call, print_config, seat, project)
        return
    if not http and port is not None:
        raise UsageError(say("--port belongs to --http."), hint=say("Add --http, or leave --port out."))
    streams = None if http else take_streams()
    from oracle.mcp import serving
    from oracle.mcp.binding import Binding
    from oracle.serving import StopSignal, listen

    context = Context.open(call.memory_dir)
    binding = Binding(context.root.path, seat, project)
    binding.check()
    _refuse_mistyped(context, seat, project)
    for sentence in binding.warnings(context):
        call.warn(sentence)
    if streams is not None:
        serving.serve_stdio(binding, streams)
        return
    (token, kept), stop = serving.find_token(context), StopSignal()
    with listen(PORT if port is None else port) as door:
        url = serving.address(door)
        if call.as_json:
            call.print_json({"url": url, "token_file": kept})
        else:
            print_line(url)
            call.note(say("the bearer token is in {kept}", kept=kept))
        serving.serve_http(binding, door, token, stop=stop)


def _refuse_mistyped(context: Context, seat: str, project: str) -> None:
    from oracle.app.records import new_project

    if project:
        hint = say("Correct the name, or make the project first with `oracle project init {project}`.", project=project)
        new_project.refuse_mistyped(context, project, hint=hint)
    new_project.refuse_mistyped_seat(context, seat, project=project)


def _print_config(call: Call, client: str, seat: str, project: str) -> None:
    from oracle.app.context import name_root
    from oracle.mcp.binding import CONFIG_FILES, Binding, render_config

    Binding("", seat, project).check()
    text = render_config(client, seat=seat, project=project, root=name_root(call.memory_dir))
    file = CONFIG_FILES[client]
    call.answer({"file": file, "config": text}, text.splitlines())
    call.note(say("add this to {file}", file=file))
