"""The first heading of a Markdown text, in the words that a reader sees. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oracle.domain.compiling import compiled

_TITLE_HEADING = r" {0,3}(?:(#{1,6}[ \t]|<h[1-6]\b[^<>]*>)|#{1,6}(?=[^\W\d_][\w-]*(?: |$)))"
_NOT_WORDS = r"[^\w\[\"'(`*]|import |export |\[!|[-*+] |\d+[.)] |[\w-]+: |.*\||(?:\[[^\[\]]*\]\([^()]*\) *[·•/] *)+"
_HIDDEN = r"(?m)^<(pre|script|style)\b|^(\$\$|%%)[ \t]*$"  # HTML, formulas, comments of Obsidian
_UNSEEN = r"<[/A-Za-z!][^<>]*>|\s*\{#[\w.:-]+\}\s*$|\[\^[^\[\]]+\]"
_WIKILINK = r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]"
_LINK = r"(!?)\[([^\[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])"
_EMPHASIS = r"(?<![\w*\\])\*(?=\w)([^*`]*[^\s*`\\])\*(?![\w*])"
_STRONG = r"(\*\*|(?<!\S)__(?=.+__$))([^*_]+)\1"


def first_heading(body: str) -> str:
    """Return the words of the first heading of a text that has any, without links, images, HTML and anchors; else ""."""
    if "#" not in body and "<h" not in body and "\n==" not in body and "\n--" not in body:
        return ""
    from oracle.domain.markdown.masks import blank, mask_code  # records with a title need none

    tags = ""
    end = body.find("\n+++", 4) if body.startswith("+++\n") else -1  # fields in TOML
    body = body[end + 4 :] if end >= 0 else body
    written = body.split("\n")
    is_noted = is_html = False
    masked = mask_code(body)
    if "<" in body or "%%" in body or "$$" in body:
        masked = blank(masked, list(_find_hidden(masked)))
    for at, line in enumerate(masked.split("\n")):
        if line.startswith(":::"):  # a note beside the text begins or ends
            is_noted = line.strip(": ") != ""
        is_html = line.strip() != "" and (is_html or line.startswith("<"))
        found = compiled(_TITLE_HEADING).match(line)
        if is_noted or (found is None and not _is_underlined(written, at)):
            continue
        words = plain_heading(_whole(written, at, found.end() if found else 0))
        if not any(map(str.isalnum, words)):
            continue
        if found is None or (found[1] and (found[1][0] == "<" or not is_html)):
            return words
        tags = tags or ("" if " #" in words else words)  # `#word`: a heading for some, a tag for others; one amid HTML
    return tags


def _find_hidden(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text is no Markdown, from the mark that opens a block to the one that closes it."""
    end = 0
    unclosed = set()
    for found in compiled(_HIDDEN).finditer(text):
        closing = f"</{found[1]}>" if found[1] else "\n" + found[2]
        if found.start() < end or closing in unclosed:
            continue
        at = text.find(closing, found.end())
        if at < 0:
            unclosed.add(closing)
        else:
            end = at + len(closing)
            yield found.start(), end


def _whole(lines: Sequence[str], at: int, start: int) -> str:
    """Return the text of a heading: the rest of its line, or of HTML up to the end of the element."""
    if "<h" not in lines[at][:start] or "</h" in lines[at]:
        return lines[at][start:]
    text = " ".join([lines[at][start:], *lines[at + 1 : at + 12]])
    return text.partition("</h")[0] if "</h" in text else lines[at][start:]


def _is_underlined(lines: Sequence[str], at: int) -> bool:
    """Return whether a line is a paragraph of one line and the next line makes it a heading."""
    if at + 1 >= len(lines) or not lines[at + 1].startswith(("==", "---")) or (at and lines[at - 1].strip()):
        return False
    mark = lines[at + 1].rstrip()
    return mark == mark[0] * len(mark) and compiled(_NOT_WORDS).match(lines[at]) is None


def plain_heading(heading: str) -> str:
    """Return the words of a heading as a reader sees them."""
    words = compiled(_UNSEEN).sub(lambda found: " " if found[0].startswith("<br") else "", heading)
    words = compiled(_WIKILINK).sub(lambda found: "" if found[0][0] == "!" else found[2] or found[1], words)
    for _ in range(2):  # an image in a link
        words = compiled(_LINK).sub(lambda found: "" if found[1] else found[2], words)
    words = " ".join(words.split())
    closed = words.rstrip("#")
    words = closed.rstrip() if closed.endswith(" ") or not closed else words
    words = compiled(_EMPHASIS).sub(r"\1", compiled(_STRONG).sub(r"\2", words))
    if "&" in words and ";" in words:
        from html import unescape as read_entities

        words = read_entities(words)
    return compiled(r"\\([!-/:-@\[-`{-~])").sub(r"\1", words)
