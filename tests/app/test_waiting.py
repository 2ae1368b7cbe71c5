"""Every list of handoffs shows what was asked, and which question waits longest: the same words in the same order."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from oracle.app.delivery import listed
from oracle.app.overview.now import look
from oracle.app.prompting.brief import brief
from oracle.app.prompting.context_for import SessionPrompt
from oracle.cli.main import run
from oracle.domain.delivery import receipts
from oracle.tui.panes import NowPane
from oracle.web.rooms import ROOMS, PageQuery
from tests.web.site import Browser

if TYPE_CHECKING:
    from tests.app.squad import Squad

HOSTILE = "Bound the queue.\n\nIt is \u202eevil\u202c and \x1b[31mred\x1b[0m."
SPELLED = "Bound the queue. It is \\u202eevil\\u202c and \\x1b[31mred\\x1b[0m."
ORDER = ["Q-5d", "T-3d", "Q-2d", "Q-now", "Q-answered", "Q-closed"]


def asked_days_ago(squad: Squad, task_id: str, days: float, *, target: str = "memory", **more: Any) -> None:
    squad.ask(task_id, target=target, notifies=False, **more)
    (path,) = squad.folder.glob(f"{task_id}__*.json")
    content = json.loads(path.read_bytes())
    content["assigned_at"] = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def team(squad: Squad) -> Squad:
    """Return a team with handoffs of every group. The one that waits longest is the last that was written."""
    squad.oracle.init()
    squad.ask("Q-now", source="builder", objective="Is it now?", notifies=False)
    for task_id, days in (("Q-closed", 9), ("Q-answered", 8)):
        asked_days_ago(squad, task_id, days)
        squad.deliver(task_id, notifies=False)
    squad.ack("Q-closed", source="memory")
    asked_days_ago(squad, "Q-2d", 2, objective="缓存保留多久？")
    asked_days_ago(squad, "T-3d", 3, target="builder", objective=HOSTILE)
    asked_days_ago(squad, "Q-5d", 5, objective="How often do we retry webhooks? " * 30)
    return squad


def printed(squad: Squad, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run([*words, "--memory-dir", str(squad.path)]) == 0
    return capsys.readouterr().out


def test_the_oldest_question_comes_first_however_new_its_file_is(team: Squad):
    found = team.oracle.handoffs().items
    assert [item.handoff.task_id for item in found] == ORDER
    assert [item.waits_longest for item in found] == [True, *[False] * 5]
    assert [item.handoff.is_answered for item in found] == [False] * 4 + [True] * 2
    assert (found[0].age_shown, found[0].wait_shown) == ("5 d, stale", "5 d, stale, waits longest")
    assert found[4].age < 3600  # it waits for its reader since it was answered
    assert [bool(text) for text in listed.captions(found)] == [True, False, False, False, True, True]


def test_a_question_that_waits_alone_waits_no_longer_than_others(squad: Squad):
    squad.ask("Q-1")
    squad.ask("Q-2")
    squad.deliver("Q-2")
    assert [item.waits_longest for item in squad.oracle.handoffs().items] == [False, False]


def test_every_door_has_the_same_order_and_the_same_words(team: Squad, capsys: pytest.CaptureFixture[str]):
    told = json.loads(printed(team, capsys, "handoffs", "--json"))["handoffs"]
    frame = json.loads(printed(team, capsys, "watch", "--json"))["handoffs"]
    page = ROOMS["/handoffs"](team.oracle, PageQuery({})).shown["items"]
    now = ROOMS["/"](team.oracle, PageQuery({})).shown["now"].handoffs
    assert [one["task_id"] for one in told] == ORDER
    assert told[1]["question"] == HOSTILE
    assert told[0]["question"].count("webhooks") == 30
    keys = ("task_id", "question", "state", "answered", "waits_longest", "stale", "next")
    wanted = [[one[key] for key in keys] for one in told]
    assert [[item.as_json()[key] for key in keys] for item in page] == wanted
    assert [[item.as_json()[key] for key in keys] for item in now] == wanted[:5]
    assert [[one[key] for key in keys] for one in frame] == wanted[:5]


def test_what_steers_a_terminal_is_spelled_out_at_every_door(team: Squad, capsys: pytest.CaptureFixture[str]):
    lines = [line.text for line in NowPane(look(team.oracle)).lines(400)]
    with Browser(team.path) as browser:
        page = browser.get("/handoffs").text
    texts = {
        "pipe": printed(team, capsys, "handoffs"),
        "frame": printed(team, capsys, "watch", "--once"),
        "pane": "\n".join(lines),
        "page": page,
    }
    for name, text in texts.items():
        assert SPELLED in text, name
        assert "\u202e" not in text + printed(team, capsys, "handoffs", "--json"), name
        assert "\x1b" not in text, name


@pytest.mark.parametrize("width", [38, 60, 78, 118])
def test_a_pane_shows_the_first_words_of_each_question(team: Squad, width: int):
    lines = NowPane(look(team.oracle)).lines(width)
    texts = [line.text for line in lines]
    at = {task: next(n for n, text in enumerate(texts) if text.startswith(task[:3])) for task in ORDER[:5]}
    assert list(at.values()) == sorted(at.values())
    shown = {task: " ".join(texts[n : n + 2]) for task, n in at.items()}
    assert "How often" in shown["Q-5d"]
    assert "缓存保留" in shown["Q-2d"]
    assert "Wait for an answer, the longest first"[:30] in texts[at["Q-5d"] - 1]
    below = [line for line in lines if line.handoff is not None and line.text.startswith(" ")]
    assert len(below) == (5 if width < 72 else 0)


def test_the_brief_of_a_seat_begins_with_the_question_that_waits_longest(team: Squad):
    text = brief(team.oracle, SessionPrompt("", "s-1", project="demo", seat="memory"), reason="startup")
    places = [text.index(task) for task in ("Q-5d", "Q-2d", "Q-now")]
    assert places == sorted(places)
    assert "How often do we retry webhooks?" in text
    assert (datetime.now(UTC) - timedelta(days=5)).date().isoformat() in text
    assert "waits longest" in text
    assert not brief(team.oracle, SessionPrompt("", "s-1", project="demo", seat="memory"), reason="resume")


def test_a_resume_says_what_was_asked_the_oldest_first(squad: Squad):
    squad.oracle.init()
    squad.recorder.away = {"memory", "planner"}
    for task_id, days in (("Q-1", 1), ("Q-3", 3), ("Q-2", 2)):
        squad.ask(task_id, objective=f"Who decided {task_id}? {'x' * 80}")
        path = squad.folder / f"{task_id}__planner__memory.json"
        moment = (datetime.now(UTC) - timedelta(days=days)).isoformat()
        path.write_text(json.dumps(squad.receipt(path.name) | {"assigned_at": moment}), encoding="utf-8")
    squad.deliver("Q-2")
    found = squad.oracle.resume()
    assert [line[:3] for line in found.left] == ["Q-3", "Q-1", "Q-2"]
    assert "“Who decided Q-3? xxx" in found.left[0]
    assert "x…”" in found.left[0]
    waiting = json.loads(json.dumps(found.as_json()))["waiting"]
    assert [one["task_id"] for one in waiting] == ["Q-3", "Q-1", "Q-2"]
    assert waiting[0]["question"].endswith("x" * 80)


def test_a_terminal_keeps_old_closed_handoffs_back(team: Squad):
    found = team.oracle.handoffs().items
    assert list(listed.without_old(found, 0)) == list(found[:5])
    assert listed.without_old(found[5:], 0) == found[5:]


def test_a_question_costs_no_further_file(team: Squad, monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []
    original = receipts.read_receipt
    monkeypatch.setattr(receipts, "read_receipt", lambda name, raw: read.append(name.task_id) or original(name, raw))
    assert all(item.question_line for item in team.open().handoffs().items)
    assert len(read) == len(list(team.folder.glob("*.json*")))
