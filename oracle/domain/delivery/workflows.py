"""A task's workflow.md as text: its steps, what they wait for, how far each is. Pure: text in, text out.

People and other tools write these files, so a change touches the one line it is about. A step is a heading `## Step <n>: <name>`
with `key: value` lines below it, a list in brackets or as YAML's block of dashes; the first line of a key counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from oracle.domain.delivery.task_files import LOG_HEADER, one_line
from oracle.domain.spelling import guess
from oracle.domain.values import replace, value
from oracle.errors import UsageError
from oracle.wording import Sentence, joined, say

PENDING, IN_PROGRESS, DONE, BLOCKED = "pending", "in_progress", "done", "blocked"
STATUSES = (PENDING, IN_PROGRESS, DONE, BLOCKED)
NEXT = {PENDING: (IN_PROGRESS,), IN_PROGRESS: (DONE, BLOCKED), DONE: (), BLOCKED: ()}
"""Which status may follow which."""

_HEADING = re.compile(r"^##[ \t]+Step[ \t]+(\d+)[ \t]*[:：][ \t]*(.*?)[ \t]*#*[ \t]*\r?$", re.IGNORECASE)
_SECTION = re.compile(r"^#{1,2}[ \t]")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_FIELD = re.compile(r"^(?:[-*][ \t]+)?(?:\*\*)?([a-z_]+)(?:\*\*)?:(?:\*\*)?(?=[ \t\r]|$)[ \t]*(.*?)[ \t]*\r?$")
_ITEM = re.compile(r"^[ \t]*-[ \t]+(.*?)[ \t]*\r?$")
_PART = re.compile(r"""[ \t]*(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^,]*))[ \t]*(?:,|$)""")
_COMMENT = re.compile(r"[ \t]+#.*$|^#.*$")
_QUOTED_OR_COMMENT = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|((?:^|[ \t]+)#.*$)""")
_EMPTY = ("", "null", "~", "none")


@value
class WorkflowStep:
    """One step: what it waits for (names of steps), who does it and who is notified when it is done or blocked."""

    number: int
    name: str
    status: str = PENDING
    owner_role: str = ""
    owner_seat: str = ""
    prereq: tuple[str, ...] = ()
    notify_on_done: tuple[str, ...] = ()
    notify_on_blocked: tuple[str, ...] = ()

    def is_called(self, text: str) -> bool:
        """Return whether a text names this step: by its name, its number or `Step <n>`."""
        said = text.strip().casefold()
        return said in (
            self.name.casefold(),
            str(self.number),
            f"step {self.number}",
            f"step {self.number}: {self.name}".casefold(),
        )


@value
class _Span:
    number: int
    name: str
    first: int
    end: int


# Read -----------------------------------------------------------------------------------------------------------------


def steps_of(text: str) -> tuple[WorkflowStep, ...]:
    """Return the steps of a workflow in their order, in every form."""
    lines = text.split("\n")
    return tuple(_read_step(lines, span) for span in _spans(lines))


def _spans(lines: Sequence[str]) -> list[_Span]:
    """Find the steps; a heading inside a fence is an example of one."""
    marks: list[tuple[int, re.Match[str] | None]] = []
    fence = ""
    for at, line in enumerate(lines):
        opened = _FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
        elif not fence and _SECTION.match(line):
            marks.append((at, _HEADING.match(line)))
    ends = [*(at for at, _ in marks[1:]), len(lines)][: len(marks)]
    return [_Span(int(found[1]), found[2], at, end) for (at, found), end in zip(marks, ends, strict=True) if found]


def _read_step(lines: Sequence[str], span: _Span) -> WorkflowStep:
    fields = _fields(lines[span.first + 1 : span.end])

    def one(key: str) -> str:
        return next(iter(fields.get(key, ())), "")

    return WorkflowStep(
        span.number,
        span.name,
        re.sub(r"[ -]+", "_", (one("status") or PENDING).casefold()),
        one("owner_role"),
        one("owner_seat"),
        fields.get("prereq", ()),
        fields.get("notify_on_done", ()),
        fields.get("notify_on_blocked", ()),
    )


def _fields(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return every field as a list of texts; a list may go on below its key, in dashes or up to its closing bracket."""
    found: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(lines):
        named = _FIELD.match(lines[at])
        at += 1
        if not named:
            continue
        value = named[2]
        while _is_open(value) and at < len(lines) and not _FIELD.match(lines[at]):
            value = f"{_uncomment(value)} {lines[at].strip()}"
            at += 1
        items = _items(value)
        while not _uncomment(value) and at < len(lines) and (item := _item(lines[at])) is not None:
            items += [item] if item else []
            at += 1
        found.setdefault(named[1], tuple(items))
    return found


def _is_open(value: str) -> bool:
    text = _uncomment(value)
    return text.startswith("[") and not text.endswith("]")


def _item(line: str) -> str | None:
    """Return the text of a dash below a key, None for another line: also for a field that is written behind a dash."""
    found = None if _FIELD.match(line) else _ITEM.match(line)
    return _scalar(found[1]) if found else None


def _items(value: str) -> list[str]:
    text = _uncomment(value)
    if not (text.startswith("[") and text.endswith("]")):
        one = _scalar(value)
        return [one] if one else []
    inner = text[1:-1]
    found, at = [], 0
    while at < len(inner) and (part := _PART.match(inner, at)):
        found.append(_scalar(part[0].rstrip().removesuffix(",")))
        at = part.end()
    return [one for one in found if one]


def _scalar(text: str) -> str:
    """Return what a scalar says: without quotes and comment, "" for null."""
    quoted = re.match(r"""^[ \t]*(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')[ \t]*(?:#.*)?$""", text)
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted[1]) if quoted[1] is not None else quoted[2].replace("''", "'")
    plain = _uncomment(text)
    return "" if plain.casefold() in _EMPTY else plain


def _uncomment(text: str) -> str:
    """Return a value without its comment; quotes hold no comment."""
    for found in _QUOTED_OR_COMMENT.finditer(text):
        if found[1] is not None:
            return text[: found.start()].strip()
    return text.strip()


# What holds of a whole workflow ---------------------------------------------------------------------------------------


def find_faults(steps: Sequence[WorkflowStep]) -> list[Sentence]:
    """Return a sentence for each step that is there twice or waits for an unknown one, and for a cycle.

    A status of another tool's is no fault: such a step is not begun, and what waits for it waits on.
    """
    faults = []
    for at, step in enumerate(steps):
        if any(other.number == step.number or other.name.casefold() == step.name.casefold() for other in steps[:at]):
            faults.append(say("step {number} ({name}) exists twice", number=step.number, name=step.name))
        unknown = [name for name in step.prereq if find_step(steps, name) is None]
        if unknown:
            faults.append(
                say(
                    "step {number} ({name}) waits for {unknown}, which is not a step",
                    number=step.number,
                    name=step.name,
                    unknown=unknown,
                )
            )
    cycle = _cycle(steps)
    return [*faults, say("the steps {cycle} wait for each other", cycle=" → ".join(cycle))] if cycle else faults


def require_sound(steps: Sequence[WorkflowStep], hint: str) -> None:
    """Raise UsageError with the hint for a workflow that has a fault."""
    if faults := find_faults(steps):
        raise UsageError(say("The workflow can't be followed: {faults}.", faults=joined("; ", faults)), hint=hint)


def _cycle(steps: Sequence[WorkflowStep]) -> list[str]:
    from graphlib import CycleError, TopologicalSorter

    graph = {step.number: {found.number for name in step.prereq if (found := find_step(steps, name))} for step in steps}
    names = {step.number: step.name for step in steps}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [names[number] for number in error.args[1]]
    return []


def find_step(steps: Iterable[WorkflowStep], text: str) -> WorkflowStep | None:
    """Return the step that a text names; a name counts before a number."""
    known = tuple(steps)
    exact = (step for step in known if step.name.casefold() == text.strip().casefold())
    return next(exact, None) or next((step for step in known if step.is_called(text)), None)


def waits_for(steps: Sequence[WorkflowStep], step: WorkflowStep) -> list[str]:
    """Return the names of the steps that must be done first and are not."""
    found = [(name, find_step(steps, name)) for name in step.prereq]
    return [name for name, other in found if other is None or other.status != DONE]


def list_ready(steps: Sequence[WorkflowStep], role: str) -> list[WorkflowStep]:
    """Return the pending steps of a role whose prerequisites are done; none of a workflow with a fault."""
    pending = [step for step in steps if step.status == PENDING and role in (step.owner_role, step.owner_seat)]
    return [] if find_faults(steps) else [step for step in pending if not waits_for(steps, step)]


def overall(steps: Sequence[WorkflowStep]) -> str:
    """Return the status of the whole: blocked as soon as a step is, done when all are, in progress once one was begun."""
    statuses = {step.status for step in steps}
    if BLOCKED in statuses:
        return BLOCKED
    if statuses == {DONE}:
        return DONE
    return IN_PROGRESS if statuses & {DONE, IN_PROGRESS} else PENDING


# Write ----------------------------------------------------------------------------------------------------------------


def render_workflow(task_id: str, template: str, steps: Sequence[WorkflowStep] = ()) -> str:
    """Return a new workflow.md."""
    head = f"# Workflow: {task_id}\n\nworkflow_template: {one_line(template)}\n"
    if not steps:
        return f"{head}\nsteps: []\n"
    return head + "".join(f"\n{_render_step(step)}" for step in steps)


def _render_step(step: WorkflowStep) -> str:
    fields: Mapping[str, object] = {
        "owner_role": step.owner_role,
        "owner_seat": step.owner_seat,
        "mode": "single",
        "status": step.status,
        "prereq": step.prereq,
        "notify_on_done": step.notify_on_done,
        "notify_on_blocked": step.notify_on_blocked,
    }
    lines = [f"## Step {step.number}: {one_line(step.name)}", ""]
    for key, item in fields.items():
        if isinstance(item, tuple):
            lines.append(f"{key}: [{', '.join(map(_quote, item))}]")
        elif item:
            lines.append(f"{key}: {_quote(str(item))}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    plain = one_line(text)
    if re.fullmatch(r"\w[\w .-]*\w|\w", plain) and plain.casefold() not in _EMPTY:
        return plain
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def advance(text: str, name: str, status: str) -> tuple[str, WorkflowStep]:
    """Return (the workflow with one step's status changed, that step as it is now); unchanged when it was so already.

    Raises UsageError for a workflow with a fault, an unknown step or status, and a change that may not be made.
    """
    lines = text.split("\n")
    spans = _spans(lines)
    steps = [_read_step(lines, span) for span in spans]
    require_sound(steps, say("Correct workflow.md."))
    step = find_step(steps, name)
    if step is None:
        known = [one.name for one in steps]
        hint = guess(name, known) or say("Its steps are: {known}.", known=known or say("none"))
        raise UsageError(say("The workflow has no step {name!r}.", name=name[:80]), hint=hint)
    if status == step.status:
        return text, step
    allowed = NEXT.get(step.status, ())
    if status not in allowed:
        raise UsageError(
            say(
                "The step {name} is {status} and can't become {wanted}.",
                name=step.name,
                status=step.status[:40],
                wanted=status[:40],
            ),
            hint=("" if status in STATUSES else guess(status, allowed)) or _allow(allowed),
        )
    _set_status(lines, spans[steps.index(step)], status)
    return "\n".join(lines), replace(step, status=status)


def _allow(statuses: Sequence[str]) -> Sentence:
    if statuses:
        return say("It may become {allowed}.", allowed=joined(" or ", statuses))
    return say("This status is final; to reopen the step, edit workflow.md.")


def _set_status(lines: list[str], span: _Span, status: str) -> None:
    """Change the step's line of its status, comment and line end kept; one without such a line gets it below its heading."""
    for at in range(span.first + 1, span.end):
        named = _FIELD.match(lines[at])
        if named and named[1] == "status":
            start = named.start(2)
            comment = _COMMENT.search(named[2])
            rest = comment[0] if comment else ""
            end = "\r" if lines[at].endswith("\r") else ""
            gap = "" if lines[at][:start].endswith((" ", "\t")) else " "
            lines[at] = f"{lines[at][:start]}{gap}{status}{' ' if rest[:1] == '#' else ''}{rest}{end}"
            return
    end = "\r" if lines[span.first].endswith("\r") else ""
    lines.insert(span.first + 1, f"status: {status}{end}")


# STATUS.md of a task --------------------------------------------------------------------------------------------------

_STATUS_LINE = re.compile(r"^status:[^\n\r]*", re.MULTILINE)


def render_status(task_id: str) -> str:
    """Return a new STATUS.md of a task."""
    note = "<!-- The steps are in workflow.md; this line follows them. -->"
    return f"# Status: {task_id}\n\nstatus: {PENDING}\n{note}\n\n{LOG_HEADER}\n"


def set_overall(text: str, status: str) -> str:
    """Return a STATUS.md whose `status:` line says this; without such a line it stays as it is."""
    return _STATUS_LINE.sub(f"status: {status}", text, count=1)
