"""Draw the story of a handoff as a sequence: who asked, claimed, answered, woke and acknowledged, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.app.pages import svg
from oracle.domain import timestamps
from oracle.domain.delivery.receipts import ReceiptKind
from oracle.domain.layout import wrap
from oracle.domain.values import value
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

    from oracle.app.delivery.story import Story
    from oracle.app.pages.svg import Link

ORACLE = "oracle"
"""Who wakes: the programs of the oracle, not a seat."""

_LEFT, _BETWEEN, _ROW, _TOP = 132.0, 190.0, 34.0, 40.0
_LEAST_WIDTH = 520.0
_OF_RECEIPTS = (
    (ReceiptKind.DISPATCH, "assigned_at", "dispatch"),
    (ReceiptKind.COMPLETION, "delivered_at", "delivery"),
    (ReceiptKind.COMPLETION, "consumed_at", "ack"),
)
"""Which field of which receipt says the moment of which event: other tools write receipts and no journal."""


@value
class StoryStep:
    """One thing that happened: the sortable moment, who did it, to whom, what, and the name of the event."""

    moment: str
    source: str
    target: str
    what: str
    event: str


def steps(story: Story) -> tuple[StoryStep, ...]:
    """Return what happened, oldest first: the events of the journal, and from receipts what the journal lacks."""
    found = [_step(event) for event in story.events]
    known = {(one.event, frozenset((one.source, one.target))) for one in found}
    for step in _from_receipts(story):
        key = (step.event, frozenset((step.source, step.target)))
        if key not in known:
            known.add(key)
            found.append(step)
    return tuple(sorted(found, key=lambda one: one.moment))


def _from_receipts(story: Story) -> Iterator[StoryStep]:
    for chapter in story.chapters:
        name = chapter.receipt.name
        for kind, field, event in _OF_RECEIPTS:
            moment = timestamps.to_utc(chapter.receipt.text(field)) if chapter.receipt.kind is kind else ""
            if moment:
                yield _step({"ts": moment, "event": event, "source": name.source, "target": name.target})


def _step(event: Mapping[str, object]) -> StoryStep:
    """Return an event as a step. Anybody may have written the journal: each name may be missing."""
    said = {key: str(event.get(key) or "") for key in ("ts", "event", "source", "target", "seat", "holder", "reason")}
    name, source, target = said["event"], said["source"], said["target"]
    moment = timestamps.to_utc(said["ts"]) or said["ts"]
    what: str = name
    match name:
        case "dispatch":
            what = say("asks")
        case "delivery":
            what = say("answers")
        case "claim":
            source, what = target, say("claimed by {holder}", holder=said["holder"])
        case "ack":
            source, target, what = target, source, say("acknowledges")
        case "wake-up":
            source, target = ORACLE, said["seat"] or target
            what = say("not woken yet: {reason}", reason=said["reason"]) if said["reason"] else say("wakes")
        case "decision":
            what = say("asks people")
        case "decided":
            what = say("decided by {who}: {choice}", who=str(event.get("by")), choice=str(event.get("choice")))
        case _:
            target = source
            what = say("{event}: {reason}", event=name, reason=said["reason"]) if said["reason"] else name
    return StoryStep(moment, source or ORACLE, target or source or ORACLE, what, name)


def draw(story: Story, *, link: Link, is_styled: bool = False) -> str:
    """Return the story as SVG. `link` returns the address of a seat."""
    told = steps(story)
    names = _participants(story, told)
    columns = {name: _LEFT + (at + 0.5) * _BETWEEN for at, name in enumerate(names)}
    addresses = {name: link(name) for name in names}
    rows, days = _place(told)
    width = max(_LEFT + len(names) * _BETWEEN, _LEAST_WIDTH)
    endings = wrap(svg.legible(_ending(story)).replace("`", ""), int(width / svg.CELL) - 4) if story.listed else []
    bottom = _TOP + (len(told) + len(days)) * _ROW + 8
    height = bottom + svg.LINE * len(endings) + 16
    label = say("Story of {task}", task=story.listed[0].handoff.task_id if story.listed else story.project)
    root = svg.drawing("story", label, width, height, has_links=any(addresses.values()))
    head = svg.arrowhead(root, "head-story")
    for name, x in columns.items():
        svg.element(root, "path", class_="rule", d=f"M{x:.0f} {_TOP - 12:.0f}V{bottom:.0f}")
        sign = svg.anchor(root, addresses[name])
        svg.element(sign, "text", svg.cut(name, 28), class_="heading", x=x, y=_TOP - 20, text_anchor="middle")
    for day, y in days:
        svg.element(root, "text", day, class_="heading", x=8, y=y)
    for step, y in zip(told, rows, strict=True):
        _draw_step(root, step, columns, y, head, width)
    for at, text in enumerate(endings):
        svg.element(root, "text", text, x=8, y=bottom + svg.LINE * (at + 1))
    return svg.printed(root, is_styled=is_styled)


def _participants(story: Story, told: tuple[StoryStep, ...]) -> list[str]:
    """Return the seats in the order in which they appear, those who ask first, the oracle last."""
    found = dict.fromkeys(end for one in story.listed for end in (one.handoff.asker, one.handoff.answerer) if end)
    found.update(dict.fromkeys(end for step in told for end in (step.source, step.target)))
    return [*(name for name in found if name != ORACLE), *(name for name in found if name == ORACLE)]


def _place(told: tuple[StoryStep, ...]) -> tuple[list[float], list[tuple[str, float]]]:
    """Return the height of each step, and each day with its own."""
    rows: list[float] = []
    days: list[tuple[str, float]] = []
    y = _TOP
    for step in told:
        if not days or days[-1][0] != step.moment[:10]:
            y += _ROW
            days.append((step.moment[:10], y - 8))
        y += _ROW
        rows.append(y)
    return rows, days


def _draw_step(root: Element, step: StoryStep, columns: Mapping[str, float], y: float, head: str, width: float) -> None:
    start, end = columns[step.source], columns[step.target]
    group = svg.element(root, "g", class_="step")
    title = svg.element(group, "title")
    title.text = f"{svg.legible(step.moment)}\n{svg.legible(step.what)}"
    svg.element(group, "text", step.moment[11:19], class_="soft", x=8, y=y)
    svg.mark(group, "finding", start, y - 4, 4)
    if start == end:
        room = int((width - start - 12) / svg.CELL)
        svg.element(group, "text", svg.cut(step.what, room), x=start + 10, y=y)
        return
    kind = "related-task" if step.event in ("ack", "wake-up") else "references-record"
    towards = 6 if end < start else -6
    way = f"M{start - towards:.0f} {y - 4:.0f}H{end + towards / 2:.0f}"
    svg.element(group, "path", class_=f"edge {kind}", d=way, marker_end=head)
    room = int(abs(end - start) / svg.CELL) - 4
    svg.element(group, "text", svg.cut(step.what, room), x=(start + end) / 2, y=y - 10, text_anchor="middle")


def _ending(story: Story) -> str:
    """Return how far the handoff is now, in the words of the listing."""
    item, handoff = story.listed[-1], story.listed[-1].handoff
    return say(
        "{state}; next {seat}: {action}",
        state=handoff.state.step.value,
        seat=handoff.next_seat() or say("nobody"),
        action=item.action,
    )
