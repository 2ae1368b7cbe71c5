"""What the servers of this machine share: a socket, the signal that ends them, bounded connections, threads with a Context.

It is cheap to import. A server without an HTTP client never loads uvicorn.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from oracle.app.context import Context
from oracle.errors import OracleError, UsageError
from oracle.wording import say

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from typing import Any

    import uvicorn

HOST = "127.0.0.1"
_LAST_PORT = 65535

REQUEST_TIMEOUT = 10.0
"""Seconds in which a client must have sent its whole request. A silent connection holds a file descriptor."""

MAX_WAITING = 16
"""Connections that may be without a whole request at a time. One more closes the oldest of them."""

WORKERS = 4
"""Threads that run jobs. Each has its own Context, which two threads must not share."""

CACHE_KIB = 1024
"""KiB of the index that each of them keeps. A search among 100,000 records is no slower than with sixteen times as much."""

_BACKLOG = 4
"""Connections that are accepted at once, before the oldest is closed. asyncio takes as many as the queue of the socket may hold."""

_GRACE = 5
"""Seconds that running requests get when the server ends."""

Outcome = TypeVar("Outcome")


def listen(port: int, host: str = HOST) -> socket.socket:
    """Return a socket that listens on an address of this machine; port 0 chooses a free one.

    Raises UsageError if the port is in use, and for an address that is not of this machine.
    """
    import socket
    from ipaddress import ip_address

    if port > _LAST_PORT:
        raise UsageError(
            say("Invalid port {port}.", port=port),
            hint=say("Choose one up to {last}; 0 means any free port.", last=_LAST_PORT),
        )
    try:
        address = ip_address(HOST if host == "localhost" else host)  # a name would be looked up in the network
    except ValueError as error:
        raise UsageError(
            say("{host!r} is not an address of this machine.", host=host),
            hint=say("Leave --host out for {host}.", host=HOST),
        ) from error
    try:
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        return socket.create_server((str(address), port), family=family)
    except OSError as error:
        raise UsageError(
            say("Cannot listen on port {port}: {strerror}.", port=port, strerror=error.strerror),
            hint=say("Choose another with --port; 0 means any free port."),
        ) from error


def comparer(secret: str) -> Callable[[str], bool]:
    """Return a function that tells whether a text is the secret, in the same time for every text."""
    from hmac import compare_digest

    return lambda given: compare_digest(given.encode("utf-8", "replace"), secret.encode("ascii"))


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


def serve(app: Any, door: socket.socket, stop: StopSignal) -> None:  # noqa: ANN401 -- uvicorn's type of an application
    """Serve an ASGI application on a socket, until SIGTERM."""
    import uvicorn

    settings = uvicorn.Config(
        app,
        http=_bounded_protocol(),
        backlog=_BACKLOG,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    served = uvicorn.Server(settings)
    if not stop.controls(served):
        asyncio.run(served.serve(sockets=[door]))


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


class Workers:
    """The worker threads of a server. Jobs wait only while all of them are busy. `reader` is the seat that they read for."""

    def __init__(self, root: str, threads: int = WORKERS, *, reader: str = "") -> None:
        self._root = root
        self._reader = reader
        self._own = threading.local()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="oracle")

    async def run(self, job: Callable[[], Outcome]) -> Outcome:
        """Run a job in a worker. It may call `with_context`. Raises what the job raises."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, job)

    def begin(self, job: Callable[[], object]) -> None:
        """Run a job in a worker, and forget what becomes of it."""
        self._threads.submit(job)

    def close(self) -> None:
        """Wait for running jobs, so that no write is cut short."""
        self._threads.shutdown(cancel_futures=True)

    def with_context(self, job: Callable[[Context], Outcome]) -> tuple[Outcome, list[str]]:
        """Run a job with this thread's Context. Returns its result and the warnings. Raises what the job raises.

        A Context that failed, or that fell back to an index in memory, is not used again.
        """
        warnings: list[str] = []
        kept = getattr(self._own, "context", None)
        context = kept if isinstance(kept, Context) else self._open()
        self._own.context = None
        context.warn, context.reader = warnings.append, self._reader
        try:
            outcome = job(context)
        except OracleError:
            self._keep(context)
            raise
        except BaseException:
            with suppress(Exception):
                context.close()
            raise
        self._keep(context)
        return outcome, list(dict.fromkeys(warnings))

    def _open(self) -> Context:
        context = Context.open(self._root)
        context.index.database.cache_kib = CACHE_KIB
        return context

    def _keep(self, context: Context) -> None:
        if context.index.database.in_memory:
            context.close()
        else:
            self._own.context = context
