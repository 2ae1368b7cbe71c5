"""Serve a Root under load for a while, killing the daemon at random, and see that nothing was lost and nothing leaks.

Eight writers (four through Oracle, four that work on a seat's files as editors do), four readers, two queriers that speak MCP with
servers of their own, and a probe that measures how long a renamed file stays unknown to the index. In the first part the daemon is
killed with SIGKILL every few seconds; in the second it lives, and its memory, its open files and the lag are measured. The planner
sits in a pane of a private tmux server and is really woken; memory's seat is away, so what the disk does not answer is answered for
it. Exits 1 when something does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from oracle.app.delivery.team import init_profile

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import soak_judging as judging  # noqa: E402
from soak_workers import PROJECT, WORKERS, root_of  # noqa: E402

from oracle.api import Oracle  # noqa: E402
from oracle.domain.records.drafts import Draft  # noqa: E402
from oracle.store.daemon import state as store  # noqa: E402
from tests.wake.stage import Stage  # noqa: E402

KILLING = 0.6
"""Share of the time in which the daemon is killed now and then."""

WARM = 8.0
"""Seconds after which a daemon has loaded what it needs."""

SAMPLE_EVERY = 0.5


class Served:
    """A home with a Root, workers and a daemon."""

    def __init__(self, home: Path, stage: Stage) -> None:
        self.home = home
        self.root = root_of(home)
        self.root.mkdir(parents=True, mode=0o700)
        self.environ = {
            **os.environ,
            "HOME": str(home),
            "ORACLE_TMUX_SOCKET": stage.socket,
        }
        with Oracle.open(str(self.root)) as oracle:
            oracle.init()
            init_profile(oracle, PROJECT, ("memory", "planner", "builder"))
            self.layout = oracle.root
            body = "We chose exponential backoff with at most five tries for webhooks."
            oracle.write(Draft("decision", PROJECT, "Retry policy for webhooks", body=body))
        (self.root / "config.toml").write_text("[daemon]\nseat_bound = 2\n")
        self.daemon: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        self.deaths = 0
        self.samples: list[judging.Sample] = []
        self.servers: dict[int, list[judging.Sample]] = {}
        self.lived_since = float("inf")
        """When the last daemon began, in seconds since 1970."""

    def start(self) -> None:
        """Start the daemon."""
        words = [sys.executable, "-m", "oracle.daemon", "--memory-dir", str(self.root)]
        with (self.home / "daemon.err").open("ab") as said:
            self.daemon = subprocess.Popen(words, env=self.environ, stdout=said, stderr=said, cwd=HERE.parent)
        self.lived_since = time.time()

    def kill(self) -> None:
        """Kill the daemon wherever it is."""
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.wait()
            self.deaths += 1

    def begin_work(self) -> None:
        """Start the workers."""
        program = [sys.executable, str(HERE / "soak_workers.py")]
        for kind, number in WORKERS:
            words = [*program, kind, str(number), "--home", str(self.home)]
            self.workers.append(subprocess.Popen(words, env=self.environ))

    def end_work(self) -> None:
        """Tell the workers to stop, and wait for them."""
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.wait(60)

    def sample(self) -> None:
        """Note what the daemon and the MCP servers use now."""
        if self.daemon is None or time.time() < self.lived_since + WARM:
            return
        self.samples += judging.sample(self.daemon.pid)
        for worker, (kind, _) in zip(self.workers, WORKERS, strict=True):
            for pid in judging.children(worker.pid) if kind == "query" else ():
                self.servers.setdefault(pid, []).extend(judging.sample(pid))

    def status(self) -> dict[str, object]:
        """Return what this very daemon last said."""
        said = store.read_status(self.layout)
        return said if self.daemon is not None and said.get("pid") == self.daemon.pid else {}

    def end(self) -> int:
        """Tell the daemon to stop; return its exit code."""
        if self.daemon is None:
            return -1
        self.daemon.terminate()
        return self.daemon.wait(90)


def run(served: Served, seconds: float) -> None:
    """Put the load on, kill the daemon in the first part and watch it in the second."""
    served.begin_work()
    began, chance = time.monotonic(), random.Random()
    served.start()
    next_death = chance.uniform(2, 6)
    try:
        while (elapsed := time.monotonic() - began) < seconds:
            if elapsed < seconds * KILLING:
                if elapsed > next_death:
                    served.kill()
                    served.start()
                    next_death = elapsed + chance.uniform(2, 8)
            else:
                served.sample()
            time.sleep(SAMPLE_EVERY)
    finally:
        served.end_work()


def settle(served: Served, asked: list[str]) -> float:
    """Wait until every question is answered, two minutes at most; return the seconds."""
    began = time.monotonic()
    while time.monotonic() < began + 120 and judging.unanswered(served.root, asked):
        time.sleep(0.5)
    return time.monotonic() - began


def acknowledged(home: Path) -> Iterator[dict[str, object]]:
    """Yield what the workers were told, each worker's in its order."""
    for path in sorted(home.glob("*.acknowledged")):
        for line in path.read_text().splitlines():
            yield json.loads(line)


def report(served: Served, said: list[dict[str, object]], seconds: float, waited: float) -> None:
    """Print what was done and measured."""
    counted = Counter(key for one in said for key in one)
    print(f"soak\t{seconds:g} s, the daemon was killed {served.deaths} times")
    for what, key in (
        ("records written", "record"),
        ("changes to seats' files", "files"),
        ("questions over MCP", "asked"),
        ("tasks over MCP", "task"),
        ("deliveries over MCP", "delivered"),
    ):
        print(f"{what}\t{counted[key]}")
    refused = Counter(str(one["error"]) for one in said if "error" in one)
    print(
        f"refusals\t{dict(refused)}\t{'; '.join(sorted({str(one['message']) for one in said if 'error' in one})[:3])}"
    )
    print(f"answered after the load\t{waited:.1f} s")
    print(f"lag, rename to row, all\t{judging.quantiles(judging.lags(said))}")
    print(f"lag, rename to row, last daemon\t{judging.quantiles(judging.lags(said, since=served.lived_since + WARM))}")
    print(f"lag, as the last daemon says\t{json.dumps(served.status().get('lag_seconds'))}")
    print(f"counts of the last daemon\t{json.dumps(served.status().get('counts'))}")
    print(f"daemon\t{judging.trend(served.samples)}")
    for samples in served.servers.values():
        print(f"MCP server\t{judging.trend(samples)}")


def main() -> int:
    """Run the soak; return 0 when everything held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long the load lasts (default 600)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="oracle-soak-") as folder:
        os.environ["TMUX_TMPDIR"] = folder
        stage = Stage(Path(folder))
        planner = stage.box(f"{PROJECT}-planner", size=(200, 30))
        served = Served(Path(folder) / "home", stage)
        try:
            run(served, given.seconds)
            waited = settle(served, [str(one["asked"]) for one in acknowledged(served.home) if "asked" in one])
            code = served.end()
        finally:
            if served.daemon is not None:
                served.daemon.kill()
            stage.close()
        said = list(acknowledged(served.home))
        report(served, said, given.seconds, waited)
        print(f"times that the planner was woken\t{len(planner.read())}")
        faults = [*judging.judge(served, said), *([f"told to stop, the daemon exited {code}"] if code else [])]
    for sentence in faults:
        print(f"FAILED\t{sentence}")
    print("FAILED" if faults else "everything held")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
