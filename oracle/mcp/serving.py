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
from oracle.serving import HOST, StopSignal, comparer, serve
from oracle.wording import say

if TYPE_CHECKING:
    import socket

    from mcp.server.lowlevel import Server

    from oracle.app.context import Context
    from oracle.mcp.tool_runner import ToolRunner


PATH = "/mcp"

_GARBAGE = 20_000
"""New objects after which Python searches for garbage. A call makes some thousands, which are gone when it ends."""


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


def serve_http(binding: Binding, door: socket.socket, token: str, *, stop: StopSignal) -> None:
    """Serve clients that know the token, until SIGTERM. Raises UsageError without the SDK."""
    runner, server = _prepare(binding)
    from mcp.server.auth.provider import AccessToken
    from mcp.server.auth.settings import AuthSettings
    from pydantic import AnyHttpUrl

    class OneToken:
        """Accept one token."""

        async def verify_token(self, token: str) -> AccessToken | None:
            return AccessToken(token=token, client_id="oracle", scopes=[]) if is_same(token) else None

    is_same = comparer(token)
    url = AnyHttpUrl(address(door))
    auth = AuthSettings(issuer_url=url, resource_server_url=None)
    app = server.streamable_http_app(streamable_http_path=PATH, host=HOST, auth=auth, token_verifier=OneToken())
    try:
        serve(app, door, stop)
    finally:
        runner.close()


def address(door: socket.socket) -> str:
    """Return the URL for clients."""
    return f"http://{HOST}:{door.getsockname()[1]}{PATH}"


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
    gc.set_threshold(_GARBAGE)
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
