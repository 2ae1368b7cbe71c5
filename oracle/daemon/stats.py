"""Counters and measurements of the daemon, for `oracle daemon status` and `oracle daemon metrics`."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections import Counter, deque
from collections.abc import Mapping
from threading import Lock

from oracle.domain import timestamps

_MOST_LAGS = 2_000
_MOST_ERRORS = 10


class Stats:
    """Counters, lags and the last errors. Safe to use from any thread."""

    def __init__(self) -> None:
        self.started_at = time.time()
        self._began = time.monotonic()
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        self._lags: deque[float] = deque(maxlen=_MOST_LAGS)
        self._errors: deque[dict[str, str]] = deque(maxlen=_MOST_ERRORS)
        self._sections: dict[str, dict[str, object]] = {"watching": {}, "index": {}, "queue": {}}
        self.changes = 0
        """The number of changes so far. Compare it to see whether the status must be written again."""

    def count(self, what: str, number: int = 1) -> None:
        """Increase a counter."""
        with self._lock:
            self._counts[what] += number
            self.changes += 1

    def set(self, what: str, content: Mapping[str, object]) -> None:
        """Replace the section `watching`, `index` or `queue`."""
        with self._lock:
            self.changes += content != self._sections[what]
            self._sections[what] = dict(content)

    def note_lag(self, seconds: float) -> None:
        """Record how many seconds a changed file was not yet in the index."""
        with self._lock:
            self._lags.append(max(0.0, seconds))

    def note_error(self, item: str, sentence: str) -> None:
        """Record an error."""
        with self._lock:
            self.changes += 1
            self._errors.append({"ts": timestamps.from_mtime(time.time_ns()), "item": item, "message": sentence})

    def as_json(self) -> dict[str, object]:
        """Return the content of `_state/daemon.json`. Times are in seconds, memory in bytes."""
        with self._lock:
            lags, counts, errors = sorted(self._lags), dict(sorted(self._counts.items())), list(self._errors)
            sections = dict(self._sections)
        return {
            "pid": os.getpid(),
            "started_at": timestamps.from_mtime(int(self.started_at * 1e9)),
            "written_at": timestamps.from_mtime(time.time_ns()),
            "uptime_seconds": round(time.monotonic() - self._began, 3),
            **sections,
            "lag_seconds": {"count": len(lags), "p50": _quantile(lags, 0.5), "p99": _quantile(lags, 0.99)},
            "counts": counts,
            "last_errors": errors,
            "process": {
                "rss_bytes": _resident(),
                "cpu_seconds": round(time.process_time(), 3),
                "open_files": _open_files(),
            },
        }


def _quantile(ordered: list[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 4) if ordered else None


def _resident() -> int:
    """Return the resident memory, or its peak where the system reports only that."""
    try:
        with open("/proc/self/statm", "rb") as stream:
            return int(stream.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def _open_files() -> int:
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            return len(os.listdir(folder)) - 1
        except OSError:
            continue
    return 0
