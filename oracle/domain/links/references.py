"""What a text links to: records and files by wikilinks, Markdown links and bare slugs; keys, projects and components.

Pure; linear time. Each reader hides what it has read, so that a link gives no second edge from its inside.
"""

from __future__ import annotations

import re

from oracle.domain.compiling import compiled
from oracle.domain.links import addresses, entities
from oracle.domain.links.entities import TASK_ID
from oracle.domain.links.links import (
    COMPONENT,
    DEFAULT_PATTERNS,
    FILE,
    HIDDEN,
    KEY,
    PROJECT,
    ROOT_FOLDERS,
    Extraction,
    Page,
    Patterns,
    decode,
    is_unclean,
    joins,
    settle_path,
    unescape,
)
from oracle.domain.links.vocabulary import BARE_FILES, EXTENSIONS, is_product
from oracle.domain.markdown.inline_code import find_elements
from oracle.domain.markdown.masks import blank, mask_code


def extract(text: str, patterns: Patterns = DEFAULT_PATTERNS) -> Extraction:
    """Read the edges of a record's body (front matter cut off); code and comments give none. Never raises.

    What one reader has taken is hidden from the next. A reader is called only when the text holds a mark that all of its finds
    share.
    """
    page = Page(text, patterns)
    prose = keys = hide_comments(hide_elements(mask_code(text)))
    if joints := entities.find_joints(text):
        page.beside = blank(text, joints, filler="_")
    if ":" in prose and "://" in prose:
        prose = addresses.read_urls(page, prose)
    prose = named = entities.hide_formulas(read_all(page, prose))
    if "." in prose or "/" in prose:
        prose = addresses.read_files(page, prose)
    if "[" in keys and "[KEY:" in keys:
        read_keys(page, keys)
    if "_" in prose and (spans := entities.find_emphasis(prose)):
        page.beside = blank(page.beside, spans, filler="*")
        prose, named = blank(prose, spans, filler="*"), blank(named, spans, filler="*")
    prose, named = addresses.hide_mail(prose), addresses.hide_mail(named)
    entities.read_tasks(page, prose, prefixes=patterns.task_prefixes)
    entities.read_commits(page, prose)
    read_components(page, named, suffixes=patterns.component_suffixes)
    return page.finish()


_HAN = r"\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"

# Links to records and files -------------------------------------------------------------------------------------------

_INLINE_LINK = (
    r"\]\([ \t]*+\n?+[ \t]*+(?:<([^<>\n]*+)>"
    r"|((?:[^\s()\\<\x01]|\\[^\s])(?:[^\s()\\]++|\\[^\s]|\((?:[^\s()\\]++|\\[^\s])*+\))*+))"
    r"(?=[ \t]*+\n?+[ \t]*+[)\"'(])"
    r"|\]\(([^\s()<>\\\x01][^()<>\\\x01\n\"',;:，；：。]*+)(?=\)|[\"'][^()\n]*+\))"  # blanks in a path
)
_DEFINITION = (
    r"(?m)^(?:[ \t>]|(?:[-+*]|[0-9]{1,9}[.)])[ \t]){0,12}+\[(?!\^)[^\[\]\n]{1,999}\]:[ \t]*+(?:\n[ \t>]*+)?+"
    r"(?:<([^<>\n]*+)>|([^\s<]\S*+))(?=[ \t]*+(?:[\"'(].*)?$)"
)
_COMMENT = r"(?m)^ {0,3}\[(?://|comment|_)\]:[ \t]*+(?:#|<>)[ \t]*+[(\"'].*$"
_CODE_TAG = r"(?i)<(/)?(code|pre)(?=[\s>])[^<>]*+>"
_ANCHOR = r"(?i)<a\s[^<>]{0,200}?\bhref=[\"']([^\"'<>\n\x01]+)[\"']"
_WIKILINK = r"\[\[([^\[\]\n|]{1,2000}+)(?:\|((?:[^\[\]\n]++|\[(?!\[)|\](?!\]))*+))?+\]\]"
_SHELL = r"[\"$`<>*{}\x01]|==|=~|!=|\s=\s|&&|^:\w*:$|(?:^|\s)(?:-[a-z]{1,2}|!)\s|^\s*[\d.]+\s*(?:,\s*[\d.]+\s*)+$"
_NAME = r"[\w./#-]+"  # surely no shell test
_INDEX = r"\s*(?:-?[0-9]+|[A-Za-z])\s*"
_ADDRESS = r"[A-Za-z][A-Za-z0-9+.-]*://|(?:mailto|file|data|tel):"  # and not `Fix: the title of a note`
_ADDRESS_MARKS = frozenset("./:")
_SCHEME_HEAD = r"[A-Za-z][A-Za-z0-9+.-]*:"
_MEMORY = "/.agents/memory/"
_ATTACHMENT = (
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|ico|avif|heic|tiff?|pdf|docx?|xlsx?|pptx?|odt|zip|gz|tgz|tar|7z|mp[34]|m4a|wav|ogg"
    r"|flac|mov|mkv|webm|canvas|base|excalidraw|drawio|puml|epub)\Z"
)
_KIND_PATH = r"\.{0,2}/(?:.*/)?(?:decision|finding|task|plan|experience)/[^/]+"


def hide_elements(prose: str) -> str:
    """Return the text without the code that is written as elements of HTML."""
    if "</code>" not in prose and "</pre>" not in prose:
        return prose
    return blank(prose, [*find_elements(prose, _CODE_TAG)])


def hide_comments(prose: str) -> str:
    """Return the text without the link definitions that serve as comments: `[//]: # (…)`."""
    if "[//]:" not in prose and "[comment]:" not in prose and "[_]:" not in prose:
        return prose
    return blank(prose, [found.span() for found in compiled(_COMMENT).finditer(prose)])


def read_all(page: Page, prose: str) -> str:
    """Read every link to a record, file or project, and hide all but the projects."""
    if "](" in prose or "]:" in prose or "href=" in prose:
        prose = read_links(page, prose)
    if "/.agents/memory/projects/" in prose:
        read_projects(page, prose)
    if "[[" in prose:
        prose = read_wikilinks(page, prose)
    if "/" in prose and any(folder in prose for folder in ROOT_FOLDERS):
        prose = read_slugs(page, prose)
    return prose


def read_links(page: Page, prose: str) -> str:
    """Read inline links, reference definitions and links of HTML; hide their destinations."""
    spans: list[tuple[int, int]] = []
    for mark, pattern in (("](", _INLINE_LINK), ("]:", _DEFINITION), ("href=", _ANCHOR)):
        if mark not in prose:
            continue
        for found in compiled(pattern).finditer(prose):
            group = found.lastindex or 0
            start, end = found.span(group)
            written = found.group(group)
            if group > 2 and written.rstrip().rpartition(".")[2] not in EXTENSIONS:
                continue
            if written.startswith("[[") or (mark == "]:" and _ADDRESS_MARKS.isdisjoint(written)):
                continue  # `[label]([[page]])`, as Logseq writes it, is a wikilink; `- [fix]: ARENA-228` a note
            spans.append((start, end))
            _read_destination(page, written, start=start, end=end)
    return blank(prose, sorted(spans), filler=HIDDEN)


def _read_destination(page: Page, written: str, *, start: int, end: int) -> None:
    path = unescape(written).replace("\\", "/") if "\\" in written else written
    if not path or compiled(_SCHEME_HEAD).match(path) or path.startswith(("//", "#", "?")) or written.startswith("\\"):
        return
    path = decode(path.partition("#")[0].partition("?")[0]).rstrip()
    inside = _inside_memory(path)
    if inside is not None or _names_record(path):
        _refer(page, inside or path, start=start, end=end)
        return
    name = path.rpartition("/")[2]
    if name in BARE_FILES or ("." in name and name.rpartition(".")[2] in EXTENSIONS):
        path = settle_path(path, page.patterns)
        if path and not is_unclean(path):
            page.mention(FILE, path, start=start, end=end)


def _inside_memory(path: str) -> str | None:
    """Return the root-relative record path that an absolute destination points at, or None."""
    if _MEMORY in path and path.startswith(("~", "/", "$")):
        path = path.rpartition(_MEMORY)[2]
    elif path.startswith("/"):
        path = path[1:]
    return path if path.startswith(ROOT_FOLDERS) and _is_record_path(path) else None


def _names_record(path: str) -> bool:
    if path.startswith(("~", "/", "$")):
        return False
    if path.lower().endswith((".md", ".mdx")):
        return True
    if path.startswith(ROOT_FOLDERS):
        return _is_record_path(path)
    is_of_kind = path[:1] in {".", "/"} and compiled(_KIND_PATH).fullmatch(path) is not None
    return is_of_kind and not _has_other_suffix(path.rpartition("/")[2])


def _is_record_path(path: str) -> bool:
    """Return whether a root-relative path is deep enough for a record, and not a file of another sort."""
    parts = path.split("/")
    if not all(parts) or parts[1].startswith("_"):
        return False
    least = {"projects": 4, "shared": 3}.get(parts[0], 2)
    if len(parts) < least or parts[2:3] == ["_index"] or path.endswith(_FOLDERS):
        return False
    return not _has_other_suffix(parts[-1])


def _has_other_suffix(name: str) -> bool:
    """Return whether a last path component is a file other than a record; `Node.js` alone is a name, not a file."""
    extension = name.rpartition(".")[2]
    if extension == name or extension in {"md", "mdx", "json"}:
        return False
    return bool(compiled(_ATTACHMENT, re.IGNORECASE).search(name)) or (extension in EXTENSIONS and not is_product(name))


def _refer(page: Page, path: str, *, start: int, end: int) -> None:
    ref = path.strip()
    if "." in ref:
        for suffix in (".md", ".mdx", ".json"):
            if ref.lower().endswith(suffix):
                ref = ref[: -len(suffix)]
                break
    if ref.rpartition("/")[2].strip() not in {"", ".", ".."} and not is_unclean(ref):
        page.refer(ref, start=start, end=end)


def _is_shell(written: str) -> bool:
    """Tell a test of a shell or a list of numbers in double brackets from a link."""
    return not compiled(_NAME).fullmatch(written) and compiled(_SHELL).search(written) is not None


def _is_subscript(page: Page, start: int, *, written: str) -> bool:
    """Tell the index of a list, as in `arr[[0]]`, from a link."""
    return joins(page.before(start)) and compiled(_INDEX).fullmatch(written) is not None


def read_wikilinks(page: Page, prose: str) -> str:
    """Read `[[wikilinks]]` and embeds of notes; hide what they point at, not their alias."""
    spans: list[tuple[int, int]] = []
    for found in compiled(_WIKILINK).finditer(prose):
        written, alias = found.group(1), found.group(2) or ""
        if prose.startswith((f"({HIDDEN}", f"(<{HIDDEN}"), found.end()):
            continue  # `[[paper]](https://…)` is a link with brackets in its text
        if alias.startswith("|") or _is_shell(written) or _is_subscript(page, found.start(), written=written):
            continue
        path = written.partition("#")[0].partition("^")[0].rstrip("\\ ").strip()
        path = unescape(path).replace("\\", "/") if "\\" in path else path
        if compiled(_ADDRESS).match(path) or _has_other_suffix(path.rpartition("/")[2]):
            continue
        inside = _inside_memory(path)
        _refer(page, inside or path.lstrip("/"), start=found.start(), end=found.end())
        if not compiled(TASK_ID).fullmatch(path):  # `[[ARENA-228]]` is a note and a task
            spans.append(found.span(1))
    return blank(prose, spans, filler=HIDDEN)


# A component goes on with CJK only where CJK began it or a dash leads to it: text beside a slug needs no blank.
_SLUG = (
    rf"(?:projects|shared|learnings)(?:/(?:[A-Za-z0-9._+\-\xb5-\u02ff\u0300-\u1fff]++|(?<=[-_/{_HAN}])[{_HAN}]++)++)++"
)
_ASCII_SLUG = r"(?:projects|shared|learnings)(?:/[A-Za-z0-9._+-]++)++"
_FOLDERS = (
    "/reviewer/findings",
    "/patrol/doc-code-alignment",
    "/patrol/test-results",
    "/patrol/task-commit-gaps",
)
_SLUG_BARRIERS = frozenset("/.-~$@\\}")
_PATH_GOES_ON = frozenset("/*<{$\\")
_SHARED = ("shared/library_knowledge/", "shared/patterns/", "shared/examples/")


def _is_ours(path: str) -> bool:
    """Return whether a path in prose means the Root: `shared/` and `learnings/` are folders of other trees too."""
    return path.startswith(("projects/", *_SHARED)) or (path.startswith("learnings/") and path.endswith(".md"))


def _emphasis_around(page: Page, start: int, written: str) -> int:
    """Return how many underscores open an emphasis before a slug and close it at its end."""
    marks = page.part(start - 3, start)
    opening = len(marks) - len(marks.rstrip("_"))
    return opening if opening and written.endswith("_" * opening) else 0


def _begins(page: Page, start: int) -> bool:
    """Return whether a slug may begin here: not inside a word or a path; an arrow may precede it, a placeholder may not."""
    before = page.before(start)
    if before == ">":
        return page.before(start - 1) in {"-", "="}
    return not joins(before) and before not in _SLUG_BARRIERS


def read_slugs(page: Page, prose: str) -> str:
    """Read root-relative slugs in prose, also behind the path of the Root; hide them."""
    spans: list[tuple[int, int]] = []
    for found in compiled(_ASCII_SLUG if prose.isascii() else _SLUG).finditer(prose):
        start = found.start()
        in_memory = prose.endswith(_MEMORY, 0, start)
        emphasis = _emphasis_around(page, start, found.group())
        path = found.group()[: len(found.group()) - emphasis].rstrip(".")
        end = start + len(path)
        if not in_memory and not (_begins(page, start - emphasis) and _is_ours(path)):
            continue
        goes_on = page.after(end) in _PATH_GOES_ON and (page.after(end), page.before(start)) != ("*", "*")  # bold
        if not goes_on and _is_record_path(path):
            spans.append((start, end))
            _refer(page, path, start=start, end=end)
    return blank(prose, spans, filler=HIDDEN)


# Keys, projects, components -------------------------------------------------------------------------------------------

MAX_KEY = 200  # characters
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
