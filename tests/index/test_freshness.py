"""Freshness is a contract: who changed what is seen by when, and a damaged, lost or foreign index never gives a wrong answer."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.api import Oracle
from oracle.app.overview.status import status
from oracle.app.records.graph import entities
from oracle.app.root import check, reconcile
from oracle.domain.records.drafts import Draft
from oracle.errors import DiskFailure, LockTimeout, NotInMemory, RootUnusable, TreeEmptied
from oracle.index import fresh
from oracle.index.db import Database
from oracle.index.fresh import Index
from oracle.store.markdown import records
from oracle.store.root.layout import Root
from oracle.store.root.lock import WriteLock
from tests.laws.ledger import Clock, assert_like_rebuilt, pass_a_tick, read_projections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TASK = "entity:taskid:ARENA-1"
BUILDER = "projects/arena/builder"


@pytest.fixture
def clock() -> Clock:
    return Clock(frozen_ns=time.time_ns())


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def oracle(root: Path, clock: Clock, warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Oracle]:
    """An oracle that has looked at three old records of a builder and trusts what it knows of them.

    A look is a cheap one, however slow the machine is.
    """
    monkeypatch.setattr(fresh, "CHEAP_NS", 1 << 62)
    (root / BUILDER).mkdir(parents=True)
    for name in "abc":
        (root / BUILDER / f"{name}.md").write_text(f"{name} closes ARENA-1")
    clock.advance(60)
    pass_a_tick(root.parent)
    with Oracle.open(str(root), clock=clock, warn=warnings.append) as opened:
        opened.reconcile()
        yield opened


def sources(oracle: Oracle, *, fresh: bool = False) -> list[str]:
    return [row[0].removeprefix(f"{BUILDER}/") for row in oracle.backlinks(TASK, fresh=fresh)]


def edit_unseen(path: Path, old: bytes, new: bytes) -> None:
    """Edit in place, as long as before, and set the mtime back."""
    before = path.stat()
    with path.open("r+b") as stream:
        raw = stream.read()
        stream.seek(0)
        stream.write(raw.replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


# what seats do --------------------------------------------------------------------------------------------------------


def test_a_new_file_is_seen_at_once(oracle: Oracle, root: Path) -> None:
    assert sources(oracle) == ["a", "b", "c"]
    (root / BUILDER / "d.md").write_text("closes ARENA-1")
    assert sources(oracle) == ["a", "b", "c", "d"]
    (root / BUILDER / "deep/er").mkdir(parents=True)
    (root / BUILDER / "deep/er/e.md").write_text("closes ARENA-1")
    (root / "learnings").mkdir()
    (root / "learnings/f.md").write_text("closes ARENA-1")
    assert sources(oracle) == ["learnings/f", "a", "b", "c", "d", "deep/er/e"]


def test_a_rename_is_seen_at_once(oracle: Oracle, root: Path) -> None:
    (root / BUILDER / "a.md").rename(root / BUILDER / "z.md")
    assert sources(oracle) == ["b", "c", "z"]
    (root / BUILDER / "b.md").rename(root / BUILDER / "B.md")
    assert sources(oracle) == ["B", "c", "z"]


def test_a_chain_of_quick_renames_is_seen_each_time(oracle: Oracle, root: Path) -> None:
    """Several within one tick of the file system's clock, each followed by a query."""
    name = "a"
    for number in range(30):
        (root / BUILDER / f"{name}.md").rename(root / BUILDER / f"r{number}.md")
        name = f"r{number}"
        assert sources(oracle) == ["b", "c", name]


def test_names_that_are_swapped_are_seen_at_once(oracle: Oracle, root: Path) -> None:
    folder = root / BUILDER
    (folder / "d.md").write_text("nothing")
    assert sources(oracle) == ["a", "b", "c"]
    (folder / "a.md").rename(folder / ".aside")
    (folder / "d.md").rename(folder / "a.md")
    (folder / ".aside").rename(folder / "d.md")
    assert sources(oracle) == ["b", "c", "d"]


def test_a_deletion_is_seen_at_once(oracle: Oracle, root: Path) -> None:
    (root / BUILDER / "a.md").unlink()
    assert sources(oracle) == ["b", "c"]
    shutil.rmtree(root / "projects/arena")
    assert sources(oracle) == []


def test_an_atomic_replacement_is_seen_at_once(oracle: Oracle, root: Path) -> None:
    scratch = root / BUILDER / ".a.md.swp"
    scratch.write_text("a closes ARENA-2")
    before = (root / BUILDER / "a.md").stat()
    os.utime(scratch, ns=(before.st_atime_ns, before.st_mtime_ns))
    scratch.rename(root / BUILDER / "a.md")
    assert sources(oracle) == ["b", "c"]


def test_a_moved_folder_is_seen_at_once_and_empties_nothing(oracle: Oracle, root: Path) -> None:
    for number in range(30):
        (root / BUILDER / f"n{number}.md").write_text("closes ARENA-1")
    assert len(sources(oracle)) == 33
    (root / "projects/arena").rename(root / "projects/zoo")
    found = oracle.backlinks(TASK)
    assert len(found) == 33
    assert {row[0].split("/")[1] for row in found} == {"zoo"}


def test_an_edit_in_place_is_seen_after_the_interval(oracle: Oracle, root: Path, clock: Clock) -> None:
    assert sources(oracle) == ["a", "b", "c"]
    edit_unseen(root / BUILDER / "a.md", b"ARENA-1", b"ARENA-2")
    clock.advance(1.9)
    assert sources(oracle) == ["a", "b", "c"]
    clock.advance(0.2)
    assert sources(oracle) == ["b", "c"]


def test_fresh_sees_an_edit_in_place_at_once(oracle: Oracle, root: Path) -> None:
    assert sources(oracle) == ["a", "b", "c"]
    edit_unseen(root / BUILDER / "a.md", b"ARENA-1", b"ARENA-2")
    assert sources(oracle, fresh=True) == ["b", "c"]


ASKED = {
    "backlinks": lambda oracle: [row[0] for row in oracle.backlinks("entity:taskid:SHOP-778")],
    "find": lambda oracle: oracle.find("entity:taskid:SHOP-778"),
    "links": lambda oracle: [row[1] for row in oracle.links(f"{BUILDER}/plain")],
    "search": lambda oracle: [hit.record.slug for hit in oracle.search("zeppelin")],
    "list": lambda oracle: [record.slug for record in oracle.records({"task": "SHOP-778"})],
    "entities": lambda oracle: [name for name, _ in entities(oracle, "commit")],
}


@pytest.mark.parametrize("question", ASKED)
def test_nothing_is_said_to_be_found_only_when_every_file_was_looked_at(
    oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    plain = root / BUILDER / "plain.md"
    plain.write_text("Words.\n")
    oracle.reconcile(full=True)
    monkeypatch.setattr(fresh, "CHEAP_NS", 1 << 62)
    assert sources(oracle) == ["a", "b", "c"]
    with plain.open("a") as stream:
        stream.write("A zeppelin, task_id: SHOP-778, commit 1a2b3c4\n")
    assert ASKED[question](oracle)


def test_a_batch_that_finds_nothing_does_not_look_each_time(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sources(oracle) == ["a", "b", "c"]
    monkeypatch.setattr(fresh, "CHEAP_NS", 1 << 62)
    monkeypatch.setattr(fresh.time, "monotonic_ns", lambda: 1)
    looks = []
    look = fresh.scan.look
    monkeypatch.setattr(fresh.scan, "look", lambda *words, **more: looks.append(more["full"]) or look(*words, **more))
    for _ in range(3):
        assert oracle.search("zeppelin") == []
    assert looks == [False, True, False, False]


def test_where_a_look_is_costly_nothing_found_is_said_at_once(
    oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sources(oracle) == ["a", "b", "c"]
    monkeypatch.setattr(fresh, "CHEAP_NS", 0)
    looks = []
    look = fresh.scan.look
    monkeypatch.setattr(fresh.scan, "look", lambda *words, **more: looks.append(more["full"]) or look(*words, **more))
    with pytest.raises(NotInMemory):
        oracle.find("entity:taskid:SHOP-778")
    assert looks == [False]


def test_a_costly_look_is_repeated_less_often(
    oracle: Oracle, root: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh, "CHEAP_NS", 0)
    clock.advance(11)
    assert sources(oracle) == ["a", "b", "c"]
    edit_unseen(root / BUILDER / "a.md", b"ARENA-1", b"ARENA-2")
    clock.advance(9)
    assert sources(oracle) == ["a", "b", "c"]
    clock.advance(2)
    assert sources(oracle) == ["b", "c"]


def test_the_last_full_look_of_another_process_counts(oracle: Oracle, root: Path, clock: Clock) -> None:
    clock.advance(30)
    sources(oracle)
    edit_unseen(root / BUILDER / "a.md", b"ARENA-1", b"ARENA-2")
    with Oracle.open(str(root), clock=clock) as other:
        assert sources(other) == ["a", "b", "c"]
        clock.advance(3)
        assert sources(other) == ["b", "c"]


@pytest.mark.parametrize("seconds", [-3600, -86400 * 400])
def test_a_clock_that_jumps_back_makes_us_look_again(oracle: Oracle, root: Path, clock: Clock, seconds: int) -> None:
    edit_unseen(root / BUILDER / "a.md", b"ARENA-1", b"ARENA-2")
    clock.advance(seconds)
    assert sources(oracle) == ["b", "c"]
    (root / BUILDER / "d.md").write_text("closes ARENA-1")
    assert sources(oracle) == ["b", "c", "d"]


def test_two_edits_within_one_tick_are_both_seen(oracle: Oracle, root: Path, clock: Clock) -> None:
    clock.offset_ns = 0
    path = root / BUILDER / "a.md"
    for number in range(20):
        edit_unseen(path, b"ARENA-1", b"ARENA-2")
        assert sources(oracle, fresh=True) == ["b", "c"], number
        edit_unseen(path, b"ARENA-2", b"ARENA-1")
        assert sources(oracle, fresh=True) == ["a", "b", "c"], number


# a hit about to be shown ----------------------------------------------------------------------------------------------


def test_a_deleted_record_is_never_served(oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even when the file goes between the look and the answer."""
    from oracle.store.markdown import records

    really_parse = records.read

    def read(path: str) -> bytes:
        (root / BUILDER / "a.md").unlink(missing_ok=True)
        return really_parse(path)

    monkeypatch.setattr(records, "read", read)
    assert [hit.record.slug for hit in oracle.search("closes")] == [f"{BUILDER}/c", f"{BUILDER}/b"]
    with pytest.raises(NotInMemory):
        oracle.show(f"{BUILDER}/a")


def test_what_is_shown_is_what_the_file_says_now(oracle: Oracle, root: Path) -> None:
    edit_unseen(root / BUILDER / "a.md", b"closes", b"opened")
    assert oracle.show(f"{BUILDER}/a").text == "a opened ARENA-1"
    assert "a opened ARENA-1" in {hit.snippet for hit in oracle.search("ARENA-1")}


# bad luck with the index ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", ["_state", "_state/oracle.db"])
def test_an_index_deleted_under_an_open_oracle(oracle: Oracle, root: Path, lost: str) -> None:
    sources(oracle)
    shutil.rmtree(root / lost) if lost == "_state" else (root / lost).unlink()
    assert sources(oracle) == ["a", "b", "c"]
    oracle.write(Draft("decision", "arena", "New", body="ARENA-1"))
    assert len(sources(oracle)) == 4
    assert_like_rebuilt(oracle)


def corrupt(root: Path, how: str) -> None:
    database = root / "_state/oracle.db"
    if how == "truncated":
        os.truncate(database, database.stat().st_size // 2)
    elif how == "emptied":
        os.truncate(database, 0)
    elif how == "overwritten":
        database.write_bytes(b"no database" * 1_000)
    elif how == "torn":
        with database.open("r+b") as stream:
            stream.seek(4096)
            stream.write(b"\xa5" * 8192)


@pytest.mark.parametrize("how", ["truncated", "emptied", "overwritten", "torn"])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_corrupt_index_is_rebuilt_with_one_line(
    oracle: Oracle, root: Path, warnings: list[str], how: str, *, is_open: bool
) -> None:
    sources(oracle)
    oracle.index.database.connect().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if not is_open:
        oracle.close()
    corrupt(root, how)
    assert sources(oracle) == ["a", "b", "c"]
    assert [hit.record.slug for hit in oracle.search("closes")] == [f"{BUILDER}/{name}" for name in "cba"]
    oracle.write(Draft("decision", "arena", "New", body="ARENA-1"))
    oracle.reconcile(full=True)
    assert len(sources(oracle)) == 4
    assert len(warnings) <= 1, warnings
    assert_like_rebuilt(oracle)


@pytest.mark.parametrize("how", ["truncated", "emptied", "overwritten", "torn"])
def test_a_write_on_a_corrupt_index_loses_nothing(oracle: Oracle, root: Path, how: str) -> None:
    oracle.close()
    corrupt(root, how)
    written = oracle.write(Draft("decision", "arena", "New", body="ARENA-1"))
    assert written.warnings == ()
    assert len(sources(oracle)) == 4
    assert oracle.show(written.slug).record.title == "New"


def test_an_index_of_another_version_is_rebuilt(oracle: Oracle, root: Path, warnings: list[str]) -> None:
    oracle.close()
    connection = sqlite3.connect(root / "_state/oracle.db")
    connection.executescript(
        "UPDATE meta SET value = 'older' WHERE key = 'ready'; DROP TABLE edge; CREATE TABLE odd(x)"
    )
    connection.close()
    assert sources(oracle) == ["a", "b", "c"]
    assert warnings == []
    assert_like_rebuilt(oracle)


def test_a_rebuild_by_another_process_meanwhile(oracle: Oracle, root: Path) -> None:
    """The rebuild empties the tables between the reader's look and its question, and while it asks."""
    sources(oracle)
    seen: list[int] = []

    def rebuild_meanwhile(connection: sqlite3.Connection) -> int:
        with Oracle.open(str(root)) as other:
            other.index.database.create()
        seen.append(1)
        return int(connection.execute("SELECT count(*) FROM record").fetchone()[0])

    assert oracle.index.read(rebuild_meanwhile) == 3
    assert sources(oracle) == ["a", "b", "c"]
    (root / "_state/oracle.db").unlink()
    with Oracle.open(str(root)) as other:
        other.reconcile(rebuild=True)
    assert sources(oracle) == ["a", "b", "c"]


def test_a_reader_never_asks_empty_tables(oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables are emptied just after the reader has found all well."""
    really_fresh = oracle.index._fresh_connection
    turns = iter(range(9))

    def fresh_then_emptied(*, fresh: bool) -> sqlite3.Connection:
        connection = really_fresh(fresh=fresh)
        if next(turns) == 0:
            with Oracle.open(str(root)) as other:
                other.index.database.create()
        return connection

    monkeypatch.setattr(oracle.index, "_fresh_connection", fresh_then_emptied)
    assert sources(oracle) == ["a", "b", "c"]


def test_a_held_lock_makes_a_reader_answer_from_what_it_has(
    oracle: Oracle, root: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh, "READER_PATIENCE", 0.01)
    sources(oracle)
    with WriteLock(oracle.root):
        assert sources(oracle) == ["a", "b", "c"]
        assert warnings == []
        (root / BUILDER / "d.md").write_text("closes ARENA-1")
        assert sources(oracle) == ["a", "b", "c"]
        assert len(warnings) == 1
        assert f"process {os.getpid()}" in warnings[0]
        assert oracle.index.stale
    assert sources(oracle) == ["a", "b", "c", "d"]
    assert oracle.index.stale == ""


def test_a_writer_says_who_holds_the_lock(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    from oracle.store.root import lock

    monkeypatch.setattr(lock, "DEFAULT_TIMEOUT", 0.01)
    with WriteLock(oracle.root), pytest.raises(LockTimeout, match=f"process {os.getpid()}"):
        oracle.write(Draft("decision", "arena", "New"))


# bad luck with the Root -----------------------------------------------------------------------------------------------


def test_a_deleted_root_is_said_in_a_sentence(oracle: Oracle, root: Path) -> None:
    sources(oracle)
    shutil.rmtree(root)
    for use in (
        lambda: sources(oracle),
        lambda: status(oracle),
        oracle.reconcile,
        lambda: oracle.write(Draft("plan", "a", "b")),
    ):
        with pytest.raises(RootUnusable, match="does not exist"):
            use()
    assert not root.exists()
    root.write_text("a file")
    with pytest.raises(RootUnusable, match="is not a folder"):
        sources(oracle)


def test_a_root_that_comes_back_is_read_again(oracle: Oracle, root: Path, tmp_path: Path) -> None:
    sources(oracle)
    root.rename(tmp_path / "away")
    with pytest.raises(RootUnusable):
        sources(oracle)
    (tmp_path / "away").rename(root)
    assert sources(oracle) == ["a", "b", "c"]


def mount_read_only(root: Path, mountpoint: Path) -> None:
    mountpoint.mkdir()
    for words in (["--bind", root, mountpoint], ["-o", "remount,bind,ro", mountpoint]):
        try:
            done = subprocess.run(["mount", *words], capture_output=True, check=False)
        except FileNotFoundError:
            pytest.skip("there is no mount program")
        if done.returncode:
            subprocess.run(["umount", mountpoint], capture_output=True, check=False)
            pytest.skip("this machine lets us mount nothing")


@pytest.fixture
def read_only(root: Path, tmp_path: Path) -> Iterator[Callable[[], Path]]:
    """A function that shows the Root where it can't be written, under another path."""
    mountpoint = tmp_path / "read-only"

    def mount() -> Path:
        mount_read_only(root, mountpoint)
        return mountpoint

    yield mount
    if mountpoint.exists():
        subprocess.run(["umount", mountpoint], capture_output=True, check=False)


@pytest.mark.parametrize("state", ["absent", "current", "behind", "corrupt"])
def test_a_read_only_root_is_served_from_memory(root: Path, read_only: Callable[[], Path], state: str) -> None:
    (root / BUILDER).mkdir(parents=True)
    for name in "abc":
        (root / BUILDER / f"{name}.md").write_text("closes ARENA-1")
    if state != "absent":
        with Oracle.open(str(root)) as oracle:
            oracle.reconcile()
    if state == "behind":
        (root / BUILDER / "d.md").write_text("closes ARENA-1")
    if state == "corrupt":
        corrupt(root, "overwritten")
    expected = ["a", "b", "c", "d"] if state == "behind" else ["a", "b", "c"]
    before = read_projections(root)
    mounted = read_only()
    warnings: list[str] = []
    with Oracle.open(str(mounted), warn=warnings.append) as oracle:
        assert sources(oracle) == expected
        assert len(oracle.search("closes")) == len(expected)
        assert sources(oracle, fresh=True) == expected
        assert len(warnings) <= 1, warnings
        with pytest.raises(Exception, match="read-only"):
            oracle.write(Draft("decision", "arena", "New"))
    assert read_projections(root) == before


def test_a_root_that_refuses_every_write_is_served_from_memory(
    root: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    """The same without a mount: the outermost calls refuse."""
    (root / BUILDER).mkdir(parents=True)
    (root / BUILDER / "a.md").write_text("closes ARENA-1")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    for name in ("mkdir", "makedirs", "rename", "link", "unlink"):
        monkeypatch.setattr(os, name, refuse)
    really_allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and really_allowed(path, mode))
    with Oracle.open(str(root), warn=warnings.append) as oracle:
        assert sources(oracle) == ["a"]
        assert sources(oracle) == ["a"]
    assert len(warnings) == 1
    assert os.listdir(root) == ["projects"]  # noqa: PTH208


# an emptied tree ------------------------------------------------------------------------------------------------------


def fill(root: Path, count: int) -> None:
    (root / BUILDER).mkdir(parents=True)
    for number in range(count):
        (root / BUILDER / f"{number:03}.md").write_text("closes ARENA-1")


def test_a_tree_that_was_emptied_changes_nothing_until_it_is_accepted(root: Path) -> None:
    fill(root, 30)
    with Oracle.open(str(root)) as oracle:
        assert len(sources(oracle)) == 30
        before = read_projections(root)
        (root / "projects").rename(root / "unmounted")
        for use in (lambda: sources(oracle), oracle.reconcile, lambda: oracle.reconcile(rebuild=True)):
            with pytest.raises(TreeEmptied) as caught:
                use()
            assert caught.value.exit_code == 8
            assert "--accept-removals" in caught.value.hint
        assert read_projections(root) == before
        (root / "unmounted").rename(root / "projects")
        assert len(sources(oracle)) == 30
        shutil.rmtree(root / "projects")
        assert oracle.reconcile(accept_removals=True).dropped == 30
        assert sources(oracle) == []
        assert read_projections(root) == {}


def test_a_lost_index_does_not_hide_an_emptied_tree(root: Path) -> None:
    fill(root, 30)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
    shutil.rmtree(root / "_state")
    (root / "projects").rename(root / "unmounted")
    with Oracle.open(str(root)) as oracle, pytest.raises(TreeEmptied):
        sources(oracle)


@pytest.mark.parametrize(
    ("known", "gone", "refused"), [(19, 19, False), (20, 10, False), (20, 11, True), (40, 20, False)]
)
def test_where_the_line_is(root: Path, known: int, gone: int, *, refused: bool) -> None:
    fill(root, known)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
        for number in range(gone):
            (root / BUILDER / f"{number:03}.md").unlink()
        if refused:
            with pytest.raises(TreeEmptied):
                sources(oracle)
        else:
            assert len(sources(oracle)) == known - gone


# folders that are no Root, projections that went ----------------------------------------------------------------------


@pytest.mark.parametrize("names", [["passwd", "hosts.d/"], ["package.json", "src/"], ["notes.md"]], ids=str)
def test_a_question_writes_nothing_into_a_folder_that_is_no_root(tmp_path: Path, names: list[str]) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir()
    for name in names:
        (folder / name).mkdir() if name.endswith("/") else (folder / name).write_text("{}")
    before = sorted(folder.rglob("*"))
    with Oracle.open(str(folder)) as foreign:
        for question in (
            lambda: foreign.records({}),
            lambda: foreign.search("x"),
            foreign.reconcile,
            lambda: status(foreign),
        ):
            with pytest.raises(RootUnusable, match="no projects/"):
                question()
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "names", [[], [".git/"], ["credentials.json"], ["machine/"], ["events.log", "README"]], ids=str
)
def test_a_young_or_old_root_is_one(tmp_path: Path, names: list[str]) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    for name in names:
        (folder / name).mkdir() if name.endswith("/") else (folder / name).write_text("{}")
    with Oracle.open(str(folder)) as own:
        assert own.records({}) == []


@pytest.mark.parametrize("side", ["_links", "_backlinks"])
def test_a_folder_of_projections_that_went_comes_back_with_a_reconcile(root: Path, side: str) -> None:
    (root / "projects" / "arena" / "builder").mkdir(parents=True)
    for number in range(5):
        (root / "projects" / "arena" / "builder" / f"{number}.md").write_text(f"ARENA-{number} and ARENA-9")
    with Oracle.open(str(root)) as own:
        own.reconcile()
        before = {path.name: path.read_bytes() for path in (root / side).iterdir()}
        shutil.rmtree(root / side)
        own.reconcile()
        assert {path.name: path.read_bytes() for path in (root / side).iterdir()} == before
        next((root / side).iterdir()).unlink()
        next((root / side).iterdir()).write_text("tampered")
        own.reconcile(full=True)
        assert {path.name: path.read_bytes() for path in (root / side).iterdir()} == before


def test_the_database_is_for_its_owner_alone(root: Path) -> None:
    before = os.umask(0)
    try:
        with Oracle.open(str(root)) as own:
            own.reconcile()
            modes = {path.name: path.stat().st_mode & 0o777 for path in (root / "_state").glob("oracle.db*")}
    finally:
        os.umask(before)
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}


# what can't be reached, and what was taken away ------------------------------------------------------------------------


def test_a_table_that_is_missing_is_damage_like_any_other(oracle: Oracle, root: Path) -> None:
    with sqlite3.connect(root / "_state" / "oracle.db") as connection:
        connection.execute("DROP TABLE edge")
    assert oracle.backlinks("entity:taskid:ARENA-1")
    assert check(oracle) == []


_DAMAGED = [
    ("record", "slug"),
    ("record", "path"),
    ("record", "title"),
    ("record", "kind"),
    ("record", "sort_ts"),
    ("edge", "snippet"),
    ("target", "name"),
    ("folder", "path"),
    ("meta", "value"),
]


def damage(root: Path, table: str, column: str) -> None:
    """Put bytes that are no UTF-8 into a text of the first row."""
    where = "key = 'full_look'" if table == "meta" else f"{column} = (SELECT min({column}) FROM {table})"
    with contextlib.closing(sqlite3.connect(root / "_state" / "oracle.db")) as connection, connection:
        assert connection.execute(f"UPDATE {table} SET {column} = CAST(x'61ff80' AS TEXT) WHERE {where}").rowcount


@pytest.mark.parametrize(("table", "column"), [one for one in _DAMAGED if one != ("target", "name")])  # it is not read
def test_a_damaged_value_is_damage_like_any_other(oracle: Oracle, root: Path, table: str, column: str) -> None:
    records_before = oracle.records({})
    links = oracle.backlinks(TASK)
    oracle.index.close()
    damage(root, table, column)
    assert oracle.records({}) == records_before
    assert oracle.backlinks(TASK) == links
    assert check(oracle) == []


@pytest.mark.parametrize(("table", "column"), _DAMAGED)
@pytest.mark.parametrize("full", [False, True])
def test_a_reconcile_finds_a_damaged_value(
    oracle: Oracle, root: Path, warnings: list[str], table: str, column: str, full: bool
) -> None:
    oracle.index.close()
    damage(root, table, column)
    is_found = full or table != "edge"  # edges and passages are many
    assert reconcile(oracle, full=full).rebuilt == is_found
    assert any("was damaged" in line for line in warnings) == is_found
    assert reconcile(oracle, full=True).rebuilt != is_found
    assert check(oracle) == []


def test_waiting_for_the_lock_outlives_the_removal_of_the_state(root: Path) -> None:
    (root / "projects").mkdir(exist_ok=True)
    with Oracle.open(str(root)) as own:
        own.reconcile()
    holder = WriteLock(Root(str(root)))
    waiter = WriteLock(Root(str(root)), 5.0)
    assert holder.acquire()
    shutil.rmtree(root / "_state")
    assert waiter.acquire()
    waiter.release()
    holder.release()
    assert (root / "_state" / ".gitignore").read_text() == "*\n"


def test_a_journal_behind_a_link_is_not_written(root: Path, tmp_path: Path) -> None:
    (root / "events.log").symlink_to(tmp_path / "outside.log")
    with Oracle.open(str(root)) as own:
        written = own.write(Draft("decision", "arena", "Title"))
    assert any("symbolic link" in warning for warning in written.warnings)
    assert not (tmp_path / "outside.log").exists()


def test_a_state_behind_a_link_out_of_the_root_is_not_used(root: Path, tmp_path: Path) -> None:
    (root / "projects" / "arena" / "builder").mkdir(parents=True)
    (root / "projects" / "arena" / "builder" / "a.md").write_text("ARENA-1")
    (tmp_path / "elsewhere").mkdir()
    (root / "_state").symlink_to(tmp_path / "elsewhere")
    warnings: list[str] = []
    with Oracle.open(str(root), warn=warnings.append) as own:
        assert len(own.backlinks("entity:taskid:ARENA-1")) == 1
        with pytest.raises(RootUnusable, match="symbolic link"):
            own.write(Draft("decision", "arena", "Title"))
    assert any("_state is a symbolic link" in warning for warning in warnings)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_full_disk_leaves_questions_answered(oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / BUILDER / "new.md").write_text("ARENA-1")

    def full(*_: object) -> None:
        raise DiskFailure("The disk is full.")

    monkeypatch.setattr(Index, "reconcile_held", _held_in_memory_alone(Index.reconcile_held, full))
    assert f"{BUILDER}/new" in [slug for slug, *_ in oracle.backlinks("entity:taskid:ARENA-1")]


def _held_in_memory_alone(really: Callable[..., object], refuse: Callable[..., object]) -> Callable[..., object]:
    def held(self: Index, **given: object) -> object:
        return really(self, **given) if self.database.in_memory else refuse()

    return held


def test_a_folder_that_cannot_be_read_is_named_with_every_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("open", "shut"):
        (root / "projects" / "arena" / name).mkdir(parents=True)
        (root / "projects" / "arena" / name / "a.md").write_text("ARENA-1")
    really = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("/shut"):
            raise PermissionError(13, "Permission denied", path)
        return really(path)

    monkeypatch.setattr(os, "scandir", scandir)
    warnings: list[str] = []
    with Oracle.open(str(root), warn=warnings.append) as own:
        assert len(own.backlinks("entity:taskid:ARENA-1")) == 1
        assert any("projects/arena/shut" in warning and "Permission denied" in warning for warning in warnings)


def _refuse(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = records.read

    def read(name: str, *given: Any) -> bytes:
        if name == str(path):
            raise PermissionError(13, "Permission denied", name)
        return really(name, *given)

    monkeypatch.setattr(records, "read", read)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_refuse, "The file can't be read: Permission denied."),
        (lambda path, _: (path.unlink(), path.symlink_to("nowhere.md")), "A symbolic link that leads to no record."),
    ],
    ids=["refused", "dangling"],
)
def test_a_file_that_cannot_be_read_is_named_with_every_answer(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    warnings: list[str],
    spoil: Callable[[Path, pytest.MonkeyPatch], object],
    reason: str,
) -> None:
    (root / BUILDER).mkdir(parents=True)
    (root / BUILDER / "a.md").write_text("ARENA-1")
    (root / BUILDER / "shut.md").write_text("ARENA-1")
    (root / BUILDER / "beside").symlink_to("nowhere")
    spoil(root / BUILDER / "shut.md", monkeypatch)
    with Oracle.open(str(root), warn=warnings.append) as own:
        assert len(own.backlinks(TASK)) == 1
        assert own.search("nothing at all") == []
    assert warnings == [f"{BUILDER}/shut.md: {reason} Its content is unknown."] * 2


def _move_while_listed(monkeypatch: pytest.MonkeyPatch, folder: Path, move: Callable[[int], None]) -> list[int]:
    """Call `move` with the number of the listing, from 1, when a listing of `folder` has its names and before any is stat'ed."""
    really = os.scandir
    looks: list[int] = []

    @contextlib.contextmanager
    def scandir(path: str) -> Iterator[list[os.DirEntry[str]]]:
        with really(path) as entries:
            names = list(entries)
        if str(path) == str(folder):
            looks.append(len(looks) + 1)
            move(looks[-1])
        yield names

    monkeypatch.setattr(os, "scandir", scandir)
    return looks


@pytest.mark.parametrize("again", [1, 2, 50])
def test_a_file_renamed_while_its_folder_is_listed_hides_no_other(
    oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str], again: int
) -> None:
    folder = root / BUILDER
    (folder / "new.md").write_text("new closes ARENA-1")
    names = ["a", "moved"]

    def move(look: int) -> None:
        if look <= again:
            (folder / f"{names[0]}.md").rename(folder / f"{names[1]}.md")
            names.reverse()

    looks = _move_while_listed(monkeypatch, folder, move)
    found = sources(oracle)
    assert {"b", "c", "new"} <= set(found)
    assert warnings == []
    assert len(looks) < 20
    monkeypatch.undo()
    assert sorted(sources(oracle)) == sorted(["b", "c", "new", names[0]])


def test_a_file_renamed_once_while_its_folder_is_listed_is_found_under_its_new_name(
    oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / BUILDER / "new.md").write_text("new closes ARENA-1")

    def move(look: int) -> None:
        if look == 1:
            (root / BUILDER / "a.md").rename(root / BUILDER / "moved.md")

    _move_while_listed(monkeypatch, root / BUILDER, move)
    assert sorted(sources(oracle)) == ["b", "c", "moved", "new"]


def test_a_folder_that_goes_while_it_is_listed_is_gone_and_not_unreadable(
    oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    (root / BUILDER / "new.md").write_text("new closes ARENA-1")
    _move_while_listed(monkeypatch, root / BUILDER, lambda _: shutil.rmtree(root / BUILDER, ignore_errors=True))
    assert (sources(oracle), warnings) == ([], [])


@pytest.mark.parametrize("side", ["_links", "_backlinks"])
@pytest.mark.parametrize("how", [{}, {"full": True}, {"rebuild": True}])
def test_a_reconcile_says_where_nothing_is_printed(
    oracle: Oracle, root: Path, tmp_path: Path, warnings: list[str], side: str, how: dict[str, bool]
) -> None:
    oracle.reconcile(**how)
    assert warnings == []
    shutil.rmtree(root / side)
    (tmp_path / "away").mkdir()
    (root / side).symlink_to(tmp_path / "away")
    oracle.reconcile(**how)
    (warning,) = warnings
    assert f"{side} is a symbolic link" in warning
    assert f"rm {root / side}" in warning
    assert list((tmp_path / "away").iterdir()) == []
    (root / side).unlink()
    oracle.reconcile(**how)
    assert len(warnings) == 1
    assert_like_rebuilt(oracle)


@pytest.mark.parametrize("code", [4, 6, 9, 15, 17, 517])
@pytest.mark.parametrize("place", ["is_ready", "create"])
def test_a_statement_that_was_disturbed_is_run_again(
    root: Path, monkeypatch: pytest.MonkeyPatch, code: int, place: str
) -> None:
    (root / BUILDER).mkdir(parents=True)
    (root / BUILDER / "x.md").write_text("# Queue\n\nThe queue is NATS.\n")
    failures: list[str] = []

    def disturbed(self: Database, *given: object) -> object:
        if not failures:
            failures.append(place)
            error = sqlite3.OperationalError("disturbed")
            error.sqlite_errorcode = code
            raise error
        return really(self, *given)

    really = getattr(Database, place)
    monkeypatch.setattr(Database, place, disturbed)
    warnings: list[str] = []
    with Oracle.open(str(root), warn=warnings.append) as oracle:
        assert [hit.record.title for hit in oracle.search("queue")] == ["Queue"]
        assert (oracle.index.database.in_memory, warnings, failures) == (False, [], [place])
