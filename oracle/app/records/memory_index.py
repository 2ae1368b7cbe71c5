"""Print `_index/MEMORY.md` of a project: a line for each memory that holds, of the project and of none.

A session can load it whole: it has at most 200 lines of at most 150 characters. What was written or linked to last comes first.
"""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.app.records.views import Summary
from oracle.domain.markdown.documents import clip
from oracle.domain.records import remembered
from oracle.domain.records.remembered import MEMORY_TYPES
from oracle.index.db import Connection
from oracle.index.read import memories
from oracle.store.markdown import records

NAME = "MEMORY.md"
MOST_LINES, LONGEST_LINE = 200, 150
_HEAD = 2
_SHORTEST = 12
"""Characters below which the beginning of a text tells nothing."""
_MANY = 10_000

TYPE_KEYS = tuple(map(remembered.type_key, MEMORY_TYPES))


def print_memories(context: Context, connection: Connection, project: str) -> str:
    """Return the text of a project's MEMORY.md, "" for a project without a memory of its own or of all."""
    found = [Summary.from_row(row) for row in memories.last_used(connection, project, TYPE_KEYS, limit=_MANY)]
    if not found:
        return ""
    room = MOST_LINES - _HEAD
    shown = found if len(found) <= room else found[: room - 1]
    lines = [f"# Memories of {project}", "", *(_line(context, record) for record in shown)]
    if len(shown) < len(found):
        lines.append(
            f"{len(found) - len(shown)} more: `oracle backlinks {TYPE_KEYS[0]}`, and likewise the other types."
        )
    return "".join(f"{line}\n" for line in lines)


def _line(context: Context, record: Summary) -> str:
    """Return the line of one memory: a link, its type, and the beginning of its text as far as there is room."""
    document = records.read_document(context.root, record.path)
    memory_type = remembered.memory_type_in(document.fields) if document else ""
    text = remembered.parse_parts(document.body).statement if document else ""
    path = os.path.relpath(record.path, f"projects/{record.project or '_'}/_index")
    link, label = f"]({path})", f" — {memory_type}"
    title = clip(_plain(record.title), LONGEST_LINE - len(f"- [{link}{label}"))
    head = f"- [{title}{link}{label}"
    hook, rest = _plain(text), LONGEST_LINE - len(head) - len(": ")
    says_more = remembered.title_of(hook) != record.title or len(hook) > len(record.title) + _SHORTEST
    return f"{head}: {clip(hook, rest)}" if hook and says_more and rest >= _SHORTEST else head


def _plain(text: str) -> str:
    """Return a text on one line, without what would end or open a link."""
    return " ".join(text.replace("[", "(").replace("]", ")").split())
