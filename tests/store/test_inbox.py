"""Try that what waits in the inbox is tried in time, by one process, not for ever, and survives a kill."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from oracle.store.delivery import entries, inbox
from oracle.store.delivery.entries import InboxEntry, InboxKind
from oracle.store.root.layout import Root
from oracle.wording import say
from tests.store.crash import each_crash, run_at_once

NOW = 1_800_000_000.0
WAKE = InboxEntry(InboxKind.WAKE, ("install", "T-1", "planner"), {"text": "Read 回答."}, NOW)


@pytest.fixture
def place(root: Path) -> Root:
    return Root(str(root))


def files(place: Root) -> list[str]:
    return [path.name for path in Path(place.inbox).iterdir() if not path.name.startswith(".")]


def test_an_entry_waits_until_it_is_due_and_is_one_file_however_often_it_is_added(place: Root) -> None:
    assert inbox.read(place, NOW) == inbox.Inbox()
    assert inbox.add(place, WAKE)
    assert not inbox.add(place, WAKE)
    assert inbox.add(place, InboxEntry(InboxKind.INTENT, WAKE.subject, {}, NOW + 5))
    found = inbox.read(place, NOW)
    assert found.due(NOW) == (WAKE,)
    assert [entry.kind for entry in found.due(NOW + 5)] == [InboxKind.WAKE, InboxKind.INTENT]
    assert found.due(NOW - 1) == ()


def test_one_entry_is_found_by_its_subject_wherever_it_stands(place: Root) -> None:
    assert inbox.find(place, WAKE) is None
    inbox.add(place, WAKE)
    inbox.add(place, InboxEntry(InboxKind.WAKE, ("install", "T-2"), {}, NOW))
    asked = InboxEntry(InboxKind.WAKE, WAKE.subject, {}, NOW + 7)
    assert inbox.find(place, asked) == WAKE
    inbox.take(place, WAKE, NOW)
    assert inbox.find(place, asked) == WAKE
    given_up = inbox.defer(place, WAKE, now=NOW, error="x", chance=random.Random(1), most=1)
    assert inbox.find(place, asked) == given_up
    assert inbox.read(place, NOW).poisoned == (given_up,)


def test_the_last_error_keeps_its_template_and_loses_its_secrets(place: Root) -> None:
    for error, kept in (
        (say("{kind}: {reason}", kind="Busy", reason=say("the pane is in use")), "{kind}: {reason}"),
        (say("failed with {what}", what="password=hunter2-9f8e7d6c5b"), ""),
        (say("{long}", long="x" * 600), ""),
    ):
        inbox.add(place, WAKE)
        inbox.defer(place, WAKE, now=NOW, error=error, chance=random.Random(1))
        found = inbox.read(place, NOW + 9).waiting[0].last_error
        assert getattr(found, "template", "") == kept
        assert (found == error) is bool(kept)
        assert "hunter2" not in found


def test_the_last_error_of_an_older_version_is_plain_text(place: Root) -> None:
    inbox.add(place, WAKE)
    path = Path(place.inbox) / WAKE.file_name
    path.write_text(path.read_text().replace('"last_error": ""', '"last_error": "the pane is in use"'))
    assert inbox.read(place, NOW).waiting[0].last_error == "the pane is in use"


def test_one_kind_is_read_alone(place: Root) -> None:
    asked = InboxEntry(InboxKind.QUERY, ("install", "Q-1"), {}, NOW)
    for entry in (WAKE, asked):
        inbox.add(place, entry)
    (Path(place.inbox) / f"{InboxKind.WAKE}-{'0' * 24}.json").write_text("{")
    assert inbox.read(place, NOW, InboxKind.QUERY) == inbox.Inbox(waiting=(asked,))
    assert len(inbox.read(place, NOW).problems) == 1


def test_subjects_that_print_alike_are_other_entries(place: Root) -> None:
    names = {
        InboxEntry(InboxKind.WAKE, subject, {}, NOW).file_name
        for subject in (("a", "b"), ("a,b",), ("ab",), ("a", "b", ""))
    }
    assert len(names) == 4


def test_a_taken_entry_is_one_process_s_until_its_lease_is_over(place: Root) -> None:
    inbox.add(place, WAKE)
    assert inbox.take(place, WAKE, NOW)
    assert not inbox.take(place, WAKE, NOW)
    assert not inbox.add(place, WAKE)
    assert inbox.read(place, NOW + inbox.LEASE).taken == (WAKE,)
    assert inbox.read(place, NOW + inbox.LEASE + 1).waiting == (WAKE,)
    assert inbox.take(place, WAKE, NOW + 100)
    inbox.finish(place, WAKE)
    assert list(Path(place.inbox).glob("*.json*")) == []


def test_what_dead_processes_took_is_free_at_once(place: Root) -> None:
    inbox.add(place, WAKE)
    assert sorted(run_at_once(12, lambda number: int(inbox.take(place, WAKE, NOW)))) == [0] * 11 + [1]
    assert not inbox.add(place, WAKE)
    assert inbox.read(place, NOW + 1).waiting == (WAKE,)
    assert list(Path(place.inbox).glob(".wake*")) == []


@pytest.mark.parametrize(
    ("change", "is_free"),
    [
        ({}, False),
        ({"pid": 2**22 + 1}, True),
        ({"pid": 0}, True),
        ({"since": "1"}, True),
        ({"boot": "another"}, True),
        ({"host": "another", "boot": "another", "pid": 2**22 + 1}, False),
        (None, False),  # half written by a living process
    ],
)
def test_a_taker_is_known_by_process_start_and_boot(
    place: Root, change: dict[str, object] | None, is_free: bool
) -> None:
    inbox.add(place, WAKE)
    assert inbox.take(place, WAKE, NOW)
    (note,) = Path(place.inbox).glob(".wake*")
    note.write_text("" if change is None else json.dumps({**json.loads(note.read_bytes()), **change}))
    found = inbox.read(place, NOW + 1)
    assert (found.waiting, found.taken) == (((WAKE,), ()) if is_free else ((), (WAKE,)))
    assert inbox.read(place, NOW + inbox.LEASE + 1).waiting == (WAKE,)


def test_the_note_of_a_process_that_died_before_it_took_anything_is_removed(place: Root) -> None:
    inbox.add(place, WAKE)
    run_at_once(2, lambda number: int(bool(entries.note(f"{place.inbox}/{WAKE.file_name}"))))
    assert len(list(Path(place.inbox).glob(".wake*"))) == 2
    assert inbox.take(place, WAKE, NOW)
    inbox.finish(place, WAKE)
    assert inbox.read(place, NOW) == inbox.Inbox()
    assert list(Path(place.inbox).glob(".wake*")) == []


def test_tries_wait_longer_and_longer_and_end(place: Root) -> None:
    inbox.add(place, WAKE)
    now, entry = NOW, WAKE
    for tries in range(1, inbox.MAX_TRIES + 1):
        (entry,) = inbox.read(place, now).due(now)
        assert inbox.take(place, entry, now)
        entry = inbox.defer(place, entry, now=now, error="no such pane", chance=random.Random(tries))
        wait = entry.due_at - now
        assert 2.0**tries / 2 <= wait <= 2.0**tries
        assert (entry.tries, entry.last_error) == (tries, "no such pane")
        now = entry.due_at
    found = inbox.read(place, now)
    assert (found.waiting, found.taken, found.poisoned) == ((), (), (entry,))
    assert not inbox.add(place, WAKE)
    inbox.revive(place, entry, now)
    assert inbox.read(place, now).due(now)[0].tries == 0


def test_files_that_are_no_entries_are_named_and_hide_no_other(place: Root) -> None:
    inbox.add(place, WAKE)
    folder = Path(place.inbox)
    (folder / f"wake-{'0' * 24}.json").write_bytes(b'{"kind": "wa')
    (folder / f"intent-{'1' * 24}.json").write_text('{"kind":"wake","subject":["x"],"fields":{},"due_at":1,"tries":0}')
    (folder / f"wake-{'2' * 24}.json").write_text('{"kind":"wake","subject":3,"fields":[],"due_at":"x","tries":0}')
    (folder / "other.txt").write_text("x")
    found = inbox.read(place, NOW)
    assert found.waiting == (WAKE,)
    assert len(found.problems) == 3


def test_death_at_any_file_operation_keeps_the_entry_or_its_end(tmp_path: Path) -> None:
    def act(at: int) -> None:
        place = Root(f"{tmp_path}/{at}")
        inbox.add(place, WAKE)
        if inbox.take(place, WAKE, NOW):
            later = inbox.defer(place, WAKE, now=NOW, error="busy", chance=random.Random(1))
            inbox.take(place, later, NOW)
            inbox.finish(place, later)

    for at in each_crash(act):
        place = Root(f"{tmp_path}/{at}")
        found = inbox.read(place, time.time() + NOW)
        assert found.problems == ()
        assert len(found.waiting) <= 1
        for entry in found.waiting:
            assert inbox.take(place, entry, NOW)
            inbox.finish(place, entry)
        assert not Path(place.inbox).exists() or files(place) == []
