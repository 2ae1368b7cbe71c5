"""The command that serves agents: mcp."""

from __future__ import annotations

from typing import Annotated

import typer

from oracle.cli import completing
from oracle.cli.options import Json, MemoryDir, WriterSeat, begin
from oracle.cli.printing import print_line
from oracle.errors import UsageError
from oracle.wording import say

PORT = 7654
"""Where clients look for the server unless they are told otherwise."""


def mcp(
    context: typer.Context,
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP on 127.0.0.1 instead of standard input and output.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", min=0, help=f"--http: the port; 0 is any free one (default {PORT})."),
    ] = None,
    seat: WriterSeat = "memory",
    project: Annotated[
        str,
        typer.Option(
            "--project", metavar="P", help="The only project that is written in.", autocompletion=completing.projects
        ),
    ] = "",
    memory_dir: MemoryDir = None,
    as_json: Json = False,
) -> None:
    """Serve these operations to an agent as MCP tools."""
    from oracle.mcp import wire

    if not http and port is not None:
        raise UsageError(say("--port belongs to --http."), hint=say("Add --http, or leave --port out."))
    streams = None if http else wire.take()
    from oracle.api import Oracle
    from oracle.mcp import serving
    from oracle.mcp.binding import Binding

    call = begin(context, memory_dir=memory_dir, as_json=as_json)
    oracle = Oracle.open(call.memory_dir)
    binding = Binding(oracle.root.path, seat, project)
    binding.check()
    for sentence in binding.doubts(oracle):
        call.warn(sentence)
    if streams is not None:
        serving.serve_stdio(binding, streams)
        return
    from oracle.store.daemon import mcp_token

    token, ending = mcp_token.find_or_make(oracle.root), serving.Ending()
    with serving.listen(PORT if port is None else port) as door:
        url, kept = serving.address(door), mcp_token.path_of(oracle.root)
        if call.as_json:
            call.print_json({"url": url, "token_file": kept})
        else:
            print_line(url)
            call.note(say("the bearer token is in {kept}", kept=kept))
        serving.serve_http(binding, door, token, ending=ending)
