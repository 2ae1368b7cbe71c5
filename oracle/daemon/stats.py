"""What the daemon counts and what fails: for `oracle daemon status`, Prometheus (text format 0.0.4) and the log."""

from __future__ import annotations

import logging
import os
import re
import resource
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from oracle.domain import timestamps
from oracle.domain.safety.secrets import redact
from oracle.errors import DiskFailure, HandoffFailed, LockTimeout, OracleError, RootUnusable, TreeEmptied

if TYPE_CHECKING:
    from collections.abc import Callable


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
        """Replace the section `watching`, `index`, `queue` or `hub`."""
        with self._lock:
            self.changes += content != self._sections.get(what)
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


PREFIX = "memory_oracle"


def render(status: Mapping[str, object]) -> str:
    """Return the metrics. Without a running daemon, only that it is down: older values are no longer true."""
    lines = list(_metric("up", "gauge", "Whether a daemon serves the Root.", {"": int(bool(status.get("running")))}))
    if status.get("running"):
        lines += _of_daemon(status)
    return "\n".join(lines) + "\n"


def _of_daemon(status: Mapping[str, object]) -> Iterator[str]:
    watching, index, lag, process = (_table(status, key) for key in ("watching", "index", "lag_seconds", "process"))
    folders = watching.get("folders")
    yield from _metric(
        "uptime_seconds", "gauge", "Seconds since the daemon started.", {"": status.get("uptime_seconds")}
    )
    yield from _metric(
        "watching",
        "gauge",
        "1 while the system reports changes, 0 while the daemon polls.",
        {"": int(watching.get("mode") == "watching")},
    )
    yield from _metric(
        "watched_folders",
        "gauge",
        "Folders that are watched, with everything below them.",
        {"": len(folders) if isinstance(folders, list) else 0},
    )
    yield from _metric("records", "gauge", "Records in the index.", {"": index.get("records")})
    yield from _metric(
        "full_stat_cost_seconds",
        "gauge",
        "Seconds that the last scan of every file took.",
        {"": index.get("full_stat_cost_seconds")},
    )
    yield from _metric(
        "queue",
        "gauge",
        "Items in the queue.",
        {f'{{kind="{kind}"}}': number for kind, number in _table(status, "queue").items()},
    )
    quantiles = {f'{{quantile="{share}"}}': lag.get(name) for share, name in (("0.5", "p50"), ("0.99", "p99"))}
    yield from _metric(
        "lag_seconds",
        "gauge",
        "Seconds from a file's change to its index entry, over the last 2000 changes.",
        quantiles,
    )
    yield from _metric(
        "events_total",
        "counter",
        "Work done, by kind.",
        {f'{{kind="{kind}"}}': number for kind, number in _table(status, "counts").items()},
    )
    for key, kind, text in (
        ("rss_bytes", "gauge", "Memory in use."),
        ("open_files", "gauge", "Open file descriptors."),
        ("cpu_seconds", "counter", "Processor time used."),
    ):
        yield from _metric(f"process_{key}", kind, text, {"": process.get(key)})


def _table(status: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = status.get(key)
    return found if isinstance(found, dict) else {}


def _metric(name: str, kind: str, text: str, values: Mapping[str, object]) -> Iterator[str]:
    known = {label: number for label, number in values.items() if isinstance(number, int | float)}
    if known:
        yield f"# HELP {PREFIX}_{name} {text}"
        yield f"# TYPE {PREFIX}_{name} {kind}"
        yield from (f"{PREFIX}_{name}{label} {number}" for label, number in known.items())


SURROUNDINGS = (DiskFailure, HandoffFailed, LockTimeout, RootUnusable, TreeEmptied, OSError)
"""Failures that are not the item's fault. The item is retried without limit."""

FIRST_REST, LONGEST_REST = 1.0, 30.0
"""Seconds that an item rests after a failure: 1, 2, 4 … 30."""

_MOST_WARNED = 500
_CHANCE = re.compile(r"[0-9a-f]{6,}|\d+")


@dataclass(slots=True)
class _Fault:
    kind: str
    tries: int
    until: float


class Attempts:
    """Items that failed and are resting. A fault is logged when it begins, when it changes and when it ends."""

    def __init__(self, log: logging.Logger, stats: Stats, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._stats = stats
        self._clock = clock
        self._faults: dict[str, _Fault] = {}
        self._warned: dict[str, None] = {}

    def run(self, item: str, work: Callable[[], object]) -> Exception | None:
        """Run the work of an item. Returns the error, or None."""
        try:
            work()
        except (OracleError, OSError) as error:
            self._note(item, error)
            return error
        except Exception as error:  # noqa: BLE001 -- the per-item loop: one bad item must not end the daemon
            self._note(item, error)
            return error
        if self._faults.pop(item, None) is not None:
            self._log.info("%s: works again", item, extra={"event": "recovered"})
        return None

    def rests(self, item: str) -> bool:
        """Return whether an item failed lately and must rest."""
        fault = self._faults.get(item)
        return fault is not None and fault.until > self._clock()

    def rest_of(self, item: str) -> float:
        """Return how many seconds an item still rests."""
        fault = self._faults.get(item)
        return 0.0 if fault is None else max(0.0, fault.until - self._clock())

    def warn(self, line: str) -> None:
        """Log a warning, unless the same one was logged lately."""
        kind = _CHANCE.sub("#", line)
        if kind not in self._warned:
            self._log.warning("%s", line, extra={"event": "warning"})
            self._warned[kind] = None
            if len(self._warned) > _MOST_WARNED:
                del self._warned[next(iter(self._warned))]

    def _note(self, item: str, error: Exception) -> None:
        sentence = _sentence(error)
        kind = f"{type(error).__name__} {_CHANCE.sub('#', sentence.rpartition(': ')[2])}"
        before = self._faults.get(item)
        tries = before.tries + 1 if before else 1
        rest = min(LONGEST_REST, FIRST_REST * 2 ** min(tries - 1, 16))
        self._faults[item] = _Fault(kind, tries, self._clock() + rest)
        self._stats.count("errors")
        if before is None or before.kind != kind:
            self._stats.note_error(item, sentence)
            is_foreseen = isinstance(error, OracleError | OSError)
            self._log.error(
                "%s: %s",
                item,
                sentence,
                extra={"event": "fault", "fields": {"item": item, "hint": getattr(error, "hint", "")}},
                exc_info=None if is_foreseen else error,
            )


def _sentence(error: Exception) -> str:
    """Return the message of an error, with credentials redacted."""
    if isinstance(error, OracleError):
        text: str = error.sentence
    else:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    clean, secrets = redact(text)
    return clean if secrets else text
