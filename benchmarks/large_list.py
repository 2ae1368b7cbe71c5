"""Measure `oracle list --limit 20` in a large Root, where a daemon runs and alone, each beside bare Python.

    benchmarks/large_list.py [--records 200000] [--times 15]

Each list is a process of its own, a second after the one before, so that each alone looks at some of the files.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import corpus  # noqa: E402
import idle  # noqa: E402

from oracle.api import Oracle  # noqa: E402

SERVED, ALONE = 0.15, 0.4
"""The bars, in seconds."""


def seconds(words: list[str], environ: dict[str, str]) -> float:
    """Return the seconds of a process."""
    began = time.perf_counter()
    subprocess.run(words, env=environ, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def measure(root: Path, environ: dict[str, str], times: int) -> tuple[float, float]:
    """Return the medians of the list and of bare Python."""
    listing = [sys.executable, "-c", idle.SERVE, "list", "--limit", "20", "--memory-dir", str(root)]
    pairs = []
    for _ in range(times + 1):
        time.sleep(1.1)
        pairs.append((seconds(listing, environ), seconds([sys.executable, "-c", "pass"], environ)))
    ours, bare = zip(*pairs[1:], strict=True)
    return statistics.median(ours), statistics.median(bare)


def main() -> int:
    """Print the figures; return 1 when one is over its bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=200_000, help="records of the Root (default 200000)")
    parser.add_argument("--times", type=int, default=15, help="lists of each kind (default 15)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-list-") as folder:
        root = Path(folder) / "root"
        corpus.make_root(root, given.records, hot=0)
        with Oracle.open(str(root)) as oracle:
            oracle.reconcile()
        environ = {**os.environ, "HOME": folder, "PYTHONPATH": str(HERE.parent)}
        time.sleep(11)  # until then the look of the build counts
        alone = measure(root, environ, given.times)
        daemon = idle.Idle(root)
        try:
            daemon.wait(lambda: daemon.cycles() > 0)
            served = measure(root, environ, given.times)
        finally:
            daemon.end()
    for name, (ours, bare), bar in (("with a daemon", served, SERVED), ("alone", alone, ALONE)):
        print(f"list --limit 20 of {given.records}, {name}\t{ours * 1000:.0f} ms\t{ours / bare:.1f} (bar {bar:g} s)")
    return int(served[0] > SERVED or alone[0] > ALONE)


if __name__ == "__main__":
    sys.exit(main())
