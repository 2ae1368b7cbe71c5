"""Try one item of work at a time. A failure becomes one line of the log and does not stop the other items."""

from __future__ import annotations

import logging
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.domain.safety.secrets import redact
from oracle.errors import DiskFailure, HandoffFailed, LockTimeout, OracleError, RootUnusable, TreeEmptied

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.daemon.stats import Stats

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
