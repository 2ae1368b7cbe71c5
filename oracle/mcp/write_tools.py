"""The tools that write or hand over: records, memories, dispatch, deliver, handoffs. The seat is that of the server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oracle.app.delivery.deliver import Delivery
from oracle.app.delivery.order import Order
from oracle.domain.names import SHARED, project_of
from oracle.domain.records.drafts import Draft, parse_evidence
from oracle.mcp.results import Answer, fenced, label, unfenced, without_lists
from oracle.wording import say

if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.app.delivery.handoffs import Handoffs
    from oracle.app.delivery.listed import ListedHandoff
    from oracle.app.records.views import Written
    from oracle.mcp.binding import Binding


def write_record(
    context: Context,
    binding: Binding,
    *,
    kind: str,
    title: str,
    body: str,
    project: str = "",
    author: str = "",
    evidence: Sequence[Mapping[str, object]] = (),
    secrets: str = "refuse",
    dry_run: bool = False,
    new_project: bool = False,
    **fields: Any,  # noqa: ANN401 -- the tool's schema names them
) -> Answer:
    """Write one record. `fields` are further fields of a draft."""
    from oracle.app.records.write import write

    draft = Draft(
        kind,
        binding.project_for(project),
        title,
        body,
        author=author or binding.seat,
        seat=binding.seat,
        evidence=parse_evidence([json.dumps(dict(item), ensure_ascii=False) for item in evidence]),
        **without_lists(fields),
    )
    written = write(context, draft, secrets=secrets, dry_run=dry_run, needs_body=True, new_project=new_project)
    return _written(written)


def retire_record(context: Context, binding: Binding, *, record: str, reason: str, dry_run: bool = False) -> Answer:
    """Retire one record."""
    from oracle.app.records.naming import show
    from oracle.app.records.retire import retire

    if binding.project:
        binding.project_for(project_of(show(context, record, last_line=1).record.path) or binding.project)
    return _written(retire(context, record, reason, seat=binding.seat, dry_run=dry_run))


def _written(written: Written) -> Answer:
    from oracle.domain.safety.telling import tell_replaced

    data = written.as_json()
    if written.already:
        return Answer(data, f"{written.already}.")
    notes = [f"warning: {line}" for line in written.warnings]
    notes += tell_replaced(written.redacted, again=say("If that was no secret, write it in other words."))
    notes += [f"{slug} still holds, and says nearly the same as what was retired" for slug in written.near_duplicates]
    head = f"Nothing was written; it would be {written.path}" if written.dry_run else f"Written: {written.path}"
    text = [fenced(written.text)] if written.dry_run else []
    return Answer(data, "\n".join([head, *notes, *text]))


def remember(
    context: Context,
    binding: Binding,
    *,
    type: str,
    text: str,
    project: str = "",
    supersedes: Sequence[str] = (),
    new_topic: bool = False,
    dry_run: bool = False,
    **fields: str,
) -> Answer:
    """Remember something. `fields` are further fields of a note."""
    from oracle.app.memories.remember import Note, remember

    home = binding.project_for(project) if project or binding.project else SHARED
    note = Note(
        type, text, project=home, author=binding.seat, supersedes=tuple(supersedes), is_another=new_topic, **fields
    )
    kept = remember(context, note, dry_run=dry_run)
    answer = _written(kept.written)
    notes = [f"It replaces {slug}." for slug in kept.superseded]
    notes += [f"{was!r} is written as {now}." for was, now in kept.dates]
    return Answer(kept.as_json(), "\n".join([answer.text, *notes]))


def add_experience(
    context: Context,
    binding: Binding,
    *,
    title: str,
    situation: str,
    approach: str = "",
    reflect: str = "",
    project: str = "",
    dry_run: bool = False,
    **fields: Any,  # noqa: ANN401 -- the tool's schema names them
) -> Answer:
    """Write a lesson of earlier work. `fields` are further fields of its record."""
    from oracle.app.experiences.add import add
    from oracle.domain.experiences.experience import Experience

    home = binding.project_for(project) if project or binding.project else SHARED
    lesson = Experience(title, situation, approach, reflect)
    return _written(add(context, lesson, home, author=binding.seat, dry_run=dry_run, **without_lists(fields)))


def forget(context: Context, binding: Binding, *, target: str, reason: str = "", dry_run: bool = False) -> Answer:
    """Retire one memory."""
    from oracle.app.memories.remember import forget

    return _written(forget(context, target, reason, project=binding.project, dry_run=dry_run))


def dispatch(
    context: Context,
    binding: Binding,
    *,
    target: str,
    objective: str,
    project: str = "",
    task_id: str = "",
    kind: str = "query",
    title: str = "",
    reply_to: str = "",
    notify: bool = True,
) -> Answer:
    """Ask another seat for the server's seat."""
    from oracle.app.delivery import resume
    from oracle.app.delivery.dispatch import dispatch as dispatch_

    resume.before(context, notifies=notify)
    order = Order(
        binding.project_for(project),
        task_id,
        binding.seat,
        target,
        objective,
        title=title,
        reply_to=reply_to,
        kind=kind,
        notifies=notify,
    )
    made = dispatch_(context, order)
    woken = f" and {made.wake_up.seat} was woken" if made.wake_up.result == "sent" else ""
    woken = " and the daemon attends to it" if made.wake_up.result == "attended" else woken
    return Answer(made.as_json(), f"{made.name.task_id} is dispatched to {target}{woken}. Receipt: {made.receipt_path}")


def deliver(
    context: Context,
    binding: Binding,
    *,
    task_id: str,
    target: str,
    response: Mapping[str, object],
    project: str = "",
    summary: str = "",
    strict: bool = False,
    supersede: bool = False,
    unsolicited: bool = False,
    notify: bool = True,
) -> Answer:
    """Deliver an answer of the memory seat."""
    from oracle.app.delivery import resume
    from oracle.app.delivery.deliver import deliver as deliver_

    resume.before(context, notifies=notify)
    delivery = Delivery(
        binding.project_for(project),
        task_id,
        target,
        unfenced(response),
        source=binding.seat,
        summary=summary,
        is_strict=strict,
        supersedes=supersede,
        is_unsolicited=unsolicited,
        needs_question=True,
        notifies=notify,
    )
    done = deliver_(context, delivery)
    what = "is delivered" if done.is_new else "was delivered before, and nothing changed"
    doubt = "" if done.all_verified is not False else "; some claims do not hold"
    return Answer(done.as_json(), f"{task_id} {what}{doubt}. Receipt: {done.receipt_path}")


def handoffs(context: Context, binding: Binding, *, project: str = "", state: str = "", task_id: str = "") -> Answer:
    """List handoffs, or show the story of one task."""
    from oracle.app.delivery import resume
    from oracle.app.delivery.handoffs import list_all
    from oracle.app.delivery.story import tell

    resume.before(context)
    name = project or binding.project
    if task_id:
        story = tell(context, task_id, project=name)
        files = [f"{chapter.path} {chapter.receipt.kind.value}{chapter.suffix}" for chapter in story.chapters]
        return Answer(story.as_json(), "\n".join([*map(_line, story.listed), *files]))
    found = list_all(context, project=name, state=state)
    return Answer(_listing(found), "\n".join(map(_line, found.items)) or "No handoff.")


def _listing(found: Handoffs) -> dict[str, object]:
    return {
        "handoffs": [item.as_json() for item in found.items],
        "problems": len(found.problems),
        "faults": list(found.problems),
    }


def _line(item: ListedHandoff) -> str:
    handoff, state = item.handoff, item.handoff.state
    waits = f"next {handoff.next_seat() or 'nobody'}: {label(item.action)}"
    what = f"{item.project} {handoff.task_id}: {handoff.asker} asks {handoff.answerer}, {state.step.value}"
    asked = f": {label(item.question_line)}" if handoff.question else ""
    return f"{what} for {item.wait_shown}; {waits}{asked}"
