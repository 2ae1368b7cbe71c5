"""`oracle handoffs`, `oracle log` and `oracle resume`: what is on its way, what happened, what was interrupted."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from oracle.cli import completion
from oracle.cli.application import group
from oracle.cli.options import Full, Project, TaskId, option, single
from oracle.cli.output import Table, columns, is_terminal, on_terminal, write_out
from oracle.cli.session import Call
from oracle.domain.layout import hanging, shorten
from oracle.errors import UsageError
from oracle.wording import say, say_each, spoken, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.delivery.listed import ListedHandoff


_MOST_CLOSED = 10
"""Closed handoffs that a terminal shows beside others, those that changed last."""

handoffs_app = group(
    "List handoffs, or tell the story of one.", example="oracle handoffs --state claimed", default="list"
)


@handoffs_app.add("list", example="oracle handoffs --project shop", hidden=True)
def list_handoffs(
    call: Call,
    *,
    project: Project = "",
    state: Annotated[str, option("--state STATE", "Only those in this state.", completion.states)] = "",
) -> None:
    """List handoffs with their questions, the one that waits longest first."""
    from oracle.app.delivery import handoffs, resume

    with call.context() as context:
        context.root.require()
        resume.before(context)
        found = handoffs.list_all(context, project=project, state=state)
    if not found.items:
        call.note(say("there are no handoffs that could be read") if found.problems else say("there are no handoffs"))
    for sentence in found.problems:
        call.warn(sentence)
    document = {
        "handoffs": [item.as_json() for item in found.items],
        "problems": len(found.problems),
        "faults": list(found.problems),
    }
    call.answer(document, _lines(call, found.items, state) if is_terminal(sys.stdout) else _whole(found.items))


@handoffs_app.add("show", example="oracle handoffs show Q-17")
def show(call: Call, task_id: TaskId, *, project: Project = "") -> None:
    """Tell the story of one task: its files, answer and events."""
    from oracle.app.delivery import resume
    from oracle.app.delivery.story import lines_of, tell

    with call.context() as context:
        resume.before(context)
        story = tell(context, task_id, project=project)
    call.answer(story.as_json(), lines_of(story))


def _whole(items: Sequence[ListedHandoff]) -> Table:
    headings = say_each("project", "task", "from", "to", "state", "age", "next", "action", "command", "question")
    return Table(headings, [_row(item) for item in items])


def _lines(call: Call, items: Sequence[ListedHandoff], state: str) -> Table:
    """Return a line for each handoff, on a narrow terminal with the question below. `--json` and `show` tell the rest."""
    from oracle.app.delivery import listed

    kept = items if state else listed.without_old(items, _MOST_CLOSED)
    if len(kept) < len(items):
        call.note(say("{n} more are closed: `oracle handoffs --state acked`", n=len(items) - len(kept)))
    below = (listed.QUESTION,) if columns() < listed.NARROW else ()
    rows = listed.rows(kept, columns())
    captions = listed.captions(kept)
    return Table(listed.HEADINGS, rows, stacked=below, captions=captions, is_one_line=True, kept=listed.NEXT_STEP)


def _row(item: ListedHandoff) -> tuple[str, ...]:
    handoff = item.handoff
    told = (on_terminal(item.state_shown), item.wait_shown, handoff.next_seat() or say("nobody"))
    ends = (handoff.asker, handoff.answerer, *told)
    return (item.project, handoff.task_id, *ends, item.action, item.command, item.question_line)


log_app = single()


@log_app.add(example="oracle log --project shop --limit 50")
def log(
    call: Call,
    *,
    follow: Annotated[bool, option("--follow", "Go on with new events, until interrupted.")] = False,
    project: Project = "",
    task: Annotated[str, option("--task ID", "Only events of this task.", completion.handoffs)] = "",
    injected: Annotated[bool, option("--injected", "Only what hooks added to prompts.")] = False,
    limit: Annotated[int, option("--limit N", "The last N events; 0 is all.", min=0)] = 20,
    full: Full = False,
) -> None:
    """Print what happened, the newest last."""
    from oracle.app import journal

    if follow and injected:
        raise UsageError(say("--follow and --injected exclude each other."), hint=say("Leave one out."))
    if follow:
        _follow(call, project, task, limit)
    with call.context() as context:
        context.root.require()
        found = journal.events(context, project=project, task=task, kind="inject" if injected else "", limit=limit)
        near = journal.meant(context, project=project, task=task) if not found else ""

    if not found:
        call.note(say("no event matches: {hint}", hint=near) if near else say("no event matches"))
    if call.as_json:
        call.print_json({"events": found})
    else:
        short = {} if full or not is_terminal(sys.stdout) else shorten(_slugs_in(found))
        write_out("".join(_event(event, short) for event in found))


def _follow(call: Call, project: str, task: str, limit: int) -> None:
    """Print events as they come; no spinner, since waiting is what was asked for."""
    from oracle.app import journal
    from oracle.app.context import Context

    with Context.open(call.memory_dir, warn=call.warn) as context:
        context.root.require()
        for event in journal.follow(context, project=project, task=task, limit=limit):
            write_out(f"{visible(json.dumps(event, ensure_ascii=False))}\n" if call.as_json else _event(event, {}))


def _slugs_in(events: list[dict[str, object]]) -> list[str]:
    """Return the slugs of records that events name, which a terminal shows shortened."""
    found = (
        item for event in events for value in event.values() for item in (value if isinstance(value, list) else [value])
    )
    return list(dict.fromkeys(item for item in found if isinstance(item, str) and item.startswith("projects/")))


def _event(event: dict[str, object], short: Mapping[str, str]) -> str:
    """Return an event: through a pipe five cells of a line, on a terminal a line, broken between words."""
    from oracle.app import journal

    cells = [visible(str(event.get(key, ""))) for key in ("ts", "event", "project", "task_id")]
    if not is_terminal(sys.stdout):
        return "\t".join([*cells, visible(journal.details_of(event))]) + "\n"
    shown = {key: _shortened(value, short) for key, value in event.items()}
    line = "  ".join(
        filter(None, [cells[0][:19].replace("T", " ") + "Z", *cells[1:], visible(spoken(journal.told(shown)))])
    )
    return "".join(f"{part}\n" for part in hanging(line, columns(), may_break=True))


def _shortened(value: object, short: Mapping[str, str]) -> object:
    if isinstance(value, list):
        return [_shortened(one, short) for one in value]
    return short.get(value, value) if isinstance(value, str) else value


resume_app = single()


@resume_app.add(example="oracle resume")
def resume(call: Call) -> None:
    """Finish interrupted deliveries and send pending wake-ups."""
    from oracle.app.delivery import resume

    with call.context() as context:
        found = resume.resume(context)
    call.answer(found.as_json(), found.done)
    for line in () if call.as_json else found.left:
        call.warn(line)
    if not found.done and not found.left:
        call.note(say("nothing was left to finish"))
