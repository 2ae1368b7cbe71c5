"""Sync with the hub: at once when something changed here or elsewhere, and now and then. A thread of its own: a hub may be slow."""

from __future__ import annotations

import functools
import os
import select
import threading
from typing import TYPE_CHECKING

from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from oracle.app.context import Context, Root
    from oracle.app.hubs.following import Follower
    from oracle.app.hubs.sync import Synced
    from oracle.daemon.stats import Attempts, Stats

_PATIENCE = 5.0
"""Seconds that the current sync gets when the daemon is stopped."""


class HubLoop:
    """The thread that syncs, while the Root belongs to a hub. `notify` tells it of changes; `when_done` hears of what arrived."""

    def __init__(
        self,
        root: Root,
        open_context: Callable[[], Context],
        attempts: Attempts,
        stats: Stats,
        when_done: Callable[[], None],
    ) -> None:
        self._root = root
        self._open = open_context
        self._attempts = attempts
        self._stats = stats
        self._when_done = when_done
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._pipe: tuple[int, int] | None = None
        self._lock = threading.Lock()
        self._news: set[str] | None = None

    def keep(self) -> None:
        """Start the thread once the Root has joined a hub; it ends by itself when the Root leaves it."""
        if self._thread is not None and self._thread.is_alive():
            return
        if not os.path.exists(self._root.hub):
            return
        if self._pipe is None:
            self._pipe = os.pipe()
            for end in self._pipe:
                os.set_blocking(end, False)
        self._stopping.clear()
        self._thread = threading.Thread(target=self._work, args=(self._pipe[0],), name="hub-loop", daemon=True)
        self._thread.start()

    def notify(self, news: Collection[str] | None) -> None:
        """Sync at once. `news` are the absolute paths that changed here, None if they are not known."""
        with self._lock:
            self._news = None if news is None or self._news is None else self._news | set(news)
        self._wake()

    def _take_news(self) -> set[str] | None:
        with self._lock:
            news, self._news = self._news, set()
        return news

    def _wake(self) -> None:
        if self._pipe is not None:
            try:
                os.write(self._pipe[1], b"\0")
            except BlockingIOError:  # it is due already
                return

    def stop(self) -> None:
        """End the thread after its current sync. One that waits for the network ends with the process."""
        self._stopping.set()
        self._wake()
        if self._thread is not None:
            self._thread.join(_PATIENCE)

    def _work(self, told: int) -> None:
        from oracle.app.hubs.following import Follower

        with self._open() as context:
            follower = Follower(context)
            try:
                while not self._stopping.is_set() and os.path.exists(self._root.hub):
                    if not self._attempts.rests("hub"):
                        self._attempts.run("hub", functools.partial(self._visit, follower, self._take_news()))
                    _wait(told, follower, self._attempts.rest_of("hub") or follower.rest())
            finally:
                follower.close()

    def _visit(self, follower: Follower, news: set[str] | None) -> None:
        self._note(follower.sync(news))
        if differing := follower.check():
            self._attempts.warn(say("{count} files differ from the hub; see `oracle doctor`", count=differing))

    def _note(self, done: Synced) -> None:
        if not done.is_idle:
            self._stats.count("hub_sent", len(done.pushed))
            self._stats.count("hub_placed", len(done.placed))
        self._stats.set("hub", {"refused": len(done.refused), "stranded": len(done.stranded)})
        for path, kept in done.conflicts:
            self._attempts.warn(say("{path} had another owner; the other file is kept as {kept}", path=path, kept=kept))
        for sentence in done.problems:
            self._attempts.warn(sentence)
        if done.placed or done.wake_ups:
            self._when_done()


def _wait(told: int, follower: Follower, seconds: float) -> None:
    """Wait for a change here, a hint of the hub or the time. A hint that came with the answer of a statement makes no noise."""
    if follower.take_hint():
        return
    sockets = [told] if follower.fileno() < 0 else [told, follower.fileno()]
    ready, _, _ = select.select(sockets, [], [], seconds)
    if told in ready:
        os.read(told, 4096)
