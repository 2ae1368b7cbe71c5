"""Measure delivery: the hook with and without a marker, `memory_deliver.py`, a listing of a thousand handoffs, a daemon's answers.

    benchmarks/delivery.py [--only PART …]

Each measured process works on a task of its own, so that it really delivers; the hook's time ends when its receipt appears. Of the
daemon's answers the time is from the first receipt to the last: what it was asked lay there when it began.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))

from oracle.api import Oracle  # noqa: E402
from oracle.app.delivery.team import init_profile, open_team  # noqa: E402
from oracle.domain.delivery.receipts import ReceiptKind, new_receipt, receipt_name  # noqa: E402
from oracle.store.delivery import handoffs  # noqa: E402

SCRIPTS = CHECKOUT / "scripts"
BARE = [sys.executable, "-c", "pass"]
QUESTIONS = 200
SEATS = ("memory", "planner", "builder", "reviewer")
Figures = tuple[str, float, float, str]
"""What was measured, ours and the baseline in seconds, the bar."""


class Stage:
    """A home with a Root, a profile and dispatched questions; nothing in it is woken."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = self.home / ".agents" / "memory"
        self.root.mkdir(parents=True)
        with Oracle.open(str(self.root)) as oracle:
            self.profile = init_profile(oracle, "bench", SEATS)
            self.folder = Path(open_team(oracle, "bench").folder)
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "ORACLE_TMUX_SOCKET": str(folder / "none")}
        self.number = 0

    def dispatch(self, objective: str = "") -> str:
        """Put a question on disk; return its task id."""
        self.number += 1
        name = receipt_name(f"Q-{self.number}", "planner", "memory")
        fields = {"assigned_at": "2026-04-27T18:30:00+00:00", **({"objective": objective} if objective else {})}
        handoffs.publish(str(self.folder), new_receipt(ReceiptKind.DISPATCH, name, fields))
        return name.task_id

    def receipt(self, task_id: str) -> Path:
        """Return where the completion receipt of a task appears."""
        return self.folder / f"{task_id}__memory__planner.json"

    def run(self, command: list[str], data: bytes = b"") -> float:
        """Run a process to its end and return its seconds."""
        began = time.perf_counter()
        subprocess.run(command, input=data, env=self.environ, capture_output=True, check=True)
        return time.perf_counter() - began

    def hook(self, message: str, **more: object) -> tuple[list[str], bytes]:
        """Return the hook's command line and its payload."""
        payload = {"session_id": "x", "hook_event_name": "Stop", "last_assistant_message": message, **more}
        return [sys.executable, "-I", "-S", str(SCRIPTS / "hooks" / "stop_hook.py")], json.dumps(payload).encode()


def medians(ours: Callable[[], float], baseline: Callable[[], float], times: int) -> tuple[float, float]:
    """Return the medians of interleaved calls, the first of each left out."""
    taken = [(ours(), baseline()) for _ in range(times + 1)][1:]
    return statistics.median(one for one, _ in taken), statistics.median(other for _, other in taken)


def until_receipt(stage: Stage) -> float:
    """Start the hook with a marker and return the seconds until the receipt is on disk; then let it end."""
    task = stage.dispatch()
    command, data = stage.hook(f"The answer. [DELIVER:seat=planner task_id={task} project=bench]")
    path = stage.receipt(task)
    rest = threading.Event()
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=stage.environ
    ) as process:
        assert process.stdin
        process.stdin.write(data)
        process.stdin.close()
        while not path.exists() and process.poll() is None:
            rest.wait(0.0005)
        taken = time.perf_counter() - began
    assert path.exists()
    return taken


def measure_hook(stage: Stage) -> list[Figures]:
    """Time the hook against bare Python: without a marker beside a long transcript, and until its receipt."""
    transcript = stage.home / "transcript.jsonl"
    line = json.dumps({"type": "assistant", "message": {"role": "assistant", "content": "[DELIVER:seat=x] " * 50}})
    transcript.write_text(f"{line}\n" * (5_000_000 // len(line)), encoding="utf-8")
    command, data = stage.hook("nothing to do", transcript_path=str(transcript))
    idle = medians(lambda: stage.run(command, data), lambda: stage.run(BARE), 31)
    marked = medians(lambda: until_receipt(stage), lambda: stage.run(BARE), 21)
    return [
        ("Stop hook without a marker, 5 MB of transcript ÷ python3 -c pass", *idle, "≤ 1.3"),
        ("Stop hook with a marker, until the receipt ÷ python3 -c pass", *marked, "≤ 5.5"),
    ]


def measure_deliver(stage: Stage) -> list[Figures]:
    """Time `memory_deliver.py --no-notify` against bare Python."""

    def deliver() -> float:
        words = ["--profile", stage.profile, "--task-id", stage.dispatch(), "--target", "planner", "--no-notify"]
        script = str(SCRIPTS / "memory_deliver.py")
        return stage.run([sys.executable, script, *words, "--response-inline", '{"answer": "Option B."}'])

    found = medians(deliver, lambda: stage.run(BARE), 21)
    return [("memory_deliver.py --no-notify ÷ python3 -c pass", *found, "≤ 8")]


def measure_listing(stage: Stage) -> list[Figures]:
    """Time the listing of a thousand handoffs in this process against a tenth of a second."""
    while stage.number < 1000:
        stage.dispatch()
    with Oracle.open(str(stage.root)) as oracle:
        oracle.handoffs()
        taken = []
        for _ in range(9):
            began = time.perf_counter()
            assert len(oracle.handoffs().items) == stage.number
            taken.append(time.perf_counter() - began)
    return [("1,000 handoffs listed in process ÷ 100 ms", statistics.median(taken), 0.1, "≤ 1")]


def measure_daemon(stage: Stage) -> list[Figures]:
    """Time the answers of a daemon to 200 questions that were asked at once; each names the task of a decision of its own."""
    decisions = stage.root / "projects" / "bench" / "decision"
    decisions.mkdir(parents=True)
    for number in range(QUESTIONS):
        text = (
            f"---\nkind: decision\ntitle: Choice {number}\n---\n\nThe lease of ARENA-{number} ends after {number} s.\n"
        )
        (decisions / f"2026-04-01T10-00-00Z-choice-{number:03d}.md").write_text(text, encoding="utf-8")
    with Oracle.open(str(stage.root)) as oracle:
        oracle.reconcile()
    receipts = [stage.receipt(stage.dispatch(f"What was decided on ARENA-{number}?")) for number in range(QUESTIONS)]
    command = [sys.executable, "-m", "oracle.daemon", "--memory-dir", str(stage.root)]
    with subprocess.Popen(command, cwd=CHECKOUT, env=stage.environ, stderr=subprocess.DEVNULL) as daemon:
        try:
            while daemon.poll() is None and not all(path.exists() for path in receipts):
                time.sleep(0.05)
        finally:
            daemon.terminate()
    times = [path.stat().st_mtime for path in receipts]
    a_question = (max(times) - min(times)) / (QUESTIONS - 1)
    return [("an answer of a daemon to one of 200 questions ÷ a thirtieth of a second", a_question, 1 / 30, "≤ 1")]


PARTS = {"hook": measure_hook, "deliver": measure_deliver, "listing": measure_listing, "daemon": measure_daemon}


def measure(only: Iterable[str] = PARTS) -> list[Figures]:
    """Return the figures of all parts, or of some."""
    figures: list[Figures] = []
    for name in only:
        with tempfile.TemporaryDirectory(prefix="oracle-bench-") as folder:
            figures += PARTS[name](Stage(Path(folder)))
    return figures


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=sorted(PARTS), default=list(PARTS), metavar="PART")
    for name, ours, baseline, bar in measure(parser.parse_args().only):
        print(f"{name}: {ours * 1000:.1f} ms, {ours / baseline:.2f} (bar {bar})")


if __name__ == "__main__":
    main()
