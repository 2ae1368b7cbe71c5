"""Measure questions with `--hub` at scale: a hub of many records, filled there, asked from a machine that has none of them.

    benchmarks/hub_scale.py [--records 1000000] [--questions 30] [--folder DIR]

The records are made by SQL in a PostgreSQL of the program's own: about 1 KB each, words distributed like Zipf's law, eight links.
Each question is a process of its own, from its start to its exit. The bars: half a second for a search of five words (median),
50 ms for the backlinks of one target once the copy is open, and no statement that reads a whole table.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))

from oracle.app.context import Context  # noqa: E402
from oracle.app.hubs.team_copy import open_copy  # noqa: E402
from oracle.app.records.graph import backlinks  # noqa: E402
from oracle.app.search.search import search  # noqa: E402
from oracle.store.root import hub as memberships  # noqa: E402
from tests.hub.cluster import Cluster, missing  # noqa: E402
from tests.hub.machines import Team  # noqa: E402
from tests.hub.plans import whole_reads  # noqa: E402

SEARCH, BACKLINKS_MS = 0.5, 50.0
SYLLABLES = "ka lo mi ter bru sen do vi ra no pel gus ti ma fo rin sta le bo cu da wen hi jor".split()
WORDS = len(SYLLABLES) ** 3
LINKED = 1_000
"""Records that name the one target whose backlinks are asked for."""
TARGET = "entity:taskid:ARENA-228"
START = "import sys; from oracle.cli.main import run; sys.exit(run())"

GENERATE = Path(__file__).with_suffix(".sql")


def generate(team: Team, records: int, *, machines: int = 1) -> None:
    """Fill the hub with records, as many machines sent them; 100,000 a transaction."""
    for first in range(1, records + 1, 100_000):
        statement = GENERATE.read_text(encoding="utf-8").format(
            syllables=" ".join(SYLLABLES),
            words=WORDS,
            linked=LINKED,
            team=team.name,
            machines=machines,
            first=first,
            last=min(first + 99_999, records),
        )
        team.owner.rows(statement)
    team.owner.rows("ANALYZE oracle_hub.file")


def word(rank: int) -> str:
    """Return the word that is the `rank`-th most common, from 0."""
    many = len(SYLLABLES)
    return SYLLABLES[rank % many] + SYLLABLES[rank // many % many] + SYLLABLES[rank // many // many]


def questions(number: int, *, lowest: int, highest: int) -> list[str]:
    """Return questions of five words each, whose ranks lie between two bounds, common ones more often."""
    chance = random.Random(number)
    span = math.log(highest / lowest)
    return [" ".join(word(int(lowest * math.exp(chance.random() * span)) - 1) for _ in range(5)) for _ in range(number)]


def ask(root: Path, words: list[str]) -> tuple[float, float, float]:
    """Run a command; return its seconds, those of a core, and the MiB that it took at most."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", START, *words, "--hub"],
        env={**os.environ, "ORACLE_ROOT": str(root), "PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.DEVNULL,
        cwd=CHECKOUT,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{words} ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def size_of(folder: Path) -> float:
    """Return the GiB of disk below a folder."""
    said = subprocess.run(["du", "-s", "--block-size=1K", str(folder)], capture_output=True, text=True, check=True)
    return int(said.stdout.split()[0]) / 2**20


def measure(folder: Path, team: Team, given: argparse.Namespace) -> list[str]:
    """Print the figures, and return what is over its bar."""
    root = folder / "machine"
    (root / "projects").mkdir(parents=True)
    root.chmod(0o700)
    began = time.perf_counter()
    generate(team, given.records)
    print(f"{given.records} records in the hub\t{time.perf_counter() - began:.0f} s", flush=True)
    machine = team.join("machine", "elsewhere")
    with Context.open(str(root)) as context:
        memberships.save(context.root, machine.membership)
        began = time.perf_counter()
        open_copy(context).close()
    files = root / "_state" / "hub" / "team"
    print(f"fetched\t{time.perf_counter() - began:.0f} s, {size_of(files):.1f} GiB", flush=True)
    seconds, _, memory = ask(root, ["search", word(5000)])
    print(f"first question\t{seconds:.0f} s, {memory:.0f} MiB, then {size_of(files):.1f} GiB in all", flush=True)
    faults = []
    for name, lowest, highest in (("five words", 10, WORDS // 2), ("the commonest words", 1, 12)):
        asked = [
            ask(root, ["search", *text.split()]) for text in questions(given.questions, lowest=lowest, highest=highest)
        ]
        middle, core = (statistics.median(one[at] for one in asked) for at in (0, 1))
        print(f"search, {name}\t{middle:.2f} s median (bar {SEARCH} s), {core:.2f} s of a core", flush=True)
        faults += [f"search, {name}: {middle:.2f} s"] if middle > SEARCH else []
    with Context.open(str(root)) as context, open_copy(context) as copy:
        linked = backlinks(copy, TARGET)
        times = []
        for _ in range(given.questions):
            began = time.perf_counter()
            backlinks(copy, TARGET)
            times.append((time.perf_counter() - began) * 1000)
        middle = statistics.median(times)
        print(f"backlinks of a target of {len(linked)}\t{middle:.1f} ms median (bar {BACKLINKS_MS:.0f} ms)")
        faults += [f"backlinks: {middle:.1f} ms"] if middle > BACKLINKS_MS else []
        for work in (lambda: backlinks(copy, TARGET), lambda: search(copy, questions(1, lowest=10, highest=999)[0])):
            faults += whole_reads(copy, work)
    asked = [ask(root, ["backlinks", TARGET]) for _ in range(5)]
    middle, core = (statistics.median(one[at] for one in asked) for at in (0, 1))
    print(f"the same as a command\t{middle:.2f} s, {core:.2f} s of a core")
    return faults


def main() -> int:
    """Measure; return 1 when something is over its bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument(
        "--folder", type=Path, help="where the machine's files go and stay (default: a temporary folder)"
    )
    given = parser.parse_args()
    if why := missing():
        print(why)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="oracle-scale-", dir=given.folder))
    cluster = Cluster()
    try:
        team = Team(cluster.create_database())
        faults = measure(folder, team, given)
        team.close()
    finally:
        cluster.close()
        if given.folder is None:
            shutil.rmtree(folder)
    for fault in faults:
        print(f"FAILED\t{fault}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
