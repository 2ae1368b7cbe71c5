"""What goes on now: open handoffs, seats and open decisions, read again only where files changed."""

from __future__ import annotations

import itertools
import json
import os
import types
from pathlib import Path
from typing import Any

import pytest

from oracle.app.decisions.handover import resolve, send
from oracle.app.delivery import handoffs, homes
from oracle.app.overview.now import Now, now
from oracle.domain.delivery import receipts
from oracle.store.disk.file_cache import FileCache
from oracle.tui.panes import NowPane
from tests.app.squad import Squad
from tests.app.test_decisions import ID, payload


def as_json(found: Now) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(json.dumps(found.as_json()))
    return whole


def seat(found: Now, name: str) -> dict[str, Any]:
    return next(one for one in as_json(found)["seats"] if one["seat"] == name)


def test_open_handoffs_are_those_of_the_listing(squad: Squad):
    squad.ask("Q-1")
    squad.ask("Q-2")
    squad.deliver("Q-2")
    squad.ask("Q-3")
    squad.deliver("Q-3")
    squad.ack("Q-3", source="memory")
    found = now(squad.oracle)
    listed = {item.handoff.task_id: item.as_json() for item in handoffs.list_all(squad.oracle).items}
    shown = as_json(found)["handoffs"]
    assert {one["task_id"] for one in shown} == {"Q-1", "Q-2"}
    assert [{**one, "age_seconds": 0} for one in shown] == [
        {**listed[one["task_id"]], "age_seconds": 0} for one in shown
    ]
    assert as_json(found)["states"] == {"open": 1, "consumed": 1}


def test_a_seat_has_its_machine_its_queue_and_when_it_was_last_seen(squad: Squad):
    squad.ask("T-1", target="builder")
    squad.ask("T-2", target="builder", stacks=True)
    found = now(squad.oracle)
    assert [(one.project, one.seat) for one in found.seats] == [
        ("demo", name) for name in ("memory", "planner", "builder", "reviewer")
    ]
    assert (seat(found, "builder")["queue"], seat(found, "planner")["queue"]) == (2, 0)
    assert (seat(found, "builder")["last_seen"], bool(seat(found, "planner")["last_seen"])) == ("", True)
    assert {one.machine for one in found.seats} == {os.uname().nodename}
    squad.complete("T-1", target="planner")
    later = now(squad.oracle)
    assert seat(later, "builder")["queue"] == 1
    assert seat(later, "builder")["last_seen"] >= seat(later, "planner")["last_seen"]


@pytest.mark.parametrize(
    ("created_at", "shown"), [("2026-04-27T18:30:00Z", "overdue"), ("2100-04-27T18:30:00Z", "left")]
)
def test_an_open_decision_has_its_options_and_the_time_left(squad: Squad, created_at: str, shown: str):
    send(squad.oracle, payload(created_at=created_at), notifies=False)
    (one,) = now(squad.oracle).decisions
    assert (one.decision_id, one.project, one.asker, one.default) == (ID, "demo", "memory", "B")
    assert one.question.startswith("The branch touches")
    assert one.options == (("A", "merge today"), ("B", "wait for the audit"), ("abort", "given up"))
    assert one.time_left.endswith(shown)
    assert (one.seconds_left or 0) < 0 if shown == "overdue" else (one.seconds_left or 0) > 0
    resolve(squad.oracle, "demo", ID, choice="A")
    assert now(squad.oracle).decisions == ()


def test_a_seat_at_home_elsewhere_has_that_machine(squad: Squad, monkeypatch: pytest.MonkeyPatch):
    machine = types.SimpleNamespace(name="server-2", unseen=0.0)
    monkeypatch.setattr(homes, "elsewhere", lambda _: {("demo", "builder"): machine})
    machines = {one.seat: one.machine for one in now(squad.oracle).seats}
    assert machines == {**dict.fromkeys(machines, os.uname().nodename), "builder": "server-2"}


@pytest.mark.parametrize("projects", [2, 5])
def test_ages_and_their_order_are_of_one_moment(squad: Squad, tmp_path: Path, projects: int):
    squads = [squad, *(Squad(tmp_path, project=f"other{number}") for number in range(projects - 1))]
    for number, team in enumerate(squads):
        team.ask(f"Q-{number}")
        (receipt,) = team.folder.glob("*.json")
        receipt.write_text(
            json.dumps(json.loads(receipt.read_bytes()) | {"assigned_at": f"2001-09-09T01:46:{40 - number}Z"})
        )
    context, ticks = squad.open(), itertools.count(0, 10**10)
    context.clock = types.SimpleNamespace(now_ns=lambda: 1_500_000_000 * 10**9 + next(ticks))
    found = handoffs.list_all(context).items
    assert [found[0].age - one.age for one in found] == list(range(projects))


def test_only_receipts_that_changed_are_read_again(squad: Squad, monkeypatch: pytest.MonkeyPatch):
    for number in range(5):
        squad.ask(f"Q-{number}")
    cache, read = FileCache(), []
    original = receipts.read_receipt
    monkeypatch.setattr(receipts, "read_receipt", lambda name, raw: read.append(name.task_id) or original(name, raw))
    first = now(squad.oracle, cache)
    assert sorted(read) == [f"Q-{number}" for number in range(5)]
    read.clear()
    assert [one.handoff for one in now(squad.oracle, cache).handoffs] == [one.handoff for one in first.handoffs]
    assert read == []
    squad.deliver("Q-3")
    read.clear()
    assert (
        as_json(now(squad.oracle, cache))["states"]
        == as_json(now(squad.oracle))["states"]
        == {"open": 4, "consumed": 1}
    )
    assert read[:2].count("Q-3") == 2  # its consumed dispatch and its completion; the rest is the call without a cache
    assert sorted(read[2:]) == ["Q-0", "Q-1", "Q-2", "Q-3", "Q-3", "Q-4"]


@pytest.mark.parametrize("change", ["edited in place", "replaced", "removed"])
def test_no_change_of_a_file_is_missed(tmp_path: Path, change: str):
    path, cache = tmp_path / "file", FileCache()
    path.write_text("old")

    def read() -> str | None:
        return cache.get(str(path), lambda name: Path(name).read_text() if Path(name).exists() else None)

    assert read() == "old"
    if change == "edited in place":
        path.write_text("new!")
    elif change == "replaced":
        (tmp_path / "other").write_text("new!")
        (tmp_path / "other").replace(path)
    else:
        path.unlink()
    assert read() == (None if change == "removed" else "new!")


def test_a_cache_drops_what_is_asked_for_no_longer(tmp_path: Path):
    cache, made = FileCache(), []
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
        cache.get(str(tmp_path / name), made.append)
    for _ in range(2):
        cache.begin_round()
        cache.get(str(tmp_path / "a"), made.append)
    cache.get(str(tmp_path / "b"), made.append)
    assert [Path(path).name for path in made] == ["a", "b", "b"]


def test_a_profile_that_cannot_be_read_is_named_and_hides_no_other(squad: Squad, tmp_path: Path):
    squad.ask("Q-1")
    Path(Squad(tmp_path, project="broken").profile).write_text("x =", encoding="utf-8")
    found = now(squad.oracle)
    assert [one.handoff.task_id for one in found.handoffs] == ["Q-1"]
    assert "broken" in found.problems[0]


@pytest.mark.parametrize("raw", [b"", b"x ="])
def test_the_frame_says_that_handoffs_stay_unread(squad: Squad, raw: bytes):
    squad.ask("Q-1")
    Path(squad.profile).write_bytes(raw)
    if not raw:
        Path(squad.profile).unlink()
    lines = [line.text for line in NowPane(now(squad.oracle)).lines(60)]
    assert "No handoff is open." not in lines
    assert "No handoff that can be read is open." in lines
    text = " ".join(" ".join(lines).split())
    assert "The handoffs of demo on disk can't be read." in text
    assert ("oracle project init demo" if not raw else "Correct that line") in text
