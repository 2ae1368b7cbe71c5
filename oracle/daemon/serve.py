"""The daemon of a Root: one process that follows its files and works through its queue until it is stopped."""

from __future__ import annotations

import logging
import os
import select
import signal
import time
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from oracle.app.context import Context
from oracle.app.queries import attend
from oracle.app.queries.attend import Terms
from oracle.app.sources.consolidation import write_plan
from oracle.daemon import memory
from oracle.daemon.answering import Answering
from oracle.daemon.hub_loop import HubLoop
from oracle.daemon.index_loop import IndexLoop
from oracle.daemon.listening import Listener, RootGuard
from oracle.daemon.stats import Attempts, Stats
from oracle.daemon.work_loop import WorkLoop
from oracle.domain.values import replace
from oracle.errors import DiskFailure
from oracle.store.daemon.log import JsonLines
from oracle.store.daemon.state import Instance

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.context import Clock, Root, Waker
    from oracle.daemon.index_loop import Changes


class WakeupPipe:
    """A pipe that threads and signals write to and the main thread waits for. Signals are connected inside the `with` block."""

    def __enter__(self) -> WakeupPipe:
        self._reader, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if hasattr(os, "pipe2") else _pipe()
        self._before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._before)
        os.close(self._reader)
        os.close(self._writer)
        self._writer = -1

    def notify(self) -> None:
        """End the wait. Works from any thread."""
        try:
            os.write(self._writer, b"\0")
        except OSError:  # full: the wait ends anyway; closed: nothing waits any more
            return

    def wait(self, seconds: float) -> None:
        """Wait until notified, at most `seconds`."""
        ready, _, _ = select.select([self._reader], [], [], max(0.0, seconds))
        while ready:
            try:
                if len(os.read(self._reader, 4096)) < 4096:
                    return
            except BlockingIOError:
                return


def _pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    return reader, writer


LAST_STEP = 60.0
"""Seconds that the current step gets when the daemon is stopped."""

JUMP = 5.0
"""A clock that moves by this many seconds more or less than the time that passed has been set."""

CACHE_KIB = 2_048
"""KiB of the index that each thread keeps: what changes is on few pages, and the system keeps the file anyway."""

_QUICKEST = 0.05
_PLANS_LOOK = 60.0
"""Seconds after which it is looked whether a plan is due."""


class Daemon:
    """The daemon of one Root. `run` returns when it is stopped."""

    def __init__(
        self, root: Root, *, hold: bool = False, clock: Clock | None = None, waker: Waker | None = None
    ) -> None:
        self.root = root
        self.stats = Stats()
        self.log = logging.Logger("daemon", logging.INFO)
        self.log.addHandler(JsonLines(root))
        self._attempts = Attempts(self.log, self.stats)
        self._hold = hold
        self._clock = clock
        self._waker = waker
        self._stopping = self._hangs_up = self._was_unusable = False
        self._drift = self._wall() - time.monotonic()
        self._plans_at = 0.0
        self._index_loop = IndexLoop(self._open, self.stats, self.log)
        self._work_loop = WorkLoop(self._open, self._attempts, self.stats, self.log, terms=self._terms())

    @cached_property
    def _answering(self) -> Answering:
        return Answering(self.root, self._open, self._attempts, self.stats)

    @cached_property
    def _hub_loop(self) -> HubLoop:
        return HubLoop(self.root, self._open, self._attempts, self.stats, self._work_loop.notify)

    def _open(self) -> Context:
        context = Context.open(self.root.path, clock=self._clock, waker=self._waker, warn=self._warn)
        context.index.database.cache_kib = CACHE_KIB
        return context

    def _warn(self, line: str) -> None:
        """Log a warning. While `_state` is gone, that is the only fault worth logging."""
        if os.path.isdir(self.root.state):
            self._attempts.warn(line)

    def _terms(self) -> Terms:
        terms = attend.read_terms(self._open())
        return replace(terms, hold=True) if self._hold else terms

    def _wall(self) -> float:
        return self._clock.now_ns() / 1e9 if self._clock is not None else time.time()

    # -- running ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until SIGTERM or SIGINT. Raises AlreadyRunning, RootUnusable, DiskFailure if it cannot start."""
        memory.spare()
        with Instance(self.root) as instance, WakeupPipe() as pipe:
            before = self._install_signal_handlers()
            guard = RootGuard(self.root, instance, self.stats, self.log)
            listener = Listener(self.root, self._open, self.stats, self.log, pipe.notify)
            self.log.info("serving %s", self.root.path, extra={"event": "started", "fields": {"pid": os.getpid()}})
            self._answering.keep()
            self._work_loop.when_done = pipe.notify
            self._work_loop.start()
            try:
                while not self._stopping:
                    pipe.wait(self.turn(guard, listener))
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
                self._end(guard, listener)

    def once(self) -> dict[str, object]:
        """Do all due work once and return the status. Raises AlreadyRunning, RootUnusable, DiskFailure."""
        with Instance(self.root):
            self._attempts.run("index", lambda: self._index_loop.turn(set(), is_changed=True, is_watched=False))
            self._index_loop.close()
            self._work_loop.round()
            return self.stats.as_json()

    def turn(self, guard: RootGuard, listener: Listener) -> float:
        """Do all due work. Returns the seconds to wait unless something happens."""
        self._notice_jump()
        if self._hangs_up:
            self._hangs_up = False
            self._attempts.run("configuration", self._read_again)
        if self._attempts.rests("root"):
            return self._attempts.rest_of("root")
        if not self._is_usable(guard, listener):
            return self._attempts.rest_of("root")
        if self._was_unusable or guard.is_new:
            if guard.is_new:
                listener.stop()  # the watched folders are gone, even if new ones have their names
            self._was_unusable = guard.is_new = False
            self._start_over()
        return self._follow(guard, listener)

    def _is_usable(self, guard: RootGuard, listener: Listener) -> bool:
        """Return whether the Root is usable. If not, close everything on it."""
        if self._attempts.run("root", guard.check) is None:
            return True
        self._leave(listener)
        return False

    def _follow(self, guard: RootGuard, listener: Listener) -> float:
        self._answering.keep()
        if not self._attempts.rests("watcher") and self._attempts.run("watcher", lambda: self._listen(guard, listener)):
            listener.stop()
        changes = listener.take()
        self._hub_loop.keep()
        if changes.queue or changes.records:
            self._hub_loop.notify(changes.news)
        if changes.is_flood:
            self._index_loop.reset()
        if self._attempts.rests("index"):
            if changes.records:
                self._index_loop.reset()
        else:
            self._attempts.run("index", lambda: self._look(changes, guard, listener))
        if self._was_unusable:
            return self._attempts.rest_of("root")
        if self._work_loop.terms.consolidate_every and time.monotonic() >= self._plans_at:
            self._plans_at = time.monotonic() + _PLANS_LOOK
            self._attempts.run("plan", self._write_plan)
        if changes.queue:
            self._work_loop.notify()
        rest = min(listener.rest(), guard.rest(), self._index_loop.rest(is_watched=listener.hears))
        return max(_QUICKEST, rest, self._attempts.rest_of("index") if rest <= 0 else 0.0)

    def _write_plan(self) -> None:
        """Propose what of the daily notes is worth remembering, when it is time. A person or an agent reviews it."""
        with self._open() as context:
            path = write_plan(context, self._work_loop.terms.consolidate_every)
        if path:
            self.log.info("review what to remember: %s", path, extra={"event": "plan", "fields": {"path": path}})

    def _look(self, changes: Changes, guard: RootGuard, listener: Listener) -> None:
        before = self._index_loop.version
        try:
            self._index_loop.turn(changes.edited, is_changed=changes.records, is_watched=listener.hears)
        except Exception:
            if self._is_usable(guard, listener):
                raise  # otherwise the Root is gone, which is logged as its own fault
            return
        if not listener.hears and self._index_loop.version != before:
            self._hub_loop.notify(None)
        if self._index_loop.is_current:
            guard.vouch(listener.heard_ns)

    def _listen(self, guard: RootGuard, listener: Listener) -> None:
        try:
            is_lost = listener.keep()
        except DiskFailure:
            if self._attempts.run("root", guard.write_status) is None:
                raise
            return  # a full disk is logged once, as the Root's fault
        if is_lost:
            self._index_loop.reset()

    def _leave(self, listener: Listener) -> None:
        """Close everything on a Root that is not usable."""
        self._was_unusable = True
        self._index_loop.close()
        self._work_loop.pause()
        listener.stop()

    def _start_over(self) -> None:
        self._index_loop.reset()
        self._work_loop.reset()

    def _end(self, guard: RootGuard, listener: Listener) -> None:
        self._answering.stop()
        self._hub_loop.stop()
        listener.stop()
        if not self._work_loop.stop(LAST_STEP):
            self.log.warning("the last step did not end in %g s", LAST_STEP, extra={"event": "warning"})
        self._index_loop.close()
        self._attempts.run("status", guard.write_status)
        self.log.info("stopped", extra={"event": "stopped"})

    # -- signals, configuration, clock -----------------------------------------------------------------------------

    def _install_signal_handlers(self) -> dict[int, signal._HANDLER]:
        def stop(*_: object) -> None:
            self._stopping = True

        def hang_up(*_: object) -> None:
            self._hangs_up = True

        handlers: dict[int, Callable[..., None]] = {
            signal.SIGTERM: stop,
            signal.SIGINT: stop,
            signal.SIGHUP: hang_up,
        }
        return {number: signal.signal(number, handler) for number, handler in handlers.items()}

    def _read_again(self) -> None:
        self._work_loop.terms = terms = self._terms()
        self._index_loop.close()
        self._start_over()
        fields = {"hold": terms.hold, "seat_bound": terms.seat_bound, "seat_lease": terms.seat_lease}
        self.log.info("configuration read again", extra={"event": "configuration", "fields": fields})

    def _notice_jump(self) -> None:
        """Scan everything again if the clock was set or the machine slept: scans are timed by it."""
        drift = self._wall() - time.monotonic()
        jump, self._drift = drift - self._drift, drift
        if abs(jump) >= JUMP:
            fields = {"seconds": round(jump, 1)}
            self.log.warning("the clock jumped by %+.1f s", jump, extra={"event": "clock-jumped", "fields": fields})
            self._start_over()
