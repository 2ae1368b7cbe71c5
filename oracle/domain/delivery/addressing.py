"""To which handoff a marker belongs, by the dispatches on disk and by what the transcript says of the task at hand. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from oracle.domain.delivery.markers import Fault, Marker
from oracle.domain.markdown.masks import unify_line_ends
from oracle.domain.names import check_name
from oracle.domain.spelling import differs_in_case, is_mistyped
from oracle.domain.values import value
from oracle.errors import InvalidName
from oracle.wording import joined, say

# What follows is seldom looked for, so it is not compiled until it is.
_NAMED = r"""(?mi)^[ \t>*+-]{{0,12}}["'`]?{0}["'`*]{{0,3}}[:=][ \t*]{{0,4}}["'`]?([^\s"'`,]{{1,512}})["'`]?,?[ \t]*$"""
_IN_JSON = r"""["']{0}["'][ \t]{{0,4}}:[ \t]{{0,4}}["']([^\s"',]{{1,512}})["']"""
_TASK_LINE = _NAMED.format("task[_ -]?id")  # as it is, in a list or a quotation, bold, in quotes, assigned
_PROJECT_LINE = _NAMED.format("project")
_TASK_IN_JSON = _IN_JSON.format("task_id")  # among other keys of one line
_PROJECT_IN_JSON = _IN_JSON.format("project")
_QUERY_ID = r"(?a)(?<![\w.-])MEMORY-QUERY-[0-9]+-[0-9]+(?![\w-])"


@value
class TurnContext:
    """What the user turns of a transcript say of the task at hand: it may complete a marker, never replace one."""

    task_id: str = ""
    project: str = ""


@value
class AddressedDispatch:
    """A dispatch on disk that is addressed to this seat; `is_open` is False once it is answered."""

    project: str
    task_id: str
    source: str
    reply_to: str = ""
    is_open: bool = True

    def concerns(self, seat: str) -> bool:
        """Return whether an answer to `seat` would answer this dispatch."""
        return seat in (self.source, self.reply_to)


@value
class Address:
    """Where a delivery goes; `unsolicited` when no dispatch asked for it."""

    project: str
    task_id: str
    seat: str
    unsolicited: bool = False


@value
class Answered(Fault):
    """The task that a marker names is answered already; `places` is where another answer to it may belong."""

    places: tuple[Address, ...] = ()


def read_context(turns: Sequence[str]) -> TurnContext:
    """Return the last task id and the last project in the texts of user turns, oldest first."""
    tasks: list[str] = []
    projects: list[str] = []
    for text in turns:
        plain = unify_line_ends(text)
        tasks += _names(plain, _TASK_LINE, _TASK_IN_JSON, _QUERY_ID)
        projects += _names(plain, _PROJECT_LINE, _PROJECT_IN_JSON)
    return TurnContext(tasks[-1] if tasks else "", projects[-1] if projects else "")


def _names(text: str, *patterns: str) -> list[str]:
    """Return the names that the patterns find, in the order of the text."""
    found = [match for pattern in patterns for match in re.finditer(pattern, text)]
    said = [match.group(match.lastindex or 0) for match in sorted(found, key=lambda match: match.start())]
    return [name for text in said if (name := _name(text))]


def _name(text: str) -> str:
    try:
        return check_name(text, "name")
    except InvalidName:
        return ""


def address(
    marker: Marker,
    dispatches: Sequence[AddressedDispatch],
    *,
    context: TurnContext,
    rosters: dict[str, Collection[str]],
) -> Address | Fault:
    """Decide which handoff a marker answers, from the dispatches on disk and the roster of each project.

    A task id or project that the marker leaves out comes from the one open dispatch it can mean, told apart by the context
    where there are several. Without a dispatch the marker must name all three itself, and a seat of that project.
    """
    fitting = [item for item in dispatches if item.concerns(marker.seat) and _agrees(marker, item)]
    waiting = [item for item in fitting if item.is_open]
    if len(waiting) > 1:
        waiting = [item for item in waiting if _is_meant(context, item)]
    if not marker.task_id and (done := _answered_at_hand(marker, context, fitting)):
        return done
    if len({(item.project, item.task_id) for item in waiting}) == 1:
        return Address(waiting[0].project, waiting[0].task_id, marker.seat)
    if len(waiting := [item for item in fitting if item.is_open]) > 1:
        return ambiguous(marker, waiting)
    if fitting and marker.task_id:
        fault = _fault(marker, "already_delivered", say("the dispatch is answered and consumed"))
        projects = dict.fromkeys(item.project for item in fitting)
        places = tuple(Address(project, marker.task_id, marker.seat) for project in projects)
        return Answered(fault.code, fault.sentence, fault.start, fault.end, places)
    others = [
        item
        for item in dispatches
        if item.is_open and _agrees(marker, item) and marker.seat in rosters.get(item.project, ())
    ]
    if others:
        asker, task = others[0].reply_to or others[0].source, others[0].task_id
        return _fault(marker, "other_asker", say("{asker} waits for the answer to {task}", asker=asker, task=task))
    outcome = _unsolicited(marker, rosters)
    if isinstance(outcome, Fault) and (near := _near(marker, dispatches, rosters)):
        sentence = joined(" ", [outcome.sentence, say("Did you mean {near}?", near=near)])
        return Fault(outcome.code, sentence, outcome.start, outcome.end)
    return outcome


def _answered_at_hand(marker: Marker, context: TurnContext, fitting: Sequence[AddressedDispatch]) -> Fault | None:
    """Return the fault of a marker without a task if the context names one that is answered, None if it does not."""
    meant = [item for item in fitting if _is_meant(context, item)] if context.task_id else []
    if all(item.is_open for item in meant):
        return None
    if any(item.is_open for item in meant) and len({item.project for item in meant}) > 1:
        return ambiguous(marker, meant)
    reason = say(
        "the task at hand, {task}, is answered and consumed; a marker that names it keeps another answer aside",
        task=context.task_id,
    )
    return _fault(marker, "already_delivered", reason)


def told_before(marker: Marker, where: Address | Fault, told: str, context: TurnContext) -> Address | Fault:
    """Return what a marker without a task means if the answer to the task `told` said just this text."""
    if isinstance(where, Fault):
        if where.code != "missing_task_id":
            return where
        return _fault(marker, "already_delivered", say("this text is the answer to {task} already", task=told))
    if context.task_id == where.task_id:
        return where
    return _fault(
        marker,
        "ambiguous_task",
        say(
            "this text is the answer to {task} already; a marker that names {other} delivers it",
            task=told,
            other=where.task_id,
        ),
    )


_MOST_NAMED = 5


def ambiguous(marker: Marker, items: Sequence[AddressedDispatch | Address]) -> Fault:
    """Return the fault of a marker that several dispatches fit, with what each would be called in it."""
    named = [f"task_id={item.task_id} project={item.project}" for item in items[:_MOST_NAMED]]
    more = ["…"] if len(items) > _MOST_NAMED else []
    return _fault(marker, "ambiguous_task", say("several dispatches fit: {named}", named=joined(", ", named + more)))


def _near(marker: Marker, dispatches: Sequence[AddressedDispatch], rosters: dict[str, Collection[str]]) -> str:
    """Return the seat and the task of the first open dispatch that a marker may mean with a slip in them, "" for none."""
    is_seat = any(marker.seat in seats for seats in rosters.values())
    for item in sorted(dispatches, key=lambda one: not differs_in_case(marker.task_id, one.task_id)):
        seat = marker.seat if item.concerns(marker.seat) else item.reply_to or item.source
        fits = seat == marker.seat or (not is_seat and is_mistyped(marker.seat, seat))
        if not item.is_open or not fits or marker.project not in ("", item.project):
            continue
        if not marker.task_id:
            return f"seat={seat}"
        if marker.task_id == item.task_id or is_mistyped(marker.task_id, item.task_id):
            return f"seat={seat} task_id={item.task_id}"
    return ""


def _unsolicited(marker: Marker, rosters: dict[str, Collection[str]]) -> Address | Fault:
    if not marker.task_id:
        return _fault(marker, "missing_task_id", say("no open dispatch fits and the marker names no task"))
    if not marker.project:
        return _fault(marker, "unknown_task", say("no open dispatch fits and the marker names no project"))
    if marker.project not in rosters:
        return _fault(marker, "unknown_project", say("the project {project} has no profile", project=marker.project))
    if marker.seat not in rosters[marker.project]:
        return _fault(marker, "unknown_seat", say("the project {project} has no such seat", project=marker.project))
    return Address(marker.project, marker.task_id, marker.seat, unsolicited=True)


def _agrees(marker: Marker, item: AddressedDispatch) -> bool:
    return marker.task_id in ("", item.task_id) and marker.project in ("", item.project)


def _is_meant(context: TurnContext, item: AddressedDispatch) -> bool:
    if not context.task_id and not context.project:
        return False
    return context.task_id in ("", item.task_id) and context.project in ("", item.project)


def _fault(marker: Marker, code: str, reason: str) -> Fault:
    return Fault(
        code,
        say("Nothing was delivered to {seat}: {reason}.", seat=marker.seat, reason=reason),
        marker.start,
        marker.end,
    )
