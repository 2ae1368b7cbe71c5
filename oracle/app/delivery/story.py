"""The story of a task in lines for people."""

from __future__ import annotations

from oracle.app import journal
from oracle.app.claims import ToldClaim
from oracle.app.delivery.handoffs import ListedHandoff, Story
from oracle.domain import timestamps
from oracle.wording import LIST, Sentence, joined, say


def lines_of(story: Story) -> list[str]:
    """Return the story of a task as lines for people: where it is, its files, the answer, its events."""
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
    handoff = item.handoff
    ends = {"task": handoff.task_id, "asker": handoff.asker, "answerer": handoff.answerer, "project": story.project}
    return [
        say("{task}: {asker} asks {answerer} in {project}", **ends),
        say(
            "  {state} for {age}; next {seat}: {action}",
            state=item.state_shown,
            age=item.age_shown,
            seat=handoff.next_seat() or say("nobody"),
            action=item.action,
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
    details = journal.details_of(event)
    rest = f" {details}" if details else ""
    return say("{moment}  event {event}{rest}", moment=event.get("ts"), event=event.get("event"), rest=rest)
