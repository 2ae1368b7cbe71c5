"""Run a server over standard streams, or over HTTP on this machine, protected by a token."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING

from oracle.errors import UsageError
from oracle.mcp.binding import Binding
from oracle.process import Streams
from oracle.wording import say

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable

    import uvicorn
    from mcp.server.lowlevel import Server

    from oracle.app.context import Context
    from oracle.mcp.tool_runner import ToolRunner


HOST = "127.0.0.1"
PATH = "/mcp"
_LAST_PORT = 65535

REQUEST_TIMEOUT = 10.0
"""Seconds in which a client must have sent its whole request. A silent connection holds a file descriptor."""

MAX_WAITING = 16
"""Connections that may be without a whole request at a time. One more closes the oldest of them."""

_BACKLOG = 4
"""Connections that are accepted at once, before the oldest is closed. asyncio takes as many as the queue of the socket may hold."""


def find_token(context: Context) -> tuple[str, str]:
    """Return the bearer token of a Root, created if there is none, and the file that holds it."""
    from oracle.store.daemon import mcp_token

    return mcp_token.find_or_make(context.root), mcp_token.path_of(context.root)


def serve_stdio(binding: Binding, streams: Streams) -> None:
    """Serve one client until it disconnects or SIGTERM comes; pending requests are still answered.

    Raises UsageError without the SDK.
    """
    import asyncio
    import signal

    runner, server = _prepare(binding)
    from mcp.server.stdio import stdio_server

    from oracle.mcp.stdio import open_lines

    async def run() -> None:
        reader, writer = open_lines(streams)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, reader.end)
        async with stdio_server(reader, writer) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    try:
        asyncio.run(run())
    except* BrokenPipeError:  # the client is gone
        pass
    finally:
        runner.close()


def listen(port: int) -> socket.socket:
    """Return a socket that listens on this machine only; port 0 chooses a free one.

    Raises UsageError if the port is in use.
    """
    import socket

    if port > _LAST_PORT:
        raise UsageError(
            say("Invalid port {port}.", port=port),
            hint=say("Choose one up to {last}; 0 means any free port.", last=_LAST_PORT),
        )
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise UsageError(
            say("Cannot listen on port {port}: {strerror}.", port=port, strerror=error.strerror),
            hint=say("Choose another with --port; 0 means any free port."),
        ) from error


class StopSignal:
    """Handle SIGTERM from the start: it may come while imports run, which must not be interrupted.

    uvicorn handles the signal itself while it serves. It raises the signal again at its end, which is ignored here.
    """

    def __init__(self) -> None:
        import signal

        self.is_asked = False
        self._server: uvicorn.Server | None = None
        signal.signal(signal.SIGTERM, self._note)

    def controls(self, server: uvicorn.Server) -> bool:
        """Let the signal stop this server. Returns whether it has already come."""
        self._server = server
        return self.is_asked

    def _note(self, *_: object) -> None:
        self.is_asked = True
        if self._server is not None:
            self._server.should_exit = True


def serve_http(binding: Binding, door: socket.socket, token: str, *, stop: StopSignal) -> None:
    """Serve clients that know the token, until SIGTERM. Raises UsageError without the SDK."""
    import asyncio

    runner, server = _prepare(binding)
    import uvicorn
    from mcp.server.auth.provider import AccessToken
    from mcp.server.auth.settings import AuthSettings
    from pydantic import AnyHttpUrl

    class OneToken:
        """Accept one token."""

        async def verify_token(self, token: str) -> AccessToken | None:
            return AccessToken(token=token, client_id="oracle", scopes=[]) if is_same(token) else None

    is_same = _comparer(token)
    url = AnyHttpUrl(address(door))
    auth = AuthSettings(issuer_url=url, resource_server_url=None)
    app = server.streamable_http_app(streamable_http_path=PATH, host=HOST, auth=auth, token_verifier=OneToken())
    settings = uvicorn.Config(
        app,
        http=_bounded_protocol(),
        backlog=_BACKLOG,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
    )
    served = uvicorn.Server(settings)
    try:
        if not stop.controls(served):
            asyncio.run(served.serve(sockets=[door]))
    finally:
        runner.close()


def _bounded_protocol() -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with an end to waiting for requests, in time and in number."""
    from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

    class BoundedConnection(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait()
            waiting = [one for one in self.connections if isinstance(one, BoundedConnection) and one.is_waiting()]
            if len(waiting) > MAX_WAITING:
                min(waiting, key=lambda one: one.deadline.when()).transport.close()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self.deadline.cancel()
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self.deadline.cancel()
            super().connection_lost(exc)

        def is_waiting(self) -> bool:
            """Return whether no whole request has arrived since the last answer."""
            cycle: RequestResponseCycle | None = self.cycle
            is_idle = cycle is None or cycle.response_complete or cycle.more_body
            return is_idle and not self.transport.is_closing()

        def _wait(self) -> None:
            self.deadline = self.loop.call_later(REQUEST_TIMEOUT, self._expire)

        def _expire(self) -> None:
            if self.is_waiting():
                self.transport.close()

    return BoundedConnection


def address(door: socket.socket) -> str:
    """Return the URL for clients."""
    return f"http://{HOST}:{door.getsockname()[1]}{PATH}"


def _comparer(token: str) -> Callable[[str], bool]:
    from hmac import compare_digest

    return lambda given: compare_digest(given.encode("utf-8", "replace"), token.encode("ascii"))


def _prepare(binding: Binding) -> tuple[ToolRunner, Server[dict[str, object]]]:
    """Import the SDK and everything that tools need.

    Garbage collection is off meanwhile: it would take a third of the time.
    """
    gc.disable()
    try:
        with deferred_models():
            runner, server = _load(binding)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "mcp_types", "pydantic"):
            raise
        raise UsageError(
            say("The MCP server needs the package mcp, which is not installed."),
            hint=say("Install it: {executable} -m pip install 'mcp>=2.3,<3'.", executable=sys.executable),
        ) from error
    gc.freeze()
    gc.enable()
    return runner, server


def _load(binding: Binding) -> tuple[ToolRunner, Server[dict[str, object]]]:
    is_registered = register_packages()
    try:
        from oracle.mcp.server import make_server
        from oracle.mcp.tool_runner import ToolRunner
    except ImportError:
        if not is_registered:
            raise
        import_whole()
        return _load(binding)
    runner = ToolRunner(binding)
    return runner, make_server(runner)


_PACKAGES = ("mcp", "mcp.server")
"""Packages whose `__init__` imports a client and a framework that the server does not use."""


@contextmanager
def deferred_models() -> Iterator[None]:
    """Delay building the validators of imported models until first use. Most are never used."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]


def register_packages() -> bool:
    """Register the packages without running their `__init__`, so that their parts can be imported.

    Returns whether it did.

    It does nothing if they are already imported, or not installed.
    """
    if _PACKAGES[0] in sys.modules:
        return False
    for name in _PACKAGES:
        spec = find_spec(name)
        if spec is None:
            return False
        sys.modules[name] = module_from_spec(spec)
    return True


def import_whole() -> None:
    """Import the whole SDK: another version may need it. Raises ImportError."""
    for name in [name for name in sys.modules if name.partition(".")[0] == _PACKAGES[0]]:
        del sys.modules[name]
    import mcp  # noqa: F401
