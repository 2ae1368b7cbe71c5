"""A large Root is looked at in rounds: an edit in place is found after a bounded number of questions, or told by a daemon."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.errors import DiskFailure
from oracle.index import fresh, listing, rounds
from oracle.index.read import query
from oracle.store.daemon.state import Instance, holder
from oracle.store.disk import folders
from oracle.store.root.lock import WriteLock, vouched_ns
from tests.index.test_freshness import edit_unseen
from tests.laws.ledger import Clock, assert_like_rebuilt, pass_a_tick

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUILDER, OTHER = "projects/arena/builder", "projects/shop/builder"
PATHS = [*(f"{BUILDER}/{name}.md" for name in "abcd"), *(f"{OTHER}/{name}.md" for name in "efg")]
STEP = 2
QUESTIONS = -(-len(PATHS) // STEP)
"""How many questions it takes to look at all files."""


@pytest.fixture
def clock() -> Clock:
    return Clock(frozen_ns=time.time_ns())


@pytest.fixture
def oracle(root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Oracle]:
    """An oracle for whose Root a look at every file is costly. Everything was looked at long ago."""
    monkeypatch.setattr(fresh, "CHEAP_NS", 0)
    monkeypatch.setattr(rounds, "_STEP", STEP)
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"# {path} number 1\n")
    clock.advance(60)
    pass_a_tick(root.parent)
    with Oracle.open(str(root), clock=clock) as opened:
        opened.reconcile()
        clock.advance(60)
        yield opened


def numbers(oracle: Oracle) -> set[str]:
    """Return the numbers in the titles that the index holds. The question reads no record file."""
    return {
        title[-1] for (title,) in oracle.index.read(lambda index: index.execute("SELECT title FROM record").fetchall())
    }


def questions_until(oracle: Oracle, clock: Clock, number: str) -> int:
    for count in range(1, 3 * QUESTIONS):
        if number in numbers(oracle):
            return count
        clock.advance(1.1)
    pytest.fail(f"{number} was not seen")


# Without a daemon -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_an_edit_in_place_is_seen_after_one_round(oracle: Oracle, root: Path, clock: Clock, path: str) -> None:
    edit_unseen(root / path, b"number 1", b"number 2")
    assert questions_until(oracle, clock, "2") == 1 + PATHS.index(path) // STEP
    assert_like_rebuilt(oracle)


@pytest.mark.parametrize("before", range(1, QUESTIONS + 1))
def test_an_edit_behind_the_round_is_seen_in_the_next(oracle: Oracle, root: Path, clock: Clock, before: int) -> None:
    for _ in range(before):
        assert numbers(oracle) == {"1"}
        clock.advance(1.1)
    edit_unseen(root / PATHS[0], b"number 1", b"number 2")
    clock.advance(11)
    assert questions_until(oracle, clock, "2") <= QUESTIONS + 1


def test_processes_share_a_round(oracle: Oracle, root: Path, clock: Clock) -> None:
    edit_unseen(root / PATHS[-1], b"number 1", b"number 2")
    for count in range(1, QUESTIONS + 1):
        with Oracle.open(str(root), clock=clock) as other:
            assert ("2" in numbers(other)) == (count == QUESTIONS)
        clock.advance(1.1)


def test_a_question_looks_at_files_once_in_a_second(oracle: Oracle, root: Path, clock: Clock) -> None:
    assert numbers(oracle) == {"1"}
    edit_unseen(root / PATHS[STEP], b"number 1", b"number 2")
    clock.advance(0.9)
    assert [numbers(oracle) for _ in range(QUESTIONS)] == [{"1"}] * QUESTIONS
    clock.advance(0.2)
    assert numbers(oracle) == {"1", "2"}


def test_after_a_round_nothing_is_looked_at_for_a_while(oracle: Oracle, root: Path, clock: Clock) -> None:
    began = clock.now_ns()
    for _ in range(QUESTIONS):
        numbers(oracle)
        clock.advance(1.1)
    assert oracle.index.seen_ns == began
    edit_unseen(root / PATHS[0], b"number 1", b"number 2")
    assert numbers(oracle) == {"1"}
    assert oracle.index.seen_ns == began
    clock.advance(10)
    assert numbers(oracle) == {"1", "2"}


@pytest.mark.parametrize("seconds", [-3600, -86400 * 400])
def test_a_clock_that_jumps_back_begins_a_new_round(oracle: Oracle, root: Path, clock: Clock, seconds: int) -> None:
    numbers(oracle)
    edit_unseen(root / PATHS[0], b"number 1", b"number 2")
    clock.advance(seconds)
    assert questions_until(oracle, clock, "2") == 1


def test_fresh_looks_at_every_file(oracle: Oracle, root: Path) -> None:
    edit_unseen(root / PATHS[-1], b"number 1", b"number 2")
    assert "2" in {record.title[-1] for record in oracle.records({}, fresh=True)}


def test_a_round_that_takes_little_time_ends_the_rounds(
    oracle: Oracle, root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(QUESTIONS):
        numbers(oracle)
        clock.advance(1.1)
    monkeypatch.setattr(fresh, "CHEAP_NS", 1 << 62)
    edit_unseen(root / PATHS[-1], b"number 1", b"number 2")
    assert numbers(oracle) == {"1", "2"}


@pytest.mark.parametrize("is_hasty", [True, False])
def test_a_hasty_query_looks_at_fewer_files(
    oracle: Oracle, clock: Clock, monkeypatch: pytest.MonkeyPatch, is_hasty: bool
) -> None:
    for _ in range(QUESTIONS):
        numbers(oracle)
        clock.advance(1.1)
    clock.advance(60)
    monkeypatch.setattr(fresh, "CHEAP_NS", 1 << 62)
    monkeypatch.setattr(fresh, "HASTY_NS", 0)
    oracle.index.is_hasty = is_hasty
    numbers(oracle)
    assert oracle.index.in_rounds == is_hasty


@pytest.mark.parametrize("kind", ["dangling", "linked"])
def test_what_a_link_leads_to_is_looked_at(oracle: Oracle, root: Path, clock: Clock, kind: str) -> None:
    target = root / OTHER / "deep/target.md"
    if kind == "linked":
        target.parent.mkdir()
        target.write_text("# number 3")
    (root / BUILDER / "link.md").symlink_to(target)
    clock.advance(5)
    numbers(oracle)
    clock.advance(60)
    for _ in range(QUESTIONS + 1):
        numbers(oracle)
        clock.advance(2)
    target.parent.mkdir(exist_ok=True)
    target.write_text("# number 4")
    clock.advance(11)
    for _ in range(QUESTIONS + 2):
        numbers(oracle)
        clock.advance(2)
    (found,) = [record.title for record in oracle.records({}) if record.slug == f"{BUILDER}/link"]
    assert found == "number 4"


@pytest.mark.parametrize("path", [PATHS[0], PATHS[-1]])
def test_a_record_that_is_listed_is_as_its_file_is_now(oracle: Oracle, root: Path, path: str) -> None:
    edit_unseen(root / path, b"number 1", b"number 2")
    assert f"{path} number 2" in {record.title for record in oracle.records({})}


def test_a_file_that_was_read_too_young_is_read_again(oracle: Oracle, root: Path, clock: Clock) -> None:
    """Though no look at every file comes, and its stat is as before."""
    path = root / BUILDER / "young.md"
    path.write_text("# number 5\n")
    clock.offset_ns = path.stat().st_mtime_ns - clock.frozen_ns + 1
    assert "5" in numbers(oracle)
    connection = oracle.index.database.connect()
    path.write_text("# number 6\n")
    # The index was so quick to read it that the stat is as it was then.
    connection.execute(
        "UPDATE record SET mtime_ns = ?, size = ?, inode = ?, ctime_ns = ? WHERE path = ?",
        (*folders.stat_of(path.stat()), f"{BUILDER}/young.md"),
    )
    digest = listing.digest_of(listing.read_folder(oracle.root, BUILDER))
    connection.execute("UPDATE folder SET digest = ? WHERE path = ?", (digest, BUILDER))
    clock.advance(5)
    assert "6" in numbers(oracle)


@pytest.mark.parametrize("filters", [{}, {"since": "2020-01-01"}, {"until": "2099-01-01"}])
def test_the_newest_records_are_found_without_sorting(oracle: Oracle, filters: dict[str, str]) -> None:
    connection = oracle.index.database.connect()
    steps: list[str] = []
    connection.set_trace_callback(steps.append)
    query.listing(connection, filters, limit=3, newest_first=True)
    connection.set_trace_callback(None)
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {steps[-1]}")]
    assert plan
    assert not [line for line in plan if "TEMP B-TREE" in line]


# With a daemon --------------------------------------------------------------------------------------------------------


def test_what_a_daemon_vouches_for_is_not_looked_at(oracle: Oracle, root: Path, clock: Clock) -> None:
    edit_unseen(root / PATHS[0], b"number 1", b"number 2")
    with Instance(oracle.root) as instance:
        instance.vouch(clock.now_ns())
        clock.advance(9.9)
        assert numbers(oracle) == {"1"}
        assert oracle.index.seen_ns == vouched_ns(oracle.root)
        clock.advance(0.2)
        assert numbers(oracle) == {"1", "2"}


@pytest.mark.parametrize("death", ["it ends", "it never vouched", "its clock is ahead", "its file is broken"])
def test_a_daemon_is_not_trusted_without_a_recent_word(oracle: Oracle, root: Path, clock: Clock, death: str) -> None:
    edit_unseen(root / PATHS[0], b"number 1", b"number 2")
    with Instance(oracle.root) as instance:
        instance.vouch(clock.now_ns() + (10**9 if death == "its clock is ahead" else 0))
        if death == "it never vouched":
            instance.vouch(0)
        elif death == "its file is broken":
            (root / "_state/daemon.lock").write_bytes(b"7 x\n")
        if death != "it ends":
            assert numbers(oracle) == {"1", "2"}
    if death == "it ends":
        assert vouched_ns(oracle.root) == 0
        assert numbers(oracle) == {"1", "2"}


def test_a_lock_names_its_holder_beside_what_it_vouches_for(oracle: Oracle) -> None:
    assert (holder(oracle.root), vouched_ns(oracle.root)) == (0, 0)
    with Instance(oracle.root) as instance:
        pid = holder(oracle.root)
        assert pid > 0
        instance.vouch(1_700_000_000_000_000_000)
        assert (holder(oracle.root), vouched_ns(oracle.root)) == (pid, 1_700_000_000_000_000_000)
    assert vouched_ns(oracle.root) == 0


@pytest.mark.parametrize("edited", ["before", "after"])
def test_where_the_lock_is_held_the_round_waits(
    oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch, edited: str
) -> None:
    """What could not be indexed or noted is not skipped."""
    monkeypatch.setattr(fresh, "READER_PATIENCE", 0.05)
    if edited == "before":
        edit_unseen(root / PATHS[0], b"number 1", b"number 2")
    with WriteLock(oracle.root):
        assert numbers(oracle) == {"1"}
    if edited == "after":
        edit_unseen(root / PATHS[0], b"number 1", b"number 2")
    assert numbers(oracle) == {"1", "2"}


def test_a_full_disk_ends_no_question(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bool:
        raise DiskFailure("The disk is full.")

    monkeypatch.setattr(WriteLock, "acquire", refuse)
    assert numbers(oracle) == {"1"}
