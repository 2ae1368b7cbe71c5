"""The lines of JSON-RPC over standard streams, with two guarantees that the SDK lacks.

Every request is answered. The SDK ignores a request that it cannot parse; here it is refused by its id, a line that is not
JSON with the error -32700, and JSON that is no message with -32600 (JSON-RPC 2.0, section 5.1). Answers that are under way
are still sent after the client has closed its end, as a shell pipe does.

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
from mcp_types import JSONRPCNotification, jsonrpc_message_adapter

from oracle.process import Streams

LONGEST_WAIT = 60.0
"""Seconds to wait for answers after the end of the input."""

_CHUNK = 1 << 16
_NO_JSON = (-32700, "Parse error: the line is not JSON.")
_NO_MESSAGE = (
    -32600,
    "Invalid Request: the line is no JSON-RPC 2.0 message. Send one object a line; batches are not taken.",
)


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
        while line := await self._lines.get():
            if message := _as_message(line):
                self._pending.ask(_parse(message))
                return message
            if line.strip():
                await self._outgoing.write(_refusal(line))
                await self._outgoing.flush()
        await self._pending.all()
        return ""

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


def _as_message(line: str) -> str:
    """Return a line that the SDK can parse, a request without its parameters if need be; then the SDK refuses it by its id.

    Return "" for a line that is no message. Half a surrogate pair or deep nesting, for example, the SDK cannot parse.
    """
    if _is_readable(line):
        return line
    message = _parse(line)
    kept = (
        {key: message[key] for key in ("jsonrpc", "id", "method") if key in message}
        if isinstance(message, dict)
        else {}
    )
    bare = json.dumps(kept) + "\n"
    return bare if _is_readable(bare) else ""


def _is_readable(line: str) -> bool:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return False
    if isinstance(message, JSONRPCNotification) and '"id"' in line:  # an id that is no id is ignored by the SDK
        given = _parse(line)
        return isinstance(given, dict) and "id" not in given
    return True


def _refusal(line: str) -> str:
    """Return the error for a line that is no message, with the id of what looks like a request."""
    try:
        message, (code, reason) = json.loads(line), _NO_MESSAGE
    except (ValueError, RecursionError):
        message, (code, reason) = None, _NO_JSON
    number = message.get("id") if isinstance(message, dict) and "method" in message else None
    known = number if type(number) in (int, str) else None
    return json.dumps({"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": reason}}) + "\n"


def _parse(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
