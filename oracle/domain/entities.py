"""What a text mentions: URLs, files, tasks, commits, keys, projects and components.

Domain room: pure. Every pattern takes linear time; what a pattern can't say cheaply (neighbours, context, stop lists)
is asked in Python, once for each hit. A reader whose finds hide what is inside them returns the text with them hidden.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from unicodedata import category

from oracle.domain.compiling import compiled
from oracle.domain.masks import blank
from oracle.domain.pages import (
    COMMIT,
    COMPONENT,
    FILE,
    HIDDEN,
    KEY,
    MAX_VALUE,
    PROJECT,
    TASK,
    URL,
    is_unclean,
    is_wide,
    joins,
)
from oracle.domain.vocabulary import BARE_FILES, EXTENSIONS, LOCKS, NOT_TASKS, STANDARDS, is_product

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.domain.pages import Page

MAX_KEY = 200

# URLs -----------------------------------------------------------------------------------------------------------------

# Stops at blanks, controls, quotes, general punctuation and everything written wide; brackets only in pairs. What stops
# it beyond Latin-1 is looked up beforehand: a class that lists it costs 3 ms each time that the pattern names it.
_URL_CHAR = r"[^\x00-\x20\x7f-\xa0<>\"`|\\^(){}\[\]\xab\xbb]"
_URL_STOPS = (  # where they begin and end, by turns
    "\u1100\u1200\u1680\u1681\u2000\u2070\u2e80\ua000\ua960\ua980\uac00\ue000\uf900\ufb00\ufe30\ufe50\ufeff\ufff0"
    "\U00020000\U00040000"
)
_HIGH = r"[^\x00-\u10ff]"
_URL_REST = (
    rf"://((?:{_URL_CHAR}++|\\_|\({_URL_CHAR}*+\)|\((?:{_URL_CHAR}++|\({_URL_CHAR}*+\))*+\)"
    rf"|\[{_URL_CHAR}*+\]|\{{{_URL_CHAR}*+\}})*+)"
)
_SCHEME = r"(?<![A-Za-z])[A-Za-z][A-Za-z0-9+.-]*\Z"
_BRACKETED = r"([^\x00-\x20\x7f-\xa0<>\u2000-\u200f\u2028-\u202f\u3000\ud800-\udfff]++)>"
_URL_TAIL = ".,;:!?'\"*~،؛؟۔।॥"


def _web_scheme(prose: str, at: int) -> int:
    """Return the length of the `http` or `https` that ends at `at`, or 0; `git+https` counts, `xhttps` does not."""
    head = prose[max(0, at - 6) : at].lower()
    if head == " https":
        return 5
    length = 5 if head.endswith("https") else 4 if head.endswith("http") else 0
    before = head[: len(head) - length][-1:]
    return 0 if before.isascii() and before.isalnum() else length


def _url_rest(page: Page, prose: str, *, start: int, found: re.Match[str]) -> str:
    """Return what belongs to the URL behind `://`: all up to the bracket in `<…>`, else without its last punctuation."""
    before = page.before(start)
    if before == "<" and (bracketed := compiled(_BRACKETED).match(prose, found.start(1))):
        return bracketed.group(1)
    rest = found.group(1).rstrip(_URL_TAIL)
    return rest.rstrip("_") if before == "_" else rest


def read_urls(page: Page, prose: str) -> str:
    """Mention the http(s) URLs and hide every URL, whatever its scheme."""
    spans: list[tuple[int, int]] = []
    for found in _url_rests(prose):
        at = found.start()
        web = _web_scheme(prose, at)
        scheme = None if web else compiled(_SCHEME).search(prose, max(0, at - 16), at)
        if (not web and scheme is None) or (spans and at < spans[-1][1]):
            continue
        start = scheme.start() if scheme else at - web
        rest = _url_rest(page, prose, start=start, found=found)
        end = at + 3 + len(rest)
        spans.append((start, end))
        if web and rest and (rest[0].isalnum() or rest[0] == "["):
            page.mention(URL, prose[start:end].replace("\\_", "_"), start=start, end=end)
    return blank(prose, spans, filler=HIDDEN)


def _url_rests(prose: str) -> Iterator[re.Match[str]]:
    match = compiled(_URL_REST).match
    stop = len(prose) if prose.isascii() else -1
    at = prose.find("://")
    while at >= 0:
        if stop < at:
            stop = _url_stop(prose, at)
        found = match(prose, at, stop)
        if found is None:
            return
        yield found
        at = prose.find("://", found.end())


def _url_stop(prose: str, at: int) -> int:
    """Return where the first character beyond Latin-1 that ends a URL stands behind `at`, or the text's end."""
    for found in compiled(_HIGH).finditer(prose, at):
        if bisect_right(_URL_STOPS, found.group()) % 2:
            return found.start()
    return len(prose)


# Files ----------------------------------------------------------------------------------------------------------------

_PATH_END = r"(?!_*+[A-Za-z0-9]|\.[a-z0-9_]|[./-]*+(?<=[/-])[A-Za-z0-9_])"
_FILE_END = re.compile(r"\.([a-z][a-z0-9]{0,7}+)" + _PATH_END)
_BARE_FILE_END = r"/(?:" + "|".join(sorted(BARE_FILES)) + r")" + _PATH_END
_PATH_BACKWARDS = re.compile(r"(?:[A-Za-z0-9_./~@+$-]++(?:(?<=_)\\)?+)*+(?:(?<=/):[A-Za-z](?![A-Za-z0-9_]))?+")
_PATH_MARKS = frozenset("_./~@+$-")
_TOP_FOLDER = (
    r"/(?:home|etc|usr|var|tmp|opt|srv|mnt|root|Users|Volumes|Library|private|proc|dev|work|workspace|data|app)/"
)
_PLAIN_PATH = re.compile(r"(?:\w[\w-]*+/)+\w[\w-]*+\.\w++", re.ASCII)  # what needs no second look
_BLANKS = frozenset(["", " ", "\n"])
_CODE_LETTERS = frozenset(
    {"c", "h", "m", "r", "env", "log", "conf", "go", "pl", "fs", "ex", "less", "diff", "patch", "base"}
)
_DOTTED_LETTERS = r"[A-Za-z](?:\.[A-Za-z])+"
_HOST = r"(?:[A-Za-z0-9-]+\.)+(?:com|org|net|io|dev|cn|edu|gov|ai|app|co|de|uk|jp|fr)"


def _path_start(prose: str, floor: int, *, end: int) -> int:
    """Walk back from the end of a path over what may stand in one; most are short, so look near by first."""
    for reach in (60, MAX_VALUE + 1):
        low = max(floor, end - reach)
        run = _PATH_BACKWARDS.match(prose[low:end][::-1])
        start = end - (run.end() if run else 0)
        if start > low:
            break
    return start


def read_files(page: Page, prose: str) -> str:
    """Mention the paths with a known extension and hide them."""
    spans: list[tuple[int, int]] = []
    floor = 0
    ends = [found.end() for found in _FILE_END.finditer(prose) if found.group(1) in EXTENSIONS]
    if "file" in prose:
        ends = sorted(ends + [found.end() for found in compiled(_BARE_FILE_END).finditer(prose)])
    if not ends:
        return prose
    text = page.text
    for end in ends:
        start = _path_start(prose, floor, end=end)
        low, floor = floor, end
        if not prose[start - 1 : start].isascii():
            start = _whole_start(prose, low, start=start)
            if start < 0:
                continue
        token = prose[start:end]
        if prose[end : end + 1] == "_" or not _PLAIN_PATH.fullmatch(token):
            token = token.lstrip("-+")
            start = end - len(token)
            path = _file_path(_plain(token, prose, end=end))
        else:
            path = token
        spans.append((start, end))
        if path and (text[start - 1 : start] in _BLANKS or not _is_part(page, start, end=end, path=path)):
            page.mention(FILE, path, start=start, end=end)
    return blank(prose, spans, filler=HIDDEN)


def _whole_start(prose: str, floor: int, *, start: int) -> int:
    """Return where a path begins that has folders in other scripts, or -1 when its beginning can't be told.

    Prose that is written wide stands beside a path without a blank. It is no part of one that begins with a letter, or
    with a folder at the top of a file system.
    """
    if not prose[start - 1].isalnum() and not category(prose[start - 1]).startswith("M"):
        return start
    low = start
    while low > floor and _is_of_path(prose[low - 1]):
        low -= 1
    run = prose[low:start]
    if prose[start] != "/" and "/" not in run:
        return start
    if prose[start] != "/" and is_wide(run[-1]):
        folder, slash, _ = run.rpartition("/")
        return -1 if slash and folder[-1:].isascii() and folder else start
    if "/" not in run and compiled(_TOP_FOLDER).match(prose, start):
        return start
    first = run.partition("/")[0]
    prefix = len(first) - len(first.lstrip("".join(filter(is_wide, first))))
    if prefix == len(first):  # as a folder or as prose
        prefix = 0 if prefix == 0 or prose[low - 1 : low] in _BLANKS or low == 0 else -1
    if prefix < 0 or any(
        char.isascii() and char.isalnum() and is_wide(run[at + 1]) for at, char in enumerate(run[:-1])
    ):
        return -1
    return low + prefix


def _is_of_path(char: str) -> bool:
    return char in _PATH_MARKS or char.isalnum() or (not char.isascii() and category(char).startswith("M"))


def _plain(token: str, prose: str, *, end: int) -> str:
    """Return a path without its escapes and without the underscores that open an emphasis, closed right behind it."""
    opening = len(token) - len(token.lstrip("_"))
    return token[opening if prose.startswith("_" * opening, end) else 0 :].replace("\\_", "_")


def _file_path(token: str) -> str | None:
    """Return the path that a token names, or None when it is a product, an abbreviation, a host or half a pattern."""
    if not token.startswith("~/"):
        token = token.lstrip("~")
    while token.startswith("./"):
        token = token[2:]
    folder, slash, base = token.rpartition("/")
    stem, _, extension = base.rpartition(".")
    if "..." in token or "~" in token[1:] or token.startswith("//") or _is_address(token):
        return None
    if base in BARE_FILES:
        return token if folder.strip("./") else None
    if not stem.strip(".-"):
        return None
    if not slash:
        return None if _is_word(base, stem, extension) else token
    head = token.partition("/")[0]
    return None if "." in head and compiled(_HOST).fullmatch(head) else token


def _is_address(token: str) -> bool:
    return "@" in token and not token.startswith("@") and "/@" not in token


def _is_word(base: str, stem: str, extension: str) -> bool:
    """Tell whether a dotted name without a folder is prose: `Node.js`, `e.g.py`, `3.md`, `mutex.lock`, `self.log`."""
    if extension == "lock":
        return base not in LOCKS
    if extension in _CODE_LETTERS and (len(stem) < 3 or "." in stem or stem in {"self", "this", "console"}):
        return not (extension == "go" and stem.isalnum())
    return is_product(base) or stem.isdigit() or ("." in stem and bool(compiled(_DOTTED_LETTERS).fullmatch(stem)))


def _is_part(page: Page, start: int, *, end: int, path: str) -> bool:
    return _is_pattern(page, start=start, end=end, path=path) or _is_cut(page, start, path=path)


def _is_pattern(page: Page, *, start: int, end: int, path: str) -> bool:
    """Tell whether the path is what follows a wildcard, a placeholder or a port."""
    before = page.before(start)
    if before in {"?", "}", ">", ")", "]"}:
        return path[0] in "/."
    if before == ":":
        return path[0].isdigit()  # a host's port
    return before == "*" and page.part(end, end + 4).lstrip("_")[:1] != "*"


def _is_cut(page: Page, start: int, *, path: str) -> bool:
    """Tell whether the path is the tail of a name in another script or of a Windows path."""
    before = page.before(start)
    return before == "\\" or (joins(before) and path[0] != "/")


# Emphasis -------------------------------------------------------------------------------------------------------------

_EMPHASIS = r"_(?<!\w_)_*+(?=\w)|_(?<=[^\W_]_)_*+(?!\w)"  # a literal first, which is what makes the search fast


def find_emphasis(prose: str) -> list[tuple[int, int]]:
    """Return where underscores begin or end an emphasis: they are no part of the word beside them."""
    return [found.span() for found in compiled(_EMPHASIS).finditer(prose)]


# Tasks ----------------------------------------------------------------------------------------------------------------

_ID_END = r"(?![A-Za-z0-9_]|-[A-Za-z0-9_]|\.[0-9a-z])"
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
    *("hex", "solid", "dashed", "dotted", "颜色", "背景", "色"),
)
_COLOUR = (
    "(?:" + "|".join(_COLOUR_WORDS) + r")"
    r"[\w-]{0,24}(?:\s+(?:is|was|to|of|as|from|with))?\s?(?:[为是用成]|改为|改成|等于)?\s?[:：=(]?\s?[\"'“(]?\Z"
)
_PROPERTY = r"[A-Za-z-]+:\s?(?:[\w.%-]+ ){0,4}\Z"
_BETWEEN_COLOURS = r"[\"']?\s?[0-9]{0,3}%?\s?(?:,|，|/|\||→|->|to|and|or|到|和|与|、)\s?[\"']?"
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
            if (text[start - 1 : start] in _BLANKS or not _is_word_tail(text, start)) and not joins(
                text[end : end + 1]
            ):
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
    """Tell whether what begins at `start` goes on from a word or path before it; a range or a dash to a wide word ends one."""
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
        if prose[start:at] not in STANDARDS and prose[start:end] not in NOT_TASKS:
            yield start, end


def _listed_tasks(prose: str, prefixes: frozenset[str]) -> Iterator[tuple[int, int]]:
    pattern = _task_pattern(prefixes)
    return (found.span() for found in pattern.finditer(prose)) if pattern else iter(())


def _is_hash_task(page: Page, start: int, *, end: int) -> bool:
    """Tell whether `#n` counts: not a heading's start, an anchor, a character reference or the tail of a word."""
    if page.before(start) in _HASH_BARRIERS or page.is_joined(start, end):
        return False
    if not page.part(start, end).strip("#0") or _is_address_of(page.part(start - 12, start)):
        return False
    line_start = page.part(start - 4, start).replace("\r", "\n").rpartition("\n")
    is_at_start = not line_start[2].strip(" ") and (start < 4 or line_start[1] != "")
    return not (is_at_start and page.after(end) in _HEADING_BREAKS)


def _is_address_of(head: str) -> bool:
    return "=" in head and compiled(_HREF, re.IGNORECASE).search(head) is not None


def _is_colour(page: Page, start: int, *, end: int, colour_end: int) -> bool:
    """Tell whether `#n` is a colour: of a colour's length, behind a word for one, a CSS property or another colour."""
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


# Commits --------------------------------------------------------------------------------------------------------------

_HEX = r"([0-9a-fA-F]{7,40}+)(?![A-Za-z0-9_]|-[0-9a-fA-F]{4}-)"  # a UUID is none
_COMMIT_CUES = ("commit", "merg", "cherry", "revert", "sha", "提交", "合并", "回滚", "还原")
_ASCII_CUES = tuple(cue for cue in _COMMIT_CUES if cue.isascii())
_INTRODUCED = r"(?:\s{1,3}+|[:=]\s{0,3}+)" + _HEX
_CUE = r"(?:(commit(?:s|ted)?)|merge[ds]?|merging|cherry.?pick(?:ed|s|ing)?|revert(?:ed|s|ing)?|sha)"
_ASCII_COMMIT = _CUE + _INTRODUCED  # for small letters: ignoring case makes a pattern slow to compile
_COMMIT = f"(?i:{_CUE}){_INTRODUCED}" + r"|(?:(提交)|合并|回滚|还原)(?:了|于|：|:)?\s{0,3}+" + _HEX
_OPENERS = frozenset("([{")
_NEXT_COMMIT = r"\s{0,3}+(?:,\s?(?i:and)|\.{2,3}+|,|、|，|(?i:and)|&|和|及|与)\s{0,3}+" + _HEX
_PARENTHESISED = r"\(([0-9a-fA-F]{7,40}+)\)"
_WIDE_PARENTHESISED = r"（([0-9a-fA-F]{7,40}+)）"
_DATE = r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"


def read_commits(page: Page, prose: str) -> None:
    """Mention hashes that a word like `commit` introduces or parentheses hold."""
    for opening, pattern in (("(", _PARENTHESISED), ("（", _WIDE_PARENTHESISED)):
        if opening not in prose:
            continue
        for found in compiled(pattern).finditer(prose):
            value, (start, end) = found.group(1), found.span()
            if _is_mixed(value) and not page.is_joined(start, end) and page.after(end) not in _OPENERS:
                page.mention(COMMIT, value, start=start + 1, end=end - 1)
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
        if joins(page.after(end)) or (not named and compiled(_DATE).fullmatch(value)):
            return
        page.mention(COMMIT, value, start=start, end=end)
        hit, group = compiled(_NEXT_COMMIT).match(prose, end), 1


def _is_mixed(value: str) -> bool:
    """Tell whether a hexadecimal word has a digit and a letter: neither a date nor an English word."""
    return not value.isdigit() and not value.isalpha()


# Keys, projects, components -------------------------------------------------------------------------------------------

_KEY = r"\[KEY:([^\]\n]{1,400}+)\]"
_PROJECT = r"~/\.agents/memory/projects/([A-Za-z0-9][A-Za-z0-9_.-]*+|[^\W_][\w-]*+)"
_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")


def read_keys(page: Page, prose: str) -> None:
    """Mention `[KEY: …]` on one line; white space inside is collapsed."""
    for found in compiled(_KEY).finditer(prose):
        value = " ".join(found.group(1).split())
        if value and len(value) <= MAX_KEY and not is_unclean(value):
            page.mention(KEY, value, start=found.start(), end=found.end())


def read_projects(page: Page, prose: str) -> None:
    """Mention projects by the path of their folder under the Root."""
    for found in compiled(_PROJECT).finditer(prose):
        page.mention(PROJECT, found.group(1).rstrip(".-"), start=found.start(), end=found.end())


def read_components(page: Page, prose: str, *, suffixes: tuple[str, ...]) -> None:
    """Mention the capitalised words that end in one of `suffixes`."""
    for suffix in suffixes:
        at = prose.find(suffix)
        while at >= 0:
            end = at + len(suffix)
            if prose[end : end + 1] not in _WORD:
                _read_component(page, prose, at=at, end=end)
            at = prose.find(suffix, at + 1)


def _read_component(page: Page, prose: str, *, at: int, end: int) -> None:
    """Read the word that goes on to the left of a suffix found at its end."""
    start = at
    while start > 0 and prose[start - 1] in _WORD:
        start -= 1
    if "A" <= prose[start] <= "Z" and at - start > 1 and prose[start:at].isalnum() and not page.is_joined(start, end):
        page.mention(COMPONENT, prose[start:end], start=start, end=end)
