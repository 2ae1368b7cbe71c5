"""The addresses that a text mentions: URLs and files. A reader returns the text with what it has taken hidden.

Pure. Every pattern takes linear time; what a pattern can't say cheaply (neighbours, context, stop lists)
is asked in Python, once for each hit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from unicodedata import category

from oracle.domain.compiling import compiled
from oracle.domain.links.links import BLANKS, FILE, HIDDEN, MAX_VALUE, URL, Page, is_wide, joins, settle_path, unescape
from oracle.domain.links.vocabulary import (
    BARE_FILES,
    EXTENSIONS,
    LOCK_FILES,
    OBJECTS,
    is_ending,
    is_host,
    is_product,
    list_files,
)
from oracle.domain.markdown.masks import blank

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
_DESTINATION = (
    r"((?:[^\s\x00-\x1f\x7f()\\]++|\\[^\s]|\((?:[^\s()\\]++|\\[^\s]|\((?:[^\s()\\]++|\\[^\s])*+\))*+\))*+)"
    r"(?=[ \t]*+\n?+[ \t]*+[)\"'(])"
)
_DEFINED = r"([^\s\x00-\x1f\x7f]++)(?=[ \t]*+(?:[\"'(].*)?$)"
_BRACKETED = r"([^\x00-\x20\x7f-\xa0<>\u2000-\u200f\u2028-\u202f\u3000\ud800-\udfff]++)>"
_BEFORE_DEFINED = frozenset(" \t\n:")
_URL_TAIL = ".,;:!?'\"*_~$،؛؟۔।॥"
_MOST_CHARACTERS = 8
_CHARACTER_END = r"&[A-Za-z]{2,8}\Z"
_FORGE = (
    r"(?i)(?:(?:[\w.-]*git[\w.-]*|codeberg\.org|bitbucket\.org)/[\w.-]+"
    r"|(?:www\.)?(?:npmjs\.com/package|crates\.io/crates|pypi\.org/project))/([\w-]+\.[\w.-]*\w)"
)
_LABEL = r"\[([\w.-]+\.(?:js|jl|cpp|go|rs))\](?:\(|:[ \t]*)<?\Z"  # endings that projects give to their names


def _web_scheme(prose: str, at: int) -> int:
    """Return the length of the `http` or `https` that ends at `at`, or 0; `git+https` counts, `xhttps` does not."""
    head = prose[max(0, at - 6) : at].lower()
    if head == " https":
        return 5
    length = 5 if head.endswith("https") else 4 if head.endswith("http") else 0
    before = head[: len(head) - length][-1:]
    return 0 if before.isascii() and before.isalnum() else length


def _url_rest(page: Page, prose: str, *, start: int, found: re.Match[str]) -> str:
    """Return what belongs to the URL behind `://`: all of it in `<…>` or a link's `(…)`, else without its last punctuation."""
    before = page.before(start)
    if before == "<" and (bracketed := compiled(_BRACKETED).match(prose, found.start(1))):
        return bracketed.group(1)
    if before == "(" and prose.startswith("](", start - 2):
        if prose.startswith(")", found.end()):
            return found.group(1)
        if linked := compiled(_DESTINATION).match(prose, found.start(1)):
            return linked.group(1)
    if before in _BEFORE_DEFINED and prose[max(start - 8, 0) : start].rstrip(" \t\n").endswith("]:"):
        defined = compiled(_DEFINED, re.MULTILINE).match(prose, found.start(1))
        return defined.group(1) if defined else _without_tail(found.group(1))
    return _without_tail(found.group(1).partition("'")[0] if before == "'" else found.group(1))


def _without_tail(rest: str) -> str:
    """Return a URL without the punctuation, emphasis and written-out characters (`&gt;`) that end it in prose."""
    for _ in range(_MOST_CHARACTERS):
        cut = rest.rstrip(_URL_TAIL)
        end = compiled(_CHARACTER_END).search(cut, max(0, len(cut) - 9)) if rest.startswith(";", len(cut)) else None
        if end is None:
            return cut
        rest = cut[: end.start()]
    return rest


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
            address = prose[start:end]
            page.mention(URL, unescape(address) if "\\" in address else address, start=start, end=end)
            page.sites.update(_names_in(prose, start, rest=rest[:MAX_VALUE]))
    return blank(prose, spans, filler=HIDDEN)


def _names_in(prose: str, start: int, *, rest: str) -> Iterator[str]:
    """Yield what a URL names that looks like a file: its host, a repository or package, the project that a link is called by."""
    yield rest.partition("/")[0].removeprefix("www.")
    if repository := compiled(_FORGE).match(rest):
        yield repository.group(1).removesuffix(".git")
    if "]" in prose[max(start - 4, 0) : start]:
        label = compiled(_LABEL).search(prose, max(start - 80, 0), start)
        if label and not rest.partition("#")[0].partition("?")[0].endswith("/" + label.group(1)):
            yield label.group(1)


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
    """Return where the first character beyond Latin-1 that ends a URL is, after `at`, or the text's end."""
    for found in compiled(_HIGH).finditer(prose, at):
        if bisect_right(_URL_STOPS, found.group()) % 2:
            return found.start()
    return len(prose)


# Mail -----------------------------------------------------------------------------------------------------------------

_MAIL_HOST = r"@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,}+"
_MAIL_BACKWARDS = re.compile(r"[A-Za-z0-9_.+%-]{1,64}")


def hide_mail(prose: str) -> str:
    """Return the text without its mail addresses: a part of one is no task or component."""
    if "@" not in prose:
        return prose
    spans: list[tuple[int, int]] = []
    for found in compiled(_MAIL_HOST).finditer(prose):
        at, end = found.span()
        if box := _MAIL_BACKWARDS.match(prose[max(0, at - 64) : at][::-1]):
            spans.append((at - box.end(), end))
    return blank(prose, spans, filler=HIDDEN)


# Files ----------------------------------------------------------------------------------------------------------------

_PATH_END = r"(?!_*+[A-Za-z0-9]|\.[a-z0-9_]|\+\+|[./-]*+(?<=[/-])[A-Za-z0-9_])"
_FILE_END = re.compile(r"\.([a-z][a-z0-9]{0,7}+)" + _PATH_END)
_BARE_FILE_END = r"/(?:" + "|".join(sorted(BARE_FILES)) + r")" + _PATH_END
_PATH_BACKWARDS = re.compile(r"(?:[A-Za-z0-9_./~@+$-]++(?:(?<=_)\\)?+)*+(?:(?<=/):[A-Za-z](?![A-Za-z0-9_]))?+")
_PATH_MARKS = frozenset("_./~@+$-")
_TOP_FOLDER = (
    r"/(?:home|etc|usr|var|tmp|opt|srv|mnt|root|Users|Volumes|Library|private|proc|dev|work|workspace|data|app)/"
)
_OFTEN_NAMES = (".js", ".cpp")
_PLAIN_PATH = re.compile(r"(?:\w[\w-]*+/)+\w[\w-]*+\.\w++", re.ASCII)  # what needs no second look
_CODE_LETTERS = frozenset(
    {"c", "h", "m", "r", "env", "log", "conf", "go", "pl", "fs", "ex", "less", "diff", "patch", "base"}
)
_VARIABLE = r"\$[A-Z][A-Z0-9_]*/"
"""The beginning of a path that only a shell knows; a route such as `$id/edit.tsx` is a name."""
_NAMES = re.compile(r"(?:[A-Z][A-Za-z]*/)+[A-Z][A-Za-z]*\.js")
_DOTTED_LETTERS = r"[A-Za-z](?:\.[A-Za-z])+"


def _path_start(prose: str, floor: int, *, end: int) -> int:
    """Walk back from the end of a path over the characters of paths; most are short, so look near by first."""
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
            start = _whole_start(prose, low, start=start, end=end)
            if start < 0:
                continue
        token = prose[start:end]
        is_plain = not token.endswith(_OFTEN_NAMES) and _PLAIN_PATH.fullmatch(token) and prose[end : end + 1] != "_"
        if not is_plain:
            token = token.lstrip("-+/" if text[start - 1 : start] == "`" else "-+")  # behind `package.json`
            start = end - len(token)
            token = _plain(token, prose, end=end)
        spans.append((start, end))
        at = start
        for part in (token,) if is_plain else list_files(token):
            path = part if is_plain else _file_path(part, page)
            is_apart = at > start or text[at - 1 : at] in BLANKS
            if path and (is_apart or not _is_part(page, at, end=end, path=path)) and not _is_call(text, end, path):
                page.mention(FILE, path, start=at, end=at + len(part))
            at += len(part) + 1
    return blank(prose, spans, filler=HIDDEN)


def _whole_start(prose: str, floor: int, *, start: int, end: int) -> int:
    """Return where a path begins that has folders in other scripts, or -1 when that is unclear.

    Prose that is written wide touches a path without a blank. It is no part of one that begins with a letter, or
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
    if prose[start] != "/" and is_wide(run[-1]) and not _ends_wide_name(prose, start, end=end):
        folder, slash, _ = run.rpartition("/")
        return -1 if slash and folder[-1:].isascii() and folder else start
    if "/" not in run and compiled(_TOP_FOLDER).match(prose, start):
        return start
    first = run.partition("/")[0]
    prefix = len(first) - len(first.lstrip("".join(filter(is_wide, first))))
    if prefix == len(first):  # as a folder or as prose
        prefix = 0 if prefix == 0 or prose[low - 1 : low] in BLANKS or low == 0 else -1
    if prefix < 0 or any(
        char.isascii() and char.isalnum() and is_wide(run[at + 1]) for at, char in enumerate(run[:-1])
    ):
        return -1
    return low + prefix


_INSIDE = frozenset("的里中下内裡內")


def _ends_wide_name(prose: str, start: int, *, end: int) -> bool:
    """Return whether what ends a path can't begin one, so that the wide letters before it are of its name: `docs/设计.md`.

    An ending alone may also be spoken of (`docs/里的.md文件`).
    """
    if prose[start] in "-_":
        return True
    is_ending = prose[start] == "." and "." not in prose[start + 1 : end]
    return is_ending and prose[start - 1] not in _INSIDE


def _is_of_path(char: str) -> bool:
    return char in _PATH_MARKS or char.isalnum() or (not char.isascii() and category(char).startswith("M"))


def _plain(token: str, prose: str, *, end: int) -> str:
    """Return a path without its escapes and without the underscores that open an emphasis, closed right behind it."""
    opening = len(token) - len(token.lstrip("_"))
    return token[opening if prose.startswith("_" * opening, end) else 0 :].replace("\\_", "_")


def _file_path(token: str, page: Page) -> str | None:
    """Return the path that a token names, or None when it is a product, an abbreviation, a host or half a pattern."""
    if not token.startswith("~/"):
        token = token.lstrip("~")
    if "..." in token or "~" in token[1:] or token.startswith("//") or _is_address(token):
        return None
    token = settle_path(token, page.patterns)
    if token[:1] == "$" and compiled(_VARIABLE).match(token):
        return None  # outside the repository, whose own paths are settled by now
    folder, slash, base = token.rpartition("/")
    stem, _, extension = base.rpartition(".")
    if base in BARE_FILES:
        return token if folder.strip("./") else None
    if not stem.strip(".-") or not base:
        return None
    if not slash:
        return None if _is_word(base, stem, extension) or is_ending(base) or base in page.sites else token
    head = token.partition("/")[0]
    if is_product(head) and all(map(is_product, token.split("/"))):  # `React.js/Vue.js`
        return None
    if is_product(base.lower()) and (extension != "js" or _NAMES.fullmatch(token)):  # `React/Next.js`, `edge/llama.cpp`
        return None
    return None if is_host(head or token[1:].partition("/")[0]) else token


def _is_address(token: str) -> bool:
    return "@" in token and not token.startswith("@") and "/@" not in token


def _is_word(base: str, stem: str, extension: str) -> bool:
    """Return whether a dotted name without a folder is prose: `Node.js`, `e.g.py`, `3.md`, `mutex.lock`, `self.log`."""
    if extension == "lock":
        return base not in LOCK_FILES
    if extension in _CODE_LETTERS and (len(stem) < 3 or "." in stem or stem in OBJECTS):
        return not (extension == "go" and stem.isalnum())
    return is_product(base) or stem.isdigit() or ("." in stem and bool(compiled(_DOTTED_LETTERS).fullmatch(stem)))


def _is_part(page: Page, start: int, *, end: int, path: str) -> bool:
    return _is_pattern(page, start=start, end=end, path=path) or _is_cut(page, start, path=path)


def _is_call(text: str, end: int, path: str) -> bool:
    """Return whether a name is a method that is called: `reply.json()`."""
    return text[end : end + 2] == "()" and "/" not in path


def _is_pattern(page: Page, *, start: int, end: int, path: str) -> bool:
    """Return whether the path is what follows a wildcard, a placeholder or a port."""
    before = page.before(start)
    if before in {"?", "}", ">", ")", "]", "…", "%"}:
        return path[0] in "/."
    if before == ":":
        return path[0].isdigit()  # a host's port
    return before == "*" and page.part(end, end + 4).lstrip("_")[:1] != "*"


def _is_cut(page: Page, start: int, *, path: str) -> bool:
    """Return whether the path is the tail of a name in another script or of a Windows path."""
    before = page.before(start)
    return before == "\\" or (joins(before) and path[0] != "/")
