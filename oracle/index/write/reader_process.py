"""A second process for the rebuild of many records. It reads and links files, then prints one side of the projections.

The first process reads too while the second has no answer ready. Requests and answers are marshalled tuples on pipes;
an answer is preceded by its length. The second process inherits no lock and ends with its input, so a killed rebuild
leaves nothing behind. If no process can be started, the first one reads everything.
"""

from __future__ import annotations

import marshal
import os
import sqlite3
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from select import select
from threading import Thread
from typing import IO

import oracle
from oracle.domain.links.links import Patterns
from oracle.index.db import Database
from oracle.index.write import projections, reading
from oracle.index.write.projections import BACKLINKS, LINKS
from oracle.index.write.reading import Reading
from oracle.store.disk.folders import Stat
from oracle.store.root.layout import Root

Item = tuple[str, str, Stat]
"""(root-relative path, slug, stat) of a record file."""

Batch = tuple[Patterns, list[Item]]

_Request = tuple[list[str] | None, tuple[str, ...], tuple[str, ...], list[tuple[str, str, tuple[int, ...]]]]
"""Task prefixes, component suffixes, the spellings of the repository's folder, and the items."""

_PRINT: _Request = (None, (), (), [])
"""The request to print the links. It holds no item, as no batch does."""

_IN_FLIGHT = 3
_LENGTH = 8
_PIPE = 1 << 20
"""The size of a pipe in bytes, where the system allows it. An answer waits in it while the first process is busy."""

_LOAD = "import sys; sys.path.insert(0, sys.argv[1]); from oracle.index.write import reader_process; "
_START = _LOAD + "reader_process.serve(sys.argv[2])"


def read_batch(root: Root, patterns: Patterns, items: Iterable[Item]) -> Iterator[Reading]:
    """Read record files now. Missing ones are left out."""
    for path, slug, stat in items:
        loaded = reading.load(root, path)
        if loaded is not None:
            yield reading.read_bytes(
                path, slug, stat, loaded[0], patterns=patterns, reason=loaded[1], source=root.source_of(path)
            )


class ReaderProcess:
    """The second process, as a context manager."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: SimpleQueue[bytes] = SimpleQueue()

    def __enter__(self) -> ReaderProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            self._requests.put(b"")
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def read(self, batches: Iterable[Batch]) -> Iterator[Reading]:
        """Yield the readings of all batches, from both processes in any order."""
        waiting: deque[Batch] = deque()
        for batch in batches:
            if self._process is None and not waiting:
                self._start()
            if len(waiting) == _IN_FLIGHT and not self._has_answered():
                yield from read_batch(self._root, *batch)
                continue
            if len(waiting) == _IN_FLIGHT:
                yield from self._answer(waiting.popleft())
            waiting.append(batch)
            self._ask(batch)
        while waiting:
            yield from self._answer(waiting.popleft())

    def print_everything(self, connection: sqlite3.Connection) -> int:
        """Print both sides of the projections, the links in the second process. Returns the number of files.

        The caller holds the write lock for both and has committed.
        """
        if self._process is not None and self._process.stdout is not None:
            self._requests.put(marshal.dumps(_PRINT))
            printed = projections.print_side(connection, self._root, BACKLINKS)
            try:
                printed += int.from_bytes(_receive(self._process.stdout), "big")
            except EOFError:
                self.__exit__()
            else:
                projections.note_printed(connection, self._root)
                return printed
        return projections.print_all(connection, self._root)

    def _start(self) -> None:
        self._process = _launch(_START, self._root)
        if self._process is not None and self._process.stdin is not None:
            Thread(target=_feed, args=(self._process.stdin, self._requests), daemon=True).start()

    def _ask(self, batch: Batch) -> None:
        """Send a batch. A dead process is noticed when its answer is read."""
        if self._process is None:
            return
        patterns, items = batch
        prefixes = None if patterns.task_prefixes is None else sorted(patterns.task_prefixes)
        wanted = [(path, slug, tuple(stat)) for path, slug, stat in items]
        self._requests.put(marshal.dumps((prefixes, patterns.component_suffixes, patterns.repository(), wanted)))

    def _has_answered(self) -> bool:
        if self._process is None or self._process.stdout is None:
            return True
        return bool(select([self._process.stdout], [], [], 0)[0])

    def _answer(self, batch: Batch) -> Iterator[Reading]:
        if self._process is not None and self._process.stdout is not None:
            try:
                answer = marshal.loads(_receive(self._process.stdout))  # noqa: S302 - our own process wrote it
            except (EOFError, ValueError, TypeError):
                self.__exit__()
            else:
                yield from map(Reading._make, answer)
                return
        yield from read_batch(self._root, *batch)


def _receive(stream: IO[bytes]) -> bytes:
    """Return one answer. The stream is not buffered, so that `select` sees waiting data."""
    length = int.from_bytes(_receive_bytes(stream, _LENGTH), "big")
    return _receive_bytes(stream, length)


def _receive_bytes(stream: IO[bytes], length: int) -> bytes:
    pieces = []
    while length > 0:
        piece = stream.read(length)
        if not piece:
            raise EOFError
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _feed(stream: IO[bytes], requests: SimpleQueue[bytes]) -> None:
    """Write requests in a thread: both processes would block if each wrote to a full pipe."""
    while request := requests.get():
        rest = memoryview(request)
        try:
            while rest:
                rest = rest[stream.write(rest) :]
        except (OSError, ValueError):
            return


def _launch(program: str, root: Root) -> subprocess.Popen[bytes] | None:
    """Start a second process. Returns None on a machine with one core, or if it cannot be started."""
    if (os.cpu_count() or 1) < 2 or not sys.executable:
        return None
    package = os.path.dirname(os.path.dirname(os.path.abspath(oracle.__file__)))
    try:
        return subprocess.Popen(
            [sys.executable, "-c", program, package, root.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            pipesize=_PIPE,
        )
    except OSError:
        return None


def serve(path: str) -> None:
    """Answer requests from standard input until it ends; runs in the second process."""
    root = Root(path)
    while (request := _next(sys.stdin.buffer)) is not None:
        prefixes, suffixes, folders, items = request
        known = None if prefixes is None else frozenset(prefixes)
        patterns = Patterns(known, suffixes, repository=partial(tuple, folders))
        batch = [(path, slug, Stat(*stat)) for path, slug, stat in items]
        found = [tuple(one) for one in read_batch(root, patterns, batch)]
        answer = marshal.dumps(found) if items else _print_links(root).to_bytes(_LENGTH, "big")
        sys.stdout.buffer.write(len(answer).to_bytes(_LENGTH, "big") + answer)
        sys.stdout.buffer.flush()


def _print_links(root: Root) -> int:
    """Print the links of a Root; return the number of files."""
    database = Database(root)
    try:
        return projections.print_side(database.connect(), root, LINKS)
    finally:
        database.close()


def _next(stream: IO[bytes]) -> _Request | None:
    try:
        request: _Request = marshal.load(stream)  # noqa: S302
    except (EOFError, ValueError, TypeError, KeyboardInterrupt):
        return None
    return request
