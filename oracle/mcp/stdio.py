"""The lines of JSON-RPC over standard streams, with two guarantees that the SDK lacks.

Every request is answered. The SDK ignores a request that it cannot parse; here it is refused by its id, and a line that is
not JSON with the error -32700. Answers that are under way are still sent after the client has closed its end, as a shell
pipe does.

A signal ends the process at once, even while it waits for a line: a daemon thread does the reading.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from threading import Thread
from typing import Any

import anyio
from anyio import to_thread
from mcp_types import jsonrpc_message_adapter

from oracle.process import Streams

LONGEST_WAIT = 60.0
"""Seconds to wait for answers after the end of the input."""

_CHUNK = 1 << 16
_NO_JSON = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error: the line is not JSON."}}


class _Pending:
    """The requests that were read but not answered yet."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._changed = anyio.Event()

    def ask(self, message: Any) -> None:  # noqa: ANN401
        """Note a message from the client. A request is pending until it is answered or cancelled."""
        if not isinstance(message, dict):
            return
        if message.get("method") == "notifications/cancelled" and isinstance(message.get("params"), dict):
            self._settle(message["params"].get("requestId"))
        elif message.get("jsonrpc") == "2.0" and "method" in message and type(message.get("id")) in (int, str):
            self._ids.add(json.dumps(message["id"]))

    def answer(self, message: Any) -> None:  # noqa: ANN401
        """Note a message from the server."""
        if isinstance(message, dict) and "method" not in message and "id" in message:
            self._settle(message["id"])

    async def all(self) -> None:
        """Wait until no request is pending, at most LONGEST_WAIT."""
        with anyio.move_on_after(LONGEST_WAIT):
            while self._ids:
                self._changed = anyio.Event()
                await self._changed.wait()

    def _settle(self, number: object) -> None:
        self._ids.discard(json.dumps(number))
        self._changed.set()


class Incoming(anyio.AsyncFile[str]):
    """Lines from the client. The stream ends when every request has been answered."""

    def __init__(self, reader: int, pending: _Pending, outgoing: Outgoing) -> None:
        super().__init__(TextIOWrapper(BytesIO()))  # only to satisfy the base class
        self._pending = pending
        self._outgoing = outgoing
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        Thread(target=self._pump, args=(reader,), daemon=True).start()

    def end(self) -> None:
        """Mark the input as ended."""
        self._lines.put_nowait("")

    async def readline(self) -> str:
        """Return the next line, "" at the end. Raises BrokenPipeError if the client is gone."""
        line = await self._lines.get()
        if not line:
            await self._pending.all()
            return line
        if not _is_readable(line):
            if line.strip() and not _is_json(line):
                await self._outgoing.write(json.dumps(_NO_JSON) + "\n")
                await self._outgoing.flush()
            line = _without_parameters(line)
        if _is_readable(line):
            self._pending.ask(_parse(line))
        return line

    def _pump(self, reader: int) -> None:
        rest: list[bytes] = []
        while chunk := _read(reader):
            first, *lines = chunk.split(b"\n")
            rest.append(first)
            for line in lines:
                self._put(b"".join(rest))
                rest = [line]
        if any(rest):
            self._put(b"".join(rest))
        self._call(self.end)

    def _put(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace") + "\n"
        self._call(lambda: self._lines.put_nowait(text))

    def _call(self, job: Any) -> None:  # noqa: ANN401
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(job)


class Outgoing(anyio.AsyncFile[str]):
    """Lines to the client. A line counts as sent once it is flushed."""

    def __init__(self, writer: int, pending: _Pending) -> None:
        super().__init__(TextIOWrapper(BytesIO()))  # only to satisfy the base class
        self._pending = pending
        self._writer = writer
        self._written: list[str] = []
        self._lock = anyio.Lock()

    async def write(self, text: str) -> int:
        """Buffer a line."""
        self._written.append(text)
        return len(text)

    async def flush(self) -> None:
        """Send the buffered lines. Raises BrokenPipeError if the client is gone."""
        written, self._written = self._written, []
        async with self._lock:
            await to_thread.run_sync(_write, self._writer, "".join(written).encode("utf-8", "replace"))
        for message in map(_parse, written):
            self._pending.answer(message)


def open_lines(streams: Streams) -> tuple[Incoming, Outgoing]:
    """Return both ends of the connection. An event loop must be running."""
    pending = _Pending()
    outgoing = Outgoing(streams.writer, pending)
    return Incoming(streams.reader, pending, outgoing), outgoing


def _read(reader: int) -> bytes:
    try:
        return os.read(reader, _CHUNK)
    except OSError:
        return b""


def _write(writer: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(writer, view) :]


def _is_readable(line: str) -> bool:
    """Return whether the SDK can parse a line. Half a surrogate pair or deep nesting, for example, it cannot."""
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return False
    return True


def _without_parameters(line: str) -> str:
    """Return an unreadable request without its parameters, so that the SDK can refuse it by its id."""
    message = _parse(line)
    if not isinstance(message, dict):
        return line
    return json.dumps({key: message[key] for key in ("jsonrpc", "id", "method") if key in message}) + "\n"


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _parse(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
