"""Answer the commands of the same user on a socket, with the models loaded: connections in threads, answers one by one."""

from __future__ import annotations

import os
import socket
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from oracle.app.queries import lookup
from oracle.hook import prompt
from oracle.store.daemon import answer_socket
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.context import Context, Root
    from oracle.daemon.stats import Attempts, Stats

READS_WITHIN = 2.0
"""Seconds that a client has to send its request, and to read its answer."""

MOST_CLIENTS = 32
"""Connections at a time; a further one is closed, and its command works alone."""


class Answering:
    """The socket of a daemon. `keep` and `stop` are used by one thread."""

    def __init__(self, root: Root, open_context: Callable[[], Context], attempts: Attempts, stats: Stats) -> None:
        self._root = root
        self._open = open_context
        self._attempts = attempts
        self._stats = stats
        self._door: socket.socket | None = None
        self._clients = threading.BoundedSemaphore(MOST_CLIENTS)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="answers")
        self._context: Context | None = None

    def keep(self) -> None:
        """Listen, again if the socket was deleted. The first time, load the models if the Root has vectors.

        Without `_state` nothing is done: the Root is at fault, which others log.
        """
        if not os.path.isdir(self._root.state):
            return
        is_there = self._door is not None and os.path.exists(answer_socket.address(self._root))
        if is_there or answer_socket.is_off() or self._attempts.rests("answers"):
            return
        is_first = self._door is None
        self._close()
        if self._attempts.run("answers", self._listen) is None and is_first and os.path.exists(self._root.vectors):
            self._worker.submit(self._load)

    def stop(self) -> None:
        """Stop listening, and drop the requests that wait."""
        if self._door is not None:
            with suppress(OSError):
                os.unlink(answer_socket.address(self._root))
        self._close()
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _close(self) -> None:
        if self._door is not None:
            with suppress(OSError):
                self._door.shutdown(socket.SHUT_RDWR)  # ends accept()
            self._door.close()
            self._door = None

    def _listen(self) -> None:
        self._door = answer_socket.listen(self._root)
        threading.Thread(target=self._accept, args=(self._door,), name="answers-door", daemon=True).start()

    def _accept(self, door: socket.socket) -> None:
        while door.fileno() >= 0:
            try:
                connection, _ = door.accept()
            except OSError:
                time.sleep(0.05)  # closed, or too many open files
                continue
            if self._clients.acquire(blocking=False):
                try:
                    threading.Thread(target=self._serve, args=(connection,), name="answers-client", daemon=True).start()
                    continue
                except RuntimeError:  # the system gives no thread now; the client answers alone
                    self._clients.release()
            connection.close()

    def _serve(self, connection: socket.socket) -> None:
        """Read a request and send its answer. What goes wrong with a client ends with its connection."""
        try:
            with connection, suppress(OSError, RuntimeError, CancelledError):  # the last two: the daemon stops
                user, until = answer_socket.peer(connection), time.monotonic() + answer_socket.ANSWERS_WITHIN
                if user != os.getuid():
                    self._attempts.warn(say("refused a request of user {user}", user=user))
                    return
                try:
                    line = answer_socket.receive(
                        connection, answer_socket.MOST_REQUEST, time.monotonic() + READS_WITHIN
                    )
                    reply = self._worker.submit(self._answer, line, until).result()
                except answer_socket.TooLong:
                    most = answer_socket.MOST_REQUEST
                    reply = lookup.refuse(f"a request is one line of at most {most} bytes")
                except TimeoutError:
                    reply = lookup.refuse(f"the request did not end within {READS_WITHIN:g} s")
                answer_socket.send(connection, reply, time.monotonic() + READS_WITHIN)
        finally:
            self._clients.release()

    def _answer(self, line: bytes, until: float) -> bytes:
        """Answer a request, unless its client has left. An unexpected error is logged."""
        if time.monotonic() >= until:
            return b""
        replies: list[bytes] = []
        error = self._attempts.run("answer", lambda: replies.append(self._served(line)))
        if not replies:
            return lookup.refuse(f"unexpected error: {error}")
        self._stats.count("answers")
        return replies[0]

    def _served(self, line: bytes) -> bytes:
        """Answer with the kept context, which holds the models. Its index is closed after each request."""
        context = self._context = self._context or self._open()
        try:
            return prompt.answer_line(context, line) if prompt.is_hook_line(line) else lookup.serve(context, line)
        finally:
            if context.index.database.in_memory:
                self._context = None
            context.close()

    def _load(self) -> None:
        """Load the models and whatever else a search needs."""

        def search() -> None:
            context = self._context = self._context or self._open()
            with context:
                lookup.warm(context)

        self._attempts.run("models", search)
