"""The Markdown files of a task tree as text: the task table, the dispatch log, deliveries. Pure: text in, text out.

Other tools write these files too, so a change touches only the lines it is about and keeps the rest as it is. Titles and
objectives are data: what would read as a heading, a row, a rule or an ACK gets a visible backslash or stays in its cell. The
queues keep to the same and are the business of `task_queue`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

LOG_HEADER = "## dispatch log (append-only, last 20)"
LOG_LINES = 20
HEALED = "<!-- auto-healed by dispatch_task.py -->"
FIELD = re.compile(r"^([a-z_]+):[ \t]*(.*?)[ \t]*\r?$")
"""A line that names a field, at the head of a delivery and in a queue's entry."""

TABLE_HEADER = ("ID", "Title", "Owner", "Status", "Notes")

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


def trim(lines: Sequence[str]) -> list[str]:
    """Return lines without the blank ones at their end."""
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def line_end(line: str) -> str:
    r"""Return the `\r` that a line ends in, "" for one that does not."""
    return "\r" if line.endswith("\r") else ""


# The task table (TASKS.md) --------------------------------------------------------------------------------------------


def upsert_row(text: str, task_id: str, cells: Mapping[str, str]) -> str:
    """Return the table with the row of just this id: the given columns changed, or a new row behind the last one."""
    lines = text.split("\n")
    head = next((at for at, line in enumerate(lines) if _is_header(line)), -1)
    if head < 0:
        kept = trim(lines)
        gap = [""] if kept else []
        return "\n".join(
            [*kept, *gap, _row(TABLE_HEADER), _row(["---"] * len(TABLE_HEADER)), _new_row(task_id, cells), ""]
        )
    columns = [cell.casefold() for cell in _cells(lines[head])]
    end = head + 1
    while end < len(lines) and _ROW.match(lines[end]):
        old = _cells(lines[end])
        if old and unescape_cell(old[0]) == task_id:
            lines[end] = _row(_changed(old, columns, cells)) + line_end(lines[end])
            return "\n".join(lines)
        end += 1
    new = {"id": task_id, **{key.casefold(): value for key, value in cells.items()}}
    lines.insert(end, _row([cell(new.get(column, "")) for column in columns]) + line_end(lines[head]))
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
    """Split a row at its bars; one behind an odd number of backslashes does not count."""
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

    The log keeps its last 20 lines; the text around it is left alone.
    """
    lines = text.split("\n")
    head = next((at for at, one in enumerate(lines) if one.rstrip() == LOG_HEADER), -1)
    entry = f"- {one_line(line)}"
    if head < 0 and not text.strip():
        return f"{LOG_HEADER}\n\n{entry}\n", False
    if head < 0:
        return "\n".join([*trim(lines), "", LOG_HEADER, HEALED, "", entry, ""]), True
    end = next((at for at in range(head + 1, len(lines)) if re.match(r"#{1,6} ", lines[at])), len(lines))
    section, rest = trim(lines[head + 1 : end]), lines[end:]
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

DELIVERYFIELDS = ("task_id", "owner", "target", "status", "date", "correlation_id", "branch", "commit", "sweep_count")
DELIVERY_PARAGRAPHS = ("Verdict", "FrontstageDisposition", "UserSummary", "NextAction", "core_ux_gate")


def render_delivery(fields: Mapping[str, str], *, title: str, summary: str, paragraphs: Mapping[str, str]) -> str:
    """Return a DELIVERY.md; fields and paragraphs without a text are left out."""
    lines = [f"{key}: {one_line(fields[key])}" for key in DELIVERYFIELDS if fields.get(key)]
    lines += ["", f"# Delivery: {one_line(title)}", "", "## Summary", "", block(summary)]
    for key in DELIVERY_PARAGRAPHS:
        if paragraphs.get(key):
            lines += ["", f"{key}: {one_line(paragraphs[key])}"]
    return "\n".join(lines) + "\n"


def delivery_fields(text: str) -> dict[str, str]:
    """Return the fields at the head of a DELIVERY.md; the first of a name counts."""
    found: dict[str, str] = {}
    for line in text.removeprefix("\ufeff").split("\n"):
        named = FIELD.match(line)
        if line.startswith("#"):
            break
        if named:
            found.setdefault(named[1], named[2])
    return found


def heal_log(text: str) -> str:
    """Return a STATUS.md that has the header of its log."""
    if any(line.rstrip() == LOG_HEADER for line in text.split("\n")):
        return text
    return f"{text.rstrip()}\n\n{LOG_HEADER}\n{HEALED}\n"
