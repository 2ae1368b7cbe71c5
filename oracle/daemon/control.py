"""Start, stop and query the daemon of a Root from another process, or let systemd or launchd start it."""

from __future__ import annotations

import hashlib
import os
import plistlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import IO

from oracle.app.context import Root, choose_root
from oracle.daemon.serve import LAST_STEP
from oracle.domain import timestamps
from oracle.domain.values import value
from oracle.errors import DaemonFailed, LockTimeout, UsageError
from oracle.store.daemon import log
from oracle.store.daemon import state as store
from oracle.store.disk import steps
from oracle.wording import say

STARTS_WITHIN = 30.0
"""Seconds that a daemon gets to take its lock and write its status."""

_POLL = 0.05


def command(root: Root, *, hold: bool) -> list[str]:
    """Return the command that runs the daemon. It skips the command line to save memory."""
    return [sys.executable, "-m", "oracle.daemon", "--memory-dir", root.path, *(["--hold"] if hold else [])]


def start(root: Root, *, hold: bool) -> int:
    """Start the daemon in the background and return its process id once it serves. Raises AlreadyRunning, DaemonFailed."""
    root.require()
    if store.is_running(root):
        raise store.already_running(root)
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            command(root, hold=hold),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            cwd="/",
            start_new_session=True,
        )
        _wait(lambda: child.poll() is not None or _serves(root, child.pid), STARTS_WITHIN)
        if child.poll() is not None or not _serves(root, child.pid):
            raise DaemonFailed(
                say("The daemon did not start: {line}", line=_last_line(output)),
                hint=say("See {path}.", path=root.daemon_log),
            )
    return child.pid


def _serves(root: Root, pid: int) -> bool:
    return store.holder(root) == pid and store.read_status(root).get("pid") == pid


def _last_line(output: IO[bytes]) -> str:
    output.seek(0)
    lines = output.read().decode("utf-8", "replace").strip().splitlines()
    spoken = [line for line in lines if not line.startswith("hint: ")]
    return spoken[-1] if spoken else say("it printed nothing.")


def stop(root: Root) -> int:
    """Stop the daemon after its current step. Returns its process id, 0 if none runs. Raises LockTimeout, DaemonFailed."""
    pid = store.holder(root)
    if not store.is_running(root):
        return 0
    if not pid:
        raise DaemonFailed(
            say("The process id of the daemon of {path} is unknown.", path=root.path),
            hint=say("Find it with ps."),
        )
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return pid
    if not _wait(lambda: not store.is_running(root), LAST_STEP + 5):
        raise LockTimeout(
            say("The daemon (process {pid}) is still running.", pid=pid),
            hint=say("It finishes its current step first. Check again later."),
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
    """Return the last status that the daemon wrote, with `running` and `age_seconds`."""
    found, running = store.read_status(root), store.is_running(root)
    if running and found.get("pid") != store.holder(root):
        found = {"pid": store.holder(root)}  # the status of an earlier daemon
    written = timestamps.parse(str(found.get("written_at", "")))
    age = max(0.0, time.time() - written.timestamp()) if written is not None else None
    uptime = found.get("uptime_seconds")
    if running and age is not None and isinstance(uptime, int | float):
        found = {**found, "uptime_seconds": round(uptime + age, 3)}
    is_silent = running and age is not None and age > store.SILENT_AFTER
    return {"running": running, "silent": is_silent, "age_seconds": None if age is None else round(age, 3), **found}


def logs(root: Root, lines: int) -> list[dict[str, object]]:
    """Return the last lines of the log, oldest first."""
    return list(log.read(root))[-lines:] if lines > 0 else list(log.read(root))


SYSTEMD, LAUNCHD = "systemd", "launchd"


@value
class Unit:
    """A unit file, and the command that enables it."""

    path: str
    text: str
    enable: str


def unit(root: Root, *, hold: bool, manager: str, environ: Mapping[str, str]) -> Unit:
    """Return the unit for a Root. Each Root besides the default has its own. Raises UsageError."""
    name = _name(root)
    words = command(root, hold=hold)
    home = environ.get("HOME") or os.path.expanduser("~")
    if manager == SYSTEMD:
        folder = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        return Unit(
            f"{folder}/systemd/user/{name}.service",
            _systemd(root, words),
            f"systemctl --user daemon-reload && systemctl --user enable --now {name}.service",
        )
    if manager == LAUNCHD:
        path = f"{home}/Library/LaunchAgents/{name}.plist"
        return Unit(path, _launchd(name, words), f"launchctl bootstrap gui/{os.getuid()} {path}")
    raise UsageError(
        say("Unknown service manager {manager!r}.", manager=manager),
        hint=say("Use {systemd} or {launchd}.", systemd=SYSTEMD, launchd=LAUNCHD),
    )


def own_manager() -> str:
    """Return the service manager of this machine."""
    return LAUNCHD if sys.platform == "darwin" else SYSTEMD


def install(made: Unit) -> bool:
    """Write a unit. Returns whether that changed the file. Raises DiskFailure."""
    data = made.text.encode("utf-8", "surrogateescape")
    if steps.read(made.path) == data:
        return False
    steps.replace(made.path, data)
    return True


def _name(root: Root) -> str:
    if root.path == choose_root(None, {key: item for key, item in os.environ.items() if key != "ORACLE_ROOT"}):
        return "memory-oracle"
    return f"memory-oracle-{hashlib.sha256(os.fsencode(root.path)).hexdigest()[:8]}"


def _systemd(root: Root, words: list[str]) -> str:
    line = " ".join(map(_systemd_word, words))
    return f"""[Unit]
Description=memory-oracle for {root.path.replace("%", "%%")}

[Service]
Type=exec
ExecStart={line}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2 75
TimeoutStopSec=75

[Install]
WantedBy=default.target
"""


def _systemd_word(word: str) -> str:
    """Quote a word for systemd, which expands single `%` and `$`."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _launchd(name: str, words: list[str]) -> str:
    content = {
        "Label": name,
        "ProgramArguments": words,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 5,
        "ExitTimeOut": 75,
        "ProcessType": "Background",
    }
    return plistlib.dumps(content, sort_keys=False).decode()
