"""The second process of a rebuild: it changes nothing but the time, and its death or silence costs nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.root import check
from oracle.domain.links.links import DEFAULT_PATTERNS
from oracle.index.write import reader_process, rebuild
from oracle.index.write.reader_process import ReaderProcess, read_batch
from oracle.store.disk.folders import stat_of
from oracle.store.root.layout import Root


def lay_out(root: Path, count: int, *, name_length: int = 60) -> list[tuple[str, str, object]]:
    folder = root / "projects" / "arena" / "builder"
    folder.mkdir(parents=True)
    items = []
    for number in range(count):
        stem = f"{'n' * name_length}-{number:05d}"
        (folder / f"{stem}.md").write_text(
            f"---\ntitle: T{number}\ndate: 03/04/2026\n---\n\nSee ARENA-{number} and [[{stem}]].\n" * 3
        )
        path = f"projects/arena/builder/{stem}.md"
        items.append((path, path[:-3], stat_of((root / path).stat())))
    return items


def batches(items: list[tuple[str, str, object]], size: int) -> list[tuple[object, list[tuple[str, str, object]]]]:
    return [(DEFAULT_PATTERNS, items[start : start + size]) for start in range(0, len(items), size)]


def test_both_processes_read_the_same(root: Path) -> None:
    items = lay_out(root, 300)
    alone = [found for patterns, part in batches(items, 40) for found in read_batch(Root(str(root)), patterns, part)]
    with ReaderProcess(Root(str(root))) as helper:
        together = list(helper.read(iter(batches(items, 40))))
        assert helper._process is not None
    assert sorted(together) == sorted(alone)


def test_requests_larger_than_a_pipe_do_not_block_both(root: Path) -> None:
    """Each side would wait for the other if requests were written where answers are read."""
    items = lay_out(root, 1200, name_length=200)
    with ReaderProcess(Root(str(root))) as helper:
        assert len(list(helper.read(iter(batches(items, 400))))) == 1200


def test_a_killed_helper_is_made_up_for(root: Path) -> None:
    items = lay_out(root, 300)
    found = []
    with ReaderProcess(Root(str(root))) as helper:
        for number, reading in enumerate(helper.read(iter(batches(items, 20)))):
            found.append(reading.slug)
            if number == 50 and helper._process is not None:
                helper._process.send_signal(signal.SIGKILL)
    assert sorted(found) == sorted(slug for _, slug, _ in items)


@pytest.mark.parametrize("fault", ["no interpreter", "one core"])
def test_without_a_second_process_everything_is_read_here(
    root: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    if fault == "no interpreter":
        monkeypatch.setattr("sys.executable", "/nowhere/python")
    else:
        monkeypatch.setattr(os, "cpu_count", lambda: 1)
    items = lay_out(root, 50)
    with ReaderProcess(Root(str(root))) as helper:
        assert len(list(helper.read(iter(batches(items, 20))))) == 50
        assert helper._process is None


def snapshot(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for side in ("_links", "_backlinks")
        for path in (root / side).iterdir()
    }


@pytest.mark.parametrize("present", [True, False], ids=["over what is there", "from nothing"])
def test_a_rebuild_in_two_processes_prints_what_one_prints(
    root: Path, monkeypatch: pytest.MonkeyPatch, present: bool
) -> None:
    lay_out(root, 120)
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile(rebuild=True)
        expected = snapshot(root)
        if not present:
            for side in ("_links", "_backlinks"):
                for path in (root / side).iterdir():
                    path.unlink()
                (root / side).rmdir()
        monkeypatch.setattr(rebuild, "_MANY", 10)
        monkeypatch.setattr(rebuild, "_BATCH", 7)
        report = oracle.reconcile(rebuild=True)
        assert (report.taken, report.printed) == (120, len(expected))
        assert snapshot(root) == expected


def test_a_printer_that_fails_is_made_up_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(root, 60)
    monkeypatch.setattr(rebuild, "_MANY", 10)
    monkeypatch.setattr(rebuild, "_BATCH", 7)
    monkeypatch.setattr(reader_process, "_PRINT", "no request, so the second process ends")
    with Oracle.open(str(root)) as oracle:
        report = oracle.reconcile(rebuild=True)
        assert report.printed == len(snapshot(root))
        assert check(oracle) == []
