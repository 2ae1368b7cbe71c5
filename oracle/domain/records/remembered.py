"""Memories of the four types that coding agents know: user, feedback, project, reference. Pure.

A record states its type in the frontmatter (`memory_type`). Claude Code's own files say `type`, and newer ones `metadata.type`.
"""

from __future__ import annotations

import re
from functools import cache

from oracle.domain import tables
from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import as_text
from oracle.domain.names import entity
from oracle.domain.values import value
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.domain.markdown.documents import Value
    from oracle.domain.records.records import Record
    from oracle.wording import Sentence

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


def missing_parts(memory_type: str, parts: Parts) -> tuple[str, ...]:
    """Return which of `why` and `how_to_apply` a memory of this type still needs."""
    needed = ("why", "how_to_apply") if memory_type in EXPLAINED else ()
    return tuple(name for name in needed if not getattr(parts, name).strip())


def is_one_topic(new: str, old: str) -> bool:
    """Return whether two statements that are much alike are about the same: each names what the other begins with.

    `The staging database is on A` and `The production database is on B` are not.
    """
    one, other = _ordered_words(new), _ordered_words(old)
    return set(one[:_SUBJECT]) <= set(other) or set(other[:_SUBJECT]) <= set(one)


# What is not kept -----------------------------------------------------------------------------------------------------


@value
class Objection:
    """Why a statement is not kept, and what to keep instead."""

    why: Sentence
    instead: Sentence


def find_objection(statement: str) -> Objection | None:
    """Return why a statement is no memory: the repository says it anyway, or it judges a person. None if it is fine."""
    objections = {
        "structure": Objection(
            say("The code itself says where things are and how they are laid out."),
            say("Keep what the code can't say: why it is so, or what surprised you about it."),
        ),
        "history": Objection(
            say("Git knows who changed what and when."),
            say("Keep what was surprising or not obvious about the change, or the decision behind it."),
        ),
        "recipe": Objection(
            say("The code and its commit message hold this fix."),
            say("Keep the rule that follows from it, with --type feedback, --why and --how-to-apply."),
        ),
        "judgement": Objection(
            say("This judges a person."),
            say("Keep what helps to work with them: what they know, prefer or are responsible for."),
        ),
    }
    return next((found for name, found in objections.items() if _pattern(name).search(statement)), None)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of `data/remembered.toml`."""
    table = tables.load("remembered")
    return re.compile(tables.expand(table["patterns"][name], table["parts"]), re.IGNORECASE | re.MULTILINE)


def find_in_page(statement: str, page: str) -> int:
    """Return the line of a page such as CLAUDE.md whose paragraph or item says all that a statement says; 0 for none."""
    wanted = _words(statement)
    if len(wanted) < _FEWEST_WORDS:
        return 0
    number = 1
    for block in compiled(_BLOCK_END).split(page):
        held = _words(block)
        if len(wanted & held) >= _HELD * len(wanted) and wanted & _NEGATIONS == held & _NEGATIONS:
            return number + block[: len(block) - len(block.lstrip("\n"))].count("\n")
        number += block.count("\n") + 1
    return 0


def _words(text: str) -> frozenset[str]:
    return frozenset(_ordered_words(text))


def _ordered_words(text: str) -> list[str]:
    return [word for word in compiled(_WORD).findall(text.casefold()) if word not in _STOP_WORDS]


_SUBJECT = 2
"""The first words of a statement, which say what it is about."""
_FEWEST_WORDS, _HELD = 3, 0.9
"""Words that a statement needs to be looked for on a page, and the share of them that a paragraph must hold."""
_BLOCK_END = r"\n(?=[ \t]*(?:[-*+]|\d+[.)]|#+)[ \t]|[ \t]*\n)"
_WORD = r"[a-z0-9_']+|[^\W\da-z_]"
_STOP_WORDS = frozenset(
    "a an the to of in on for and or is are be we you i it this that with please 的 了 是 在 和 请".split()
)
_NEGATIONS = frozenset("not no never don't doesn't avoid without 不 别 勿 禁 非 无".split())
