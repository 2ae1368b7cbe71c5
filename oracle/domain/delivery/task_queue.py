"""The queue of a seat (TODO.md) as text: its entries, their states, what was completed. Pure: text in, text out.

One entry is pending, those behind it are queued; whatever ends it promotes the next. Other tools write queues too: a change
touches only the lines that it is about, as in every file of the task tree (`task_files`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from oracle.domain.delivery.task_files import FIELD, block, line_end, one_line, trim
from oracle.domain.values import NOTHING, value

PENDING, QUEUED, COMPLETED, SUPERSEDED = "pending", "queued", "completed", "superseded"
OPEN_STATES = (PENDING, QUEUED)

_HEADING = re.compile(r"^## \[([A-Za-z_-]+)\][ \t]+(\S+)[ \t]*\r?$")
_COMPLETED = re.compile(r"^# Completed[ \t]*\r?$")


@value
class Task:
    """One entry of a queue: its state, and its fields in the order they are written."""

    task_id: str
    state: str
    fields: Mapping[str, str] = NOTHING
    objective: str = ""
    skill_refs: tuple[str, ...] = ()


@value
class _Span:
    """The place of an entry: its heading's line and the line behind its last one."""

    task_id: str
    state: str
    first: int
    end: int


def tasks_of(text: str) -> tuple[Task, ...]:
    """Return the entries of a queue in their order, those of other tools too."""
    lines = _lines(text)
    return tuple(_read_task(lines, span) for span in _spans(lines))


def find_open(text: str, task_id: str) -> Task | None:
    """Return the entry of just this id that is pending or queued."""
    return next((task for task in tasks_of(text) if task.task_id == task_id and task.state in OPEN_STATES), None)


def append_task(text: str, task: Task, *, seat: str) -> str:
    """Return the queue with an entry at its end: pending when no other is, else queued. The caller looked for its id."""
    lines = _with_header(text, seat)
    spans = _spans(lines)
    state = QUEUED if any(span.state == PENDING for span in spans) else PENDING
    at = _completed_at(lines, spans)
    before, behind = trim(lines[:at]), lines[at:]
    entry = ["", *_render_task(task, state), "", "---", ""]
    return "\n".join([*before, *entry, *behind]) if behind else "\n".join([*before, *entry])


def complete_task(text: str, task_id: str, *, day: str, note: str = "done") -> str:
    """Return the queue with the open entry of just this id completed and the next one promoted; unchanged without one."""
    lines = _lines(text)
    if not _set_state(lines, task_id, COMPLETED):
        return text
    _promote(lines)
    return "\n".join(_in_completed(lines, f"- [{day}] {task_id} — {one_line(note)}"))


def supersede_task(text: str, task_id: str) -> str:
    """Return the queue with the open entry of just this id superseded and the next one promoted."""
    lines = _lines(text)
    if not _set_state(lines, task_id, SUPERSEDED):
        return text
    _promote(lines)
    return "\n".join(lines)


def drop_task(text: str, task_id: str) -> str:
    """Return the queue without the open entries of just this id, the next one promoted."""
    lines = _lines(text)
    doomed = [span for span in _spans(lines) if span.task_id == task_id and span.state in OPEN_STATES]
    if not doomed:
        return text
    for span in reversed(doomed):
        inner = (at for at in range(span.first, span.end) if _COMPLETED.match(lines[at]))
        del lines[span.first : next(inner, span.end)]  # what might be a history is never taken along
    _promote(lines)
    return "\n".join(lines)


def acknowledge_task(text: str, task_id: str, *, source: str, moment: str, seat: str, earlier: str = "") -> str:
    """Return the queue with the line `Consumed: <id> from <source> at <moment>`; unchanged when it is there already.

    `earlier` is the line that acknowledged an answer which was replaced since: it stays and does not count.
    """
    line = f"Consumed: {task_id} from {source} at {moment}"
    found = find_acknowledgement(text, task_id, source)
    if found and (found == line or found != earlier):
        return text
    return "\n".join(_in_completed(_with_header(text, seat), line))


def find_acknowledgement(text: str, task_id: str, source: str) -> str:
    """Return the last ACK line of just this task from just this seat, or ""."""
    start = f"Consumed: {task_id} from {source} at "
    return next((line.rstrip("\r") for line in reversed(text.split("\n")) if line.startswith(start)), "")


def _spans(lines: Sequence[str]) -> list[_Span]:
    """Find the entries. `# Completed` ends the last one; where an entry follows, it is a line of some objective."""
    found = [(at, heading[1], heading[2]) for at, line in enumerate(lines) if (heading := _HEADING.match(line))]
    if not found:
        return []
    last = found[-1][0]
    end = next((at for at in range(len(lines) - 1, last, -1) if _COMPLETED.match(lines[at])), len(lines))
    ends = [at for at, _, _ in found[1:]] + [end]
    return [_Span(task, state, at, stop) for (at, state, task), stop in zip(found, ends, strict=True)]


def _read_task(lines: Sequence[str], span: _Span) -> Task:
    fields: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    section = ""
    for line in lines[span.first + 1 : span.end]:
        if line.startswith("### "):
            section = line[len("### ") :].strip()
        elif section:
            sections.setdefault(section, []).append(line.rstrip("\r"))
        elif named := FIELD.match(line):
            fields.setdefault(named[1], named[2])
    for body in sections.values():
        while body and body[-1].strip() in ("", "---"):
            body.pop()
    refs = tuple(line[2:].strip() for line in sections.get("Skill Refs", []) if line.startswith("- "))
    return Task(span.task_id, span.state, fields, "\n".join(sections.get("Objective", [])).strip("\n"), refs)


def _render_task(task: Task, state: str) -> list[str]:
    fields = {"task_id": task.task_id, **{key: value for key, value in task.fields.items() if key != "task_id"}}
    lines = [f"## [{state}] {task.task_id}", *(f"{key}: {one_line(value)}".rstrip() for key, value in fields.items())]
    lines += ["", "### Objective", "", *block(task.objective).split("\n")]
    if task.skill_refs:
        lines += ["", "### Skill Refs", *(f"- {one_line(ref)}" for ref in task.skill_refs)]
    return lines


def _with_header(text: str, seat: str) -> list[str]:
    """Return the lines of a queue, with its header."""
    lines = _lines(text)
    if _is_flat(text) or not text.removeprefix("\ufeff").strip():
        return [f"# Queue: {seat}", "", *(line for line in lines if lines != [""])]
    return lines


def _lines(text: str) -> list[str]:
    """Return the lines of a queue. A file of one task in the older form is one pending entry, without a task none."""
    if not _is_flat(text):
        return text.split("\n")
    lines = text.removeprefix("\ufeff").split("\n")
    task_id = lines[0].partition(":")[2].strip()
    if task_id in ("null", "", "~") or " " in task_id:
        return []
    return [f"## [{PENDING}] {task_id}", *trim(lines), "", "---", ""]


def _is_flat(text: str) -> bool:
    return text.removeprefix("\ufeff").startswith("task_id:")


def _completed_at(lines: Sequence[str], spans: Sequence[_Span]) -> int:
    """Return the line of `# Completed`, or the number of lines; inside an entry's text of another tool it does not count."""
    if spans:
        return spans[-1].end
    return next((at for at, line in enumerate(lines) if _COMPLETED.match(line)), len(lines))


def _set_state(lines: list[str], task_id: str, state: str) -> bool:
    for span in _spans(lines):
        if span.task_id == task_id and span.state in OPEN_STATES:
            lines[span.first] = f"## [{state}] {task_id}{line_end(lines[span.first])}"
            return True
    return False


def _promote(lines: list[str]) -> None:
    spans = _spans(lines)
    first = next((span for span in spans if span.state in OPEN_STATES), None)
    if first is not None and not any(span.state == PENDING for span in spans):
        lines[first.first] = f"## [{PENDING}] {first.task_id}{line_end(lines[first.first])}"


def _in_completed(lines: list[str], entry: str) -> list[str]:
    """Return the lines with an entry at the end of the section `# Completed`, which is made when there is none."""
    at = _completed_at(lines, _spans(lines))
    if at >= len(lines):
        return [*trim(lines), "", "# Completed", "", entry, ""]
    section = trim(lines[at:])
    gap = [""] if len(section) == 1 else []
    return [*lines[:at], *section, *gap, entry, ""]
