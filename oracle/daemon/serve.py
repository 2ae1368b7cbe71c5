"""Serve a Root: one process that follows its files and works at its desk until it is told to stop."""

from __future__ import annotations

import logging
import os
import signal
import time
from typing import TYPE_CHECKING

from oracle.app.context import Context
from oracle.app.queries import attend
from oracle.app.queries.attend import Terms
from oracle.daemon.attempts import Attempts
from oracle.daemon.index_loop import Keeper
from oracle.daemon.listening import Listener
from oracle.daemon.root_guard import Ground
from oracle.daemon.stats import Numbers
from oracle.daemon.wakeup_pipe import Bell
from oracle.daemon.work_loop import Clerk
from oracle.domain.values import replace
from oracle.errors import DiskFailure
from oracle.store.daemon.log import JsonLines
from oracle.store.daemon.state import Instance

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.clock import Clock
    from oracle.daemon.watching import Changes
    from oracle.store.root.layout import Root
    from oracle.wake.outcomes import Waker

LAST_STEP = 60.0
"""Seconds that the step which is being done gets when the daemon is told to stop."""

JUMP = 5.0
"""Seconds by which the clock must differ from the time that went by, to have been set."""

_QUICKEST = 0.05


class Daemon:
    """The daemon of one Root; `run` returns when it is told to stop."""

    def __init__(
        self, root: Root, *, hold: bool = False, clock: Clock | None = None, waker: Waker | None = None
    ) -> None:
        self.root = root
        self.numbers = Numbers()
        self.log = logging.Logger("daemon", logging.INFO)
        self.log.addHandler(JsonLines(root))
        self._attempts = Attempts(self.log, self.numbers)
        self._hold = hold
        self._clock = clock
        self._waker = waker
        self._stopping = self._hangs_up = self._was_ill = False
        self._drift = self._wall() - time.monotonic()
        self._keeper = Keeper(self._open, self.numbers, self.log)
        self._clerk = Clerk(self._open, self._attempts, self.numbers, self.log, terms=self._terms())

    def _open(self) -> Context:
        return Context.open(self.root.path, clock=self._clock, waker=self._waker, warn=self._warn)

    def _warn(self, line: str) -> None:
        """Log a warning of a use case, unless `_state` went away under it: that is told once, as a fault of its own."""
        if os.path.isdir(self.root.state):
            self._attempts.warn(line)

    def _terms(self) -> Terms:
        terms = attend.read_terms(self._open())
        return replace(terms, hold=True) if self._hold else terms

    def _wall(self) -> float:
        return self._clock.now_ns() / 1e9 if self._clock is not None else time.time()

    # -- running ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until SIGTERM or SIGINT. Raises AlreadyRunning, RootUnusable, DiskFailure when it can't begin."""
        with Instance(self.root) as instance, Bell() as bell:
            before = self._heed_signals()
            ground = Ground(self.root, instance, self.numbers, self.log)
            listener = Listener(self.root, self._open, self.numbers, self.log, bell.ring)
            self.log.info("serving %s", self.root.path, extra={"event": "started", "fields": {"pid": os.getpid()}})
            self._clerk.when_done = bell.ring
            self._clerk.start()
            try:
                while not self._stopping:
                    bell.wait(self.turn(ground, listener))
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
                self._end(ground, listener)

    def once(self) -> dict[str, object]:
        """Do everything that is due one time; return the numbers. Raises AlreadyRunning, RootUnusable, DiskFailure."""
        with Instance(self.root):
            self._attempts.run("index", lambda: self._keeper.turn(set(), is_told=True, is_watched=False))
            self._keeper.close()
            self._clerk.round()
            return self.numbers.as_json()

    def turn(self, ground: Ground, listener: Listener) -> float:
        """Do what there is to do now; return the seconds to rest if nothing rings."""
        self._notice_jump()
        if self._hangs_up:
            self._hangs_up = False
            self._attempts.run("configuration", self._read_again)
        if self._attempts.rests("root"):
            return self._attempts.rest_of("root")
        if not self._stands(ground, listener):
            return self._attempts.rest_of("root")
        if self._was_ill or ground.is_new:
            if ground.is_new:
                listener.stop()  # the folders that it watches are gone, though others have their names
            self._was_ill = ground.is_new = False
            self._begin_anew()
        return self._follow(ground, listener)

    def _stands(self, ground: Ground, listener: Listener) -> bool:
        """Tell whether the Root can be used; let go of everything on it where it can't."""
        if self._attempts.run("root", ground.stand) is None:
            return True
        self._leave(listener)
        return False

    def _follow(self, ground: Ground, listener: Listener) -> float:
        if not self._attempts.rests("watcher") and self._attempts.run(
            "watcher", lambda: self._listen(ground, listener)
        ):
            listener.stop()
        changes = listener.take()
        if self._attempts.rests("index"):
            if changes.records:
                self._keeper.forget()
        else:
            self._attempts.run("index", lambda: self._look(changes, ground, listener))
        if self._was_ill:
            return self._attempts.rest_of("root")
        if changes.desk:
            self._clerk.ring()
        rest = min(listener.rest(), ground.rest(), self._keeper.rest(is_watched=listener.hears))
        return max(_QUICKEST, rest, self._attempts.rest_of("index") if rest <= 0 else 0.0)

    def _look(self, changes: Changes, ground: Ground, listener: Listener) -> None:
        try:
            self._keeper.turn(changes.edited, is_told=changes.records, is_watched=listener.hears)
        except Exception:
            if self._stands(ground, listener):
                raise  # else the Root went away meanwhile, which is told once, as its own fault

    def _listen(self, ground: Ground, listener: Listener) -> None:
        try:
            is_lost = listener.keep()
        except DiskFailure:
            if self._attempts.run("root", ground.write_status) is None:
                raise
            return  # a disk that takes nothing is told of once, as the Root's fault
        if is_lost:
            self._keeper.forget()

    def _leave(self, listener: Listener) -> None:
        """Let go of everything on a Root that can't be used."""
        self._was_ill = True
        self._keeper.close()
        self._clerk.pause()
        listener.stop()

    def _begin_anew(self) -> None:
        self._keeper.forget()
        self._clerk.forget()

    def _end(self, ground: Ground, listener: Listener) -> None:
        listener.stop()
        if not self._clerk.stop(LAST_STEP):
            self.log.warning("the last step did not end in %g s", LAST_STEP, extra={"event": "warning"})
        self._keeper.close()
        self._attempts.run("status", ground.write_status)
        self.log.info("stopped", extra={"event": "stopped"})

    # -- signals, configuration, clock -----------------------------------------------------------------------------

    def _heed_signals(self) -> dict[int, signal._HANDLER]:
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
        self._clerk.terms = terms = self._terms()
        self._keeper.close()
        self._begin_anew()
        fields = {"hold": terms.hold, "seat_bound": terms.seat_bound, "seat_lease": terms.seat_lease}
        self.log.info("configuration read again", extra={"event": "configuration", "fields": fields})

    def _notice_jump(self) -> None:
        """Look at everything anew when the clock was set, or the machine slept; what is on disk alone is timed by it."""
        drift = self._wall() - time.monotonic()
        jump, self._drift = drift - self._drift, drift
        if abs(jump) >= JUMP:
            fields = {"seconds": round(jump, 1)}
            self.log.warning("the clock jumped by %+.1f s", jump, extra={"event": "clock-jumped", "fields": fields})
            self._begin_anew()
