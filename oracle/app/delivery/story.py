"""The story of a task from its files, and in lines for people."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from oracle.app import claims, journal
from oracle.app.claims import ToldClaim
from oracle.app.context import Context
from oracle.app.delivery import handoffs
from oracle.app.delivery.listed import ListedHandoff
from oracle.app.delivery.team import Team, other_owner
from oracle.domain import timestamps
from oracle.domain.delivery.receipts import CONSUMED, Receipt, say_the_same
from oracle.domain.names import check_name
from oracle.domain.values import value
from oracle.errors import NotFound, OracleError, UsageError
from oracle.store.delivery import handoff_list, responses
from oracle.store.delivery.handoff_list import Chapter
from oracle.wording import LIST, Sentence, joined, say, say_many


@value
class KeptAnswer:
    """An answer that was kept aside: the path of its file, and its text while it is not decided whether it counts."""

    path: str
    answer: str = ""


@value
class Story:
    """All that the files say about one task in one project. `answer` is the text of its response."""

    listed: tuple[ListedHandoff, ...]
    project: str
    chapters: tuple[Chapter, ...]
    response_path: str = ""
    answer: str = ""
    claims: tuple[ToldClaim, ...] = ()
    kept_aside: tuple[KeptAnswer, ...] = ()
    wake_ups: tuple[str, ...] = ()
    events: tuple[dict[str, object], ...] = ()

    @property
    def receipts(self) -> list[Chapter]:
        """The files without copies: an acknowledgement puts one beside the completion."""
        kept = {one.receipt.name: one.receipt for one in self.chapters if not one.suffix}
        return [
            one
            for one in self.chapters
            if one.suffix != CONSUMED
            or (same := kept.get(one.receipt.name)) is None
            or not say_the_same(same, one.receipt)
        ]

    def as_json(self) -> dict[str, object]:
        """Return the JSON form, each receipt with all its fields."""
        return {
            "project": self.project,
            "handoffs": [item.as_json() for item in self.listed],
            "files": [
                {
                    "path": chapter.path,
                    "changed_at": timestamps.from_mtime(int(chapter.changed_at * 1e9)),
                    "kind": chapter.receipt.kind.value,
                    "fields": dict(chapter.receipt.fields),
                    "problems": list(chapter.receipt.problems),
                }
                for chapter in self.chapters
            ],
            "response": self.response_path or None,
            "answer": self.answer,
            "claims": [item.as_json() for item in self.claims],
            "kept_aside": [one.path for one in self.kept_aside],
            "wake_ups": list(self.wake_ups),
            "events": list(self.events),
        }


def tell(context: Context, task_id: str, *, project: str = "") -> Story:
    """Return the whole story of a task. Raises NotFound, UsageError when several projects have one of this id."""
    found = handoffs.projects_with(context, task_id)
    fitting = [(name, team) for name, team in found if project in ("", name)]
    if not fitting:
        raise NotFound(
            say("The project {project} has no handoff {task_id}.", project=project, task_id=task_id),
            hint=say("See `oracle handoffs`."),
        )
    if len(fitting) > 1:
        raise UsageError(
            say("{count} projects have the task id {task_id}.", task_id=task_id, count=len(fitting)),
            hint=say("Name one with --project: {projects}.", projects=[name for name, _ in fitting]),
        )
    return _story(context, fitting[0][1], check_name(task_id, "task id"))


def _story(context: Context, team: Team, task_id: str) -> Story:
    listed = [item for item in handoffs.of_team(context, team).handoffs if item.task_id == task_id]
    owner = other_owner(context, team, task_id)
    path = "" if owner else responses.path_of(context.root, task_id)
    response = {} if owner else _response(context, task_id)
    pending = handoffs.pending_wakeups(context).items()
    waiting = [entry for (project, task, _), entry in pending if (project, task) == (team.project, task_id)]
    return Story(
        tuple(handoffs.as_listed(context, team, listed, context.now_seconds())),
        team.project,
        handoff_list.tell_story(team.folder, task_id),
        path if path and os.path.exists(path) else "",
        _answer_of(response),
        claims.read(response),
        () if owner else tuple(_kept_aside(context, task_id)),
        tuple(
            say_many(
                "{seat}: tried {n} time; {error}",
                "{seat}: tried {n} times; {error}",
                n=one.tries,
                seat=one.fields.get("seat"),
                error=handoffs.last_reason(one) or say("not tried yet"),
            )
            for one in waiting
        ),
        tuple(journal.events(context, project=team.project, task=task_id, limit=50)),
    )


def _response(context: Context, task_id: str) -> Mapping[str, object]:
    """Return a response as it is, with a warning about its fault."""
    try:
        response = responses.read(context.root, task_id) or {}
    except OracleError as error:
        context.warn(error.sentence)
        return {}
    if fault := responses.find_fault(responses.path_of(context.root, task_id), response) if response else "":
        context.warn(fault)
    return response


def _kept_aside(context: Context, task_id: str) -> Iterator[KeptAnswer]:
    for name in _names(context.root.responses):
        path = f"{context.root.responses}/{name}"
        if name.startswith(f"{task_id}.conflict-"):
            yield KeptAnswer(path, _answer_of(responses.parse(path)))
        elif name.startswith(f"{task_id}.superseded-"):
            yield KeptAnswer(path)


def _answer_of(response: Mapping[str, object]) -> str:
    return answer if isinstance(answer := response.get("answer"), str) else ""


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def lines_of(story: Story) -> list[str]:
    """Return the story of a task as lines for people: where it is, its files, the answer, its events."""
    lines: list[str] = []
    for item in story.listed:
        lines += _tell_state(story, item)
    receipts = story.receipts
    for chapter in story.chapters:
        moment = timestamps.from_mtime(int(chapter.changed_at * 1e9))
        kind = chapter.receipt.kind.value or say("unknown")
        lines.append(
            say("{moment}  {kind}{suffix}  {path}", moment=moment, kind=kind, suffix=chapter.suffix, path=chapter.path)
        )
        lines += _tell_receipt(chapter.receipt) if chapter in receipts else ()
    told = {sentence for item in story.listed for sentence in item.handoff.problems}
    untold = dict.fromkeys(text for one in story.chapters for text in one.receipt.problems if text not in told)
    lines += [say("problem: {text}", text=text) for text in untold]
    lines += [say("response  {path}", path=story.response_path)] if story.response_path else []
    lines += [f"    {line}" for line in story.answer.splitlines()]
    lines += map(_tell_claim, story.claims)
    for kept in story.kept_aside:
        lines += [say("kept aside  {path}", path=kept.path), *(f"    {line}" for line in kept.answer.splitlines())]
    lines += [say("wake-up waits  {text}", text=text) for text in story.wake_ups]
    lines += [_tell_event(event) for event in story.events]
    return lines


_TOLD = ("title", "objective", "summary", "verdict", "commit", "lineage_status", "notified_at", "consumed_at")


def _tell_receipt(receipt: Receipt) -> Iterator[str]:
    """Yield what a receipt says; an objective that is just the title is not said twice."""
    for key in _TOLD:
        first, *rest = receipt.text(key).splitlines() or [""]
        if key == "lineage_status" and first in journal.LINEAGES:
            yield from (f"    {sentence}" for sentence in filter(None, [journal.LINEAGES[first]]))
        elif first and first != "unknown" and not (key == "objective" and first == receipt.text("title") and not rest):
            yield f"    {key}: {first}"
            yield from (f"      {line}" for line in rest)


def _tell_state(story: Story, item: ListedHandoff) -> list[str]:
    handoff = item.handoff
    ends = {"task": handoff.task_id, "asker": handoff.asker, "answerer": handoff.answerer, "project": story.project}
    if handoff.state.unsolicited:
        head = say("{task}: {answerer} delivers to {asker} in {project}, unasked", **ends)
    else:
        head = say("{task}: {asker} asks {answerer} in {project}", **ends)
    return [
        head,
        say(
            "  {state} for {age}; next {seat}: {action}",
            state=item.state_shown,
            age=item.age_shown,
            seat=handoff.next_seat() or say("nobody"),
            action=item.action,
        ),
        *([f"  $ {item.command}"] if item.command and not item.choices else ()),
        *(line for one in item.choices for line in (say("  {meaning}", meaning=one.meaning), f"  $ {one.command}")),
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
    named = {"moment": event.get("ts"), "event": event.get("event")}
    details = journal.told(event)
    if not details:
        return say("{moment}  event {event}", **named)
    return say("{moment}  event {event}  {details}", **named, details=details)
