"""A connection to the hub that stays open, for the daemon: it syncs, hears of changes elsewhere, and knows how long to wait."""

from __future__ import annotations

import time
from collections.abc import Collection

from oracle.app.context import Context
from oracle.app.delivery import homes
from oracle.app.hubs import check, membership
from oracle.app.hubs.sync import Synced, sync
from oracle.app.hubs.visit import handoff_folders, read_profiles
from oracle.errors import OracleError
from oracle.store.delivery import handoffs
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.hub.exchange import TeamConnection

SHARE, LONGEST = 1 / 400, 600.0
"""The share of a core that looks at all files may cost while news are reported, and the longest time between two, in seconds."""

QUERY_PATIENCE = 2.0
"""Seconds that a fresh query waits for the hub."""

SOON, LATER = 2.0, 30.0
"""Seconds until the next sync without a hint: while another machine has to answer something, and otherwise."""

AT_ONCE = 0.05
"""The same where changes wait at the hub for a transaction to end; it doubles up to SOON."""


def sync_first(context: Context) -> None:
    """Sync before a fresh query. A hub that fails, or takes longer than 2 s, is a warning: the query is answered from here."""
    import threading

    faults: list[str] = []

    def work() -> None:
        try:
            with Context.open(context.root.path) as own, membership.open_hub(own) as hub:
                sync(own, hub, hub.membership)
        except OracleError as error:
            faults.append(error.sentence)

    thread = threading.Thread(target=work, name="sync", daemon=True)  # a death at any step of it loses nothing
    thread.start()
    thread.join(QUERY_PATIENCE)
    if thread.is_alive():
        faults.append(say("The hub takes longer than {seconds:g} s.", seconds=QUERY_PATIENCE))
    for fault in faults:
        context.warn(say("{fault} The answer comes from the copies of this machine.", fault=fault))


class Follower:
    """The connection of one thread. Any error closes it; the next sync opens it again."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._hub: TeamConnection | None = None
        self._hurry = 0.0
        self._look_at = 0.0
        self._missed = True
        """Whether the last sync failed, so that its news may not have been sent."""

    def sync(self, news: Collection[str] | None = None) -> Synced:
        """Sync. `news` are the absolute paths that changed here since the last call, None if that is not known.

        Now and then all files count as news, since a watcher may miss one. Raises what `sync` raises, NoHub.
        """
        began, cpu = time.monotonic(), time.thread_time()
        if self._missed or began >= self._look_at:
            news = None
        self._missed = True
        try:
            if self._hub is None:
                self._hub = membership.open_hub(self._context)
                self._hub.connection.listen()
            done = sync(self._context, self._hub, self._hub.membership, news=news)
        except OracleError:
            self.close()
            raise
        self._hurry = min(SOON, max(AT_ONCE, self._hurry * 2)) if done.waits else 0.0
        self._missed = False
        self._context.close()  # the index keeps its pages in memory
        if news is None:
            cost = time.thread_time() - cpu if done.is_idle else 0.0
            self._look_at = began + min(LONGEST, max(LATER, cost / SHARE))
        return done

    def check(self) -> int:
        """Compare all files with the hub, if that is due; return how many differ. `oracle doctor` names them."""
        if self._hub is None or not check.is_due(self._context):
            return 0
        try:
            return len(check.check(self._context, self._hub, self._hub.membership).differences)
        except OracleError:
            self.close()
            raise

    def fileno(self) -> int:
        """Return the socket on which hints come, -1 without a connection."""
        return -1 if self._hub is None else self._hub.connection.fileno()

    def take_hint(self) -> bool:
        """Read the hints that came, so that the socket is silent until the next one. Return whether to sync."""
        if self._hub is None:
            return False
        try:
            return self._hub.connection.wait_for_hint(self._hub.membership.team, 0.0)
        except OracleError:
            self.close()
            return True

    def rest(self) -> float:
        """Return the seconds until the next sync without a hint."""
        return self._hurry or (SOON if self._awaits() else LATER)

    def _awaits(self) -> bool:
        """Return whether an open dispatch waits for a seat on another machine."""
        away = homes.elsewhere(self._context)
        folders = handoff_folders(read_profiles(self._context)) if away else {}
        return any(
            (project, name.target) in away
            for project, folder in folders.items()
            for name in handoffs.open_names(folder)
        )

    def close(self) -> None:
        """Close the connection."""
        if self._hub is not None:
            self._hub.close()
            self._hub = None
