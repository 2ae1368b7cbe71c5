"""Check that the Root is there, that this process holds its lock, and that it can be written."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

from oracle.errors import DiskFailure, RootUnusable
from oracle.store.daemon import state as store
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.app.context import Root
    from oracle.daemon.stats import Stats

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

    def write_status(self) -> None:
        """Write the daemon's status. Raises DiskFailure."""
        changes = self._stats.changes
        store.write_status(self._root, self._stats.as_json())
        self._written_changes, self._written_at = changes, time.monotonic()

    def rest(self) -> float:
        """Return the seconds until the next write of the status. It comes sooner after a change."""
        every = SOON if self._written_changes != self._stats.changes else STATUS_EVERY
        return self._written_at + every - time.monotonic()
