"""Serve a Root under load for a while, killing the daemon at random, and see that nothing was lost and nothing leaks.

Eight writers (four through Oracle, four that work on a seat's files as editors do), two seats that ask, four readers. In the
first part the daemon is killed with SIGKILL every few seconds; in the second it lives, and its memory, its open files and the lag
from a file's change to its entry in the index are measured. Exits 1 when something does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from oracle.app.ask import QUERY, Order
from oracle.app.oracle import Oracle
from oracle.domain.records import Draft
from oracle.errors import NotFound, OracleError
from oracle.store import daemon as store
from tests.laws.ledger import assert_like_rebuilt

PROJECT = "soak"
KILLING = 0.6
"""Share of the time in which the daemon is killed now and then."""

WARM = 8.0
"""Seconds after which a daemon has loaded what it needs."""

PACE = {"write": 0.25, "edit": 0.1, "ask": 1.5, "read": 0.1}
"""Seconds that a worker of a kind rests between two steps, on average."""

WORKERS = (
    *(("write", n) for n in range(4)),
    *(("edit", n) for n in range(4)),
    ("ask", 0),
    ("ask", 1),
    *(("read", n) for n in range(4)),
)
_WORDS = (
    "cache queue lock index retry timeout deploy rollback schema parser token vector shard lease clock quorum".split()
)


# Workers: each a process of its own that writes down what was acknowledged ------------------------------------------------


def work(kind: str, number: int, home: Path) -> None:
    """Do steps of a kind until SIGTERM."""
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    chance = random.Random(f"{kind}{number}")
    steps = {"write": write, "edit": edit, "ask": ask, "read": read}[kind](number, home, chance)
    with (home / f"{kind}-{number}.acknowledged").open("a", buffering=1) as log:
        while not ended:
            try:
                said = next(steps)
            except OracleError as error:
                log.write(json.dumps({"error": error.sentence}) + "\n")
                steps = {"write": write, "edit": edit, "ask": ask, "read": read}[kind](number, home, chance)
                continue
            if said:
                log.write(json.dumps(said) + "\n")
            time.sleep(PACE[kind] * 2 * chance.random())


def root_of(home: Path) -> Path:
    """Return the Root under a home."""
    return home / ".agents" / "memory"


def text_of(chance: random.Random) -> str:
    """Return a paragraph with links."""
    words = " ".join(chance.choices(_WORDS, k=20))
    return f"{words} SOAK-{chance.randrange(50)} src/{chance.choice(_WORDS)}.py [[note-{chance.randrange(40)}]]\n"


def write(number: int, home: Path, chance: random.Random) -> Iterator[dict[str, object]]:
    """Write records as Memory does."""
    with Oracle.open(str(root_of(home))) as oracle:
        while True:
            title = f"{chance.choice(_WORDS)} {number} {chance.randrange(10**6)}"
            yield {"record": oracle.write(Draft("decision", PROJECT, title, body=text_of(chance))).slug}


def edit(number: int, home: Path, chance: random.Random) -> Iterator[dict[str, object]]:
    """Create, edit in place, rename and delete files of a seat; the last word on each name counts."""
    folder = root_of(home) / f"projects/{PROJECT}/builder-{number + 1}"
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        name = f"note-{chance.randrange(40)}.md"
        path, step = folder / name, chance.random()
        text = f"# Note {chance.randrange(10**6)}\n\n{text_of(chance)}"
        if step < 0.5 or not path.exists():
            new = folder / f".{name}.new"
            new.write_text(text)
            new.rename(path)
            yield {"files": {str(path): text}}
        elif step < 0.7:
            path.write_text(text)
            yield {"files": {str(path): text}}
        elif step < 0.85:
            path.unlink()
            yield {"files": {str(path): None}}
        else:
            other = folder / f"note-{chance.randrange(40)}.md"
            text = path.read_text()
            path.rename(other)
            yield {"files": {str(path): None, str(other): text}}


def ask(number: int, home: Path, chance: random.Random) -> Iterator[dict[str, object]]:
    """Ask what the disk knows, and what nobody does."""
    with Oracle.open(str(root_of(home))) as oracle:
        for count in range(10**9):
            is_known = chance.random() < 0.5
            question = (
                "Which retry policy did we choose for webhooks?" if is_known else f"What of zeppelin {chance.random()}?"
            )
            order = Order(
                PROJECT, f"Q-{number}-{os.getpid()}-{count}", "planner", "memory", question, kind=QUERY, notifies=False
            )
            yield {"task": oracle.dispatch(order).name.task_id}


def read(number: int, home: Path, chance: random.Random) -> Iterator[dict[str, object]]:
    """Search, list and follow links."""
    with Oracle.open(str(root_of(home))) as oracle:
        while True:
            try:
                oracle.search(" ".join(chance.choices(_WORDS, k=2)))
                oracle.backlinks(f"entity:taskid:SOAK-{chance.randrange(50)}")
                oracle.records({"project": PROJECT}, limit=20, newest_first=True)
            except NotFound:
                pass
            yield {}


# The daemon -----------------------------------------------------------------------------------------------------------


class Served:
    """A home with a Root, workers and a daemon."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = root_of(home)
        self.root.mkdir(parents=True, mode=0o700)
        self.environ = {
            **os.environ,
            "HOME": str(home),
            "ORACLE_TMUX_SOCKET": str(home / "none"),
            "TMUX_TMPDIR": str(home),
        }
        with Oracle.open(str(self.root)) as oracle:
            oracle.init()
            oracle.init_profile(PROJECT, ("memory", "planner", "builder"))
            self.layout = oracle.root
            body = "We chose exponential backoff with at most five tries for webhooks."
            oracle.write(Draft("decision", PROJECT, "Retry policy for webhooks", body=body))
        (self.root / "config.toml").write_text("[daemon]\nseat_bound = 2\n")
        self.daemon: subprocess.Popen[bytes] | None = None
        self.deaths = 0
        self.samples: list[dict[str, int]] = []

    def start(self) -> None:
        """Start the daemon."""
        words = [sys.executable, "-m", "oracle.daemon", "--memory-dir", str(self.root)]
        with (self.home / "daemon.err").open("ab") as said:
            self.daemon = subprocess.Popen(words, env=self.environ, stdout=said, stderr=said)

    def kill(self) -> None:
        """Kill the daemon wherever it is."""
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.wait()
            self.deaths += 1

    def status(self) -> dict[str, object]:
        """Return what this very daemon last said."""
        said = store.read_status(self.layout)
        return said if self.daemon is not None and said.get("pid") == self.daemon.pid else {}

    def sample(self) -> None:
        """Note what the daemon uses now."""
        said = self.status()
        process, uptime = said.get("process"), said.get("uptime_seconds")
        if isinstance(process, dict) and isinstance(uptime, float) and uptime > WARM:
            self.samples.append(process)

    def end(self) -> int:
        """Tell the daemon to stop; return its exit code."""
        if self.daemon is None:
            return -1
        self.daemon.terminate()
        return self.daemon.wait(90)


def run(served: Served, seconds: float) -> None:
    """Put the load on, kill the daemon in the first part and watch it in the second."""
    workers = [
        subprocess.Popen(
            [sys.executable, __file__, "--work", kind, str(number), "--home", str(served.home)], env=served.environ
        )
        for kind, number in WORKERS
    ]
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
            time.sleep(0.5)
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait(60)


def settle(served: Served, tasks: list[str]) -> None:
    """Wait until every question is answered, a minute and a half at most."""
    end = time.monotonic() + 90
    while time.monotonic() < end and unanswered(served, tasks):
        time.sleep(0.5)


# What has to hold -----------------------------------------------------------------------------------------------------


def acknowledged(home: Path) -> Iterator[dict[str, object]]:
    """Yield what the workers were told, each worker's in its order."""
    for path in sorted(home.glob("*.acknowledged")):
        for line in path.read_text().splitlines():
            yield json.loads(line)


def unanswered(served: Served, tasks: list[str]) -> list[str]:
    """Return the tasks that have no response, or no receipt of one."""
    folder = served.home / f".agents/tasks/{PROJECT}/patrol/handoffs"
    return [
        task
        for task in tasks
        if not (served.root / f"responses/{task}.json").exists()
        or not (folder / f"{task}__memory__planner.json").exists()
    ]


def judge(served: Served, said: list[dict[str, object]]) -> Iterator[str]:
    """Yield a sentence for each thing that does not hold."""
    for task in unanswered(served, [str(one["task"]) for one in said if "task" in one]):
        yield f"the question {task} was acknowledged and is not answered"
    for slug in (str(one["record"]) for one in said if "record" in one):
        if not (served.root / f"{slug}.md").exists():
            yield f"the record {slug} was acknowledged and is not there"
    last: dict[str, str | None] = {}
    for one in said:
        last |= one.get("files", {})  # type: ignore[arg-type]
    for name, text in last.items():
        now = Path(name).read_text() if Path(name).exists() else None
        if now != text:
            yield f"the seat's file {name} is not what the seat left"
    conflicts = list((served.root / "responses").glob("*.conflict-*"))
    yield from (f"two answers to one question: {path.name}" for path in conflicts)
    with Oracle.open(str(served.root)) as oracle:
        oracle.reconcile(full=True)
        try:
            assert_like_rebuilt(oracle)
        except AssertionError as error:
            yield f"the index is not what a rebuild gives: {str(error)[:500]}"
    yield from leaks(served.samples)


def leaks(samples: list[dict[str, int]]) -> Iterator[str]:
    """Yield what grew between the first and the last third of the second part."""
    third = len(samples) // 3
    if not third:
        yield "the daemon never said what it uses"
        return
    for key, spare in (("rss_bytes", 8 << 20), ("open_files", 3)):
        first, last = (sorted(one[key] for one in part)[third // 2] for part in (samples[:third], samples[-third:]))
        if last > first + spare:
            yield f"{key} grew from {first} to {last}"


def report(served: Served, said: list[dict[str, object]], seconds: float) -> None:
    """Print what was done and measured."""
    errors = [str(one["error"]) for one in said if "error" in one]
    counted: dict[str, Callable[[dict[str, object]], object]] = {
        "records written": lambda one: "record" in one,
        "changes to seats' files": lambda one: "files" in one,
        "questions asked": lambda one: "task" in one,
    }
    print(f"soak\t{seconds:g} s, the daemon was killed {served.deaths} times")
    for what, is_one in counted.items():
        print(f"{what}\t{sum(bool(is_one(one)) for one in said)}")
    print(f"errors of workers\t{len(errors)}\t{'; '.join(sorted(set(errors))[:3])}")
    status = served.status()
    print(f"lag of the last daemon\t{json.dumps(status.get('lag_seconds'))}")
    print(f"counts of the last daemon\t{json.dumps(status.get('counts'))}")
    if served.samples:
        first, last = served.samples[0], served.samples[-1]
        print(f"memory\t{first['rss_bytes'] >> 20} -> {last['rss_bytes'] >> 20} MiB")
        print(f"open files\t{first['open_files']} -> {last['open_files']}")


def main() -> int:
    """Run the soak; return 0 when everything held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long the load lasts (default 600)")
    parser.add_argument("--work", nargs=2, metavar=("KIND", "N"), help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work[0], int(given.work[1]), given.home)
        return 0
    with tempfile.TemporaryDirectory(prefix="oracle-soak-") as folder:
        served = Served(Path(folder) / "home")
        try:
            run(served, given.seconds)
            settle(served, [str(one["task"]) for one in acknowledged(served.home) if "task" in one])
            code = served.end()
        finally:
            if served.daemon is not None:
                served.daemon.kill()
        said = list(acknowledged(served.home))
        report(served, said, given.seconds)
        faults = [*judge(served, said), *([f"told to stop, the daemon exited {code}"] if code else [])]
    for sentence in faults:
        print(f"FAILED\t{sentence}")
    print("FAILED" if faults else "everything held")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
