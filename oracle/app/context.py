"""The context of every use case: a Root, its index, a clock, and where warnings and wake-ups go. Cheap to import."""

from __future__ import annotations

import os
import time

from oracle.domain.names import MEMORY
from oracle.store.root.layout import Root, choose_root, name_root

__all__ = ["Clock", "Context", "Root", "SystemClock", "Waker", "choose_root", "name_root"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from types import TracebackType
    from typing import Any, Protocol, Self

    from oracle.index.fresh import Index
    from oracle.wake.outcomes import Waker

    class Clock(Protocol):
        """Tell the time; tests bring their own."""

        def now_ns(self) -> int:
            """Return nanoseconds since 1970-01-01 UTC."""
            ...


class SystemClock:
    """The clock of the machine."""

    __slots__ = ()

    def now_ns(self) -> int:
        """Return nanoseconds since 1970-01-01 UTC."""
        return time.time_ns()


class Context:
    """A Root with its index. Not for use by two threads at a time."""

    def __init__(
        self, root: Root, *, clock: Clock, warn: Callable[[str], None], waker: Waker | None = None, seat: str = ""
    ) -> None:
        self.root = root
        self.seat = seat
        self.clock = clock
        self.warn = warn
        self.waker = waker
        self.loads_models = True
        """Whether a search may load the models of the semantic extra, which takes seconds."""
        self.reader = ""
        """The seat for which records are read, if it is not the one that writes."""
        self.kept: dict[object, Any] = {}
        """What use cases keep from one call to the next, each by a key of its own."""
        self._index: Index | None = None

    @classmethod
    def open(
        cls,
        root: str | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        warn: Callable[[str], None] | None = None,
        waker: Waker | None = None,
    ) -> Self:
        """Open the Root named by `root`, or the one that the environment chooses. Touches no file.

        `warn` gets one line for each thing that a person should know and that the result does not say; by default these
        lines are dropped. `waker` wakes seats; by default they are woken in the tmux server that the environment names.
        The process writes as the seat that `ORACLE_SEAT` names, unless a caller names one.
        """
        return cls(
            Root(choose_root(root, environ=environ)),
            clock=clock or SystemClock(),
            warn=warn or _drop,
            waker=waker,
            seat=(os.environ if environ is None else environ).get("ORACLE_SEAT", ""),
        )

    @property
    def index(self) -> Index:
        """The index of the Root, opened on first use: a delivery needs none."""
        if self._index is None:
            from oracle.index.fresh import Index

            self._index = Index(
                self.root,
                now_ns=self.clock.now_ns,
                warn=lambda line: self.warn(line),
                reader=lambda: self.reads_for,
            )
        return self._index

    @property
    def reads_for(self) -> str:
        """The seat that is shown what is read."""
        return self.reader or self.seat or MEMORY

    def may_read(self, path: str) -> bool:
        """Return whether the seat that reads may see the record at a root-relative path."""
        return os.path.dirname(path) not in self.root.folders_closed_to(self.reads_for)

    @property
    def has_hub(self) -> bool:
        """Whether this Root joined a hub: one look at the disk."""
        return os.path.exists(self.root.hub)

    def close(self) -> None:
        """Close the index. The object may be used again."""
        if self._index is not None:
            self._index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def now(self) -> datetime:
        """Return the time of the clock, in UTC."""
        from oracle.domain import timestamps

        return timestamps.from_ns(self.clock.now_ns())

    def now_seconds(self) -> float:
        """Return the time of the clock in seconds since 1970."""
        return self.clock.now_ns() / 1e9

    def stamp(self) -> str:
        """Return the time as receipts and queues print it: UTC, seconds, `+00:00`."""
        return self.now().replace(microsecond=0).isoformat()

    def note(self, event: str, details: Mapping[str, object]) -> None:
        """Append an event to `events.log`. A failure is a warning."""
        from oracle.domain import timestamps
        from oracle.errors import OracleError
        from oracle.store import journal
        from oracle.wording import say

        try:
            journal.append(self.root, event, timestamps.print_moment(self.now()), details)
        except OracleError as error:
            self.warn(say("the event {event} could not be noted: {fault}", event=event, fault=error))


def _drop(_: str) -> None:
    return
