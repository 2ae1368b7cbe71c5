"""The sign of life of a command that takes long, on a terminal alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING

from oracle.cli.output import is_terminal, wants_colour
from oracle.wording import say, spoken

if TYPE_CHECKING:
    from types import TracebackType

    from rich.status import Status


PATIENCE = 2.0
"""Seconds of silence before the spinner appears."""


class Spinner:
    """A spinner on standard error while the block runs; `report` says what is being done. Nothing at all off a terminal."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._timer = self._new_timer()
        self._lock = Lock()
        self._status: Status | None = None
        self._is_over = False
        self._text = say("Reading the Root …")

    def __enter__(self) -> Spinner:
        if is_terminal(sys.stderr):
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to a question while the block runs; afterwards wait as long as at first before it appears."""
        self._stop()
        try:
            yield
        finally:
            self._timer, self._is_over = self._new_timer(), False
            self.__enter__()

    def report(self, count: int, what: str) -> None:
        """Take a count from the work and the name of what is counted."""
        self._text = say("{count:,} {what} …", count=count, what=what)
        if self._status is not None:
            self._status.update(spoken(self._text))

    def _new_timer(self) -> Timer:
        timer = Timer(self._patience, self._begin)
        timer.daemon = True
        return timer

    def _stop(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._status is not None:
                self._status.stop()
                self._status = None

    def _begin(self) -> None:
        from rich.console import Console

        with self._lock:
            if self._is_over:
                return
            console = Console(
                file=sys.stderr,
                color_system="auto" if wants_colour() else None,
                highlight=False,
                markup=False,
                emoji=False,
            )
            self._status = console.status(spoken(self._text))
            self._status.start()
