"""Measure two machines that are far from their hub: how soon a record of one is found on the other, and a cut network.

    benchmarks/hub_apart.py [--writes 200] [--delay 150] [--records 10000] [--cut 60]

Each machine is a network namespace with a daemon; a packet takes `--delay` milliseconds from it to the hub and back. The bar: found
on the other machine within 1.5 s, p99; a daemon with the hub takes at most 80 MB. It needs root, and PostgreSQL.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg

from oracle.app.context import Context
from oracle.app.hubs.sync import sync
from oracle.hub import exchange
from oracle.store.daemon import state
from oracle.store.root import hub as memberships
from tests.hub.cluster import Cluster, missing
from tests.hub.machines import Team
from tests.hub.network import Network, join_afar
from tests.hub.network import missing as no_network

if TYPE_CHECKING:
    from collections.abc import Callable

FOUND, MEMORY = 1.5, 80.0
PATIENCE = 180.0
KNOWN = "SELECT 1 FROM record WHERE path = ?"
ORACLE = str(Path(sys.executable).with_name("oracle"))
KINDS = ("decision", "finding", "delivery", "issue", "note")
WORDS = "tide harbor crane pilot ledger anchor beacon mooring vessel cargo".split()


def until(is_met: Callable[[], object]) -> float:
    """Wait for something, and return when it was, on the monotonic clock."""
    end = time.monotonic() + PATIENCE
    while not is_met():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.004)
    return time.monotonic()


class Machine:
    """A Root with a daemon in a namespace."""

    def __init__(self, folder: Path, name: str, team: Team, cluster: Cluster, network: Network) -> None:
        self.name, self.network = name, network
        self.home = folder / name
        self.root = self.home / "root"
        self.root.mkdir(parents=True)
        os.environ["PGPASSFILE"] = str(folder / "pgpass")
        self.member = join_afar(team, cluster, network, name, folder / "pgpass")
        self.context = Context.open(str(self.root))
        memberships.save(self.context.root, self.member)
        self.process: subprocess.Popen[bytes] | None = None

    def put(self, name: str, text: str) -> str:
        """Put a record in place by a rename, as programs do."""
        return self.put_at(f"projects/shop/finding/{name}", text)

    def put_at(self, place: str, text: str) -> str:
        """Put a record at a place."""
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}")
        new.write_text(text, encoding="utf-8")
        new.rename(path)
        return place

    def sync(self) -> None:
        """Sync without a daemon and without the delay."""
        with exchange.open_team(self.member) as hub:
            sync(self.context, hub, self.member)

    def start(self) -> None:
        """Start the daemon in its namespace."""
        environ = {**os.environ, "HOME": str(self.home), "ORACLE_ROOT": str(self.root)}
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.network.space(self.name), ORACLE, "daemon", "run"],
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(lambda: self.status().get("pid") == self.pid and self.status().get("watching"))

    @property
    def pid(self) -> int:
        """The process of the daemon: `ip netns exec` becomes it."""
        return self.process.pid if self.process else 0

    def status(self) -> dict[str, object]:
        """Return what the daemon says of itself."""
        return state.read_status(self.context.root)

    def knows(self, path: str) -> bool:
        """Return whether the index holds a record; only the daemon brings it up to date."""
        try:
            with sqlite3.connect(f"file:{self.context.root.database}?mode=ro", uri=True) as connection:
                return bool(connection.execute(KNOWN, (path,)).fetchall())
        except sqlite3.Error:
            return False

    def finds(self, path: str) -> bool:
        """Return whether a question finds a record. It looks at the files first, as every question does."""
        return self.context.index.read(lambda found: bool(found.execute(KNOWN, (path,)).fetchall()))

    def memory(self) -> tuple[float, float]:
        """Return the memory of the daemon in MB: now, and at most."""
        text = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        now, most = (re.search(rf"{key}:\s+(\d+)", text) for key in ("VmRSS", "VmHWM"))
        return int(now[1]) / 1024 if now else 0.0, int(most[1]) / 1024 if most else 0.0

    def stop(self) -> None:
        """End the daemon."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def place_of(number: int) -> str:
    """Return where a record lies: in one of 40 folders."""
    return f"projects/project-{number % 8}/{KINDS[number // 8 % 5]}/{number:06}.md"


def text_of(number: int) -> str:
    """Return a record of 1 KB."""
    words = " ".join(WORDS[(number * 7 + step) % 10] + str(number % 97) for step in range(120))
    return f"---\ntitle: Record {number}\n---\n\n{words}"[:1024]


def measure(one: Machine, other: Machine, dsn: str, writes: int) -> dict[str, list[float]]:
    """Return the seconds from each write until it was at the hub, in place on the other machine, and found there."""
    sent, placed, found = [], [], []
    choose = random.Random(7)
    query = "SELECT 1 FROM oracle_hub.file WHERE path = %s"
    with psycopg.connect(dsn, autocommit=True) as hub:
        for number in range(writes):
            time.sleep(choose.uniform(0.05, 1.0))
            path = one.put(f"new-{number:05}.md", text_of(number))
            began = time.monotonic()
            sent.append(until(lambda path=path: hub.execute(query, (path,)).fetchall()) - began)  # type: ignore[misc]
            placed.append(until((other.root / path).exists) - began)
            found.append(until(lambda path=path: other.finds(path)) - began)  # type: ignore[misc]
    return {"at the hub": sent, "in place on the other machine": placed, "found by a question there": found}


def cut(one: Machine, other: Machine, seconds: float) -> tuple[int, float]:
    """Cut the network of one machine, write meanwhile, and return how many records arrived how many seconds after its end."""
    one.network.cut(one.name)
    end = time.monotonic() + seconds
    paths: list[str] = []
    while time.monotonic() < end:
        paths.append(one.put(f"cut-{len(paths):05}.md", text_of(len(paths))))
        time.sleep(0.5)
    if any(map(other.knows, paths)):
        raise AssertionError("the network was not cut")
    one.network.mend(one.name)
    began = time.monotonic()
    until(lambda: all(map(other.knows, paths)))
    return len(paths), time.monotonic() - began


def quantile(values: list[float], share: float) -> float:
    """Return the value that this share of all does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> int:
    """Print the figures; exit 1 when one is over its bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writes", type=int, default=200)
    parser.add_argument("--delay", type=float, default=150)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--cut", type=float, default=60)
    given = parser.parse_args()
    if why := missing() or no_network():
        print(why)
        return 2
    network = Network("a", "b", delay_ms=given.delay)
    cluster = Cluster({"shared_buffers": "128MB"})
    machines: list[Machine] = []
    try:
        cluster.listen(network.address, network.subnet)
        team = Team(cluster.create_database())
        with tempfile.TemporaryDirectory() as folder:
            machines += (Machine(Path(folder), name, team, cluster, network) for name in "ab")
            one, other = machines
            for number in range(given.records):
                one.put_at(place_of(number), text_of(number))
            for machine in machines:
                machine.sync()
                machine.finds("")  # it builds the index
                machine.start()
            until(lambda: all(machine.knows(place_of(given.records - 1)) for machine in machines))
            time.sleep(5)
            times = measure(one, other, cluster.dsn(team.owner.database), given.writes)
            arrived = cut(one, other, given.cut) if given.cut else (0, 0.0)
            memory = [machine.memory() for machine in machines]
            for machine in machines:
                machine.stop()
        team.close()
    finally:
        for machine in machines:
            machine.stop()
        cluster.close()
        network.close()
    print(f"{given.records} records, {given.writes} writes, {given.delay:g} ms from each machine to the hub and back")
    for name, values in times.items():
        middle, most = statistics.median(values), max(values)
        print(f"{name}: median {middle:.2f} s, p99 {quantile(values, 0.99):.2f} s, at most {most:.2f} s")
    print(f"  bar for found, p99: {FOUND} s")
    print(f"network cut for {given.cut:g} s: {arrived[0]} records arrived, the last {arrived[1]:.1f} s after its end")
    print(
        f"memory of the daemons: {', '.join(f'{now:.0f} MB (at most {most:.0f})' for now, most in memory)} (bar {MEMORY})"
    )
    found = times["found by a question there"]
    return int(quantile(found, 0.99) > FOUND or max(most for _, most in memory) > MEMORY)


if __name__ == "__main__":
    sys.exit(main())
