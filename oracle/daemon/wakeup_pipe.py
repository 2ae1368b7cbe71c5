"""Wait for a signal, a call from another thread, or a timeout."""

from __future__ import annotations

import os
import select
import signal
from types import TracebackType


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
