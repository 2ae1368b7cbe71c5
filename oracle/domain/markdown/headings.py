"""The first heading of a Markdown text, as a reader sees it. Pure; linear time."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.domain.compiling import compiled
from oracle.domain.markdown.masks import mask_code

_HEADING = r" {0,3}(?:(#{1,6}[ \t]|<h[1-6]\b[^<>]*>)|#{1,6}(?=[^\W\d_][\w-]*(?: |$)))"
_NOT_WORDS = r"[^\w\[\"'(`*]|import |export |\[!|[-*+] |\d+[.)] |[\w-]+: |.*\|"
_UNSEEN = r"<[/A-Za-z!][^<>]*>|\s*\{#[\w.:-]+\}\s*$"
_WIKILINK = r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]"
_LINK = r"(!?)\[([^\[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])"
_STRONG = r"(\*\*|__)[^*_]+\1"


def first_heading(body: str) -> str:
    """Return the words of the first heading of a text that has any, without links, images, HTML and anchors; else ""."""
    if "#" not in body and "<h" not in body and "\n==" not in body and "\n--" not in body:
        return ""
    tags = ""
    end = body.find("\n+++", 4) if body.startswith("+++\n") else -1  # fields in TOML
    body = body[end + 4 :] if end >= 0 else body
    written = body.split("\n")
    is_noted = False
    for at, line in enumerate(mask_code(body).split("\n")):
        if line.startswith(":::"):  # a note beside the text begins or ends
            is_noted = line.strip(": ") != ""
        found = compiled(_HEADING).match(line)
        if is_noted or (found is None and not _is_underlined(written, at)):
            continue
        words = _plain(written[at] if found is None else written[at][found.end() :])
        if not any(map(str.isalnum, words)):
            continue
        if found is None or found[1]:
            return words
        tags = tags or ("" if " #" in words else words)  # `#word`: a heading for some, a tag for others
    return tags


def _is_underlined(lines: Sequence[str], at: int) -> bool:
    """Return whether a line is a paragraph of one line and the next line makes it a heading."""
    if at + 1 >= len(lines) or not lines[at + 1].startswith(("==", "---")) or (at and lines[at - 1].strip()):
        return False
    mark = lines[at + 1].rstrip()
    return mark == mark[0] * len(mark) and compiled(_NOT_WORDS).match(lines[at]) is None


def _plain(heading: str) -> str:
    """Return the words of a heading as a reader sees them."""
    words = compiled(_UNSEEN).sub("", heading)
    words = compiled(_WIKILINK).sub(lambda found: found[2] or found[1], words)
    for _ in range(2):  # an image in a link
        words = compiled(_LINK).sub(lambda found: "" if found[1] else found[2], words)
    words = " ".join(words.split())
    closed = words.rstrip("#")
    words = closed.rstrip() if closed.endswith(" ") or not closed else words
    return words[2:-2] if compiled(_STRONG).fullmatch(words) else words
