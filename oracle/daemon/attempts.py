"""Try one item of work at a time: whatever goes wrong is one line of the log, and nothing hides the others."""

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

    from oracle.daemon.stats import Numbers

SURROUNDINGS = (DiskFailure, HandoffFailed, LockTimeout, RootUnusable, TreeEmptied, OSError)
"""Failures that say nothing against the item: it is tried again as long as it takes."""

FIRST_REST, LONGEST_REST = 1.0, 30.0
"""Seconds that an item rests after a failure: 1 s, 2 s, 4 s … 30 s."""

_MOST_SAID = 500
_CHANCE = re.compile(r"[0-9a-f]{6,}|\d+")


@dataclass(slots=True)
class _Fault:
    kind: str
    tries: int
    until: float


class Attempts:
    """What failed and rests. A fault is logged when it begins, when it changes and when it is over; not in between."""

    def __init__(self, log: logging.Logger, numbers: Numbers, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._numbers = numbers
        self._clock = clock
        self._faults: dict[str, _Fault] = {}
        self._said: dict[str, None] = {}

    def run(self, item: str, work: Callable[[], object]) -> Exception | None:
        """Do the work of an item; return what went wrong, None when nothing did."""
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
        """Tell whether an item failed lately and is left alone."""
        fault = self._faults.get(item)
        return fault is not None and fault.until > self._clock()

    def rest_of(self, item: str) -> float:
        """Return the seconds that an item still rests."""
        fault = self._faults.get(item)
        return 0.0 if fault is None else max(0.0, fault.until - self._clock())

    def warn(self, line: str) -> None:
        """Log a warning of a use case, once until others have been heard."""
        kind = _CHANCE.sub("#", line)
        if kind not in self._said:
            self._log.warning("%s", line, extra={"event": "warning"})
            self._said[kind] = None
            if len(self._said) > _MOST_SAID:
                del self._said[next(iter(self._said))]

    def _note(self, item: str, error: Exception) -> None:
        sentence = _sentence(error)
        kind = f"{type(error).__name__} {_CHANCE.sub('#', sentence.rpartition(': ')[2])}"
        before = self._faults.get(item)
        tries = before.tries + 1 if before else 1
        rest = min(LONGEST_REST, FIRST_REST * 2 ** min(tries - 1, 16))
        self._faults[item] = _Fault(kind, tries, self._clock() + rest)
        self._numbers.count("errors")
        if before is None or before.kind != kind:
            self._numbers.note_error(item, sentence)
            is_foreseen = isinstance(error, OracleError | OSError)
            self._log.error(
                "%s: %s",
                item,
                sentence,
                extra={"event": "fault", "fields": {"item": item, "hint": getattr(error, "hint", "")}},
                exc_info=None if is_foreseen else error,
            )


def _sentence(error: Exception) -> str:
    """Return what an error says, without a credential that it may quote of what it stumbled over."""
    if isinstance(error, OracleError):
        said: str = error.sentence
    else:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    clean, secrets = redact(said)
    return clean if secrets else said
