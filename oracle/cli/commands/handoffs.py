"""`oracle handoffs`: list handoffs, or tell the story of one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion
from oracle.cli.commands.log import details_of
from oracle.cli.options import Project, TaskId, group, option
from oracle.cli.output import Table, columns, is_terminal
from oracle.cli.session import Call
from oracle.wording import LIST, Sentence, joined, say, say_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.claims.stored import ToldClaim
    from oracle.app.delivery.handoffs import ListedHandoff, Story

_WIDE = 100
"""Columns of a terminal that shows the two seats of each handoff."""

app = group("List handoffs, or tell the story of one.", example="oracle handoffs --state claimed", default="list")


@app.add("list", example="oracle handoffs --project shop", hidden=True)
def list_handoffs(
    call: Call,
    *,
    project: Project = "",
    state: Annotated[str, option("--state STATE", "Only those in this state.", completion.states)] = "",
) -> None:
    """List handoffs, the one that changed last at the end."""
    from oracle.app.delivery import handoffs, resume

    with call.context() as context:
        context.root.require()
        resume.before(context)
        found = handoffs.list_all(context, project=project, state=state)
    if not found.items:
        call.note(say("there are no handoffs"))
    for sentence in found.problems:
        call.warn(sentence)
    document = {
        "handoffs": [item.as_json() for item in found.items],
        "problems": len(found.problems),
        "faults": list(found.problems),
    }
    call.answer(document, _lines(found.items) if is_terminal(sys.stdout) else _whole(found.items))


@app.add("show", example="oracle handoffs show Q-17")
def show(call: Call, task_id: TaskId, *, project: Project = "") -> None:
    """Tell the story of one task: its files, answer and events."""
    from oracle.app.delivery import handoffs, resume

    with call.context() as context:
        resume.before(context)
        story = handoffs.tell(context, task_id, project=project)
    call.answer(story.as_json(), _tell(story))


def _whole(items: Sequence[ListedHandoff]) -> Table:
    headings = say_each("project", "task", "from", "to", "state", "age", "next", "action", "command")
    return Table(headings, [_row(item) for item in items])


def _lines(items: Sequence[ListedHandoff]) -> Table:
    """Return a line for each handoff. `--json` and `show` tell the rest."""
    headings = say_each("task", "state", "age", "next step", "project", "from", "to")
    is_wide, is_mixed = columns() >= _WIDE, len({item.project for item in items}) > 1
    rows = []
    for item in items:
        handoff, state = item.handoff, item.handoff.state
        ends = (handoff.asker, handoff.answerer) if is_wide else ("", "")
        age = _age_of(item) if is_wide else _age(item.age)
        rows.append((handoff.task_id, state.step.value, age, _next_step(item), item.project if is_mixed else "", *ends))
    return Table(headings, rows, is_one_line=True)


def _next_step(item: ListedHandoff) -> Sentence:
    seat = item.handoff.next_seat()
    match item.handoff.state.party:
        case "asker":
            return say("read: {seat}", seat=seat)
        case "answerer":
            return say("answer: {seat}", seat=seat)
        case "operator":
            return say("decide: {seat}", seat=seat)
        case "oracle":
            return say("oracle resume")
    return say("none")


def _row(item: ListedHandoff) -> tuple[str, ...]:
    handoff, state = item.handoff, item.handoff.state
    ends = (handoff.asker, handoff.answerer, state.step.value, _age_of(item), handoff.next_seat() or say("nobody"))
    return (item.project, handoff.task_id, *ends, state.action, item.command)


def _age_of(item: ListedHandoff) -> Sentence:
    age = _age(item.age)
    return say("{age}, stale", age=age) if item.is_stale else age


def _age(seconds: float) -> Sentence:
    if seconds >= 86400:
        return say("{days} d", days=int(seconds // 86400))
    if seconds >= 3600:
        return say("{hours} h", hours=int(seconds // 3600))
    if seconds >= 60:
        return say("{minutes} min", minutes=int(seconds // 60))
    return say("{seconds} s", seconds=int(seconds))


def _tell(story: Story) -> list[str]:
    from oracle.domain import timestamps

    lines: list[str] = []
    for item in story.listed:
        lines += _tell_state(story, item)
    for chapter in story.chapters:
        moment = timestamps.from_mtime(int(chapter.changed_at * 1e9))
        kind = chapter.receipt.kind.value or say("unknown")
        lines.append(
            say("{moment}  {kind}{suffix}  {path}", moment=moment, kind=kind, suffix=chapter.suffix, path=chapter.path)
        )
        for key in ("title", "summary", "verdict", "commit", "lineage_status", "notified_at", "consumed_at"):
            text = chapter.receipt.text(key)
            lines += [f"    {key}: {text}"] if text and text != "unknown" else []
    told = {sentence for item in story.listed for sentence in item.handoff.problems}
    untold = dict.fromkeys(text for one in story.chapters for text in one.receipt.problems if text not in told)
    lines += [say("problem: {text}", text=text) for text in untold]
    lines += [say("response  {path}", path=story.response_path)] if story.response_path else []
    lines += [f"    {line}" for line in story.answer.splitlines()]
    lines += map(_tell_claim, story.claims)
    lines += [say("kept aside  {path}", path=path) for path in story.kept_aside]
    lines += [say("wake-up waits  {text}", text=text) for text in story.wake_ups]
    lines += [_tell_event(event) for event in story.events]
    return lines


def _tell_state(story: Story, item: ListedHandoff) -> list[str]:
    handoff, state = item.handoff, item.handoff.state
    ends = {"task": handoff.task_id, "asker": handoff.asker, "answerer": handoff.answerer, "project": story.project}
    return [
        say("{task}: {asker} asks {answerer} in {project}", **ends),
        say(
            "  {state} for {age}; next {seat}: {action}",
            state=state.step.value,
            age=_age_of(item),
            seat=handoff.next_seat() or say("nobody"),
            action=state.action,
        ),
        *([f"  $ {item.command}"] if item.command else ()),
        *(say("  problem: {text}", text=text) for text in handoff.problems),
    ]


def _tell_claim(claim: ToldClaim) -> Sentence:
    """Return where a claim leads, and its verdict on delivery unless it was verified."""
    told = {"handle": claim.handle, "statement": claim.excerpt, "places": joined(LIST, claim.places)}
    if claim.verdict == "verified":
        return say("    claim [{handle}] {statement}  {places}", **told)
    verdict = claim.verdict or say("not checked")
    doubt = say("{verdict}: {reasons}", verdict=verdict, reasons=joined("; ", claim.reasons))
    return say(
        "    claim [{handle}] {statement}  {places}  ({doubt})", **told, doubt=doubt if claim.reasons else verdict
    )


def _tell_event(event: dict[str, object]) -> Sentence:
    details = details_of(event)
    rest = f" {details}" if details else ""
    return say("{moment}  event {event}{rest}", moment=event.get("ts"), event=event.get("event"), rest=rest)
