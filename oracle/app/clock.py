"""What the outside world must bring: a clock. Protocols only, with the system's own as the default."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

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
