"""What has to hold after a soak: nothing acknowledged is lost, the index is that of a rebuild, nothing leaks, the lag is short."""

from __future__ import annotations

import json
import shutil
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from soak_workers import PROJECT

from oracle.api import Oracle
from tests.laws.ledger import assert_like_rebuilt

if TYPE_CHECKING:
    from soak import Served

MOST_LAG = 1.5
"""Seconds from the rename of a file to its row in the index, for 99 of 100."""

SPARE_MEMORY, SPARE_FILES = 8 << 20, 3
"""Bytes and descriptors by which the last third of a life may be above the first: caches that fill, a query under way."""

FORGIVEN = frozenset(("lock_timeout",))
"""What a worker may be refused: somebody else held the lock for too long, and said so."""

Said = Mapping[str, object]


class Sample(NamedTuple):
    """What a process used at a moment: seconds of the monotonic clock, bytes, descriptors."""

    at: float
    memory: int
    files: int


def sample(pid: int) -> list[Sample]:
    """Return what a process uses now, [] when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
        memory = next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS:"))
        return [Sample(time.monotonic(), memory, len(list(Path(f"/proc/{pid}/fd").iterdir())))]
    except (OSError, StopIteration):
        return []


def children(pid: int) -> list[int]:
    """Return the processes that a process started."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def trend(samples: list[Sample]) -> str:
    """Print how memory and open files went."""
    if len(samples) < 2:
        return "no samples"
    slope = statistics.linear_regression([one.at for one in samples], [one.memory for one in samples]).slope
    first, last = samples[0], samples[-1]
    return (
        f"{first.memory / 2**20:.1f} -> {last.memory / 2**20:.1f} MiB, slope {slope * 60 / 2**20:+.2f} MiB a minute over "
        f"{last.at - first.at:.0f} s; {first.files} -> {last.files} files"
    )


def lags(said: Iterable[Said], *, since: float = 0.0) -> list[float]:
    """Return the lags that the probe saw since a moment, the shortest first."""
    return sorted(float(str(one["lag"])) for one in said if "lag" in one and float(str(one["at"])) >= since)


def quantiles(ordered: list[float]) -> str:
    """Print the middle, the 99th of a hundred and the most."""
    return (
        f"p50 {at(ordered, 0.5):.3f} s, p99 {at(ordered, 0.99):.3f} s, most {at(ordered, 1.0):.3f} s of {len(ordered)}"
    )


def at(ordered: list[float], share: float) -> float:
    """Return a quantile, 0 of nothing."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def judge(served: Served, said: Sequence[Said]) -> Iterator[str]:
    """Yield a sentence for each thing that does not hold."""
    yield from lost_handoffs(served.root, said)
    yield from lost_files(served.root, said)
    errors = {str(one["message"]) for one in said if "error" in one and one["error"] not in FORGIVEN}
    yield from (f"a worker was refused: {message}" for message in sorted(errors))
    conflicts = list((served.root / "responses").glob("*.conflict-*"))
    yield from (f"two answers to one question: {path.name}" for path in conflicts)
    yield from differs_from_rebuild(served.root)
    yield from leaks("the daemon", served.samples)
    for pid, samples in served.servers.items():
        yield from leaks(f"the MCP server {pid}", samples)
    for which, found in (("all", lags(said)), ("the last daemon", lags(said, since=served.lived_since))):
        if at(found, 0.99) > MOST_LAG or not found:
            yield f"the lag of {which} is too long: {quantiles(found)}"


def unanswered(root: Path, tasks: Iterable[str]) -> list[str]:
    """Return the tasks that have no response, or no receipt of one."""
    folder = handoffs_of(root)
    return [
        task
        for task in tasks
        if not (root / f"responses/{task}.json").exists() or not (folder / f"{task}__memory__planner.json").exists()
    ]


def handoffs_of(root: Path) -> Path:
    """Return the folder of receipts."""
    return root.parent / "tasks" / PROJECT / "patrol" / "handoffs"


def lost_handoffs(root: Path, said: Sequence[Said]) -> Iterator[str]:
    """Yield a sentence for each dispatch and delivery that was acknowledged and is not on disk."""
    asked = [str(one["asked"]) for one in said if "asked" in one]
    yield from (f"the question {task} was acknowledged and is not answered" for task in unanswered(root, asked))
    for task in [*asked, *(str(one["task"]) for one in said if "task" in one)]:
        if not list(handoffs_of(root).glob(f"{task}__planner__memory.json*")):
            yield f"the dispatch {task} was acknowledged and has no receipt"
    delivered = {str(one["delivered"]): one["answer"] for one in said if "delivered" in one}
    yield from (f"the delivery of {task} was acknowledged and is not there" for task in unanswered(root, delivered))
    for task, text in delivered.items():
        path = root / f"responses/{task}.json"
        if path.exists() and json.loads(path.read_bytes())["answer"] != text:
            yield f"the delivery of {task} is not what was delivered"


def lost_files(root: Path, said: Sequence[Said]) -> Iterator[str]:
    """Yield a sentence for each record that is not there, and each file that is not what its seat left."""
    for slug in (str(one["record"]) for one in said if "record" in one):
        if not (root / f"{slug}.md").exists():
            yield f"the record {slug} was acknowledged and is not there"
    last: dict[str, str | None] = {}
    for one in said:
        last |= one.get("files", {})  # type: ignore[call-overload]
    for name, text in last.items():
        now = Path(name).read_text() if Path(name).exists() else None
        if now != text:
            yield f"the seat's file {name} is not what the seat left"


def differs_from_rebuild(root: Path) -> Iterator[str]:
    """Yield what differs between the index as it was kept and one that is built from nothing: rows, and every byte printed."""
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile(full=True)
        try:
            assert_like_rebuilt(oracle)
        except AssertionError as error:
            yield f"the index is not what a rebuild gives: {str(error)[:500]}"
    kept = printed(root)
    for name in ("_state", "_links", "_backlinks"):
        shutil.rmtree(root / name)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
    anew = printed(root)
    if kept != anew:
        names = sorted(name for name in kept.keys() | anew.keys() if kept.get(name) != anew.get(name))
        yield f"{len(names)} of {len(anew)} projections are not what a rebuild prints, as {names[0]}"


def printed(root: Path) -> dict[str, bytes]:
    """Return every projection."""
    return {
        f"{name}/{path.name}": path.read_bytes()
        for name in ("_links", "_backlinks")
        for path in (root / name).iterdir()
    }


def leaks(who: str, samples: list[Sample]) -> Iterator[str]:
    """Yield what grew between the first and the last third of a life."""
    third = len(samples) // 3
    if not third:
        yield f"{who} was never seen for long enough"
        return
    for what, spare in (("memory", SPARE_MEMORY), ("files", SPARE_FILES)):
        first, last = (
            statistics.median(getattr(one, what) for one in part) for part in (samples[:third], samples[-third:])
        )
        if last > first + spare:
            yield f"{who}: {what} grew from {first:g} to {last:g}"
