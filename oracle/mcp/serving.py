"""Start a server: over the standard streams of the process, or over HTTP on this machine behind a token."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from oracle.errors import UsageError
from oracle.mcp import sdk
from oracle.mcp.binding import Binding
from oracle.mcp.wire import Wire
from oracle.wording import say

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    import uvicorn
    from mcp.server.lowlevel import Server

    from oracle.mcp.tool_runner import Desk

HOST = "127.0.0.1"
PATH = "/mcp"
_LAST_PORT = 65535


def serve_stdio(binding: Binding, wire: Wire) -> None:
    """Serve one client on the wire until its end or SIGTERM, and answer what was asked. Raises UsageError without the SDK."""
    import asyncio
    import signal

    desk, server = _prepare(binding)
    from mcp.server.stdio import stdio_server

    from oracle.mcp.lines import open_lines

    async def run() -> None:
        reader, writer = open_lines(wire)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, reader.end)
        async with stdio_server(reader, writer) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    try:
        asyncio.run(run())
    except* BrokenPipeError:  # the client is gone, and nobody is left to tell
        pass
    finally:
        desk.close()


def listen(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone; port 0 is any free one. Raises UsageError for one that is taken."""
    import socket

    if port > _LAST_PORT:
        raise UsageError(
            say("There is no port {port}.", port=port),
            hint=say("Choose one up to {last}; 0 is any free one.", last=_LAST_PORT),
        )
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise UsageError(
            say("The port {port} can't be listened at: {strerror}.", port=port, strerror=error.strerror),
            hint=say("Choose another with --port; 0 is any free one."),
        ) from error


class Ending:
    """Heed SIGTERM from now on: it may come before there is a server, in the middle of an import that must not be broken off.

    While uvicorn serves it heeds the signal itself; what it raises again at the end is noted here and does nothing.
    """

    def __init__(self) -> None:
        import signal

        self.is_asked = False
        self._server: uvicorn.Server | None = None
        signal.signal(signal.SIGTERM, self._note)

    def applies_to(self, server: uvicorn.Server) -> bool:
        """End this server when asked; tell whether that was asked before."""
        self._server = server
        return self.is_asked

    def _note(self, *_: object) -> None:
        self.is_asked = True
        if self._server is not None:
            self._server.should_exit = True


def serve_http(binding: Binding, door: socket.socket, token: str, *, ending: Ending) -> None:
    """Serve any number of clients that know the token, until the end is asked for. Raises UsageError without the SDK."""
    import asyncio

    desk, server = _prepare(binding)
    import uvicorn
    from mcp.server.auth.provider import AccessToken
    from mcp.server.auth.settings import AuthSettings
    from pydantic import AnyHttpUrl

    class Holder:
        """Know the one token that there is."""

        async def verify_token(self, token: str) -> AccessToken | None:
            return AccessToken(token=token, client_id="oracle", scopes=[]) if is_same(token) else None

    is_same = _comparer(token)
    url = AnyHttpUrl(address(door))
    auth = AuthSettings(issuer_url=url, resource_server_url=None)
    app = server.streamable_http_app(streamable_http_path=PATH, host=HOST, auth=auth, token_verifier=Holder())
    served = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=5))
    try:
        if not ending.applies_to(served):
            asyncio.run(served.serve(sockets=[door]))
    finally:
        desk.close()


def address(door: socket.socket) -> str:
    """Return the address that a client is given."""
    return f"http://{HOST}:{door.getsockname()[1]}{PATH}"


def _comparer(token: str) -> Callable[[str], bool]:
    from hmac import compare_digest

    return lambda given: compare_digest(given.encode("utf-8", "replace"), token.encode("ascii"))


def _prepare(binding: Binding) -> tuple[Desk, Server[dict[str, object]]]:
    """Load the SDK and everything that tools need; collecting garbage meanwhile would take a third of the time."""
    gc.disable()
    try:
        with sdk.building_late():
            desk, server = _load(binding)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "mcp_types", "pydantic"):
            raise
        raise UsageError(
            say("The MCP server needs the package mcp, which is not installed."),
            hint=say("Install it: {executable} -m pip install 'mcp>=2.3,<3'.", executable=sys.executable),
        ) from error
    gc.freeze()
    gc.enable()
    return desk, server


def _load(binding: Binding) -> tuple[Desk, Server[dict[str, object]]]:
    is_bare = sdk.stand_bare()
    try:
        from oracle.mcp.server import make_server
        from oracle.mcp.tool_runner import Desk
    except ImportError:
        if not is_bare:
            raise
        sdk.import_whole()
        return _load(binding)
    desk = Desk(binding)
    return desk, make_server(desk)
