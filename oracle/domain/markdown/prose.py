"""Tell a tidying of a file's prose from a change of what it demands. Pure: two texts in, classified changes out.

Memory may correct the prose of any file: words, links, facts that went stale. What a file demands is its owner's: duties, triggers,
steps, names of fields, templates, examples. A change that is not plainly the first is the second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache

from oracle.domain import tables
from oracle.domain.values import value


class ChangeKind(StrEnum):
    """What a change is about."""

    PROSE = "prose"
    LINK = "link"
    FACT = "fact"
    CONTRACT = "contract"
    TRIGGER = "trigger"
    STEPS = "steps"
    FIELDS = "fields"
    TEMPLATE = "template"
    EXAMPLE = "example"
    CODE = "code"
    WHOLE = "whole file"


ALLOWED = (ChangeKind.PROSE, ChangeKind.LINK, ChangeKind.FACT)
"""What memory may change in a file of another's."""

MARKDOWN = (".md", ".markdown", ".mdx", ".rst", ".txt")
_FIELD = re.compile(r"^\s*(?:[-*]\s+)?[\"'`]?([A-Za-z_][\w.-]*)[\"'`]?\s*[:=](?=\s|$)")
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_TYPO = 0.85
"""How much of a step's words stay when just its spelling is corrected."""


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of `data/prose.toml`."""
    return re.compile(tables.expand(tables.load("prose")["patterns"][name]))


@value
class Change:
    """One run of changed lines; `line` counts in the new text from 1, `text` is the first changed line."""

    line: int
    sort: ChangeKind
    text: str

    @property
    def is_allowed(self) -> bool:
        """Return whether it is a tidying of prose."""
        return self.sort in ALLOWED


def classify_file(path: str, before: str | None, after: str | None) -> tuple[Change, ...]:
    """Return the changes of a file; None stands for a file that is not there. No change at all gives ()."""
    if before is None or after is None:
        return (Change(1, ChangeKind.WHOLE, "made" if before is None else "removed"),)
    if "\0" in before or "\0" in after:
        return (Change(1, ChangeKind.CODE, "binary"),)
    suffix = path[path.rfind(".") :].lower() if "." in path.rpartition("/")[2] else ""
    marks = (row["mark"] for row in tables.load("prose")["comment"] if suffix in row["endings"].split())
    mark = None if suffix in MARKDOWN else next(marks, "")
    old, new = before.split("\n"), after.split("\n")
    found = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            sort = _classify_code(old[a:b], new[c:d], mark) if mark is not None else _classify(old, new, (a, b, c, d))
            first = next((line for line in (*new[c:d], *old[a:b]) if line.strip()), "")
            found.append(Change(c + 1, sort, first.strip()[:120]))
    return tuple(found)


def _classify_code(old: Sequence[str], new: Sequence[str], mark: str) -> ChangeKind:
    """Take comments for prose, and for code every other line and every file of which no comment is known."""
    lines = [line.strip() for line in (*old, *new) if line.strip()]
    if not lines or not mark or not all(line.startswith(mark) and not line.startswith("#!") for line in lines):
        return ChangeKind.CODE
    return _classify_words("\n".join(old), "\n".join(new))


def _classify(old: Sequence[str], new: Sequence[str], span: tuple[int, int, int, int]) -> ChangeKind:
    a, b, c, d = span
    removed, added = list(old[a:b]), list(new[c:d])
    if "".join("".join(removed).split()) == "".join("".join(added).split()) and not _is_fenced(old, a, b):
        return ChangeKind.PROSE
    if _is_fenced(old, a, b) or _is_fenced(new, c, d):
        return ChangeKind.EXAMPLE
    if _is_in_head(old, a) and _is_in_head(new, c):
        return _classify_head(removed, added)
    return _classify_words("\n".join(removed), "\n".join(added))


def _is_fenced(lines: Sequence[str], first: int, end: int) -> bool:
    """Return whether a run of lines touches a fence or its content."""
    fence = ""
    for at, line in enumerate(lines[:end]):
        opened = _FENCE.match(line)
        is_inside = bool(fence or opened)
        if opened and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else opened[1]
        if is_inside and at >= first:
            return True
    return bool(fence) and first >= end


def _is_in_head(lines: Sequence[str], at: int) -> bool:
    """Return whether a line is in the frontmatter."""
    if not lines or lines[0].strip() != "---":
        return False
    end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
    return 0 < at < end


def _classify_head(removed: Sequence[str], added: Sequence[str]) -> ChangeKind:
    """In frontmatter a description is prose; every other field is its owner's."""
    names = [[found[1] for line in side if (found := _FIELD.match(line))] for side in (removed, added)]
    if names[0] != names[1] or not set(names[0]) <= {"description", "title", "summary"} or not names[0]:
        return ChangeKind.FIELDS
    return _classify_words(*("\n".join(_FIELD.sub("", line) for line in side) for side in (removed, added)))


def _classify_words(old: str, new: str) -> ChangeKind:
    """Classify a change of prose: first what it demands, then links and facts alone, then the rest."""
    if _mask(_pattern("link"), old) == _mask(_pattern("link"), new) and not _pattern("duty").search(old + new):
        return ChangeKind.LINK
    if _pattern("duty").search(old) or _pattern("duty").search(new):
        return ChangeKind.CONTRACT
    if sorted(_pattern("template").findall(old)) != sorted(_pattern("template").findall(new)):
        return ChangeKind.TEMPLATE
    if _mask(_pattern("fact"), _mask(_pattern("link"), old)) == _mask(_pattern("fact"), _mask(_pattern("link"), new)):
        return ChangeKind.FACT
    return _classify_meaning(old, new)


def _classify_meaning(old: str, new: str) -> ChangeKind:
    steps = [[line for line in text.split("\n") if _pattern("step").match(line)] for text in (old, new)]
    if any(steps) and (len(steps[0]) != len(steps[1]) or not all(map(_is_typo, *steps))):
        return ChangeKind.STEPS
    if _names(old) != _names(new):
        return ChangeKind.FIELDS
    if any(_pattern("trigger").search(line) for line in (*old.split("\n"), *new.split("\n"))):
        return ChangeKind.TRIGGER
    if old.strip() and new.strip() and _words(_pattern("turns"), old) != _words(_pattern("turns"), new):
        return ChangeKind.CONTRACT
    return ChangeKind.PROSE


def _is_typo(old: str, new: str) -> bool:
    """Return whether a step says what it said: the same words but for letters of a few, and none that turns it around."""
    same_words = SequenceMatcher(None, old.split(), new.split()).ratio()
    same_letters = SequenceMatcher(None, old, new).ratio()
    return (
        same_letters >= _TYPO and same_words >= 0.5 and _words(_pattern("turns"), old) == _words(_pattern("turns"), new)
    )


def _names(text: str) -> list[str]:
    """Return what a text calls by name: fields, code in backticks without facts, columns of tables."""
    fields = [_field(line, found[1]) for line in text.split("\n") if (found := _FIELD.match(line))]
    spans = [_mask(_pattern("fact"), span) for span in _CODE_SPAN.findall(text)]
    columns = [str(line.count("|")) for line in text.split("\n") if line.lstrip().startswith("|")]
    return sorted(fields) + sorted(spans) + columns[:1]


def _field(line: str, name: str) -> str:
    """Return a field by its name, and by its value too when it is one for programs: `status: open`, not `Why: …`."""
    return _mask(_pattern("fact"), line.strip()) if name.islower() else name


def _words(pattern: re.Pattern[str], text: str) -> list[str]:
    return sorted(found.casefold() for found in pattern.findall(text))


def _mask(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub("\x00", text)
