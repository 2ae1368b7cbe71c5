"""Show on a terminal that work goes on, once it has taken longer than people like to wait in silence."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from typing import TYPE_CHECKING

from oracle.cli.i18n.translate import translate
from oracle.cli.output import is_terminal, wants_colour
from oracle.wording import say

if TYPE_CHECKING:
    from types import TracebackType

    from rich.status import Status

PATIENCE = 2.0
"""Seconds of silence before the spinner appears."""


class Waiting:
    """A spinner on standard error while the block runs; `report` says what is being done. Nothing at all off a terminal."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._timer = Timer(patience, self._begin)
        self._timer.daemon = True
        self._lock = Lock()
        self._status: Status | None = None
        self._is_over = False
        self._text = say("Reading the Root …")

    def __enter__(self) -> Waiting:
        if is_terminal(sys.stderr):
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._status is not None:
                self._status.stop()

    def report(self, count: int, what: str) -> None:
        """Take a count from the work and the name of what is counted."""
        self._text = say("{count:,} {what} …", count=count, what=what)
        if self._status is not None:
            self._status.update(translate(self._text))

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
            self._status = console.status(translate(self._text))
            self._status.start()
