"""`oracle mcp`: serve agents."""

from __future__ import annotations

from typing import Annotated

from oracle.cli import completion
from oracle.cli.options import WriterSeat, option, single
from oracle.cli.output import print_line
from oracle.cli.session import Call
from oracle.errors import UsageError
from oracle.wording import say

PORT = 7654
"""The port where clients look for the server by default."""

app = single()


@app.add(example="oracle mcp --seat builder --project shop")
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
    from oracle.process import take_streams

    if print_config:
        _print_config(call, print_config, seat, project)
        return
    if not http and port is not None:
        raise UsageError(say("--port belongs to --http."), hint=say("Add --http, or leave --port out."))
    streams = None if http else take_streams()
    from oracle.app.context import Context
    from oracle.mcp import serving
    from oracle.mcp.binding import Binding

    context = Context.open(call.memory_dir)
    binding = Binding(context.root.path, seat, project)
    binding.check()
    for sentence in binding.warnings(context):
        call.warn(sentence)
    if streams is not None:
        serving.serve_stdio(binding, streams)
        return
    (token, kept), stop = serving.find_token(context), serving.StopSignal()
    with serving.listen(PORT if port is None else port) as door:
        url = serving.address(door)
        if call.as_json:
            call.print_json({"url": url, "token_file": kept})
        else:
            print_line(url)
            call.note(say("the bearer token is in {kept}", kept=kept))
        serving.serve_http(binding, door, token, stop=stop)


def _print_config(call: Call, client: str, seat: str, project: str) -> None:
    from oracle.app.context import name_root
    from oracle.mcp import client_config
    from oracle.mcp.binding import Binding

    Binding("", seat, project).check()
    text = client_config.render(client, seat=seat, project=project, root=name_root(call.memory_dir))
    file = client_config.FILES[client]
    call.answer({"file": file, "config": text}, text.splitlines())
    call.note(say("add this to {file}", file=file))
