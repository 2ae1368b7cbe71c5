"""Tasks and commits that a text mentions. Emphasis, formulas and joined words are found first, so that no name is cut wrongly.

Pure. Every pattern takes linear time; what a pattern can't say cheaply (neighbours, context, stop lists)
is asked in Python, once for each hit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from oracle.domain.compiling import compiled
from oracle.domain.links.links import BLANKS, COMMIT, HIDDEN, TASK, Page, is_wide, joins
from oracle.domain.markdown.masks import blank
from oracle.domain.tables import load

# Emphasis -------------------------------------------------------------------------------------------------------------

_EMPHASIS = r"_(?<!\w_)_*+(?=[\w#])|_(?<=[^\W_]_)_*+(?!\w)"  # a literal first, which is what makes the search fast


def find_emphasis(prose: str) -> list[tuple[int, int]]:
    """Return where underscores begin or end an emphasis: they are no part of the word beside them."""
    return [found.span() for found in compiled(_EMPHASIS).finditer(prose)]


# Formulas -------------------------------------------------------------------------------------------------------------

_FORMULA = (
    r"(?<![\\$A-Za-z0-9_])\$\$(?:[^$\n]++|\n(?![ \t]*\n))*+\$\$(?!\$)"
    r"|(?<![\\$A-Za-z0-9_])\$(?![\s${]|[A-Z_]{3})(?:[^$\n\\]++|\\.|\n(?![ \t]*[\n|#>*+-]))*+(?<![\s\\])\$(?![A-Za-z0-9_${(])"
)
_COMMAND = (
    r"\\(?:[A-Za-z]{0,8}ref|[A-Za-z]{0,8}cite[A-Za-z]{0,8}|label|tag|bibitem|ensuremath|SI|num|qty)\*?"
    r"(?:\[[^\]\n]*+\])*+(?:\{[^{}\n]*+\})++"
)
_BRACKETED = r"\\\((?:[^\\\n]++|\\(?![()]).)*+\\\)"
_DISPLAYED = r"\\\[((?:[^\\\n]++|\\(?![][]).|\n(?![ \t]*\n))*+)\\\]"
_ENVIRONMENT = r"\\(begin|end)\{(\w{1,30}+\*?)\}"
_WORDS = r"[A-Z][A-Z0-9]+-[0-9]|[a-z]{3,}"
_SIGNS = frozenset("\\^_{}=<>+*")


def hide_formulas(prose: str) -> str:
    r"""Return the text without its LaTeX: `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and environments."""
    if "$" not in prose and "\\" not in prose:
        return prose
    spans: list[tuple[int, int]] = []
    if prose.count("$") > 1:
        spans += [found.span() for found in compiled(_FORMULA).finditer(prose) if not _is_said(found.group())]
    if "\\" in prose and "{" in prose:
        spans += [found.span() for found in compiled(_COMMAND).finditer(prose)]
    if "\\(" in prose:
        spans += [found.span() for found in compiled(_BRACKETED).finditer(prose) if _is_formula(found.group()[2:-2])]
    if "\\[" in prose:
        found = compiled(_DISPLAYED).finditer(prose)
        spans += [one.span() for one in found if not {"\\", "^"}.isdisjoint(one.group()[2:-2])]
    if "\\begin{" in prose:
        spans += _find_environments(prose)
    return blank(prose, sorted(spans), filler=HIDDEN) if spans else prose


def _is_said(text: str) -> bool:
    """Return whether Chinese words between two `$` show that these are prices or variables: `$foo和$`."""
    return not text.isascii() and "\\" not in text and any(map(is_wide, text))


def _is_formula(text: str) -> bool:
    return not _SIGNS.isdisjoint(text) or not compiled(_WORDS).search(text)


def _find_environments(prose: str) -> Iterator[tuple[int, int]]:
    begun: dict[str, int] = {}
    for found in compiled(_ENVIRONMENT).finditer(prose):
        if found.group(1) == "begin":
            begun.setdefault(found.group(2), found.start())
        elif found.group(2) in begun:
            yield begun.pop(found.group(2)), found.end()


# Joined words ---------------------------------------------------------------------------------------------------------

_INVISIBLE = "\xad\u200b\u200c\u200d\u2060\ufeff"
_INVISIBLE_RUN = rf"[{_INVISIBLE}]+"
_CHARACTER = r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_MARKUP = frozenset({"&amp;", "&lt;", "&gt;", "&quot;", "&nbsp;", "&apos;"})


def find_joints(text: str) -> list[tuple[int, int]]:
    """Return where a word goes on though no letter shows it: over characters without width and written-out letters (`&#65;`)."""
    spans: list[tuple[int, int]] = []
    if not text.isascii() and any(char in text for char in _INVISIBLE):
        for found in compiled(_INVISIBLE_RUN).finditer(text):
            start, end = found.span()
            if joins(text[start - 1 : start]) and joins(text[end : end + 1]):
                spans.append((start, end))
    if "&" in text and ";" in text:
        spans += [found.span() for found in compiled(_CHARACTER).finditer(text) if joins(_character(found))]
        spans.sort()
    return spans


def _character(found: re.Match[str]) -> str:
    """Return the character that a reference stands for, "" for none or several."""
    if found.group() in _MARKUP:
        return ""
    from html import unescape

    char = unescape(found.group())
    return char if len(char) == 1 else ""


# Tasks ----------------------------------------------------------------------------------------------------------------

_TABLE = load("vocabulary")  # every text that is read for links needs all of it
_COUNTED = frozenset(_TABLE["counted"].split())
_RANKED = frozenset(_TABLE["ranked"].split())
_NOT_TASKS = frozenset(_TABLE["not_tasks"].split())
_STANDARDS = frozenset(" ".join(_TABLE["standards"].values()).split())
_INDICES = frozenset("IJKLMNUVWXYZ")
"""Letters that formulas and forms put before a number of one or two digits: `N-1`, `I-9`, `W-2`."""

_LINTERS = frozenset("CEFW")
"""Letters that linters put before three or four digits: `E-501`, `W-0612`."""

_ID_END = r"(?![A-Za-z0-9_]|-[A-Z0-9_]|\.[0-9a-z])"  # a branch goes on in small letters: `ARENA-228-fix`
TASK_ID = r"[A-Z][A-Z0-9]{0,31}+-[0-9]{1,12}+"
_NUMBER = re.compile(r"-[0-9]{1,12}+" + _ID_END)  # a literal first, which is what makes the search fast
_PREFIX_BACKWARDS = re.compile(r"[A-Z0-9]{0,31}[A-Z](?![A-Za-z0-9_])")
_GITHUB = r"GH#[0-9]{1,12}+" + _ID_END
_HASH = r"#[0-9]{1,12}+" + _ID_END
_TASK_BARRIERS = frozenset("-.@$%\\")
_HASH_BARRIERS = frozenset("/#&?.-=@\\)")
_HEADING_BREAKS = frozenset(["", *" \t\n\r.:：)"])
_COLOUR_WORDS = (
    *("color", "colour", "background", "border", "fill", "stroke", "shadow", "outline", "gradient", "palette", "theme"),
    *("accent", "tint", "hue", "hex", "solid", "dashed", "dotted", "颜色", "背景", "色"),
)
_COLOUR = (
    "(?:" + "|".join(_COLOUR_WORDS) + r")"
    r"[\w-]{0,24}(?:\s+(?:is|was|to|of|as|from|with))?\s?(?:[为是用成]|改为|改成|等于)?\s?[:：=(]?\s?[\"'“(]?\Z"
)
_PROPERTY = r"[A-Za-z-]+:\s?(?:[\w.%-]+ ){0,4}\Z"
_BETWEEN_COLOURS = r"[\"']?\s?[0-9]{0,3}%?\s?(?:,|，|/|\||→|->|to|and|or|到|和|与|、)\s?[\"']?"
_WORD_BEFORE = r"(?P<jump>\b(?i:go|back|return|jump|skip|proceed) (?=to ))?(?P<word>[A-Za-z]+) \Z"
_HREF = r"(?:href|src)\s?=\s?[\"']?\Z"


@lru_cache(maxsize=64)
def _task_pattern(prefixes: frozenset[str]) -> re.Pattern[str] | None:
    names = sorted({name.rstrip("-") for name in prefixes} - {""}, key=lambda name: (-len(name), name))
    if not names:
        return None
    return re.compile("(?:" + "|".join(map(re.escape, names)) + ")-[0-9]{1,12}+" + _ID_END)


def read_tasks(page: Page, prose: str, *, prefixes: frozenset[str] | None) -> None:
    """Mention task ids (any prefix but the standards' when `prefixes` is None, else just those), `GH#n` and `#n`."""
    if "-" in prose:
        text = page.beside
        for start, end in _any_tasks(prose) if prefixes is None else _listed_tasks(prose, prefixes):
            if (text[start - 1 : start] in BLANKS or not _is_word_tail(text, start)) and not joins(text[end : end + 1]):
                page.mention(TASK, prose[start:end], start=start, end=end)
    if "#" not in prose:
        return
    for found in compiled(_GITHUB).finditer(prose) if "GH#" in prose else ():
        if not page.is_joined(*found.span()):
            page.mention(TASK, found.group(), start=found.start(), end=found.end())
    colour_end = -1
    for found in compiled(_HASH).finditer(prose):
        start, end = found.span()
        if not _is_hash_task(page, start, end=end):
            continue
        if _is_colour(page, start, end=end, colour_end=colour_end):
            colour_end = end
        else:
            page.mention(TASK, found.group(), start=start, end=end)


def _is_word_tail(text: str, start: int) -> bool:
    """Return whether what begins at `start` goes on from a word or path before it; a range or a dash to a wide word ends one."""
    before, second = text[start - 1 : start], text[max(start - 2, 0) : max(start - 1, 0)]
    if before == ".":
        return second != "."
    if before == "-":
        return not second.isalpha() or joins(second)
    return before in _TASK_BARRIERS or joins(before)


def _any_tasks(prose: str) -> Iterator[tuple[int, int]]:
    for found in _NUMBER.finditer(prose):
        at, end = found.span()
        prefix = _PREFIX_BACKWARDS.match(prose[at - 33 if at > 33 else 0 : at][::-1])
        if prefix is None:
            continue
        start = at - prefix.end()
        if _may_be_task(prose[start:at], prose[at + 1 : end]):
            yield start, end


def _listed_tasks(prose: str, prefixes: frozenset[str]) -> Iterator[tuple[int, int]]:
    pattern = _task_pattern(prefixes)
    return (found.span() for found in pattern.finditer(prose)) if pattern else iter(())


def _is_hash_task(page: Page, start: int, *, end: int) -> bool:
    """Return whether `#n` counts: not a heading's start, an anchor, a character reference or the tail of a word."""
    if page.before(start) in _HASH_BARRIERS or page.is_joined(start, end):
        return False
    head = page.part(start - 24, start)
    if not page.part(start, end).strip("#0") or _is_address_of(head[-12:]) or _is_counted(head, end - start - 1):
        return False
    line_start = page.part(start - 4, start).replace("\r", "\n").rpartition("\n")
    is_at_start = not line_start[2].strip(" ") and (start < 4 or line_start[1] != "")
    return not (is_at_start and page.after(end) in _HEADING_BREAKS)


def _is_counted(head: str, digits: int) -> bool:
    """Return whether the words before `#n` make it a number of a list or of a standard: `go to #6`, `the #1`, `PKCS #11`."""
    found = compiled(_WORD_BEFORE).search(head) if digits < 3 and head[-2:-1].isalpha() else None
    if found is None:
        return False
    word = found["word"].lower()
    return _is_standard(found["word"]) or word in _COUNTED or (digits == 1 and (word in _RANKED or bool(found["jump"])))


def _is_address_of(head: str) -> bool:
    return "=" in head and compiled(_HREF, re.IGNORECASE).search(head) is not None


def _is_colour(page: Page, start: int, *, end: int, colour_end: int) -> bool:
    """Return whether `#n` is a colour: of a colour's length, behind a word for one, a CSS property or another colour."""
    if end - start not in {4, 5, 7, 9}:
        return False
    if 0 < colour_end <= start <= colour_end + 12 and compiled(_BETWEEN_COLOURS).fullmatch(
        page.part(colour_end, start)
    ):
        return True
    head = page.part(start - 64, start).lower()
    if head.endswith("-["):  # `text-[#336699]`, a class of Tailwind's
        return True
    if any(word in head for word in _COLOUR_WORDS) and compiled(_COLOUR).search(head):
        return True
    return page.after(end) in {";", "}"} and compiled(_PROPERTY).search(head) is not None


def _is_standard(prefix: str) -> bool:
    """Return whether the letters before a number name a standard: `SHA`, and `SHA3` too."""
    stem = prefix.rstrip("0123456789")
    return prefix in _STANDARDS or (len(stem) > 1 and stem in _STANDARDS)


def _may_be_task(prefix: str, number: str) -> bool:
    """Return whether `prefix-number` may be a task: no standard, index, form, model (`A320-200`), lines or half of a year."""
    if (prefix in _INDICES and len(number) < 3 and number[0] != "0") or (prefix in _LINTERS and _is_code(number)):
        return False
    if prefix[1:].isdigit() and (
        prefix[0] == "L" or len(prefix) == len(number) + 1 == 4 or _is_span(prefix[1:], number)
    ):
        return False
    return not _is_standard(prefix) and f"{prefix}-{number}" not in _NOT_TASKS


def _is_code(number: str) -> bool:
    return (len(number) == 4 and number[0] == "0") or (len(number) == 3 and number[0] != "0")


def _is_span(first: str, last: str) -> bool:
    """Return whether two numbers make a range of pages or cells (`P12-15`), or the second is a year (`H1-2026`)."""
    return (len(last) == 4 and last[:2] in {"19", "20"}) or (len(first) == len(last) > 1 and first < last)


# Commits --------------------------------------------------------------------------------------------------------------

_HEX = r"([0-9a-fA-F]{7,40}+)(?![A-Za-z0-9_]|-[0-9a-fA-F]{4}-)"  # and not a UUID
_COMMIT_CUES = (
    "commit",
    "merg",
    "cherry",
    "revert",
    "sha",
    "fixe",
    "landed",
    "introduced",
    "提交",
    "合并",
    "回滚",
    "还原",
)
_ASCII_CUES = tuple(cue for cue in _COMMIT_CUES if cue.isascii())
_MIXED = r"(?=\[?[0-9]*+[a-fA-F])(?=\[?[a-fA-F]*+[0-9])"  # neither a date nor an English word
_INTRODUCED = r"(?:\s{1,3}+(?:(?:as|in|by|at|with)\s{1,3}+" + _MIXED + r")?+|[:=]\s{0,3}+)\[?+" + _HEX
_CUE = r"(?:(commit(?:s|ted)?)|merge[ds]?|merging|cherry.?pick(?:ed|s|ing)?|revert(?:ed|s|ing)?|sha"
_CUE += r"|(?:fixed|landed|introduced)(?=\s{1,3}(?:as|in|by|at|with)\s)"
_CUE += r"|fixes(?=: [0-9a-fA-F]{7,40} \(\"))"  # a trailer of Linux and others
_ASCII_COMMIT = _CUE + _INTRODUCED  # for small letters: ignoring case makes a pattern slow to compile
_COMMIT = f"(?i:{_CUE}){_INTRODUCED}" + r"|(?:(提交)|合并|回滚|还原)(?:了|于|：|:)?\s{0,3}+\[?+" + _HEX
_OPENERS = frozenset("([{")
_NEXT_COMMIT = (
    r"(?:\](?:\([^()\n]*+\))?+)?+\s{0,3}+(?:,\s?(?i:and)|\.{2,3}+|,|、|，|(?i:and)|&|和|及|与)\s{0,3}+\[?+" + _HEX
)
_PARENTHESISED = r"\((?:([0-9a-fA-F]{7,40}+)|\[([0-9a-fA-F]{7,40}+)\]\([^()\n]*+\))\)"  # a link of a changelog, too
_WIDE_PARENTHESISED = r"（(?:([0-9a-fA-F]{7,40}+)|\[([0-9a-fA-F]{7,40}+)\]\([^()\n]*+\))）"
_DATE = r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"


def read_commits(page: Page, prose: str) -> None:
    """Mention hashes that a word like `commit` introduces or parentheses hold."""
    for opening, pattern in (("(", _PARENTHESISED), ("（", _WIDE_PARENTHESISED)):
        if opening not in prose:
            continue
        for found in compiled(pattern).finditer(prose):
            group = found.lastindex or 0
            value, (start, end) = found.group(group), found.span()
            if _is_mixed(value) and not page.is_joined(start, end) and page.after(end) not in _OPENERS:
                page.mention(COMMIT, value, start=found.start(group), end=found.end(group))
    lower = prose.lower()
    is_ascii = prose.isascii()
    if not is_ascii and len(lower) != len(prose):  # a few letters have a longer small form
        lower = "".join(char.lower()[0] for char in prose)
    for cue in _ASCII_CUES if is_ascii else _COMMIT_CUES:
        at = lower.find(cue)
        while at >= 0:
            hit = compiled(_ASCII_COMMIT).match(lower, at) if is_ascii else compiled(_COMMIT).match(prose, at)
            if hit:
                _read_commit(page, prose, found=hit)
            at = lower.find(cue, at + len(cue))


def _read_commit(page: Page, prose: str, *, found: re.Match[str]) -> None:
    """Read the commit behind a cue and those listed after it; only `commit` itself makes a date's digits one."""
    if prose[found.start()].isascii() and joins(page.before(found.start())):
        return
    group = found.lastindex or 0
    named = bool(found.group(group - 1))
    hit: re.Match[str] | None = found
    while hit is not None:
        start, end = hit.span(group)
        value = prose[start:end]
        is_word = value.isalpha() and value.lower().endswith("ed")  # `effaced`: those of English end so
        if is_word or joins(page.after(end)) or (not named and compiled(_DATE).fullmatch(value)):
            return
        page.mention(COMMIT, value, start=start, end=end)
        hit, group = compiled(_NEXT_COMMIT).match(prose, end), 1


def _is_mixed(value: str) -> bool:
    """Return whether a hexadecimal word has a digit and a letter: neither a date nor an English word."""
    return not value.isdigit() and not value.isalpha()
