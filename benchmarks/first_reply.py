"""Measure how long `oracle mcp` takes from its start to its first reply, and the processor time that goes into it.

    benchmarks/first_reply.py [--times 9]

Each start is a process of its own. Beside it: what the SDK's parts cost that any server imports. A busy machine lengthens the wall
time and little of the processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))

from oracle.api import Oracle  # noqa: E402

BAR = 1.5
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from oracle.cli.main import run; sys.exit(run())"
SDK = "import mcp.server.lowlevel, mcp.server.stdio"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def time_start(words: list[str]) -> tuple[float, float]:
    """Return the seconds until a process printed its first line, or ended, and the processor seconds of its whole life."""
    began = time.perf_counter()
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        taken = time.perf_counter() - began
        process.stdin.close()
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return taken, used.ru_utime + used.ru_stime


def main() -> int:
    """Print the figures; return 1 when the first reply comes late."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=9, help="starts (default 9)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-first-") as root:
        with Oracle.open(root) as oracle:
            oracle.init()
        served = [sys.executable, "-c", START, str(CHECKOUT), "mcp", "--memory-dir", root]
        pairs = [
            (time_start(served), time_start([sys.executable, "-c", f"{SDK}; print()"])) for _ in range(given.times)
        ]
    wall = statistics.median(ours[0] for ours, _ in pairs)
    for name, at in (("oracle mcp, first reply", 0), ("the SDK's import", 1)):
        walls, used = zip(*(pair[at] for pair in pairs), strict=True)
        print(
            f"{name}\t{statistics.median(walls):.2f} s, processor {statistics.median(used):.2f} s, most {max(walls):.2f} s"
        )
    return int(wall > BAR)


if __name__ == "__main__":
    sys.exit(main())
