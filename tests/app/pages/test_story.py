"""The story of a handoff as a drawing: each step once, from the journal or from receipts of other tools."""

from xml.etree import ElementTree

import pytest

from oracle.app.delivery import story as stories
from oracle.app.pages.story import ORACLE, draw, steps
from oracle.domain.values import replace
from tests.app.pages.test_graph import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"


def tell(squad, task_id="Q-1"):
    return stories.tell(squad.oracle, task_id)


def told(story):
    return [(step.source, step.target, step.event) for step in steps(story)]


def answered(squad):
    squad.ask()
    squad.deliver()
    squad.ack("Q-1", "memory", "planner")
    return tell(squad)


WHOLE = [
    ("planner", "memory", "dispatch"),
    (ORACLE, "memory", "wake-up"),
    ("memory", "planner", "delivery"),
    (ORACLE, "planner", "wake-up"),
    ("planner", "memory", "ack"),
]


def test_every_step_has_its_moment_and_its_ends(squad):
    story = answered(squad)
    assert told(story) == WHOLE
    moments = [step.moment for step in steps(story)]
    assert moments == sorted(moments)
    image = ElementTree.fromstring(draw(story, link=lambda seat: f"#{seat}"))  # noqa: S314
    texts = ["".join(item.itertext()) for item in image.iter(f"{SVG}text")]
    headings = [item for item in image.iter(f"{SVG}text") if item.get("class") == "heading" and item.get("y") == "20"]
    assert ["".join(item.itertext()) for item in headings] == ["planner", "memory", ORACLE]
    assert [text for text in texts if text in ("asks", "wakes", "answers", "acknowledges")] == [
        *("asks", "wakes", "answers", "wakes", "acknowledges")
    ]
    assert any(text.startswith("acked;") for text in texts)


def test_receipts_tell_what_no_journal_does(squad):
    squad.ask()
    squad.deliver()
    squad.ack("Q-1", "memory", "planner")
    (squad.path / "events.log").unlink()
    assert told(tell(squad)) == [step for step in WHOLE if step[2] != "wake-up"]


def test_a_seat_that_is_away_is_not_woken(squad):
    squad.recorder.away.add("memory")
    squad.ask()
    [step] = [one for one in steps(tell(squad)) if one.event == "wake-up"]
    assert step.what.startswith("not woken yet: ")


@pytest.mark.parametrize(
    ("event", "ends"),
    [
        ({"event": "claim", "source": "planner", "target": "memory", "holder": "x"}, ("memory", "memory")),
        ({"event": "decided", "source": "a", "target": "b", "by": "op", "choice": "yes"}, ("a", "b")),
        ({"event": "conflict", "source": "a", "target": "b", "reason": "two"}, ("a", "a")),
        ({"event": "skip"}, (ORACLE, ORACLE)),
        ({}, (ORACLE, ORACLE)),
        ({"event": ["dispatch"], "source": 7, "target": None, "ts": {}}, ("7", "7")),
    ],
)
def test_an_event_of_any_shape_is_drawn(squad, event, ends):
    squad.ask()
    story = replace(tell(squad), events=({"ts": "2026-11-28T10:00:00Z", **event},), chapters=())
    [step] = steps(story)
    assert (step.source, step.target) == ends
    ElementTree.fromstring(draw(story, link=lambda _: ""))  # noqa: S314


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_event_stays_text(squad, text):
    squad.ask()
    event = dict.fromkeys(("event", "ts", "source", "target", "reason", "holder", "seat"), text)
    story = replace(tell(squad), events=(event, {**event, "event": "claim"}, {**event, "event": "wake-up"}))
    image = ElementTree.fromstring(draw(story, link=lambda _: ""))  # noqa: S314
    tags = {item.tag.removeprefix(SVG) for item in image.iter()}
    assert tags <= {"svg", "rect", "marker", "path", "g", "title", "text"}
