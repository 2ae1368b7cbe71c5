"""The log of the daemon: one JSON line per event, with rotation.

A line that cannot be written is kept in memory until it can: a full disk must not hide its cause.
"""

from __future__ import annotations

import json
import logging
import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress

from oracle.domain import timestamps
from oracle.domain.safety.secrets import redact
from oracle.errors import OracleError
from oracle.store.disk import files, steps
from oracle.store.root.layout import Root

MOST_BYTES = 1 << 20
MOST_FILES = 3
"""Rotated files that are kept."""

_BACKLOG = 200


class JsonLines(logging.Handler):
    """A handler that opens the file for each line, since the Root may vanish and return."""

    def __init__(self, root: Root) -> None:
        super().__init__()
        self._path = root.daemon_log
        self._backlog: deque[bytes] = deque(maxlen=_BACKLOG)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, and the lines that could not be written before."""
        self._backlog.append(line_of(record))
        try:
            while self._backlog:
                self._rotate(len(self._backlog[0]))
                files.append_line(self._path, self._backlog[0])
                self._backlog.popleft()
        except (OracleError, OSError):
            return

    def _rotate(self, more: int) -> None:
        try:
            size = os.path.getsize(self._path)
        except OSError:
            return
        if size + more > MOST_BYTES:
            for number in range(MOST_FILES, 0, -1):
                older = f"{self._path}.{number - 1}" if number > 1 else self._path
                with suppress(FileNotFoundError):
                    files.rename(older, f"{self._path}.{number}")


def line_of(record: logging.LogRecord) -> bytes:
    """Return a log record as JSON: `ts`, `level`, `event`, `message` and its `fields`, with credentials removed."""
    entry: dict[str, object] = {
        "ts": timestamps.from_mtime(int(record.created * 1e9)),
        "level": record.levelname.lower(),
        "event": getattr(record, "event", record.name),
        "message": record.getMessage(),
        **getattr(record, "fields", {}),
    }
    if record.exc_info:
        entry["traceback"] = logging.Formatter().formatException(record.exc_info)
    entry = {name: redact(item)[0] if isinstance(item, str) else item for name, item in entry.items()}
    return json.dumps(entry, ensure_ascii=False, default=str).encode("utf-8", "replace")


def read(root: Root) -> Iterator[dict[str, object]]:
    """Yield the events of the log, oldest first, across its rotated files. Invalid lines are skipped."""
    for number in range(MOST_FILES, -1, -1):
        path = f"{root.daemon_log}.{number}" if number else root.daemon_log
        try:
            with open(path, "rb") as stream:
                lines = stream.readlines()
        except OSError:
            continue
        for line in lines:
            if (entry := steps.parse_object(line)) is not None:
                yield entry
