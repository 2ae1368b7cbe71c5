"""Measure a hub: sending, fetching and doing nothing, as ratios to plain COPY and to plain files with fsync.

    benchmarks/hub.py [--files 10000] [--times 3]

It starts a PostgreSQL of its own, which does not wait for its disk. The bars: sending ÷ COPY of the same bytes at most 6,
fetching and placing ÷ writing the same files with fsync at most 1.5, and two statements in 5 ms for nothing to do.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg

from oracle.app.context import Context
from oracle.app.hubs.sync import sync
from oracle.app.hubs.team_copy import open_copy
from oracle.domain.hub.rows import Row
from oracle.store.root import hub as memberships
from tests.hub.cluster import Cluster, missing
from tests.hub.machines import JoinedMachine, Team, row

if TYPE_CHECKING:
    from collections.abc import Callable

SENT, PLACED, IDLE_MS, IDLE_STATEMENTS = 6.0, 1.5, 5.0, 2
AS_INSTALLED = {"shared_buffers": "128MB"}
"""What the tests' own cluster has less of than that of the distribution."""
SETTLED = 3.0
"""Seconds after which the age of a file tells that it did not change since it was read."""
WORDS = "tide harbor crane pilot ledger anchor beacon mooring vessel cargo".split()


def records(number: int) -> list[Row]:
    """Return records of 1 KB."""
    rows = []
    for at in range(number):
        text = f"---\ntitle: Record {at}\n---\n\n" + " ".join(
            WORDS[(at * 7 + step) % 10] + str(at % 97) for step in range(120)
        )
        rows.append(row(f"projects/shop/finding/{at:06}.md", text.encode()[:1024]))
    return rows


def seconds(function: Callable[[], object]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def copy_plainly(dsn: str, rows: list[Row]) -> None:
    """Put the same bytes into one plain table."""
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE plain (path text, content bytea)")
        with connection.cursor().copy("COPY plain FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["text", "bytea"])
            for one in rows:
                copy.write_row((one.path, one.content))


def write_plainly(folder: Path, rows: list[Row]) -> None:
    """Write the same files with fsync."""
    for one in rows:
        path = folder / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(handle, one.content or b"")
        os.fsync(handle)
        os.close(handle)


def site(folder: Path, machine: JoinedMachine) -> Context:
    """Make the Root of a machine."""
    (folder / "projects").mkdir(parents=True)
    folder.chmod(0o700)
    context = Context.open(str(folder))
    memberships.save(context.root, machine.membership)
    return context


def measure(cluster: Cluster, folder: Path, rows: list[Row]) -> dict[str, float]:
    """Return the figures of one round."""
    team = Team(cluster.create_database())
    sender, receiver = team.join("sender"), team.join("receiver")
    found = {"copy": seconds(lambda: copy_plainly(team.dsn, rows)), "push": seconds(lambda: sender.send(*rows))}
    found["files"] = seconds(lambda: write_plainly(folder / "plain", rows))
    here = site(folder / "receiver", receiver)
    found["place"] = seconds(lambda: sync(here, receiver, receiver.membership))
    found["sync of nothing"] = seconds(lambda: sync(here, receiver, receiver.membership))
    here.index.read(lambda _: None)
    time.sleep(SETTLED)
    for _ in range(2):  # no file is too young now, so that the second leaves nothing to look at
        sync(here, receiver, receiver.membership)
    found["look"] = min(seconds(lambda: here.index.read(lambda _: None)) for _ in range(5))
    before = receiver.connection.statements
    found["idle"] = seconds(lambda: sync(here, receiver, receiver.membership))
    found["statements"] = receiver.connection.statements - before
    found["first"] = seconds(lambda: open_copy(here).close())
    found["again"] = seconds(lambda: open_copy(here).close())
    team.close()
    return found


def main() -> int:
    """Print the ratios; exit 1 when one is over its bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    if why := missing():
        print(why)
        return 2
    rows = records(given.files)
    cluster = Cluster(AS_INSTALLED)
    try:
        rounds = []
        for _ in range(given.times):
            with tempfile.TemporaryDirectory() as folder:
                rounds.append(measure(cluster, Path(folder), rows))
    finally:
        cluster.close()
    sent = statistics.median(one["push"] / one["copy"] for one in rounds)
    placed = statistics.median(one["place"] / one["files"] for one in rounds)
    idle = statistics.median(one["idle"] for one in rounds) * 1000
    statements = max(one["statements"] for one in rounds)
    print(f"sending {given.files} files ÷ COPY: {sent:.2f} (bar {SENT})")
    print(f"fetching and placing ÷ files with fsync: {placed:.2f} (bar {PLACED})")
    print(
        f"nothing to do: {statements:.0f} statements, {idle:.1f} ms for the whole sync (bars {IDLE_STATEMENTS}, {IDLE_MS} ms)"
    )
    for name in ("copy", "push", "files", "place", "sync of nothing", "look", "first", "again"):
        print(f"  {name}: {statistics.median(one[name] for one in rounds):.4f} s")
    return int(sent > SENT or placed > PLACED or statements > IDLE_STATEMENTS or idle > IDLE_MS)


if __name__ == "__main__":
    sys.exit(main())
