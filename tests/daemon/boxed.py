"""A daemon for tests: a real process on real files, whose machine can be made to fail while it runs.

Faults are files in a folder: as long as one is there, the machine has that fault. `die-at-<point>` kills the process with SIGKILL
right after that step. What a daemon does every ten seconds it does here every half second, unless it is told `real`.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from oracle.api import Oracle
from oracle.app.delivery import deliver
from oracle.app.queries import attend
from oracle.daemon import index_loop, listening, stats, work_loop
from oracle.daemon.serve import Daemon
from oracle.store.delivery import handoffs, inbox, leases, packets, responses
from oracle.store.disk import files
from oracle.wake.outcomes import Busy
from tests.app.squad import Recorder

POINTS: dict[str, tuple[Any, str]] = {
    "claim": (leases, "claim"),
    "packet": (packets, "keep_question"),
    "intent": (inbox, "add"),
    "response": (responses, "put"),
    "receipt": (handoffs, "complete"),
    "consumed": (handoffs, "consume"),
    "told": (deliver, "_tell"),
    "delivered": (deliver, "deliver"),
    "woken": (handoffs, "amend"),
    "passed-on": (leases, "pass_on"),
}
QUICK = {
    (listening, "PROBE_EVERY"): 0.5,
    (listening, "PROBE_WITHIN"): 0.4,
    (listening, "POLL_EVERY"): 0.1,
    (listening, "LISTEN_AGAIN"): 1.0,
    (listening, "STATUS_EVERY"): 0.3,
    (listening, "SOON"): 0.1,
    (index_loop, "LOOK_EVERY"): 0.5,
    (work_loop, "LOOK_EVERY"): 0.5,
    (work_loop, "REPAIR_EVERY"): 0.2,
    (stats, "FIRST_REST"): 0.1,
    (stats, "LONGEST_REST"): 0.3,
    (inbox, "FIRST_DELAY"): 0.05,
}


class Faults:
    """What the machine suffers from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    def said(self, name: str) -> str:
        """Return what the file of a fault says."""
        return (self.folder / name).read_text(encoding="ascii")

    def now_ns(self) -> int:
        """Be the clock: ahead by the seconds in the file `clock`."""
        try:
            ahead = float((self.folder / "clock").read_text(encoding="ascii") or 0)
        except (OSError, ValueError):
            ahead = 0.0
        return time.time_ns() + int(ahead * 1e9)


def inject(faults: Faults) -> None:
    """Put the faults between the program and the machine."""
    spoil_disk(faults)
    spoil_listening(faults)
    spoil_questions(faults)
    for point, (module, name) in POINTS.items():
        if faults.has(f"die-at-{point}"):
            setattr(module, name, _dying(getattr(module, name)))


def hurry() -> None:
    """Do at short intervals what a daemon does at long ones."""
    for (module, name), seconds in QUICK.items():
        assert hasattr(module, name)
        setattr(module, name, seconds)


def spoil_disk(faults: Faults) -> None:
    write, access = files._write_all, os.access

    def write_all(handle: int, data: bytes) -> None:
        for name, number in (("full", errno.ENOSPC), ("read-only", errno.EROFS)):
            if faults.has(name):
                raise OSError(number, os.strerror(number))
        write(handle, data)

    def may(path: Any, mode: int, **named: Any) -> bool:
        return access(path, mode, **named) and not (mode == os.W_OK and faults.has("read-only"))

    files._write_all, os.access = write_all, may


def spoil_listening(faults: Faults) -> None:
    sort = index_loop.Changes.add

    def add(self: Any, *args: Any, **named: Any) -> None:
        if not faults.has("deaf"):
            sort(self, *args, **named)

    index_loop.Changes.add = add  # type: ignore[method-assign]
    if faults.has("no-watches"):
        import watchfiles

        def watch(*_: Any, **__: Any) -> Any:
            raise OSError(errno.ENOSPC, "OS file watch limit reached.")

        watchfiles.watch = watch
    if faults.has("network"):
        index_loop.file_system_of = lambda _: "nfs4"


def spoil_questions(faults: Faults) -> None:
    attend_to = attend.attend_to

    def attend_badly(oracle: Any, asked: Any, *more: Any) -> Any:
        if faults.has(f"bad-{asked.name.task_id}"):
            raise KeyError(faults.said(f"bad-{asked.name.task_id}") or "nobody thought of this")
        return attend_to(oracle, asked, *more)

    attend.attend_to = attend_badly


def _dying(call: Any) -> Any:
    def called(*args: Any, **named: Any) -> Any:
        call(*args, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    return called


def main(root: str, folder: str, pace: str = "quick") -> None:
    if pace == "quick":
        hurry()
    faults = Faults(Path(folder))
    recorder = Recorder(Path(folder) / "woken.log")
    inject(faults)

    class Seats(Recorder):
        """Seats that are away, or busy, as long as a file says so."""

        def wake(self, names: Any, text: str, **named: Any) -> Any:
            if (Path(folder) / f"busy-{named['seat']}").exists():
                answered = len(list(Path(root, "responses").glob("*.json")))
                with (Path(folder) / "tried.log").open("a", encoding="ascii") as log:
                    log.write(f"{answered}\n")
                time.sleep(0.2)
                return Busy(names[0], "its agent is at work")
            self.away = {path.name.removeprefix("away-") for path in Path(folder).glob("away-*")}
            return super().wake(names, text, **named)

    Daemon(Oracle.open(root).root, clock=faults, waker=Seats(recorder.path)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
