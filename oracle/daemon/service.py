"""The unit file with which systemd or launchd starts the daemon in the user's session."""

from __future__ import annotations

import hashlib
import os
import plistlib
import sys
from collections.abc import Mapping

from oracle.app.context import Root, choose_root
from oracle.daemon.control import command
from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.store.disk import steps
from oracle.wording import say

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
