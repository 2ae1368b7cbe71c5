"""The cheap look for what changed in a Root: each kind of change is seen, once."""

from __future__ import annotations

import builtins
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from oracle.app.decisions.handover import send
from oracle.app.overview.changes import HANDOFFS, JOURNAL, RECORDS, RootWatch
from oracle.app.records.listing import list_records
from oracle.domain.records.drafts import Draft
from tests.app.squad import Squad
from tests.app.test_decisions import payload

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write(squad: Squad, title: str = "Retries are bounded") -> None:
    squad.open().write(Draft("decision", "demo", title, body="Three."))


def foreign(squad: Squad) -> Path:
    return squad.path / "projects" / "demo" / "builder" / "decision" / "2026-04-27-foreign.md"


def create(squad: Squad) -> None:
    foreign(squad).write_text("# New\n", encoding="utf-8")


def edit(squad: Squad) -> None:
    """Change a record without a change of its folder."""
    with foreign(squad).with_name("2026-04-26-old.md").open("a", encoding="utf-8") as stream:
        stream.write("More.\n")


def remove(squad: Squad) -> None:
    foreign(squad).with_name("2026-04-26-old.md").unlink()


CHANGES: dict[str, tuple[Callable[[Squad], object], set[str]]] = {
    "a record is written": (write, {RECORDS, JOURNAL}),
    "a seat creates a record": (create, {RECORDS}),
    "a seat removes a record": (remove, {RECORDS}),
    "a task is dispatched": (lambda squad: squad.ask("Q-2"), {HANDOFFS, JOURNAL}),
    "an answer is delivered": (lambda squad: squad.deliver("Q-1"), {HANDOFFS, JOURNAL}),
    "people are asked": (lambda squad: send(squad.oracle, payload(), notifies=False), {HANDOFFS, JOURNAL}),
    "a project is set up": (lambda squad: Squad(squad.home.parent, project="other"), {HANDOFFS}),
    "something happens": (lambda squad: squad.oracle.note("scan", {}), {JOURNAL}),
    "nothing happens": (lambda squad: None, set()),
    "a query looks at every file": (lambda squad: list_records(squad.open(), {}, fresh=True), set()),
    "the index is rebuilt": (lambda squad: squad.open().index.reconcile(patience=None, rebuild=True), {RECORDS}),
}


@pytest.fixture
def busy(squad: Squad) -> Squad:
    squad.ask("Q-1")
    write(squad, "First")
    foreign(squad).parent.mkdir(parents=True)
    foreign(squad).with_name("2026-04-26-old.md").write_text("# Old\n", encoding="utf-8")
    return squad


@pytest.mark.parametrize("what", CHANGES)
def test_each_change_is_seen_once(busy: Squad, what: str):
    change, expected = CHANGES[what]
    watch = RootWatch(busy.open(), share=1.0)
    assert watch.look() == {RECORDS, HANDOFFS, JOURNAL}
    assert watch.look() == set()
    change(busy)
    assert watch.look() == expected
    assert watch.look() == set()


def test_a_look_reads_no_file(busy: Squad, monkeypatch: pytest.MonkeyPatch):
    watch, opened = RootWatch(busy.open(), share=1.0), []
    watch.look()
    original = builtins.open
    monkeypatch.setattr(
        builtins, "open", lambda name, *rest, **more: opened.append(name) or original(name, *rest, **more)
    )
    assert watch.look() == set()
    assert opened == []


@pytest.mark.parametrize("share", [1e-6, 1.0])
def test_a_root_that_cannot_be_looked_at_is_no_change(busy: Squad, share: float):
    watch = RootWatch(busy.open(), share=share, files_share=share)
    watch.look()
    busy.path.rename(busy.path.with_name("elsewhere"))
    assert RECORDS not in watch.look()


def test_an_index_that_is_deleted_between_two_looks_is_seen_once_it_is_back(busy: Squad):
    watch = RootWatch(busy.open(), share=1e-6, files_share=1e-6)
    watch.look()
    shutil.rmtree(busy.path / "_state")
    assert RECORDS not in watch.look()
    list_records(busy.open(), {})
    assert RECORDS in watch.look()


def test_looks_at_records_take_only_their_share(busy: Squad, monkeypatch: pytest.MonkeyPatch):
    watch = RootWatch(busy.open(), share=1e-6)
    watch.look()
    create(busy)
    assert watch.look() == set()
    list_records(busy.open(), {})
    assert watch.look() == {RECORDS}  # another process found it


@pytest.fixture
def settled(busy: Squad) -> Squad:
    """Give a team whose folders did not change lately: a younger one is read name by name at each look."""
    for path in (foreign(busy).parent, *foreign(busy).parent.iterdir()):
        os.utime(path, (1.7e9, 1.7e9))
    return busy


@pytest.mark.parametrize("share", [1e-6, 1.0])
def test_a_record_in_sight_that_is_edited_in_place_is_seen_at_once(settled: Squad, share: float):
    shown = ["projects/demo/builder/decision/2026-04-26-old.md", "projects/demo/builder/decision/none.md", "../x"]
    watch = RootWatch(settled.open(), share=share, files_share=1e-6)
    watch.look()
    edit(settled)
    assert (watch.look(), watch.look(shown), watch.look(shown)) == (set(), {RECORDS}, set())


def test_any_other_record_that_is_edited_in_place_is_seen_by_and_by(settled: Squad, monkeypatch: pytest.MonkeyPatch):
    watch = RootWatch(settled.open(), files_share=1.0)
    watch.look()
    edit(settled)
    assert watch.look() == set()  # every file was looked at a moment ago
    monkeypatch.setattr("oracle.index.fresh.FULL_LOOK_NS", 0)
    assert watch.look() == {RECORDS}
