"""The Markdown files of a task tree as text: queues, the task table, the dispatch log, deliveries. Pure: text in, text out.

Other tools write these files too, so a change touches only the lines it is about and keeps the rest as it stands. Titles and
objectives are data: what would read as a heading, a row, a rule or an ACK gets a visible backslash or stays in its cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from oracle.domain.values import NOTHING, value

PENDING, QUEUED, COMPLETED, SUPERSEDED = "pending", "queued", "completed", "superseded"
OPEN_STATES = (PENDING, QUEUED)
LOG_HEADER = "## dispatch log (append-only, last 20)"
LOG_LINES = 20
HEALED = "<!-- auto-healed by dispatch_task.py -->"
TABLE_HEADER = ("ID", "Title", "Owner", "Status", "Notes")

_HEADING = re.compile(r"^## \[([A-Za-z_-]+)\][ \t]+(\S+)[ \t]*\r?$")
_COMPLETED = re.compile(r"^# Completed[ \t]*\r?$")
_FIELD = re.compile(r"^([a-z_]+):[ \t]*(.*?)[ \t]*\r?$")
_BREAKS = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_STRUCTURE = re.compile(r"^([ \t]*)(?=#|(?:-[ \t]*){3,}$|=+[ \t]*$|Consumed:)")
_ROW = re.compile(r"^[ \t]*\|")
_CELL_END = re.compile(r"(?<!\\)(?:\\\\)*\|")


def one_line(text: str) -> str:
    r"""Return a text for the value of a field or the cell of a table: line breaks and control characters made visible."""
    parts = [part.strip() for part in _BREAKS.split(text)]
    return _visible(" ⏎ ".join(part for part in parts if part).replace("\t", " "))


def block(text: str) -> str:
    """Return a text of several lines that can't end its section: lines that look like structure get a backslash."""
    lines = [_STRUCTURE.sub(r"\1\\", line.rstrip()) for line in _BREAKS.split(text)]
    return _visible("\n".join(lines)).strip("\n")


def _visible(text: str) -> str:
    return _CONTROL.sub(lambda char: f"\\x{ord(char.group()):02x}", text)


# Queues (TODO.md) -----------------------------------------------------------------------------------------------------


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
    """Where an entry stands: its heading's line and the line behind its last one."""

    task_id: str
    state: str
    first: int
    end: int


def tasks_of(text: str) -> tuple[Task, ...]:
    """Return the entries of a queue in their order, whoever wrote them."""
    lines = text.split("\n")
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
    before, behind = _trim(lines[:at]), lines[at:]
    entry = ["", *_render_task(task, state), "", "---", ""]
    return "\n".join([*before, *entry, *behind]) if behind else "\n".join([*before, *entry])


def complete_task(text: str, task_id: str, *, day: str, note: str = "done") -> str:
    """Return the queue with the open entry of just this id completed and the next one promoted; unchanged without one."""
    lines = text.split("\n")
    if not _set_state(lines, task_id, COMPLETED):
        return text
    _promote(lines)
    return "\n".join(_in_completed(lines, f"- [{day}] {task_id} — {one_line(note)}"))


def supersede_task(text: str, task_id: str) -> str:
    """Return the queue with the open entry of just this id superseded and the next one promoted."""
    lines = text.split("\n")
    if not _set_state(lines, task_id, SUPERSEDED):
        return text
    _promote(lines)
    return "\n".join(lines)


def drop_task(text: str, task_id: str) -> str:
    """Return the queue without the open entries of just this id, the next one promoted."""
    lines = text.split("\n")
    doomed = [span for span in _spans(lines) if span.task_id == task_id and span.state in OPEN_STATES]
    if not doomed:
        return text
    for span in reversed(doomed):
        inner = (at for at in range(span.first, span.end) if _COMPLETED.match(lines[at]))
        del lines[span.first : next(inner, span.end)]  # what might be a history is never taken along
    _promote(lines)
    return "\n".join(lines)


def acknowledge_task(text: str, task_id: str, *, source: str, moment: str, seat: str) -> str:
    """Return the queue with the line `Consumed: <id> from <source> at <moment>`; unchanged when it is there already."""
    if find_acknowledgement(text, task_id, source):
        return text
    lines = _with_header(text, seat)
    return "\n".join(_in_completed(lines, f"Consumed: {task_id} from {source} at {moment}"))


def find_acknowledgement(text: str, task_id: str, source: str) -> str:
    """Return the ACK line of just this task from just this seat, or ""."""
    start = f"Consumed: {task_id} from {source} at "
    return next((line.rstrip("\r") for line in text.split("\n") if line.startswith(start)), "")


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
        elif named := _FIELD.match(line):
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
    """Return the lines of a queue, with its header; a file of one task in the old form becomes a pending entry."""
    plain = text.removeprefix("\ufeff")
    if not plain.strip():
        return [f"# Queue: {seat}", ""]
    lines = plain.split("\n")
    legacy = _FIELD.match(lines[0])
    if not legacy or legacy[1] != "task_id":
        return text.split("\n")
    if legacy[2] in ("null", "", "~") or " " in legacy[2]:
        return [f"# Queue: {seat}", ""]
    return [f"# Queue: {seat}", "", f"## [{PENDING}] {legacy[2]}", *_trim(lines), "", "---", ""]


def _completed_at(lines: Sequence[str], spans: Sequence[_Span]) -> int:
    """Return the line of `# Completed`, or the number of lines; inside an entry's text of another tool it is none."""
    if spans:
        return spans[-1].end
    return next((at for at, line in enumerate(lines) if _COMPLETED.match(line)), len(lines))


def _trim(lines: Sequence[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def _set_state(lines: list[str], task_id: str, state: str) -> bool:
    for span in _spans(lines):
        if span.task_id == task_id and span.state in OPEN_STATES:
            lines[span.first] = f"## [{state}] {task_id}{_line_end(lines[span.first])}"
            return True
    return False


def _promote(lines: list[str]) -> None:
    spans = _spans(lines)
    first = next((span for span in spans if span.state in OPEN_STATES), None)
    if first is not None and not any(span.state == PENDING for span in spans):
        lines[first.first] = f"## [{PENDING}] {first.task_id}{_line_end(lines[first.first])}"


def _line_end(line: str) -> str:
    return "\r" if line.endswith("\r") else ""


def _in_completed(lines: list[str], entry: str) -> list[str]:
    """Return the lines with an entry at the end of the section `# Completed`, which is made when there is none."""
    at = _completed_at(lines, _spans(lines))
    if at >= len(lines):
        return [*_trim(lines), "", "# Completed", "", entry, ""]
    section = _trim(lines[at:])
    gap = [""] if len(section) == 1 else []
    return [*lines[:at], *section, *gap, entry, ""]


# The task table (TASKS.md) --------------------------------------------------------------------------------------------


def upsert_row(text: str, task_id: str, cells: Mapping[str, str]) -> str:
    """Return the table with the row of just this id: the given columns changed, or a new row behind the last one."""
    lines = text.split("\n")
    head = next((at for at, line in enumerate(lines) if _is_header(line)), -1)
    if head < 0:
        kept = _trim(lines)
        gap = [""] if kept else []
        return "\n".join(
            [*kept, *gap, _row(TABLE_HEADER), _row(["---"] * len(TABLE_HEADER)), _new_row(task_id, cells), ""]
        )
    columns = [cell.casefold() for cell in _cells(lines[head])]
    end = head + 1
    while end < len(lines) and _ROW.match(lines[end]):
        old = _cells(lines[end])
        if old and unescape_cell(old[0]) == task_id:
            lines[end] = _row(_changed(old, columns, cells)) + _line_end(lines[end])
            return "\n".join(lines)
        end += 1
    new = {"id": task_id, **{key.casefold(): value for key, value in cells.items()}}
    lines.insert(end, _row([cell(new.get(column, "")) for column in columns]) + _line_end(lines[head]))
    if end == len(lines) - 1:
        lines.append("")
    return "\n".join(lines)


def rows_of(text: str) -> tuple[dict[str, str], ...]:
    """Return the rows of the table by column name; a file without one has none."""
    lines = text.split("\n")
    head = next((at for at, line in enumerate(lines) if _is_header(line)), -1)
    found = []
    columns = _cells(lines[head]) if head >= 0 else []
    for line in lines[head + 1 :] if head >= 0 else []:
        if not _ROW.match(line):
            break
        values = [unescape_cell(value) for value in _cells(line)]
        if not all(set(value) <= set("-: ") for value in values):
            found.append(dict(zip(columns, values, strict=False)))
    return tuple(found)


def cell(text: str) -> str:
    """Return a text for a cell: one line, its bars and backslashes escaped."""
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|")


def unescape_cell(text: str) -> str:
    """Return what a cell says."""
    return re.sub(r"\\([\\|])", r"\1", text.strip())


def _is_header(line: str) -> bool:
    return bool(_ROW.match(line)) and [name.casefold() for name in _cells(line)][:2] == ["id", "title"]


def _cells(line: str) -> list[str]:
    """Split a row at its bars; one behind an odd number of backslashes is none."""
    text = line.strip().removeprefix("|")
    cells: list[str] = []
    start = 0
    for bar in _CELL_END.finditer(text):
        cells.append(text[start : bar.end() - 1].strip())
        start = bar.end()
    rest = text[start:].strip()
    return [*cells, rest] if rest else cells


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _new_row(task_id: str, cells: Mapping[str, str]) -> str:
    named = {key.casefold(): value for key, value in cells.items()}
    return _row([cell(task_id), *(cell(named.get(column.casefold(), "")) for column in TABLE_HEADER[1:])])


def _changed(old: Sequence[str], columns: Sequence[str], cells: Mapping[str, str]) -> list[str]:
    new = {key.casefold(): cell(value) for key, value in cells.items()}
    padded = [*old, *([""] * (len(columns) - len(old)))]
    return [new.get(column, value) for column, value in zip(columns, padded, strict=False)] + padded[len(columns) :]


# The dispatch log (STATUS.md) -----------------------------------------------------------------------------------------


def append_log(text: str, line: str) -> tuple[str, bool]:
    """Return (the file with a line in its dispatch log, whether the log's header was missing and was put back).

    The log keeps its last 20 lines; what stands around it is left alone.
    """
    lines = text.split("\n")
    head = next((at for at, one in enumerate(lines) if one.rstrip() == LOG_HEADER), -1)
    entry = f"- {one_line(line)}"
    if head < 0 and not text.strip():
        return f"{LOG_HEADER}\n\n{entry}\n", False
    if head < 0:
        return "\n".join([*_trim(lines), "", LOG_HEADER, HEALED, "", entry, ""]), True
    end = next((at for at in range(head + 1, len(lines)) if re.match(r"#{1,6} ", lines[at])), len(lines))
    section, rest = _trim(lines[head + 1 : end]), lines[end:]
    entries = [at for at, one in enumerate(section) if one.startswith("- ")]
    doomed = set(entries[: max(0, len(entries) + 1 - LOG_LINES)])
    kept = [one for at, one in enumerate(section) if at not in doomed]
    gap = [] if kept else [""]
    return "\n".join([*lines[: head + 1], *kept, *gap, entry, "", *rest]), False


def log_of(text: str) -> tuple[str, ...]:
    """Return the lines of the dispatch log, the oldest first, without their dashes."""
    lines = text.split("\n")
    head = next((at for at, one in enumerate(lines) if one.rstrip() == LOG_HEADER), len(lines))
    return tuple(one[2:].rstrip("\r") for one in _until_heading(lines[head + 1 :]) if one.startswith("- "))


def _until_heading(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if re.match(r"#{1,6} ", line):
            return
        yield line


# Deliveries (DELIVERY.md) ---------------------------------------------------------------------------------------------

DELIVERY_FIELDS = ("task_id", "owner", "target", "status", "date", "correlation_id", "branch", "commit", "sweep_count")
DELIVERY_PARAGRAPHS = ("Verdict", "FrontstageDisposition", "UserSummary", "NextAction", "core_ux_gate")


def render_delivery(fields: Mapping[str, str], *, title: str, summary: str, paragraphs: Mapping[str, str]) -> str:
    """Return a DELIVERY.md; fields and paragraphs without a text are left out."""
    lines = [f"{key}: {one_line(fields[key])}" for key in DELIVERY_FIELDS if fields.get(key)]
    lines += ["", f"# Delivery: {one_line(title)}", "", "## Summary", "", block(summary)]
    for key in DELIVERY_PARAGRAPHS:
        if paragraphs.get(key):
            lines += ["", f"{key}: {one_line(paragraphs[key])}"]
    return "\n".join(lines) + "\n"


def delivery_fields(text: str) -> dict[str, str]:
    """Return the fields at the head of a DELIVERY.md, whoever wrote it; the first of a name counts."""
    found: dict[str, str] = {}
    for line in text.removeprefix("\ufeff").split("\n"):
        named = _FIELD.match(line)
        if line.startswith("#"):
            break
        if named:
            found.setdefault(named[1], named[2])
    return found
