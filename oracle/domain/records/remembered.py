"""Memories of the four types that coding agents know: user, feedback, project, reference. Pure.

A record states its type in the frontmatter (`memory_type`). Claude Code's own files say `type`, and newer ones `metadata.type`.
"""

from __future__ import annotations

from collections.abc import Mapping

from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import Value, as_text
from oracle.domain.names import entity
from oracle.domain.records.records import Record
from oracle.domain.values import value

USER, FEEDBACK, PROJECT, REFERENCE = "user", "feedback", "project", "reference"
MEMORY_TYPES = (USER, FEEDBACK, PROJECT, REFERENCE)

KINDS = {USER: "decision", FEEDBACK: "decision", PROJECT: "finding", REFERENCE: "finding"}
"""The kind of record that holds each type: what people want is a decision, what is so outside the repository a finding."""

EXPLAINED = (FEEDBACK, PROJECT)
"""The types that say why they hold and how to apply them: both are needed to judge a case at the edge."""

_WHY, _APPLY = "why", "apply"
_LABELS = {
    "why": _WHY,
    "reason": _WHY,
    "为什么": _WHY,
    "原因": _WHY,
    "how to apply": _APPLY,
    "how to use": _APPLY,
    "如何应用": _APPLY,
    "如何使用": _APPLY,
    "怎么用": _APPLY,
}
_LABELLED = rf"(?im)^[ \t]*(?:[-*][ \t]+)?(?:\*\*|__)?({'|'.join(_LABELS)})(?:\*\*|__)?[ \t]*[:：](?:\*\*|__)?[ \t]*"
_LONGEST_TITLE = 80
_SENTENCE_END = r"(?<=[.!?])\s|(?<=[。！？])|[;；]|\s[—–]\s|\n"


@value
class Parts:
    """What a memory says: the statement, why it holds, and how to apply it; "" for what it does not say."""

    statement: str
    why: str = ""
    how_to_apply: str = ""


def memory_type_of(record: Record) -> str:
    """Return the type that a record states, one of MEMORY_TYPES, or "" for a record that was not written as such a memory."""
    return memory_type_in(record.document.fields)


def memory_type_in(fields: Mapping[str, Value]) -> str:
    """Return the type that frontmatter states; a bare `type` counts only beside `name` and `description`, as in Claude Code."""
    stated = fields.get("memory_type")
    if not stated and fields.get("name") and fields.get("description"):
        metadata = fields.get("metadata")
        stated = fields.get("type") or (metadata.get("type") if isinstance(metadata, dict) else "")
    text = as_text(stated or "").strip().lower()
    return text if text in MEMORY_TYPES else ""


def type_key(memory_type: str) -> str:
    """Return the entity that every memory of a type mentions."""
    return entity("key", f"memory/{memory_type}")


def parse_parts(body: str) -> Parts:
    """Split the text of a memory at its *Why* and *How to apply* lines, in English or Chinese, bold or not."""
    found = list(compiled(_LABELLED).finditer(body))
    parts = {_WHY: "", _APPLY: ""}
    ends = [*(match.start() for match in found[1:]), len(body)]
    for match, end in zip(found, ends, strict=False):
        name = _LABELS[match[1].lower()]
        parts[name] = parts[name] or body[match.end() : end].strip()
    return Parts((body[: found[0].start()] if found else body).strip(), parts[_WHY], parts[_APPLY])


def print_parts(parts: Parts) -> str:
    """Return the text of a memory in Markdown: the statement, then the lines that say why and how to apply it."""
    lines = (("", parts.statement), ("**Why:** ", parts.why), ("**How to apply:** ", parts.how_to_apply))
    return "\n\n".join(f"{label}{text.strip()}" for label, text in lines if text.strip())


def title_of(statement: str) -> str:
    """Return a title for a statement that came without one: its first sentence, cut between words."""
    first = compiled(_SENTENCE_END).split(statement.strip(), maxsplit=1)[0]
    line = " ".join(first.split()).rstrip(".。!！;；,，:：")
    if len(line) <= _LONGEST_TITLE:
        return line
    head = line[:_LONGEST_TITLE]
    return f"{head.rpartition(' ')[0] if ' ' in head[_LONGEST_TITLE // 2 :] else head}…"
