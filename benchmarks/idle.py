"""Measure what a daemon costs that has nothing to do: its share of a core over whole cycles, and its memory.

    benchmarks/idle.py [--records 100000] [--seconds 180]

A cycle goes from one stat of every file to the next, so that everything the daemon does by itself is in it. Processor time is
user and system of `oracle daemon run` from /proc, which a busy machine changes little. Needs Linux; takes about 15 minutes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import corpus  # noqa: E402

from oracle.api import Oracle  # noqa: E402
from oracle.store.daemon import state as store  # noqa: E402

MOST_SHARE, MOST_MEMORY = 0.005, 60_000_000
"""The bars: of a core, and bytes."""

SERVE = "import sys; from oracle.cli.main import run; sys.exit(run())"
PATIENCE = 1_800.0


class Idle:
    """A daemon that is left alone."""

    def __init__(self, root: Path) -> None:
        with Oracle.open(str(root)) as oracle:
            oracle.reconcile()
            self.layout = oracle.root
        words = [sys.executable, "-c", SERVE, "daemon", "run", "--memory-dir", str(root)]
        environ = {**os.environ, "HOME": str(root.parent), "PYTHONPATH": str(HERE.parent)}
        self.process = subprocess.Popen(words, env=environ, stderr=subprocess.DEVNULL)

    def cpu_seconds(self) -> float:
        """Return the processor time that the daemon has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, key: str) -> int:
        """Return a figure of the daemon's memory in bytes: VmRSS or VmHWM."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{key}:"))

    def cycles(self) -> int:
        """Return how often every file was stat'ed."""
        counts = store.read_status(self.layout).get("counts")
        return int(counts.get("full_stats", 0)) if isinstance(counts, dict) else 0

    def wait(self, is_met: Callable[[], bool]) -> None:
        """Wait until something is so."""
        end = time.monotonic() + PATIENCE
        while not is_met():
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit("the daemon ended, or never came to its next cycle")
            time.sleep(0.5)

    def end(self) -> None:
        """Stop the daemon."""
        self.process.terminate()
        self.process.wait(90)


def measure(idle: Idle, seconds: float) -> tuple[float, float, int]:
    """Return (seconds, processor seconds, cycles) of as many whole cycles as `seconds` need."""
    idle.wait(lambda: idle.cycles() > 0)
    first, began, used = idle.cycles(), time.monotonic(), idle.cpu_seconds()
    idle.wait(lambda: idle.cycles() > first and time.monotonic() >= began + seconds)
    last = idle.cycles()
    idle.wait(lambda: idle.cycles() > last)
    return time.monotonic() - began, idle.cpu_seconds() - used, idle.cycles() - first


def main() -> int:
    """Print the figures; return 1 when one is over its bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000, help="records of the Root (default 100000)")
    parser.add_argument("--seconds", type=float, default=180.0, help="measure for at least so long (default 180)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-idle-") as folder:
        root = Path(folder) / "root"
        corpus.make_root(root, given.records, hot=0)
        idle = Idle(root)
        try:
            elapsed, used, cycles = measure(idle, given.seconds)
            now, most = idle.memory("VmRSS"), idle.memory("VmHWM")
        finally:
            idle.end()
    print(f"records\t{given.records}\ncycles\t{cycles} in {elapsed:.0f} s")
    print(f"processor\t{used:.2f} s, {used / elapsed:.3%} of a core (bar {MOST_SHARE:.1%})")
    print(f"memory\t{now / 1e6:.1f} MB, at most {most / 1e6:.1f} (bar {MOST_MEMORY / 1e6:g})")
    return int(used / elapsed > MOST_SHARE or now > MOST_MEMORY)


if __name__ == "__main__":
    sys.exit(main())
