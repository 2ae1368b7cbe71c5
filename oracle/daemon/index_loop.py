"""Keep the index warm: follow what changed, stat every file now and then, measure the lag."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

from oracle.domain import timestamps
from oracle.errors import DiskFailure, LockTimeout
from oracle.index.db import Corrupt
from oracle.index.read import lag
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.context import Context
    from oracle.daemon.stats import Numbers

LOOK_EVERY = 10.0
"""Seconds between two looks at the folders, and at every file while that is cheap or nobody tells what changes."""

SHARE = 1 / 400
"""What the stat of every file may cost of a core while a watcher was just seen to work."""

LONGEST = 600.0
"""Seconds after which every file is stat'ed whatever it costs."""

PATIENCE, LONGEST_WAIT = 0.25, 30.0
"""Seconds that the lock is waited for before what others indexed is looked at, and after which it is worth a line of the log."""

NEVER = float("-inf")
"""When that was looked at which is to be looked at now."""


class Keeper:
    """The index of a Root as the daemon follows it; one thread."""

    def __init__(self, open_context: Callable[[], Context], numbers: Numbers, log: logging.Logger) -> None:
        self._open = open_context
        self._numbers = numbers
        self._log = log
        self._context: Context | None = None
        self._cost = 0.0
        self._looked = self._stated = NEVER
        self._edited: set[str] = set()
        self._seen_ns = time.time_ns()
        self._was_there = False
        self._waited = 0.0
        self._version = (-1, -1)

    def close(self) -> None:
        """Let go of the index; it is opened anew when it is needed."""
        if self._context is not None:
            self._context.close()
            self._context = None

    def forget(self) -> None:
        """Have the next turn look at everything: the clock jumped, or the Root came back, or `_state` was deleted."""
        self._looked = self._stated = NEVER
        self._was_there = False

    def every(self, *, is_watched: bool) -> float:
        """Return the seconds between two stats of every file: longer the more they cost, as long as a watcher works."""
        return min(LONGEST, max(LOOK_EVERY, self._cost / SHARE)) if is_watched else max(LOOK_EVERY, self._cost * 10)

    def rest(self, *, is_watched: bool) -> float:
        """Return the seconds until there is something to do though nothing was told."""
        now = time.monotonic()
        return max(0.0, min(self._looked + LOOK_EVERY, self._stated + self.every(is_watched=is_watched)) - now)

    def turn(self, edited: set[str], *, is_told: bool, is_watched: bool) -> None:
        """Look where something was told to have changed, and everywhere when it is time. Raises what a reconcile raises."""
        self._edited |= edited
        now = time.monotonic()
        is_full = now >= self._stated + self.every(is_watched=is_watched)
        if not (is_told or self._edited or is_full or now >= self._looked + LOOK_EVERY or not is_watched):
            return
        self._looked = NEVER  # until all went well: a turn that failed is not over after one in which nothing was due
        context = self._opened()
        self._name_missing(context)
        began = time.thread_time()  # on a busy machine a stat waits for others, which costs nobody anything
        is_done = context.index.follow(full=is_full, doubted=self._edited, patience=PATIENCE)
        if context.index.database.in_memory:
            self.close()
            raise DiskFailure(
                say("{path} could not be written: it is read-only.", path=context.root.path),
                hint=say("Make it writable."),
            )
        if not is_done:
            self._measure_unless_damaged(context)  # who holds the lock indexes too
            self._wait_for_lock(context)
            return
        self._edited.clear()
        self._waited = 0.0
        self._looked = time.monotonic()
        if is_full:
            self._stated = self._looked
            self._cost = time.thread_time() - began
            self._numbers.count("full_stats")
        self._numbers.count("looks")
        self._measure_unless_damaged(context)

    def _wait_for_lock(self, context: Context) -> None:
        """Have the next turn come at once, and say so when others have held the lock for long."""
        self._waited += PATIENCE
        if self._waited >= LONGEST_WAIT:
            self._waited = 0.0
            raise LockTimeout(context.index.stale, hint=say("If the holder hangs, end that process."))

    def _opened(self) -> Context:
        if self._context is None:
            self._context = self._open()
        return self._context

    def _name_missing(self, context: Context) -> None:
        is_there = os.path.exists(context.root.database)
        if self._was_there and not is_there:
            self._log.warning("the index was deleted; it is built anew", extra={"event": "index-deleted"})
            self.forget()
        self._was_there = True

    def _measure_unless_damaged(self, context: Context) -> None:
        """Note the lag; an index that was damaged just now is mended by the next turn, which comes at once."""
        try:
            self._measure(context)
        except Corrupt:
            self._looked = NEVER

    def _measure(self, context: Context) -> None:
        """Note the lag of every record whose file changed since the last turn, an upper bound where another indexed it."""
        now_ns = time.time_ns()
        connection = context.index.database.connect()
        version = (connection.total_changes, connection.execute("PRAGMA data_version").fetchone()[0])
        if version == self._version:
            return
        self._version = version
        changed = [one for one in lag.changed_since(connection, self._seen_ns) if one <= now_ns]
        for moment in changed:
            self._numbers.note_lag((now_ns - moment) / 1e9)
        self._numbers.count("records_indexed", len(changed))
        self._seen_ns = max([*changed, min(self._seen_ns, now_ns)])
        records = connection.execute("SELECT count(*) FROM record").fetchone()[0]
        content = {
            "records": records,
            "changed_at": timestamps.from_mtime(now_ns),
            "full_stat_cost_seconds": round(self._cost, 4),
        }
        self._numbers.say("index", content)
