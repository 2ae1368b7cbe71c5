"""A stand-in for an agent's client: an input box at the foot of the screen, in a program that a pane runs.

    box.py LOG [--hang | --work | --swallow | --dialog | --slow SECONDS | --deaf-enter]

Understands bracketed paste, redraws as the real ones do, and appends each submitted prompt to LOG as a JSON string.
--hang reads nothing; --work shows that it works, until SIGUSR1 comes; --dialog asks a question that takes a bare Enter for yes;
--deaf-enter takes the first Enter for a line end in the box; --slow waits before it redraws.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import termios
import time
import tty
from pathlib import Path

START, END = b"\x1b[200~", b"\x1b[201~"


class Box:
    def __init__(self, log: str, mode: str, delay: float) -> None:
        self.log, self.mode, self.delay = Path(log), mode, delay
        self.said: list[str] = []
        self.text = ""

    def draw(self) -> None:
        time.sleep(self.delay)
        width = shutil.get_terminal_size().columns
        lines = [f"❯ {line}" for line in self.said[-5:]]
        lines += ["✽ Working… (12s · esc to interrupt)"] if self.mode == "--work" else []
        if self.mode == "--dialog":
            lines += ["Do you want to proceed?", "❯ 1. Yes", "  2. No"]
            sys.stdout.write("\x1b[H\x1b[2J" + "\r\n".join(lines) + "\x1b[2;1H")
        else:
            lines += ["─" * width, *self.wrap(width)]
            sys.stdout.write("\x1b[H\x1b[2J" + "\r\n".join(lines))
            sys.stdout.write("\x1b7\r\n" + "─" * width + "\r\n  ? for shortcuts\x1b8")
        sys.stdout.flush()

    def wrap(self, width: int) -> list[str]:
        rows, row = [], ""
        for char in self.text:
            if char == "\n" or len(row.encode("utf-8")) >= width - 8:  # cautious with wide characters
                rows.append(row)
                row = ""
            row += char if char != "\n" else ""
        rows.append(row)
        return [("❯ " if index == 0 else "  ") + row for index, row in enumerate(rows)][-8:]

    def enter(self) -> None:
        if self.mode == "--deaf-enter":
            self.mode = ""
            self.text += "\n"
            return
        prompt = self.text if self.mode != "--dialog" else "<yes>"
        with self.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(prompt) + "\n")
        self.said.append(self.text)
        self.text = ""

    def feed(self, data: bytes) -> bytes:
        """Take what is whole; return the rest."""
        while data:
            if data.startswith(START):
                end = data.find(END)
                if end < 0:
                    return data
                if self.mode not in ("--swallow", "--dialog"):
                    self.text += data[len(START) : end].decode("utf-8")
                data = data[end + len(END) :]
            elif START.startswith(data[: len(START)]):
                return data
            else:
                if data[:1] == b"\r":
                    self.enter()
                elif self.mode not in ("--swallow", "--dialog"):
                    self.text += data[:1].decode("latin-1")
                data = data[1:]
        return data


def main() -> None:
    log, *options = sys.argv[1:]
    mode = options[0] if options else ""
    delay = float(options[1]) if mode == "--slow" else 0.0
    box = Box(log, mode, delay)
    tty.setraw(0, termios.TCSANOW)
    sys.stdout.write("\x1b[?2004h")
    box.draw()
    box.log.touch()  # the log's existence says that the box is ready
    if mode == "--hang":
        signal.pause()

    def rest_now(*_: object) -> None:
        box.mode = ""
        box.draw()

    signal.signal(signal.SIGUSR1, rest_now)
    rest = b""
    while data := os.read(0, 65536):
        rest = box.feed(rest + data)
        box.draw()


main()
