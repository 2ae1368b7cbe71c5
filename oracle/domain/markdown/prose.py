"""Tell a tidying of a file's prose from a change of what it demands. Pure: two texts in, classified changes out.

Memory may correct the prose of any file: words, links, facts that went stale. What a file demands is its owner's: duties, triggers,
steps, names of fields, templates, examples. A change that is not plainly the first is the second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from enum import StrEnum

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
_COMMENTS = {
    **dict.fromkeys((".py", ".sh", ".rb", ".toml", ".yaml", ".yml", ".ini", ".cfg"), "#"),
    **dict.fromkeys(
        (".js", ".ts", ".tsx", ".jsx", ".go", ".rs", ".java", ".kt", ".swift", ".c", ".h", ".cpp", ".cs"), "//"
    ),
    ".sql": "--",
}
_DUTY = re.compile(
    r"(?i:\bmust\b|\bmandatory\b|\brequired\b|\bforbidden\b|\bnever\b|\bshall\b|\bdo not\b|\bdon't\b)"
    r"|\bSHOULD\b|\bMAY\b|\bRECOMMENDED\b|\bOPTIONAL\b"
    r"|必须|必需|不能|不可|不得|禁止|严禁|务必|应当|应该|只能|不许|不允许|不要|切勿|请勿|一律|强制"
)
_TURNS = re.compile(
    r"(?i)\b(?:not|no|none|only|always|without|except|unless|should|may|can|cannot)\b|n't\b|[不非无未勿仅只]"
)
_TRIGGER = re.compile(r"(?i)\btriggers?\b|触发|^\s*(?:[-*]\s+)?(?:when|if)\b|^\s*(?:[-*]\s+)?(?:当|若|如果|一旦)")
_STEP = re.compile(r"^\s*(?:\d+[.)、]|#{1,6}\s*(?:step|步骤)\b|(?:第[一二三四五六七八九十\d]+步))", re.IGNORECASE)
_FIELD = re.compile(r"^\s*(?:[-*]\s+)?[\"'`]?([A-Za-z_][\w.-]*)[\"'`]?\s*[:=](?=\s|$)")
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\$\{\w+\}|\{[A-Za-z_]\w*\}|<[A-Za-z_][\w-]*>")
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\([^)\n]*\)|^\s*\[[^\]]+\]:\s*\S+|https?://[^\s)>\]]+|#[\w-]+(?=\))", re.MULTILINE)
_FACT = re.compile(
    r"\b[0-9a-f]{7,64}\b|\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?\b|\bv?\d+\.\d+(?:\.\d+)*\b"
    r"|(?<![\w/.~-])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]*|\b[\w-]+\.(?:py|md|sh|json|toml|ya?ml|ts|js|go|rs|txt)\b"
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_TYPO = 0.85
"""How much of a step's words stay when just its spelling is corrected."""


@value
class Change:
    """One stretch of changed lines; `line` counts in the new text from 1, `text` is the first changed line."""

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
    mark = None if suffix in MARKDOWN else _COMMENTS.get(suffix, "")
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
    """Return whether a stretch of lines touches a fence or its content."""
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
    if _mask(_LINK, old) == _mask(_LINK, new) and not _DUTY.search(old + new):
        return ChangeKind.LINK
    if _DUTY.search(old) or _DUTY.search(new):
        return ChangeKind.CONTRACT
    if sorted(_TEMPLATE.findall(old)) != sorted(_TEMPLATE.findall(new)):
        return ChangeKind.TEMPLATE
    if _mask(_FACT, _mask(_LINK, old)) == _mask(_FACT, _mask(_LINK, new)):
        return ChangeKind.FACT
    return _classify_meaning(old, new)


def _classify_meaning(old: str, new: str) -> ChangeKind:
    steps = [[line for line in text.split("\n") if _STEP.match(line)] for text in (old, new)]
    if any(steps) and (len(steps[0]) != len(steps[1]) or not all(map(_is_typo, *steps))):
        return ChangeKind.STEPS
    if _names(old) != _names(new):
        return ChangeKind.FIELDS
    if any(_TRIGGER.search(line) for line in (*old.split("\n"), *new.split("\n"))):
        return ChangeKind.TRIGGER
    if old.strip() and new.strip() and _words(_TURNS, old) != _words(_TURNS, new):
        return ChangeKind.CONTRACT
    return ChangeKind.PROSE


def _is_typo(old: str, new: str) -> bool:
    """Return whether a step says what it said: the same words but for letters of a few, and none that turns it around."""
    alike = SequenceMatcher(None, old.split(), new.split()).ratio(), SequenceMatcher(None, old, new).ratio()
    return alike[1] >= _TYPO and alike[0] >= 0.5 and _words(_TURNS, old) == _words(_TURNS, new)


def _names(text: str) -> list[str]:
    """Return what a text calls by name: fields, code in backticks without facts, columns of tables."""
    fields = [_field(line, found[1]) for line in text.split("\n") if (found := _FIELD.match(line))]
    spans = [_mask(_FACT, span) for span in _CODE_SPAN.findall(text)]
    columns = [str(line.count("|")) for line in text.split("\n") if line.lstrip().startswith("|")]
    return sorted(fields) + sorted(spans) + columns[:1]


def _field(line: str, name: str) -> str:
    """Return a field by its name, and by its value too when it is one for programs: `status: open`, not `Why: …`."""
    return _mask(_FACT, line.strip()) if name.islower() else name


def _words(pattern: re.Pattern[str], text: str) -> list[str]:
    return sorted(found.casefold() for found in pattern.findall(text))


def _mask(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub("\x00", text)
