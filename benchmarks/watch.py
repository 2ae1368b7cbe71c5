"""Measure `oracle watch` in a terminal: how soon it is up, what it costs when nothing happens, how soon a key shows.

    benchmarks/watch.py [--records 100000] [--handoffs 1000] [--seconds 30] [--times 7]

A terminal is a pair of pseudo-devices. It is up when the first handoff is on the screen; a key is shown when new bytes arrive.
Ratios are to `python -c pass` of the same run, which a slow or busy machine changes alike. Needs Linux.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import random
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import corpus  # noqa: E402

from oracle.api import Oracle  # noqa: E402
from oracle.app.delivery.team import init_profile, open_team  # noqa: E402
from oracle.app.overview.now import now  # noqa: E402
from oracle.domain.delivery.receipts import ReceiptKind, ReceiptName, new_receipt, render_receipt  # noqa: E402
from oracle.store.disk.file_cache import FileCache  # noqa: E402

UP, IDLE, KEY, NOW = 0.9, 0.01, 0.05, 0.06
"""The bars: seconds, share of a core, seconds, seconds."""

START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from oracle.cli.main import run; sys.exit(run())"
PROJECTS = 5
PATIENCE = 60.0
FIRST = b"T-"
"""The beginning of a handoff on the screen."""


def make_handoffs(root: Path, count: int) -> None:
    """Lay out open and answered handoffs, spread over projects."""
    with Oracle.open(str(root)) as oracle:
        for number in range(PROJECTS):
            project = f"team{number}"
            init_profile(oracle, project, ("memory", "planner", "builder", "reviewer"))
            folder = Path(open_team(oracle, project).folder)
            folder.mkdir(parents=True, exist_ok=True)
            for task in range(count // PROJECTS):
                name = ReceiptName(f"T-{number}-{task}", "planner", "builder" if task % 2 else "memory")
                asked = {"assigned_at": "2026-04-27T18:30:00Z", "objective": "Look after the retries of the queue."}
                dispatch = render_receipt(new_receipt(ReceiptKind.DISPATCH, name, asked))
                (folder / (name.file_name + (".consumed" if task % 3 == 0 else ""))).write_bytes(dispatch)
                if task % 3 == 0:
                    done = new_receipt(ReceiptKind.COMPLETION, name.answered_by(), {"summary": "They end."})
                    (folder / done.name.file_name).write_bytes(render_receipt(done))


class Terminal:
    """A program in a terminal of 80 columns and 24 rows."""

    def __init__(self, root: Path) -> None:
        self.began = time.perf_counter()
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            words = [sys.executable, "-c", START, str(HERE.parent), "watch", "--memory-dir", str(root)]
            os.execve(words[0], words, {**environ(root), "TERM": "xterm-256color"})  # noqa: S606
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def read(self, seconds: float) -> bytes:
        """Return what is printed within some seconds, at once when there is something."""
        ready, _, _ = select.select([self.screen], [], [], seconds)
        return os.read(self.screen, 1 << 16) if ready else b""

    def wait_for(self, text: bytes) -> float:
        """Return the seconds from the start until a text is printed."""
        shown = b""
        while text not in shown:
            assert time.perf_counter() - self.began < PATIENCE, shown[-2000:]
            shown += self.read(1.0)
        return time.perf_counter() - self.began

    def settle(self, seconds: float = 1.5) -> None:
        """Read until nothing was printed for a while."""
        while self.read(seconds):
            pass

    def press(self, key: bytes) -> float:
        """Return the seconds until a key changes the screen."""
        began = time.perf_counter()
        os.write(self.screen, key)
        assert self.read(PATIENCE)
        return time.perf_counter() - began

    def cpu_seconds(self) -> float:
        """Return the processor time that the program has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the program."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.screen)


def environ(root: Path) -> dict[str, str]:
    """Return an environment in which bytecode is kept, as an installer keeps it."""
    kept = {name: text for name, text in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "NO_COLOR")}
    return {**kept, "HOME": str(root.parent.parent), "ORACLE_DAEMON_SOCKET": "0"}


def start(root: Path, text: bytes) -> float:
    """Return the seconds until a text is on the screen of a new terminal."""
    terminal = Terminal(root)
    try:
        return terminal.wait_for(text)
    finally:
        terminal.close()


def bare() -> float:
    """Return the seconds of `python -c pass`."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def press_keys(root: Path, text: bytes, times: int) -> tuple[list[float], list[float]]:
    """Return the seconds that each of some keys took: moves in a list of records, and letters of a filter."""
    terminal = Terminal(root)
    moves, letters = [], []
    try:
        terminal.wait_for(text)
        terminal.settle()
        terminal.press(b"2")
        terminal.settle()
        for _ in range(times):
            moves.append(terminal.press(b"\x1b[B"))
            terminal.settle(0.1)
        terminal.press(b"/")
        terminal.settle(0.5)
        for letter in random.Random(7).choices("cacheindexlock", k=times):
            letters.append(terminal.press(letter.encode()))
            terminal.settle(0.3)
    finally:
        terminal.close()
    return moves, letters


def idle(root: Path, text: bytes, seconds: float) -> float:
    """Return the share of a core that is used while nothing happens."""
    terminal = Terminal(root)
    try:
        terminal.wait_for(text)
        terminal.settle(3.0)
        before = terminal.cpu_seconds()
        time.sleep(seconds)
        return (terminal.cpu_seconds() - before) / seconds
    finally:
        terminal.close()


def measure_now(root: Path, times: int) -> list[float]:
    """Return the seconds of the use case on a warm index, as an open view calls it."""
    taken, cache = [], FileCache()
    with Oracle.open(str(root)) as oracle:
        now(oracle, cache)
        for _ in range(times):
            began = time.perf_counter()
            now(oracle, cache)
            taken.append(time.perf_counter() - began)
    return taken


def report(name: str, taken: list[float], unit: float, bar: float) -> bool:
    """Print the median of some seconds with its ratio; return whether it is within its bar."""
    middle = statistics.median(taken)
    print(f"{name}\t{middle * 1000:.0f} ms\t{middle / unit:.1f}\tbar {bar * 1000:.0f} ms")
    return middle <= bar


def main() -> int:
    """Print the figures; return 1 when one misses its bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--handoffs", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=30.0, help="of doing nothing (default 30)")
    parser.add_argument("--times", type=int, default=7, help="measurements of each kind (default 7)")
    parser.add_argument("--root", help="a Root that an earlier run made")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-watch-") as folder:
        root = Path(given.root or f"{folder}/.agents/memory")
        if not given.root:
            corpus.make_root(root, given.records, hot=100)
            make_handoffs(root, given.handoffs)
            with Oracle.open(str(root)) as oracle:
                oracle.reconcile()
        start(root, FIRST)  # writes the bytecode
        units = [bare() for _ in range(given.times)]
        unit = statistics.median(units)
        moves, letters = press_keys(root, FIRST, given.times)
        share = idle(root, FIRST, given.seconds)
        print(f"python -c pass\t{unit * 1000:.0f} ms\t1.0")
        results = [
            report("up", [start(root, FIRST) for _ in range(given.times)], unit, UP),
            report("a move", moves, unit, KEY),
            report("a letter", letters, unit, KEY),
            report("now", measure_now(root, given.times), unit, NOW),
            share <= IDLE,
        ]
    print(f"idle\t{share * 100:.2f} % of a core\tbar {IDLE * 100:.0f} %")
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
