"""Whether the Root can be used, and what changes in it: the lock, the disk, and the folders that are watched."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

from oracle.daemon import index_loop
from oracle.errors import DiskFailure, RootUnusable
from oracle.store.daemon import state as store
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.context import Context, Root
    from oracle.daemon.stats import Stats


POLL_EVERY = 1.0
"""Seconds between two scans while polling."""

PROBE_EVERY, PROBE_WITHIN = 5.0, 5.0
"""Seconds between two probes of the watcher, and the time it has to report one.

Queries trust the daemon for ten seconds after a probe: two probes have to fit in.
"""

LISTEN_AGAIN = 60.0
"""Seconds after which a watcher that failed a probe is tried again."""


class Listener:
    """A watcher that is trusted only while its probes succeed. Used by one thread."""

    def __init__(
        self,
        root: Root,
        open_context: Callable[[], Context],
        stats: Stats,
        log: logging.Logger,
        notify: Callable[[], None],
    ) -> None:
        self._root = root
        self._open = open_context
        self._stats = stats
        self._log = log
        self._watcher = index_loop.Watcher(root, notify)
        self._has_seen = True
        self._probed = self._looked = self._again = float("-inf")
        self._names: tuple[tuple[str, int], ...] = ()
        self._missing: tuple[str, ...] = ()
        self._why = ""
        self._moved_ns = 0
        self.heard_ns = 0
        """When the last probe that was reported was moved: every change before was reported too. Ns since 1970."""

    @property
    def hears(self) -> bool:
        """Return whether the watcher runs and reported the last probe, or still has time to."""
        return self._watcher.is_listening and (self._has_seen or time.monotonic() < self._probed + PROBE_WITHIN)

    def stop(self) -> None:
        """Stop listening. The next `keep` starts again."""
        self._watcher.stop()
        self._watcher.paths = ()
        self._again = self._probed = float("-inf")

    def rest(self) -> float:
        """Return the seconds until the next probe, poll or restart is due."""
        now = time.monotonic()
        if not self.hears or self._missing:
            return POLL_EVERY
        return (self._probed + PROBE_EVERY if self._has_seen else self._probed + PROBE_WITHIN) - now

    def take(self) -> index_loop.Changes:
        """Return what changed since the last call, including queue changes that the watcher missed."""
        changes = self._watcher.take()
        self._has_seen = self._has_seen or changes.probe
        self.heard_ns = self._moved_ns if changes.probe else self.heard_ns
        changes.is_partial = self._queue_changed() and not changes.queue
        changes.queue = changes.is_partial or changes.queue
        return changes

    def keep(self) -> bool:
        """Start listening where it is useful, and probe when due.

        Returns whether it was restarted, so that changes may be missing.
        """
        now = time.monotonic()
        if self._watcher.paths and not self.hears:
            self._go_deaf(self._watcher.fault or f"the watcher did not see {self._root.probe} change")
        has_appeared = any(os.path.isdir(path) for path in self._missing)
        if now < self._probed + PROBE_EVERY and not has_appeared:
            return False
        self._moved_ns = time.time_ns()
        store.move_probe(self._root, int(now))
        self._probed = now
        with self._open() as context:
            wanted, self._missing = index_loop.folders_to_watch(context)
        if self._watcher.is_listening and wanted == self._watcher.paths:
            self._has_seen = False
            return False
        return now >= self._again and self._begin(wanted)

    def _begin(self, wanted: tuple[str, ...]) -> bool:
        why = index_loop.why_deaf(self._root)
        if why:
            self._go_deaf(why)
            self._again = float("inf")
            return False
        self._watcher.start(wanted)
        self._moved_ns = 0  # this watcher did not run yet when the probe was moved
        self._has_seen = True
        self._looked = float("-inf")
        self._why = ""
        self._stats.set("watching", {"mode": "watching", "folders": list(wanted), "why_not": ""})
        return True

    def _go_deaf(self, why: str) -> None:
        self._watcher.stop()
        self._watcher.paths = ()
        self._moved_ns = self.heard_ns = 0
        self._again = time.monotonic() + LISTEN_AGAIN
        if self._why != why:
            self._log.warning(
                "polling every %g s: %s", POLL_EVERY, why, extra={"event": "polling", "fields": {"reason": why}}
            )
        self._why = why
        self._stats.set("watching", {"mode": "polling", "folders": [], "why_not": why})

    def _queue_changed(self) -> bool:
        """Return whether a name was added to or removed from the queue since the last call."""
        now = time.monotonic()
        if now < self._looked + (PROBE_EVERY if self.hears else POLL_EVERY):
            return False
        self._looked = now
        with self._open() as context:
            seen = index_loop.signature([self._root.inbox, self._root.profiles, *index_loop.handoff_folders(context)])
        before, self._names = self._names, seen
        return seen != before


STATUS_EVERY, SOON = 10.0, 1.0
"""Seconds between two writes of the status, and the shorter time after a change.

A failed write shows that the disk is full or read-only.
"""


class RootGuard:
    """Check the Root before any work is done. Used by one thread."""

    def __init__(self, root: Root, instance: store.Instance, stats: Stats, log: logging.Logger) -> None:
        self._root = root
        self._instance = instance
        self._stats = stats
        self._log = log
        self._identity = (0, 0)
        self._had_projects = os.path.isdir(f"{root.path}/projects")
        self._written_at = float("-inf")
        self._written_changes = -1
        self._vouched_ns = 0
        self.is_new = False
        """Whether the Root or `_state` was replaced since the last check, so that everything must be scanned again."""

    def check(self) -> None:
        """Check the Root. Raises RootUnusable, DiskFailure, AlreadyRunning."""
        self._check_root()
        if os.path.isdir(self._root.state) and not os.access(self._root.state, os.W_OK):
            raise DiskFailure(
                say("{state} could not be written: it is read-only.", state=self._root.state),
                hint=say("Make it writable again."),
            )
        if not self._instance.is_current:
            self._instance.renew()
            self._log.warning("_state was deleted; took the lock again", extra={"event": "state-deleted"})
            self.is_new = True
        if self.is_new or self.rest() <= 0:
            self.write_status()

    def _check_root(self) -> None:
        path = self._root.path
        try:
            status = os.stat(path)
        except OSError as error:
            raise RootUnusable(
                say("The Root {path} is gone.", path=path), hint=say("Mount it or restore it; nothing was lost.")
            ) from error
        self._root.require()
        has_projects = os.path.isdir(f"{path}/projects")
        if self._had_projects and not has_projects:
            raise RootUnusable(
                say("The Root {path} is gone: the folder there has no projects.", path=path),
                hint=say("Mount it or restore it."),
            )
        self._had_projects = has_projects
        identity = (status.st_dev, status.st_ino)
        self.is_new = self.is_new or self._identity not in ((0, 0), identity)
        self._identity = identity

    def vouch(self, moment_ns: int) -> None:
        """Tell queries that every change until this moment is in the index."""
        if moment_ns != self._vouched_ns:
            self._vouched_ns = moment_ns
            self._instance.vouch(moment_ns)

    def write_status(self) -> None:
        """Write the daemon's status. Raises DiskFailure."""
        changes = self._stats.changes
        store.write_status(self._root, self._stats.as_json())
        self._written_changes, self._written_at = changes, time.monotonic()

    def rest(self) -> float:
        """Return the seconds until the next write of the status. It comes sooner after a change."""
        every = SOON if self._written_changes != self._stats.changes else STATUS_EVERY
        return self._written_at + every - time.monotonic()
