"""The lines of the wire, with two promises beyond the SDK's: what was asked is answered, and a signal ends it at once.

A request that the SDK can't read is refused by its number, where the SDK would say nothing and its client wait for ever.
A client that writes its requests and closes its end, as a shell's pipe does, would otherwise lose the answers under way; and a
process whose thread waits for a line would not end before that line comes. So a thread that holds nobody up reads, past buffers.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from threading import Thread
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from mcp_types import jsonrpc_message_adapter

if TYPE_CHECKING:
    from oracle.mcp.wire import Wire

LONGEST_WAIT = 60.0
"""Seconds after the end of the input for which answers are waited for."""

_CHUNK = 1 << 16


class _Owed:
    """The requests that were read and not answered yet."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._changed = anyio.Event()

    def ask(self, message: Any) -> None:  # noqa: ANN401
        """Take a message of the client's: a request is owed an answer, unless it is taken back."""
        if not isinstance(message, dict):
            return
        if message.get("method") == "notifications/cancelled" and isinstance(message.get("params"), dict):
            self._settle(message["params"].get("requestId"))
        elif message.get("jsonrpc") == "2.0" and "method" in message and type(message.get("id")) in (int, str):
            self._ids.add(json.dumps(message["id"]))

    def answer(self, message: Any) -> None:  # noqa: ANN401
        """Take a message of the server's."""
        if isinstance(message, dict) and "method" not in message and "id" in message:
            self._settle(message["id"])

    async def all(self) -> None:
        """Wait until nothing is owed, or for as long as anyone would."""
        with anyio.move_on_after(LONGEST_WAIT):
            while self._ids:
                self._changed = anyio.Event()
                await self._changed.wait()

    def _settle(self, number: object) -> None:
        self._ids.discard(json.dumps(number))
        self._changed.set()


class Incoming(anyio.AsyncFile[str]):
    """Lines from the client; the end comes when nothing is owed any more."""

    def __init__(self, reader: int, owed: _Owed) -> None:
        super().__init__(TextIOWrapper(BytesIO()))  # what the base class would read from
        self._owed = owed
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        Thread(target=self._pump, args=(reader,), daemon=True).start()

    def end(self) -> None:
        """Take the input for ended."""
        self._lines.put_nowait("")

    async def readline(self) -> str:
        """Return the next line, "" at the end."""
        line = await self._lines.get()
        if not line:
            await self._owed.all()
            return line
        if not _is_readable(line):
            line = _without_parameters(line)
        if _is_readable(line):
            self._owed.ask(_parse(line))
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
        with suppress(RuntimeError):  # the loop is closed, and nobody waits for lines any more
            self._loop.call_soon_threadsafe(job)


class Outgoing(anyio.AsyncFile[str]):
    """Lines to the client; one counts as sent once it is flushed."""

    def __init__(self, writer: int, owed: _Owed) -> None:
        super().__init__(TextIOWrapper(BytesIO()))  # what the base class would write to
        self._owed = owed
        self._writer = writer
        self._written: list[str] = []

    async def write(self, text: str) -> int:
        """Take a line."""
        self._written.append(text)
        return len(text)

    async def flush(self) -> None:
        """Send what was taken. Raises BrokenPipeError when nobody reads any more."""
        written, self._written = self._written, []
        await to_thread.run_sync(_write, self._writer, "".join(written).encode("utf-8", "replace"))
        for message in map(_parse, written):
            self._owed.answer(message)


def open_lines(wire: Wire) -> tuple[Incoming, Outgoing]:
    """Return both ends of the wire; a loop has to run."""
    owed = _Owed()
    return Incoming(wire.reader, owed), Outgoing(wire.writer, owed)


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
    """Tell whether the SDK can read a line: what it can't, such as half a surrogate pair or a deep nest, it leaves unanswered."""
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return False
    return True


def _without_parameters(line: str) -> str:
    """Return a request that can't be read as one that can, which the SDK refuses by its number; anything else as it is."""
    message = _parse(line)
    if not isinstance(message, dict):
        return line
    return json.dumps({key: message[key] for key in ("jsonrpc", "id", "method") if key in message}) + "\n"


def _parse(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
