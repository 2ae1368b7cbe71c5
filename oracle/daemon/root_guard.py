"""The ground under the daemon: the Root is there, it is ours alone, and it can be written."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

from oracle.errors import DiskFailure, RootUnusable
from oracle.store.daemon import state as store
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.daemon.stats import Numbers
    from oracle.store.root.layout import Root

STATUS_EVERY, SOON = 10.0, 1.0
"""Seconds between two writings of the status, which is also how a disk that can't be written is noticed."""


class Ground:
    """What is looked at before anything is done; one thread."""

    def __init__(self, root: Root, instance: store.Instance, numbers: Numbers, log: logging.Logger) -> None:
        self._root = root
        self._instance = instance
        self._numbers = numbers
        self._log = log
        self._identity = (0, 0)
        self._had_projects = os.path.isdir(f"{root.path}/projects")
        self._written = float("-inf")
        self._told = -1
        self.is_new = False
        """Whether what is stood on is not what was stood on before: everything has to be looked at anew."""

    def stand(self) -> None:
        """See that all is well. Raises RootUnusable, DiskFailure, AlreadyRunning."""
        self._see_root()
        if os.path.isdir(self._root.state) and not os.access(self._root.state, os.W_OK):
            raise DiskFailure(
                say("{state} could not be written: it is read-only.", state=self._root.state),
                hint=say("Make it writable again."),
            )
        if not self._instance.is_current:
            self._instance.renew()
            self._log.warning("_state was deleted; the lock was taken anew", extra={"event": "state-deleted"})
            self.is_new = True
        if self.is_new or self.rest() <= 0:
            self.write_status()

    def _see_root(self) -> None:
        path = self._root.path
        try:
            status = os.stat(path)
        except OSError as error:
            raise RootUnusable(
                say("The Root {path} is gone.", path=path), hint=say("Mount it or put it back; nothing was lost.")
            ) from error
        self._root.require()
        has_projects = os.path.isdir(f"{path}/projects")
        if self._had_projects and not has_projects:
            raise RootUnusable(
                say("The Root {path} is gone: what stands there has no projects.", path=path),
                hint=say("Mount it or put it back."),
            )
        self._had_projects = has_projects
        identity = (status.st_dev, status.st_ino)
        self.is_new = self.is_new or self._identity not in ((0, 0), identity)
        self._identity = identity

    def write_status(self) -> None:
        """Write what the daemon says of itself. Raises DiskFailure."""
        told = self._numbers.changes
        store.write_status(self._root, self._numbers.as_json())
        self._told, self._written = told, time.monotonic()

    def rest(self) -> float:
        """Return the seconds until the status is written again: sooner when there is something new to say."""
        every = SOON if self._told != self._numbers.changes else STATUS_EVERY
        return self._written + every - time.monotonic()
