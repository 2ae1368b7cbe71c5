"""When a planner is to be condensed, and what may leave a memory's index because it was merged. Pure: text in, text out."""

from __future__ import annotations

import re

from oracle.domain.values import value

MARKER = "[memory: compact-me]"
"""What a planner says when it wants to be condensed; the letters count as they are."""

MOST_LINES = 200
"""Lines of a MEMORY.md that an agent is given."""

_CLOSED, _COMPACTED = "phase=CLOSED", "compacted planner"
_MERGED = re.compile(r"✅[^\n]*?(?<![A-Za-z0-9_])(?:MERGED|Done|PASS)(?![A-Za-z0-9_])", re.IGNORECASE)
_UNFINISHED = ("✅ archived", "📤 DISPATCHED", "🚀 in flight", "⏳ pending")
_LINK = re.compile(r"\[([^\]\n]+)\]\(")
_DAY = re.compile(r"(?<!\d)(20\d\d)-(0[1-9]|1[0-2])-[0-3]\d(?!\d)")
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})")
_LONGEST_NAME = 120


def has_marker(text: str) -> bool:
    """Return whether a planner asks to be condensed."""
    return MARKER in text


def waves_since(text: str) -> int:
    """Return how many waves a status file closes after the planner was condensed last."""
    lines = text.splitlines()
    last = max((at for at, line in enumerate(lines) if _COMPACTED in line), default=-1)
    return sum(_CLOSED in line for line in lines[last + 1 :])


# Merged dispatches ----------------------------------------------------------------------------------------------------


@value
class Merged:
    """A bullet that is over: its task, the month (`2026_04`) under which it is kept, and its lines as written."""

    task_id: str
    period: str
    block: str

    @property
    def archive(self) -> str:
        """The name of the file that keeps it, beside the index."""
        return f"MEMORY_ARCHIVE_{self.period}.md"

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.block.count("\n") + 1

    @property
    def entry(self) -> str:
        """What is put into that file."""
        return f"## {self.task_id}\n\n{self.block}\n"


def archive_merged(text: str, *, period: str) -> tuple[str, tuple[Merged, ...]]:
    """Return (the index with a pointer in place of each bullet that was merged, those bullets in their order).

    A bullet without a date is kept under `period`. What waits, is in flight or was archived stays.
    """
    lines = text.split("\n")
    found: list[Merged] = []
    kept: list[str] = []
    at = 0
    for start, end in _bullets(lines):
        block = "\n".join(line.rstrip("\r") for line in lines[start:end])
        if not _MERGED.search(block) or any(word in block for word in _UNFINISHED):
            continue
        day = _DAY.search(block)
        merged = Merged(_name(block), f"{day[1]}_{day[2]}" if day else period, block)
        line_end = "\r" if lines[start].endswith("\r") else ""
        kept += [*lines[at:start], f"- {merged.task_id}: ✅ archived → see {merged.archive}{line_end}"]
        found.append(merged)
        at = end
    return "\n".join([*kept, *lines[at:]]), tuple(found)


def add_to_archive(text: str, found: tuple[Merged, ...], *, title: str) -> str:
    """Return an archive with the entries that it does not hold yet, in their order, each once."""
    whole = text or f"# {title}\n"
    for merged in found:
        if merged.entry not in whole:
            whole = f"{whole.rstrip()}\n\n{merged.entry}"
    return whole


def _bullets(lines: list[str]) -> list[tuple[int, int]]:
    """Return (first, behind the last) line of every top-level bullet with the indented lines that belong to it."""
    spans: list[tuple[int, int]] = []
    in_fence = is_open = False
    for at, line in enumerate(lines):
        if _FENCE.match(line):
            in_fence = not in_fence
            is_open = False
        elif in_fence:
            continue
        elif line.startswith("- "):
            spans.append((at, at + 1))
            is_open = True
        elif is_open and line[:1] in (" ", "\t") and line.strip():
            spans[-1] = (spans[-1][0], at + 1)
        elif line.strip():
            is_open = False
    return spans


def _name(block: str) -> str:
    first = block.split("\n")[0][2:].strip()
    link = _LINK.search(first)
    if link:
        return " ".join(link[1].removesuffix(".md").split())
    before, colon, _ = first.partition(":")
    if colon and 0 < len(before.strip()) <= _LONGEST_NAME:
        return before.strip()
    return (first.split() or ["untitled"])[0]
