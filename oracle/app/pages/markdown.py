"""Turn the Markdown of a record into HTML. The text is hostile: no tag, script, style or image of it reaches the page."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from oracle.domain.links.references import extract
from oracle.domain.names import split_entity
from oracle.wording import say, spelled_lines, spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

LONGEST = 50_000
"""Characters that are read as Markdown. A longer text is printed as it is, since reading it could take seconds."""

_SCHEMES = frozenset(("http", "https", "mailto"))
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):|//")
_WIKILINK = re.compile(r"\[\[(?P<name>[^\[\]\n|]{1,2000}+)(?:\|(?P<alias>[^\[\]\n]++))?+\]\]")
_TAGS = frozenset(
    "p br hr h2 h3 h4 h5 h6 blockquote ul ol li pre code em strong a span table thead tbody tr th td".split()
)
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, "span": {"title"}}
_CLASSES = {"span": {"address", "absent"}}
ABSENT = "#"
"""What stands for the address of a record that is there and is left out of the page: its name gets a mark."""
_LOWEST_HEADING = 6


def to_html(text: str, *, link: Callable[[str], str], known: Collection[str] | None = None) -> str:
    """Return the HTML of a Markdown text; its headings begin at the second level.

    `link` returns our own address of what a link or a word names, as the index has it: an entity, or a record as it is
    written there. It returns "" for what stays plain text, and ABSENT for what is left out. Other links lead to http, https
    and mailto only, and their address is printed beside them. `known` are all words that `link` may have an address for in
    plain text; without them each text is read for what it names. An image becomes its text and address. Characters that
    steer a terminal or change the reading order are spelled out.
    """
    plain = spelled_lines(text.replace("\r\n", "\n").replace("\r", "\n"))
    if len(plain) > LONGEST:
        return f"<pre>{escape(plain)}</pre>"
    reader = _reader()
    tokens = reader.parse(plain)
    for token in tokens:
        if token.tag[:1] == "h" and token.tag[1:].isdecimal():
            token.tag = f"h{min(int(token.tag[1:]) + 1, _LOWEST_HEADING)}"
        token.children = list(_rewrite(token.children, link, known)) if token.children else token.children
    html = nh3.clean(
        reader.renderer.render(tokens, reader.options, {}),
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes=set(_SCHEMES),
        link_rel="noopener noreferrer",
    )
    return spelled_lines(html)  # a reference such as `&#x202e;` is a character only now


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _rewrite(tokens: Sequence[Token], link: Callable[[str], str], known: Collection[str] | None) -> Iterator[Token]:
    """Yield the tokens of a line with their links and images as `to_html` describes them."""
    written, target, shown = "", "", ""
    for token in tokens:
        if token.type == "link_open":
            written, shown = str(token.attrs["href"]), ""
            target = _address(written, link)
            if target:
                yield _opening(target)
        elif token.type == "link_close":
            if target:
                yield _closing(target)
            if shown != written.removeprefix("mailto:"):
                yield from _shown_address(written)
            written = target = ""
        elif token.type == "image":
            yield _text(token.content)
            yield from _shown_address(str(token.attrs["src"]))
        elif token.type == "text" and not target:
            shown += token.content
            yield from _linked(token.content, link) if _may_name(token.content, known) else (token,)
        else:
            shown += token.content
            yield token


def _address(written: str, link: Callable[[str], str]) -> str:
    """Return where a link leads: its own address, ours of the thing that it names, or "" for a plain text."""
    scheme = _SCHEME.match(written)
    if scheme is None:
        return _own_address(f"[a](<{written}>)", link)
    return written if (scheme["scheme"] or "").lower() in _SCHEMES else ""


def _may_name(text: str, known: Collection[str] | None) -> bool:
    return known is None or "[[" in text or any(name in text for name in known)


def _linked(text: str, link: Callable[[str], str]) -> Iterator[Token]:
    """Yield a text with links at its wikilinks and at the entities and records that it names."""
    done = 0
    for found in _WIKILINK.finditer(text):
        yield from _marked(text[done : found.start()], link)
        yield from _link_or_text(found["alias"] or found["name"], _own_address(found[0], link))
        done = found.end()
    yield from _marked(text[done:], link)


def _own_address(written: str, link: Callable[[str], str]) -> str:
    """Return our address of what a link names, as the index reads it; "" for none."""
    return next(filter(None, map(link, _targets(written).values())), "")


def _marked(text: str, link: Callable[[str], str]) -> Iterator[Token]:
    """Yield a text with links at the entities and records that it names."""
    targets = _targets(text)
    if not targets:
        yield _text(text)
        return
    longest_first = sorted(targets, key=len, reverse=True)
    done = 0
    for found in re.finditer("|".join(map(re.escape, longest_first)), text):
        yield _text(text[done : found.start()])
        yield from _link_or_text(found[0], link(targets[found[0]]))
        done = found.end()
    yield _text(text[done:])


def _targets(text: str) -> Mapping[str, str]:
    """Return what `link` is asked for each entity or record that a text names, by how it is written there."""
    found = extract(text)
    entities = {split_entity(mention.target)[1]: mention.target for mention in found.mentions}
    return {**entities, **{reference.ref: reference.ref for reference in found.references}}


def _link_or_text(text: str, target: str) -> Iterator[Token]:
    if target:
        yield _opening(target)
    yield _text(text)
    if target:
        yield _closing(target)


def _shown_address(address: str) -> Iterator[Token]:
    yield _text(" ")
    yield Token("span_open", "span", 1, attrs={"class": "address"})
    yield _text(f"({address})")
    yield Token("span_close", "span", -1)


def _opening(target: str) -> Token:
    if target == ABSENT:
        return Token("span_open", "span", 1, attrs={"class": "absent", "title": spoken(say("left out of this page"))})
    return Token("link_open", "a", 1, attrs={"href": target})


def _closing(target: str) -> Token:
    return Token("span_close", "span", -1) if target == ABSENT else Token("link_close", "a", -1)


def _text(text: str) -> Token:
    return Token("text", "", 0, content=text)
