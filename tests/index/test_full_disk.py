"""Disks that are really full or read-only: reading answers all the same, and what is written again when they are not."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.root import check
from oracle.cli.main import run
from oracle.domain.records.drafts import Draft
from oracle.errors import DiskFailure
from oracle.index.db import Database
from tests.disks import Disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUILDER = "projects/arena/builder"
TARGET = "entity:taskid:ARENA-1"
FULL = 13
SHARED_MEMORY = 10 | 19 << 8
"""SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: what a full disk gives where the shared memory of an index is made."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path / "disk")
    yield made
    made.close()


def lay_out(root: Path, state: str) -> None:
    """Make a Root whose index is not there, is as it should be, does not know of the newest file, or is none."""
    folder = root / BUILDER
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("# Retry policy\n\nWe retry five times. ARENA-1\n", encoding="utf-8")
    with Oracle.open(str(root)) as oracle:
        oracle.init()
        if state != "absent":
            oracle.reconcile()
    if state == "changed":
        (folder / "b.md").write_text("ARENA-1", encoding="utf-8")
    if state == "damaged":
        (root / "_state" / "oracle.db").write_bytes(b"no database at all" * 400)


@pytest.mark.parametrize("state", ["absent", "fresh", "changed", "damaged"])
@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_reading_answers_where_nothing_can_be_written(disk: Disk, fault: str, state: str) -> None:
    root = disk.path / "memory"
    lay_out(root, state)
    disk.spoil(fault)
    warnings: list[str] = []
    wanted = [f"{BUILDER}/a", f"{BUILDER}/b"][: 2 if state == "changed" else 1]
    try:
        with Oracle.open(str(root), warn=warnings.append) as oracle:
            assert [slug for slug, *_ in oracle.backlinks(TARGET)] == wanted
            with pytest.raises(DiskFailure):
                oracle.write(Draft("decision", "arena", "Title", "x" * 10_000))
        assert len([one for one in warnings if "the index is kept in memory" in one]) == 1
    finally:
        disk.mend(fault)
    with Oracle.open(str(root), warn=warnings.append) as oracle:
        warnings.clear()
        assert [slug for slug, *_ in oracle.backlinks(TARGET)] == wanted
        assert check(oracle) == []
    assert not [one for one in warnings if "in memory" in one]


READS = (
    ("search", "retry"),
    ("show", "retry-policy"),
    ("list",),
    ("ask", "--now", "How often do we retry?"),
    ("backlinks", TARGET),
    ("graph", TARGET),
    ("packet", "--role", "planner", "--goal", "retry"),
    ("index", "status"),
    ("handoffs",),
    ("check", "--only", "review"),
)


@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_no_command_that_reads_calls_it_unforeseen(disk: Disk, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    root = disk.path / "memory"
    lay_out(root, "fresh")
    disk.spoil(fault)
    try:
        codes = {words[0]: run([*words, "--memory-dir", str(root)]) for words in READS}
    finally:
        disk.mend(fault)
    said = capsys.readouterr().err
    assert set(codes.values()) <= {0, 4, 9}, (codes, said)
    assert codes["search"] == codes["backlinks"] == 0
    assert "can't be written" in said


@pytest.mark.parametrize("code", [FULL, SHARED_MEMORY])
def test_what_sqlite_says_of_a_full_disk_is_answered_from_memory(
    root: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    lay_out(root / "memory", "fresh")
    really = Database._open

    def refuse(self: Database) -> sqlite3.Connection:
        if self.in_memory:
            return really(self)
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = code
        raise error

    monkeypatch.setattr(Database, "_open", refuse)
    warnings: list[str] = []
    with Oracle.open(str(root / "memory"), warn=warnings.append) as oracle:
        assert [slug for slug, *_ in oracle.backlinks(TARGET)] == [f"{BUILDER}/a"]
    assert len(warnings) == 1
