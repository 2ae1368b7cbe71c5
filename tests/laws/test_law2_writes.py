"""Law 2: our processes open for writing what the table of the layout gives them, and nothing in a seat's folder ever."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.api import Oracle
from oracle.app.codebase.stale_names import stale
from oracle.app.doctor import repair
from oracle.app.memories import packets
from oracle.app.memories.keep import Lesson, inspect, list_memories, reflect, refresh, remember
from oracle.app.memories.packets import route
from oracle.app.overview.status import find_fact, status
from oracle.app.records.graph import entities, graph, unresolved
from oracle.app.records.listing import chains, list_orphans, list_problems, standing
from oracle.app.records.publish import publish_all
from oracle.app.records.write import write_all
from oracle.app.root import check
from oracle.app.scans.machine import reveal, scan
from oracle.app.scans.project import scan_project
from oracle.app.scans.projects import add, archive, find, list_all
from oracle.domain.records.drafts import Draft, Evidence
from oracle.domain.records.memories import Given
from oracle.domain.records.packets import Request
from oracle.errors import OracleError, OwnershipError
from tests.laws.recorder import OPEN, PUT, Act, judge, recording

if TYPE_CHECKING:
    from collections.abc import Callable


def lay_out(root: Path) -> None:
    for folder in ("projects/arena/builder", "projects/arena/patrol/test-results", "machine", "shared/patterns"):
        (root / folder).mkdir(parents=True)
    (root / "projects/arena/builder/x.md").write_text("ARENA-1 [[y]] [[decision/z]]")
    (root / "projects/arena/patrol/test-results/y.md").write_bytes(b"\xff\xfe bad \x00")
    (root / "machine/network.json").write_text('{"host": "a"}')
    (root / "shared/patterns/p.json").write_text('{"title": "p"}')


def use_everything(oracle: Oracle) -> None:
    """Call every method that the doors call."""
    oracle.init()
    first = oracle.write(Draft("decision", "arena", "One", body="[[x]] ARENA-1"))
    oracle.write(Draft("finding", "new", "Two", evidence=(Evidence("low", "a.py:1"),), supersedes=(first.slug,)))
    oracle.write(Draft("plan", "arena", "rehearsed"), dry_run=True)
    write_all(oracle, [Draft("task", "arena", f"T {number}", body="[[One]]") for number in range(3)])
    oracle.retire("projects/arena/builder/x", "over")
    kept = remember(oracle, Given("preference", "Rule", "Always so.", edges=(("supports", first.slug),)))
    lesson = reflect(oracle, Lesson("Go on", worked=("one step",), project="arena"))
    refresh(oracle, lesson.memories, replacement=kept.memories[0])
    scan(oracle, ("system", "credentials"))
    scan_project(oracle, "arena", str(Path(__file__).parent), depth="deep", commit=True)
    add(oracle, "arena", {"repo_path": str(Path(__file__).parent)})
    archive(oracle, "arena")
    oracle.reconcile(full=True)
    oracle.reconcile(rebuild=True)
    reads: list[Callable[[], object]] = [
        lambda: oracle.backlinks("entity:taskid:ARENA-1", fresh=True),
        lambda: oracle.links(first.slug),
        lambda: graph(oracle, first.slug, depth=3, direction="both"),
        lambda: entities(oracle, "taskid"),
        lambda: list_orphans(oracle, "arena"),
        lambda: unresolved(oracle),
        lambda: oracle.records({"project": "arena"}),
        lambda: oracle.search("one"),
        lambda: oracle.show(first.slug),
        lambda: find_fact(oracle, "network.host"),
        lambda: route(oracle, Request("one", "executor", task_id="ARENA-1")),
        lambda: packets.kept(oracle, 5),
        lambda: inspect(oracle, first.slug),
        lambda: list_memories(oracle),
        lambda: status(oracle),
        lambda: list_problems(oracle),
        lambda: standing(oracle),
        lambda: chains(oracle, [first.slug]),
        lambda: check(oracle),
        lambda: oracle.answer("who mentions one and network.host"),
        lambda: stale(oracle, "arena"),
        lambda: reveal(oracle, "network.host"),
        lambda: find(oracle, "arena"),
        lambda: list_all(oracle, with_archived=True),
    ]
    for read in reads:
        assert read() is not None


def test_no_operation_writes_outside_the_table(root: Path) -> None:
    lay_out(root)
    with recording() as acts, Oracle.open(str(root)) as oracle:
        use_everything(oracle)
    assert judge(acts, root) == []
    done = {(act.action, os.path.relpath(act.path, root).split("/")[0]) for act in acts}
    assert {(PUT, "projects"), (PUT, "_links"), (PUT, "_backlinks"), (OPEN, "_state"), (OPEN, "events.log")} <= done


def test_publishing_and_doctoring_write_nothing_outside_the_table(root: Path) -> None:
    lay_out(root)
    with Oracle.open(str(root)) as oracle:
        oracle.write(Draft("decision", "arena", "One"))
        with recording() as acts:
            for use in (lambda: publish_all(oracle), oracle.doctor, lambda: repair(oracle)):
                use()
    assert judge(acts, root) == []


def test_seats_files_are_what_they_were(root: Path) -> None:
    lay_out(root)
    seats = [path for path in (root / "projects").rglob("*") if path.is_file()]
    before = {path: (path.read_bytes(), path.stat()) for path in seats}
    with Oracle.open(str(root)) as oracle:
        use_everything(oracle)
    for path, (raw, stat) in before.items():
        after = path.stat()
        assert path.read_bytes() == raw
        assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns)


def test_reading_a_root_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "nowhere"
    with recording() as acts:
        oracle = Oracle.open(str(root))
        for use in (
            lambda: status(oracle),
            lambda: list_problems(oracle),
            oracle.reconcile,
            lambda: oracle.write(Draft("plan", "a", "b")),
        ):
            with pytest.raises(OracleError, match="does not exist"):
                use()
    assert acts == []
    assert not root.exists()


@pytest.mark.parametrize("where", ["projects", "projects/arena", "projects/arena/decision"])
@pytest.mark.parametrize("inside", [True, False])
def test_no_record_is_written_through_a_link(root: Path, tmp_path: Path, where: str, *, inside: bool) -> None:
    away = root / "projects/other" if inside and where != "projects" else tmp_path / "away"
    away.mkdir(parents=True)
    link = root / where
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(away)
    with Oracle.open(str(root)) as oracle, pytest.raises(OwnershipError, match="symbolic link"):
        oracle.write(Draft("decision", "arena", "One"))
    assert [path for path in away.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("seat", ["builder", "planner", "reviewer-2", "patrol"])
def test_a_seat_may_not_have_memory_write_for_it(root: Path, seat: str) -> None:
    with Oracle.open(str(root)) as oracle, pytest.raises(OwnershipError):
        oracle.write(Draft("decision", "arena", "One", seat=seat))
    assert not (root / "projects").exists() or not list((root / "projects").rglob("*.md"))


def test_the_recorder_sees_each_way_of_writing(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    seat = root / "projects/arena/builder"
    seat.mkdir(parents=True)
    ways: list[Callable[[], object]] = [
        lambda: (seat / "a.md").write_text("x"),
        lambda: os.close(os.open(seat / "b.md", os.O_RDWR)),
        lambda: (seat / "a.md").replace(seat / "b.md"),
        lambda: os.link(seat / "b.md", seat / "c.md"),
        lambda: (seat / "c.md").unlink(),
        lambda: (seat / "sub").mkdir(),
        lambda: (seat / "sub").rmdir(),
        lambda: os.utime(seat / "b.md"),
        lambda: os.truncate(seat / "b.md", 0),
        lambda: (seat / "d.md").symlink_to("b.md"),
        lambda: sqlite3.connect(seat / "e.db").close(),
        lambda: (root / "projects/arena/decision.md").write_text("x"),
        lambda: (tmp_path / "elsewhere").write_text("x"),
    ]
    (seat / "b.md").write_text("x")
    for way in ways:
        with recording() as acts:
            way()
        assert judge(acts, root), acts


def test_the_recorder_lets_the_table_pass() -> None:
    acts = [
        Act("os.link", PUT, "/r/projects/项目/decision/2026-x.md"),
        Act("os.rename", PUT, "/r/_links/a.jsonl"),
        Act("open", OPEN, "/r/_state/tmp/new.1.1"),
    ]
    assert judge(acts, "/r") == []
    assert judge([Act("open", OPEN, "/r/projects/a/decision/x.md")], "/r") != []


def run_commands(root: Path) -> None:
    """Go through the command line as people do, in this process."""
    from oracle.cli.main import run

    old = "projects/arena/builder/x"
    top = ["--memory-dir", str(root)]
    for words in (
        ["init"],
        ["write", "decision", "--project", "arena", "--title", "One", "--body", "ARENA-1 [[x]]", "--supersedes", old],
        ["write", "finding", "--project", "arena", "--title", "Two", "--evidence", "high:src/app.py:1"],
        ["write", "plan", "--project", "arena", "--title", "Three", "--dry-run"],
        ["retire", old, "--reason", "over"],
        ["list"],
        ["list", "--project", "arena", "--json"],
        ["search", "one"],
        ["show", old],
        ["show", old, "--links"],
        ["backlinks", "entity:taskid:ARENA-1"],
        ["graph", old, "--depth", "2", "--direction", "both"],
        ["list", "--entities"],
        ["check"],
        ["list", "--timeline"],
        ["index", "status"],
        ["show", "network.host"],
        ["index", "reconcile", "--check"],
        ["index", "reconcile", "--full"],
        ["index", "reconcile", "--publish"],
        ["doctor"],
        ["doctor", "--repair"],
        ["search", ""],
        ["show", "nowhere"],
    ):
        assert run([words[0], *top, *words[1:]]) in (0, 1, 2, 4), words


def run_scripts(root: Path) -> None:
    """Go through the programs of old with the words that running teams use."""
    from oracle.compat import extract_links, memory_write, query_memory, scan_index

    top = ["--memory-dir", str(root)]
    content = root.parent / "content.md"
    content.write_text("# A note\nARENA-1")
    record = str(root / "projects/arena/builder/x.md")
    for main, words in (
        (
            memory_write.main,
            ["--kind", "decision", "--project", "arena", "--title", "One", "--body", "x", "--author", "memory"],
        ),
        (memory_write.main, ["--kind", "plan", "--project", "arena", "--content-file", str(content)]),
        (query_memory.main, ["--backlinks", "entity:taskid:ARENA-1"]),
        (query_memory.main, ["--project", "arena", "--kind", "decision"]),
        (query_memory.main, ["--key", "network.host"]),
        (query_memory.main, ["--search", "a"]),
        (query_memory.main, ["--graph", "projects/arena/builder/x", "--depth", "2"]),
        (extract_links.main, ["--file", record]),
        (scan_index.main, ["rebuild", "--project", "arena"]),
        (scan_index.main, ["update", "--file", record]),
        (scan_index.main, ["query", "--project", "arena", "--kind", "decision"]),
    ):
        try:
            main([*words, *top] if main is not scan_index.main else words)
        except SystemExit:
            continue
        except OracleError:
            continue


@pytest.mark.parametrize("walk", [run_commands, run_scripts])
def test_no_door_writes_outside_the_table(
    root: Path, monkeypatch: pytest.MonkeyPatch, walk: Callable[[Path], None]
) -> None:
    lay_out(root)
    monkeypatch.setenv("ORACLE_ROOT", str(root))
    seats = {path: path.stat().st_ctime_ns for path in (root / "projects").rglob("*") if path.is_file()}
    content = root.parent / "content.md"
    with recording() as acts:
        walk(root)
    assert judge([act for act in acts if act.path != str(content)], root) == []
    assert {path: path.stat().st_ctime_ns for path in seats} == seats
    assert list((root / "projects/arena/decision").glob("*.md"))
