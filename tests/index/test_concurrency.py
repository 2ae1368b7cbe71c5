"""Eight writers and four readers at once: nothing lost, nothing doubled, no error and no half line seen."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.domain.records.drafts import Draft
from oracle.index import fresh
from oracle.store.root import lock
from tests.laws.ledger import assert_like_rebuilt

if TYPE_CHECKING:
    from multiprocessing.queues import Queue
    from multiprocessing.synchronize import Event

WRITERS, EACH, READERS = 8, 20, 4
TASK = "entity:taskid:ARENA-1"
PATIENCE = 300
"""Seconds after which what another process is to do was never done."""

REST = 0.01
"""Seconds that a reader leaves the processor to the writers after each turn."""

FORK = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everybody wait for the lock until it is theirs: what they do when they don't is asked elsewhere."""
    monkeypatch.setattr(fresh, "READER_PATIENCE", PATIENCE)
    monkeypatch.setattr(lock, "DEFAULT_TIMEOUT", PATIENCE)


def write(root: str, number: int, slugs: Queue[str], go: Event) -> None:
    go.wait()
    with Oracle.open(root) as oracle:
        for turn in range(EACH):
            written = oracle.write(Draft("decision", "arena", f"W{number}", body=f"ARENA-1, turn {turn}"))
            trouble = [
                text
                for text in written.warnings
                if "on one topic" not in text and "oracle check --only review" not in text
            ]
            assert trouble == [], trouble
            slugs.put(written.slug)


def read(root: str, number: int, errors: Queue[str], go: Event, stop: Event) -> None:
    """Ask and look at the published files until told to stop; each sees only more and more."""
    seen = turns = 0
    go.wait()
    try:
        while not (turns and stop.is_set()):
            with Oracle.open(root, warn=lambda line: errors.put(f"warned: {line}")) as oracle:
                for _ in range(5):
                    count = len(oracle.backlinks(TASK))
                    if count < seen:
                        errors.put(f"{count} after {seen}")
                    seen, turns = count, turns + 1
                    if number % 2:
                        oracle.search("turn", limit=3)
                    check_lines(Path(root))
                    time.sleep(REST)
    except BaseException as error:  # noqa: BLE001 - whatever a reader meets is what this test is about
        errors.put(f"{type(error).__name__}: {error}")


def check_lines(root: Path) -> None:
    for folder in ("_backlinks", "_links"):
        for path in (root / folder).glob("*.jsonl"):
            try:
                raw = path.read_bytes()
            except FileNotFoundError:
                continue
            assert raw.endswith(b"\n"), path
            lines = [json.loads(line) for line in raw.splitlines()]
            assert len({(line["from"], line["type"], line["to"]) for line in lines}) == len(lines)
            if folder == "_links":
                break


@pytest.mark.slow
def test_eight_writers_to_one_entity(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        oracle.init()
    slugs: Queue[str] = FORK.Queue()
    errors: Queue[str] = FORK.Queue()
    go, stop = FORK.Event(), FORK.Event()
    writers = [FORK.Process(target=write, args=(str(root), n, slugs, go)) for n in range(WRITERS)]
    readers = [FORK.Process(target=read, args=(str(root), n, errors, go, stop)) for n in range(READERS)]
    for process in (*writers, *readers):
        process.start()
    go.set()
    written = [slugs.get(timeout=PATIENCE) for _ in range(WRITERS * EACH)]
    for process in writers:
        process.join(PATIENCE)
    stop.set()
    for process in readers:
        process.join(PATIENCE)
    assert [process.exitcode for process in (*writers, *readers)] == [0] * (WRITERS + READERS)
    assert errors.empty(), errors.get()
    assert len(set(written)) == WRITERS * EACH
    raw = (root / "_backlinks/entity++taskid++ARENA-1.jsonl").read_text()
    assert sorted(json.loads(line)["from"] for line in raw.splitlines()) == sorted(written)
    assert len(list((root / "projects/arena/decision").iterdir())) == WRITERS * EACH
    events = [json.loads(line)["slug"] for line in (root / "events.log").read_bytes().splitlines()]
    assert sorted(events) == sorted(written)
    with Oracle.open(str(root)) as oracle:
        assert len(oracle.backlinks(TASK)) == WRITERS * EACH
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)
    assert os.listdir(root / "_state/tmp") == []  # noqa: PTH208


def rebuild(root: str, turns: int, go: Event) -> None:
    go.wait()
    with Oracle.open(root) as oracle:
        for turn in range(turns):
            if turn % 4 == 3:
                with oracle.index.lock():
                    oracle.index.database.discard()
            oracle.reconcile(rebuild=True)


@pytest.mark.slow
def test_rebuilds_while_others_read_and_write(root: Path) -> None:
    """Whoever asks while the index is built anew, or its file is replaced, waits or gets a whole answer."""
    folder = root / "projects/arena/builder"
    folder.mkdir(parents=True)
    for number in range(200):
        (folder / f"{number}.md").write_text("turn ARENA-1 [[0]]")
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
    slugs: Queue[str] = FORK.Queue()
    errors: Queue[str] = FORK.Queue()
    go, stop = FORK.Event(), FORK.Event()
    readers = [FORK.Process(target=read, args=(str(root), n, errors, go, stop)) for n in range(READERS)]
    workers = [
        FORK.Process(target=rebuild, args=(str(root), 12, go)),
        FORK.Process(target=rebuild, args=(str(root), 12, go)),
        FORK.Process(target=write, args=(str(root), 1, slugs, go)),
    ]
    for process in (*readers, *workers):
        process.start()
    go.set()
    written = [slugs.get(timeout=PATIENCE) for _ in range(EACH)]
    for process in workers:
        process.join(PATIENCE)
    stop.set()
    for process in readers:
        process.join(PATIENCE)
    assert [process.exitcode for process in (*workers, *readers)] == [0] * 7
    assert errors.empty(), errors.get()
    with Oracle.open(str(root)) as oracle:
        assert len(oracle.backlinks(TASK)) == 200 + len(written)
        oracle.reconcile(full=True)
        assert_like_rebuilt(oracle)


def hold(root: str, held: Event, seconds: float) -> None:
    with Oracle.open(root) as oracle, oracle.index.lock():
        held.set()
        FORK.Event().wait(seconds)


def test_a_writer_waits_for_the_lock_and_a_dead_holder_frees_it(root: Path) -> None:
    held = FORK.Event()
    holder = FORK.Process(target=hold, args=(str(root), held, 60))
    holder.start()
    assert held.wait(PATIENCE)
    holder.kill()
    holder.join(PATIENCE)
    with Oracle.open(str(root)) as oracle:
        assert oracle.write(Draft("decision", "arena", "after")).warnings == ()
