"""Keep the index up to date: follow changes, stat every file now and then, measure the lag."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

from oracle.app.root import read_index_state
from oracle.domain import timestamps
from oracle.errors import DiskFailure, LockTimeout
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.context import Context
    from oracle.daemon.stats import Stats

LOOK_EVERY = 10.0
"""Seconds between two scans of the folders. Every file is scanned as often while that is cheap or nothing is watched."""

SHARE = 1 / 400
"""Share of a core that scanning every file may cost while the watcher works."""

LONGEST = 600.0
"""Seconds after which every file is scanned, whatever it costs."""

PATIENCE, LONGEST_WAIT = 0.25, 30.0
"""Seconds to wait for the lock before reading what others indexed, and before logging that others hold it."""

NEVER = float("-inf")
"""A time in the past: scan now."""


class IndexLoop:
    """Keep the index of a Root up to date. Used by one thread."""

    def __init__(self, open_context: Callable[[], Context], stats: Stats, log: logging.Logger) -> None:
        self._open = open_context
        self._stats = stats
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
        """Close the index. It is opened again when needed."""
        if self._context is not None:
            self._context.close()
            self._context = None

    def reset(self) -> None:
        """Scan everything on the next turn: the clock jumped, or the Root or `_state` was replaced."""
        self._looked = self._stated = NEVER
        self._was_there = False

    def every(self, *, is_watched: bool) -> float:
        """Return the seconds between two scans of every file. They grow with the cost as long as the watcher works."""
        return min(LONGEST, max(LOOK_EVERY, self._cost / SHARE)) if is_watched else max(LOOK_EVERY, self._cost * 10)

    def rest(self, *, is_watched: bool) -> float:
        """Return the seconds until the next scan is due."""
        now = time.monotonic()
        return max(0.0, min(self._looked + LOOK_EVERY, self._stated + self.every(is_watched=is_watched)) - now)

    def turn(self, edited: set[str], *, is_changed: bool, is_watched: bool) -> None:
        """Scan what changed, and everything when it is due. Raises what a reconcile raises."""
        self._edited |= edited
        now = time.monotonic()
        is_full = now >= self._stated + self.every(is_watched=is_watched)
        if not (is_changed or self._edited or is_full or now >= self._looked + LOOK_EVERY or not is_watched):
            return
        self._looked = NEVER  # a failed turn stays due until everything has succeeded
        context = self._opened()
        self._name_missing(context)
        began = time.thread_time()  # CPU time: on a busy machine, waiting costs nothing
        is_done = context.index.follow(full=is_full, doubted=self._edited, patience=PATIENCE)
        if context.index.database.in_memory:
            self.close()
            raise DiskFailure(
                say("{path} could not be written: it is read-only.", path=context.root.path),
                hint=say("Make it writable."),
            )
        if not is_done:
            self._measure(context)  # the holder of the lock indexes too
            self._wait_for_lock(context)
            return
        self._edited.clear()
        self._waited = 0.0
        self._looked = time.monotonic()
        if is_full:
            self._stated = self._looked
            self._cost = time.thread_time() - began
            self._stats.count("full_stats")
        self._stats.count("looks")
        self._measure(context)

    def _wait_for_lock(self, context: Context) -> None:
        """Make the next turn due at once. Log it if others have held the lock for long."""
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
            self._log.warning("the index was deleted; rebuilding it", extra={"event": "index-deleted"})
            self.reset()
        self._was_there = True

    def _measure(self, context: Context) -> None:
        """Record the lag of every record that changed since the last turn. It is an upper bound where another process indexed.

        If the index is damaged, the next turn repairs it at once.
        """
        now_ns = time.time_ns()
        state = read_index_state(context, self._seen_ns)
        if state is None:
            self._looked = NEVER
            return
        if state.version == self._version:
            return
        self._version = state.version
        changed = [one for one in state.changed if one <= now_ns]
        for moment in changed:
            self._stats.note_lag((now_ns - moment) / 1e9)
        self._stats.count("records_indexed", len(changed))
        self._seen_ns = max([*changed, min(self._seen_ns, now_ns)])
        content = {
            "records": state.records,
            "changed_at": timestamps.from_mtime(now_ns),
            "full_stat_cost_seconds": round(self._cost, 4),
        }
        self._stats.set("index", content)
