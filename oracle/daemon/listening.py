"""Listen to what changes; see now and then that one really hears, and poll with one line that says why where one does not."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

from oracle.daemon import watching
from oracle.store.daemon import state as store

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.context import Context
    from oracle.daemon.stats import Numbers
    from oracle.store.root.layout import Root

POLL_EVERY = 1.0
"""Seconds between two looks where nobody tells what changes."""

PROBE_EVERY, PROBE_WITHIN = 10.0, 5.0
"""Seconds between two probes of the watcher, and within which it must have seen one."""

LISTEN_AGAIN = 60.0
"""Seconds after which a watcher that was found deaf is tried again."""


class Listener:
    """A watcher that is not believed without a proof; one thread."""

    def __init__(
        self,
        root: Root,
        open_context: Callable[[], Context],
        numbers: Numbers,
        log: logging.Logger,
        ring: Callable[[], None],
    ) -> None:
        self._root = root
        self._open = open_context
        self._numbers = numbers
        self._log = log
        self._watcher = watching.Watcher(root, ring)
        self._has_seen = True
        self._probed = self._looked = self._again = float("-inf")
        self._names: tuple[tuple[str, int], ...] = ()
        self._missing: tuple[str, ...] = ()
        self._why = ""

    @property
    def hears(self) -> bool:
        """Tell whether the watcher listens and saw the last probe, or may still see it."""
        return self._watcher.is_listening and (self._has_seen or time.monotonic() < self._probed + PROBE_WITHIN)

    def stop(self) -> None:
        """Stop listening; the next `keep` begins anew."""
        self._watcher.stop()
        self._watcher.paths = ()
        self._again = self._probed = float("-inf")

    def rest(self) -> float:
        """Return the seconds until there is something to do though nothing was told."""
        now = time.monotonic()
        if not self.hears or self._missing:
            return POLL_EVERY
        return (self._probed + PROBE_EVERY if self._has_seen else self._probed + PROBE_WITHIN) - now

    def take(self) -> watching.Changes:
        """Return what changed since the last call; of the desk also what nobody told of."""
        changes = self._watcher.take()
        self._has_seen = self._has_seen or changes.probe
        changes.desk = self._names_changed() or changes.desk
        return changes

    def keep(self) -> bool:
        """Listen where it is worth it, probe when it is time; tell whether it was begun anew, so that changes may be missed."""
        now = time.monotonic()
        if self._watcher.paths and not self.hears:
            self._go_deaf(self._watcher.fault or f"the watcher did not see {self._root.probe} change")
        has_appeared = any(os.path.isdir(path) for path in self._missing)
        if now < self._probed + PROBE_EVERY and not has_appeared:
            return False
        store.move_probe(self._root, int(now))
        self._probed = now
        with self._open() as context:
            wanted, self._missing = watching.folders_to_watch(context)
        if self._watcher.is_listening and wanted == self._watcher.paths:
            self._has_seen = False
            return False
        return now >= self._again and self._begin(wanted)

    def _begin(self, wanted: tuple[str, ...]) -> bool:
        why = watching.why_deaf(self._root)
        if why:
            self._go_deaf(why)
            self._again = float("inf")
            return False
        self._watcher.start(wanted)
        self._has_seen = True
        self._looked = float("-inf")
        self._why = ""
        self._numbers.say("watching", {"mode": "watching", "folders": list(wanted), "why_not": ""})
        return True

    def _go_deaf(self, why: str) -> None:
        self._watcher.stop()
        self._watcher.paths = ()
        self._again = time.monotonic() + LISTEN_AGAIN
        if self._why != why:
            self._log.warning(
                "polling every %g s: %s", POLL_EVERY, why, extra={"event": "polling", "fields": {"reason": why}}
            )
        self._why = why
        self._numbers.say("watching", {"mode": "polling", "folders": [], "why_not": why})

    def _names_changed(self) -> bool:
        """Tell whether a name was put on or taken off the desk since the last look."""
        now = time.monotonic()
        if now < self._looked + (PROBE_EVERY if self.hears else POLL_EVERY):
            return False
        self._looked = now
        with self._open() as context:
            seen = watching.signature([self._root.inbox, self._root.profiles, *watching.handoff_folders(context)])
        before, self._names = self._names, seen
        return seen != before
