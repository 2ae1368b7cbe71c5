"""The journal: one JSON line an event, whatever stands in it."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.errors import DiskFailure
from oracle.store import journal
from oracle.store.root.layout import Root

FORK = multiprocessing.get_context("fork")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.text(max_size=9).filter(lambda key: key not in ("ts", "event")), st.text(max_size=99), max_size=4
    )
)
def test_events_read_back(root: Path, details: dict[str, str]) -> None:
    top = Root(str(root))
    before = len(list(journal.read(top)))
    journal.append(top, "write", "2026-01-01T00:00:00Z", details)
    events = list(journal.read(top))
    assert len(events) == before + 1
    assert events[-1] == {"ts": "2026-01-01T00:00:00Z", "event": "write", **details}


def test_lines_that_are_no_event_are_passed_over(root: Path) -> None:
    top = Root(str(root))
    assert list(journal.read(top)) == []
    journal.append(top, "one", "t", {})
    with (root / "events.log").open("ab") as stream:
        stream.write(b'half a line\n[1]\n\xff\n\n"text"\n{"event":' + b"[" * 99_999 + b"\n")
    journal.append_all(top, [])
    journal.append_all(top, [("two", "t", {"a": [1]}), ("three", "t", {})])
    assert [event["event"] for event in journal.read(top)] == ["one", "two", "three"]


def append(root: str, name: str) -> None:
    for number in range(100):
        journal.append(Root(root), name, "t", {"number": number, "filling": "x" * 3_000})


def test_an_event_after_half_a_line_is_not_lost(root: Path) -> None:
    place = Root(str(root))
    (root / "events.log").write_bytes(b'{"torn')
    journal.append(place, "write", "2026-04-27T18:30:00Z", {})
    assert [entry["event"] for entry in journal.read(place)] == ["write"]


def test_a_journal_that_is_no_plain_file_is_not_waited_for(root: Path) -> None:
    place = Root(str(root))
    os.mkfifo(root / "events.log")
    with pytest.raises(DiskFailure):
        journal.append(place, "write", "2026-04-27T18:30:00Z", {})
    assert list(journal.read(place)) == []


def test_lines_of_several_processes_never_mix(root: Path) -> None:
    processes = [FORK.Process(target=append, args=(str(root), f"p{n}")) for n in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    events = list(journal.read(Root(str(root))))
    assert len(events) == len((root / "events.log").read_bytes().splitlines()) == 400
    for n in range(4):
        assert [event["number"] for event in events if event["event"] == f"p{n}"] == list(range(100))


def test_a_line_without_an_end_is_not_read_at_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Root(str(root))
    monkeypatch.setattr(journal, "LONGEST", 100)
    (root / "events.log").write_bytes(b"x" * 5_000 + b"\n")
    journal.append(place, "write", "2026-04-27T18:30:00Z", {})
    assert [entry["event"] for entry in journal.read(place)] == ["write"]
