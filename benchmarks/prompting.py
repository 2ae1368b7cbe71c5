"""Measure the hook of prompts in a Root of records: alone, and where a daemon runs, each against bare Python.

benchmarks/prompting.py [--records 10000]
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
sys.path[:0] = [str(HERE), str(CHECKOUT)]

import corpus  # noqa: E402

from oracle.api import Oracle  # noqa: E402

HOOK = [sys.executable, "-I", "-S", str(CHECKOUT / "scripts" / "hooks" / "prompt_hook.py")]
BARE = [sys.executable, "-c", "pass"]
PROMPT = "How does the cache queue lock the index of the planner?"
Figures = tuple[str, float, float, str]
"""What was measured, ours and the baseline in seconds, the bar."""


class Host:
    """A client that sends each prompt in a session of its own, so that each is given something new."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ = {**os.environ, "ORACLE_ROOT": str(root), "ORACLE_PROJECT": "p0000"}
        self.number = 0

    def call(self, **environ: str) -> float:
        """Send a prompt; return the seconds of the hook. It must have given something."""
        self.number += 1
        payload = {"session_id": f"s-{time.time_ns()}", "hook_event_name": "UserPromptSubmit", "prompt": PROMPT}
        (self.root / "_state" / "deadlines-missed").unlink(missing_ok=True)
        taken, said = _run(HOOK, json.dumps(payload).encode(), {**self.environ, **environ})
        assert said, "the hook gave nothing"
        return taken


def measure(root: Path, records: int = 10_000) -> list[Figures]:
    """Return every figure of a Root with so many records."""
    host = Host(root)
    alone = _medians(lambda: host.call(ORACLE_DAEMON_SOCKET="0"))
    with _daemon(root):
        _wait_for(root / "_state" / "run" / "answers")
        served = _medians(host.call)
    return [
        (f"hook of a prompt in {records:,} ÷ python3 -c pass", *alone, "≤ 6"),
        (f"hook of a prompt in {records:,}, alone ÷ 150 ms", alone[0], 0.15, "≤ 1"),
        (f"hook of a prompt in {records:,} with a daemon ÷ python3 -c pass", *served, "≤ 3"),
    ]


def _medians(ours: Callable[[], float]) -> tuple[float, float]:
    """Return the medians of interleaved calls of the hook and of bare Python, the first of each left out."""
    taken = [(ours(), _run(BARE, b"", dict(os.environ))[0]) for _ in range(22)][1:]
    return statistics.median(one for one, _ in taken), statistics.median(other for _, other in taken)


def _run(command: list[str], data: bytes, environ: dict[str, str]) -> tuple[float, bytes]:
    began = time.perf_counter()
    done = subprocess.run(command, input=data, env=environ, capture_output=True, check=True)
    return time.perf_counter() - began, done.stdout


@contextmanager
def _daemon(root: Path) -> Iterator[None]:
    """Let a daemon serve a Root until the block ends."""
    command = [sys.executable, "-m", "oracle.daemon", "--memory-dir", str(root)]
    process = subprocess.Popen(command, cwd=CHECKOUT, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise TimeoutError(path)


def main() -> None:
    """Make a Root and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000, help="records of the Root (default 10000)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-prompts-") as folder:
        root = Path(folder) / "root"
        corpus.make_root(root, given.records, hot=0)
        with Oracle.open(str(root)) as oracle:
            oracle.reconcile()
        for name, ours, baseline, bar in measure(root, given.records):
            print(f"{name}: {ours * 1000:.1f} ms, {ours / baseline:.2f} (bar {bar})")


if __name__ == "__main__":
    main()
