"""Turn the Markdown of a record into lines. The text is hostile: no control character, markup or link of it gets through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from oracle.tui.lines import Line
from oracle.wording import spelled, spelled_lines

if TYPE_CHECKING:
    from typing import Protocol

    from rich.console import Console
    from rich.segment import Segment

    class Token(Protocol):
        """A token of the parser that Rich uses."""

        type: str
        tag: str
        info: str
        content: str
        attrs: dict[str, str | int | float]
        children: list[Any] | None


LONGEST = 50_000
"""Characters that are read as Markdown. A longer text is shown as it is, since reading it could take seconds."""

_STYLES = {
    "markdown.code": "cyan",
    "markdown.code_block": "cyan",
    "markdown.h1": "bold underline",
    "markdown.h1.border": "none",
    "markdown.h2": "bold underline",
    "markdown.h3": "bold",
    "markdown.h4": "bold",
    "markdown.h5": "bold",
    "markdown.h6": "bold",
    "markdown.h7": "bold",
    "markdown.item.bullet": "none",
    "markdown.item.number": "none",
    "markdown.link": "underline",
    "markdown.link_url": "dim",
    "markdown.block_quote": "italic",
    "markdown.hr": "dim",
    "markdown.kbd": "none",
    "markdown.table.border": "dim",
    "markdown.table.header": "bold",
}


def markdown_lines(text: str, width: int) -> list[Line]:
    """Return a Markdown text in lines of at most so many columns; tags are shown as they are written."""
    from rich.markdown import Heading, Markdown
    from rich.segment import Segment

    safe = spelled_lines(text.replace("\r\n", "\n").replace("\r", "\n"))
    if len(safe) > LONGEST:
        return plain_lines(safe, width)
    Heading.LEVEL_ALIGN["h1"] = "left"
    console = _console()
    markdown = Markdown(safe, hyperlinks=False, code_theme="ansi_dark")
    for token in _walk(markdown.parsed):
        _make_safe(token)
    try:
        rows = console.render_lines(markdown, console.options.update(width=max(width, 8)), pad=False)
    except RecursionError:  # quotes in quotes in quotes
        return plain_lines(safe, width)
    return [_line(Segment.simplify(row)) for row in rows]


def _line(row: Iterable[Segment]) -> Line:
    pieces = [(spelled(text), str(style or "")) for text, style, _ in row]
    while pieces and not pieces[-1][0].strip():
        pieces.pop()
    ends = [(pieces[-1][0].rstrip(), pieces[-1][1])] if pieces else []
    return Line((*pieces[:-1], *ends))


def plain_lines(text: str, width: int) -> list[Line]:
    """Return a text as it is, longer lines broken."""
    from oracle.domain.layout import broken

    lines = spelled_lines(text).expandtabs(4).split("\n")
    return [Line(((part, ""),)) for line in lines for part in broken(line, width)]


@cache
def _console() -> Console:
    from rich.console import Console
    from rich.theme import Theme

    return Console(theme=Theme(_STYLES), color_system="standard", force_terminal=True, emoji=False, markup=False)


def _make_safe(token: Token) -> None:
    """Show HTML and images as they are written, code without colours, and what steers a terminal spelled out.

    A reference such as `&#x1b;` became a character when it was parsed.
    """
    token.content = spelled_lines(token.content)
    token.attrs = {name: spelled(str(content)) for name, content in token.attrs.items()}
    if token.type in ("html_block", "fence", "code_block"):
        token.type, token.tag, token.info = "code_block", "code", ""
    elif token.type == "html_inline":
        token.type = "text"
    elif token.type == "image":
        token.content = f"![{token.content}]({token.attrs.get('src', '')})"
        token.type, token.tag, token.children = "text", "", None


def _walk(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk(token.children or ())
