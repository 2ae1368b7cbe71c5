"""A private tmux server for a test, with panes that run small programs; and a wait for what must become true."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

BOX = Path(__file__).with_name("box.py")


PATIENCE = 60.0
"""Seconds after which what must become true never will: no test takes them where it does, however busy the machine is."""


def until(is_met: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Return once it is met; fail when it takes longer."""
    end = time.monotonic() + seconds
    rest = threading.Event()
    while not is_met():
        assert time.monotonic() < end, f"it took more than {seconds} s until {what}"
        rest.wait(0.02)


class Stage:
    """One private tmux server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = f"t-{uuid.uuid4().hex[:12]}"

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-u", "-L", self.socket, "-f", os.devnull, *words]
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout.rstrip("\n")

    def session(self, name: str, command: str, *, size: tuple[int, int] = (100, 30)) -> str:
        """Start a session whose first pane runs a command; return the pane's id."""
        width, height = size
        return self.tmux(
            *("new-session", "-d", "-P", "-F", "#{pane_id}", "-x", str(width), "-y", str(height)),
            *("-c", str(self.folder), "-s", name, command),
        )

    def box(self, name: str, *options: str, size: tuple[int, int] = (100, 30)) -> Prompts:
        """Start a session with a box in it and wait until the server shows it; return what is submitted there."""
        prompts, command = self.box_command(*options)
        prompts.pane = self.session(name, command, size=size)
        until(prompts.log.exists, "the box was drawn")
        until(lambda: self.shows(prompts.pane).strip(), "the server shows the box")
        return prompts

    def box_command(self, *options: str) -> tuple[Prompts, str]:
        log = self.folder / f"{uuid.uuid4().hex}.log"
        return Prompts(log), shlex.join([sys.executable, "-I", "-S", str(BOX), str(log), *options])

    def end_turn(self, pane: str) -> None:
        """Let the box of a pane stop working."""
        os.kill(int(self.tmux("display-message", "-p", "-t", pane, "#{pane_pid}")), signal.SIGUSR1)

    def shows(self, pane: str) -> str:
        return self.tmux("capture-pane", "-p", "-t", pane)

    def close(self) -> None:
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True, check=False)


class Prompts:
    """What a box was told to do."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.pane = ""

    def read(self) -> list[str]:
        """Return the prompts that were submitted, without one that is being written down just now."""
        lines = self.log.read_text(encoding="utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]
