"""Measure a whole process of `oracle search` and `oracle ask --now`: with the daemon, alone by words, alone with the models.

    benchmarks/warm_search.py ROOT [--times 15]

ROOT has vectors (`oracle index embed`). It is copied, and a daemon serves the copy. Ratios are to `python -c pass` of the same run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from oracle.cli.main import run; sys.exit(run())"
ORACLE = (sys.executable, "-c", START, str(CHECKOUT))
QUESTION = "Why is the index disposable?"
BAR = 8.0


def seconds(words: tuple[str, ...], environ: dict[str, str]) -> float:
    """Return the seconds of a process."""
    began = time.perf_counter()
    done = subprocess.run(words, env=environ, capture_output=True, check=False)
    taken = time.perf_counter() - began
    assert done.returncode in (0, 4, 9), done.stderr
    return taken


def measure(root: str, times: int) -> dict[str, list[float]]:
    """Return the seconds of each way, taken in turns."""
    served = {**os.environ, "ORACLE_ROOT": root}
    alone = {**served, "ORACLE_DAEMON_SOCKET": "0"}
    search, ask = (*ORACLE, "search", QUESTION), (*ORACLE, "ask", "--now", QUESTION)
    ways = {
        "python -c pass": ((sys.executable, "-c", "pass"), alone),
        "search, daemon": (search, served),
        "search, alone, words": (search, alone),
        "search, alone, models": ((*search, "--meaning"), alone),
        "ask, daemon": (ask, served),
        "ask, alone, words": (ask, alone),
        "ask, alone, models": ((*ask, "--meaning"), alone),
    }
    for words, environ in ways.values():
        seconds(words, environ)
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(times):
        for name, (words, environ) in ways.items():
            if "models" not in name or number % 3 == 0:
                found[name].append(seconds(words, environ))
    return found


def main() -> int:
    """Print the figures; return 1 when a search by the daemon costs more than the bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("--times", type=int, default=15, help="processes of each kind (default 15)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-warm-") as folder:
        root = f"{folder}/memory"
        shutil.copytree(given.root, root)
        daemon = (*ORACLE, "daemon")
        subprocess.run((*daemon, "start", "--memory-dir", root), check=True, capture_output=True)
        try:
            found = measure(root, given.times)
        finally:
            subprocess.run((*daemon, "stop", "--memory-dir", root), check=True, capture_output=True)
    bare = statistics.median(found["python -c pass"])
    for name, taken in found.items():
        middle = statistics.median(taken)
        print(f"{name}\t{middle * 1000:.0f} ms\t{middle / bare:.1f}")
    return int(statistics.median(found["search, daemon"]) / bare > BAR)


if __name__ == "__main__":
    sys.exit(main())
