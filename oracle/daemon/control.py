"""Start, stop and ask the daemon of a Root from another process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from oracle.daemon.serve import LAST_STEP
from oracle.domain import timestamps
from oracle.errors import DaemonFailed, LockTimeout
from oracle.store.daemon import log
from oracle.store.daemon import state as store
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

    from oracle.store.root.layout import Root

STARTS_WITHIN = 30.0
"""Seconds that a daemon gets to take its lock and say how it is."""

_POLL = 0.05


def command(root: Root, *, hold: bool) -> list[str]:
    """Return the words that serve a Root, without the command line around them: it needs less memory."""
    return [sys.executable, "-m", "oracle.daemon", "--memory-dir", root.path, *(["--hold"] if hold else [])]


def start(root: Root, *, hold: bool) -> int:
    """Start the daemon in the background and return its process id once it serves. Raises AlreadyRunning, DaemonFailed."""
    root.require()
    if store.is_running(root):
        raise store.already_running(root)
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            command(root, hold=hold),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            cwd="/",
            start_new_session=True,
        )
        _wait(lambda: child.poll() is not None or _serves(root, child.pid), STARTS_WITHIN)
        if child.poll() is not None or not _serves(root, child.pid):
            raise DaemonFailed(
                say("The daemon did not start: {line}", line=_last_line(said)),
                hint=say("See {path}.", path=root.daemon_log),
            )
    return child.pid


def _serves(root: Root, pid: int) -> bool:
    return store.holder(root) == pid and store.read_status(root).get("pid") == pid


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").strip().splitlines()
    spoken = [line for line in lines if not line.startswith("hint: ")]
    return spoken[-1] if spoken else say("it said nothing.")


def stop(root: Root) -> int:
    """End the daemon after its last step; return its process id, 0 when none runs. Raises LockTimeout, DaemonFailed."""
    pid = store.holder(root)
    if not store.is_running(root):
        return 0
    if not pid:
        raise DaemonFailed(
            say("The daemon of {path} does not say which process it is.", path=root.path),
            hint=say("Look for it with ps."),
        )
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return pid
    if not _wait(lambda: not store.is_running(root), LAST_STEP + 5):
        raise LockTimeout(
            say("The daemon (process {pid}) has not ended yet.", pid=pid),
            hint=say("It finishes its last step; look again."),
        )
    return pid


def _wait(is_met: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not is_met():
        if time.monotonic() >= end:
            return False
        time.sleep(_POLL)
    return True


def status(root: Root) -> dict[str, object]:
    """Return what the daemon last said of itself, with `running` and `age_seconds`; what ran before is told as such."""
    said, running = store.read_status(root), store.is_running(root)
    if running and said.get("pid") != store.holder(root):
        said = {"pid": store.holder(root)}  # what its predecessor said
    written = timestamps.parse(str(said.get("written_at", "")))
    age = max(0.0, time.time() - written.timestamp()) if written is not None else None
    uptime = said.get("uptime_seconds")
    if running and age is not None and isinstance(uptime, int | float):
        said = {**said, "uptime_seconds": round(uptime + age, 3)}
    is_silent = running and age is not None and age > store.SILENT_AFTER
    return {"running": running, "silent": is_silent, "age_seconds": None if age is None else round(age, 3), **said}


def logs(root: Root, lines: int) -> list[dict[str, object]]:
    """Return the last lines of the log, the oldest first."""
    return list(log.read(root))[-lines:] if lines > 0 else list(log.read(root))
