"""Turn what a room shows into HTML. Templates escape every value; only HTML and drawings that `app.pages` made are not escaped."""

from __future__ import annotations

import gc
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from oracle.app.delivery import listed
from oracle.app.pages import svg
from oracle.domain import timestamps
from oracle.domain.links.links import reference_key
from oracle.domain.names import is_entity, say_state
from oracle.web import languages
from oracle.web.advice import plainly
from oracle.wording import say, say_many, spelled_lines, spoken

if TYPE_CHECKING:
    from oracle.app.delivery.story import Story
    from oracle.app.pages.graph import Neighbourhood
    from oracle.app.pages.timeline import Timeline
    from oracle.web.rooms import RoomPage

_HERE = Path(__file__).parent

_MOST_OF_QUESTION = 160
"""Characters of a question in a list."""

MENU = (
    ("/", say("Now")),
    ("/search", say("Search")),
    ("/ask", say("Ask")),
    ("/timeline", say("Timeline")),
    ("/graph", say("Graph")),
    ("/handoffs", say("Handoffs")),
    ("/decisions", say("Decisions")),
    ("/doctor", say("Doctor")),
)


def render(page: RoomPage, **shared: object) -> str:
    """Return a page as HTML in the language of the request. `shared` are the values that every page has."""
    template = _environment().get_template(page.template)
    return template.render(title=page.title, menu=MENU, language=languages.current(), **shared, **page.shown)


def warm() -> None:
    """Load what draws graphs, which takes half a second."""
    from oracle.app.pages.graph import DrawnNode, Neighbourhood

    nodes = tuple(DrawnNode(name, name, "task", "", 0, "") for name in "ab")
    _graph_svg(Neighbourhood("a", nodes, (("a", "b", "supports"),), 0), "")
    gc.collect()
    gc.freeze()  # what is loaded now stays: no search for garbage looks at it again


@cache
def statics() -> dict[str, tuple[bytes, str]]:
    """Return the files that pages load, by name: the bytes and the type."""
    types = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
    found = {path.name: (path.read_bytes(), types[path.suffix]) for path in sorted((_HERE / "static").iterdir())}
    return found | {"drawing.css": (svg.style().encode(), types[".css"])}


@cache
def static_address(name: str) -> str:
    """Return the address of such a file. It changes with the content, so that a browser may keep the file."""
    return f"/static/{sha256(statics()[name][0]).hexdigest()[:16]}/{name}"


def address_of(target: str) -> str:
    """Return the address of a record's page, or of an entity's."""
    return to("/entity" if is_entity(target) else "/record", name=target)


def to(path: str, **parameters: object) -> str:
    """Return an address on this server, without empty parameters."""
    kept = {name.rstrip("_"): str(found) for name, found in parameters.items() if found not in ("", None, False)}
    return f"{path}?{urlencode(kept, quote_via=quote, safe='/:', errors='replace')}" if kept else path


def link_from(text: str) -> str:
    """Return the address of what the Markdown of a record names: an entity, or a record as it is written there."""
    while text.startswith(("./", "../")):
        text = text.partition("/")[2]
    return address_of(text)


def _legible(item: object) -> object:
    """Return a value as a template prints it: in the language of the page, with what steers the reading order spelled out."""
    if isinstance(item, Markup):
        return item
    return "" if item is None else spelled_lines(spoken(item) if isinstance(item, str) else str(item))


def _code(text: str, *, copies: bool = False) -> Markup:
    """Return a sentence with what it has in backticks as code; `copies` puts a button behind each command."""
    parts = [escape(part) for part in str(_legible(text)).split("`")]
    for at, part in list(enumerate(parts))[1::2]:
        button = copy_button(part) if copies and part.startswith("oracle ") else ""
        parts[at] = Markup("<code>{}</code>{}").format(part, button)
    return Markup("").join(parts)


def copy_button(command: str) -> Markup:
    """Return a button that copies a command. It is only seen where scripts run."""
    shown = _legible(command)
    told = (shown, _legible(say("copied")), _legible(say("Copy {command}", command=command)), _legible(say("Copy")))
    return Markup(
        ' <button class="copy" type="button" data-text="{}" data-done="{}" aria-label="{}">{}</button>'
    ).format(*told)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_legible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {"say": say, "say_many": say_many, "to": to, "address_of": address_of, "static": static_address}
    made.globals |= {"copy_button": copy_button, "captions_of": listed.captions, "most_of_question": _MOST_OF_QUESTION}
    made.globals |= {
        "page_html": _page_html,
        "graph_svg": _graph_svg,
        "timeline_svg": _timeline_svg,
        "story_svg": _story_svg,
    }
    made.filters |= {"age": timestamps.say_age, "moment": timestamps.to_minute, "name": _short, "code": _code}
    made.filters |= {"state": say_state, "plainly": plainly, "commands": partial(_code, copies=True)}
    made.filters |= {"from_seconds": lambda seconds: timestamps.from_mtime(int(seconds * 1e9))}
    return made


def _page_html(text: str) -> Markup:
    from oracle.app.pages.markdown import to_html

    return Markup(to_html(text, link=link_from))  # noqa: S704 -- it is cleaned there


def _graph_svg(found: Neighbourhood, more: str) -> Markup:
    from oracle.app.pages import graph

    return Markup(graph.draw(found, link=address_of, more=more))  # noqa: S704 -- every text in it is escaped


def _timeline_svg(found: Timeline, more: str) -> Markup:
    from oracle.app.pages import timeline

    return Markup(timeline.draw(found, link=address_of, more=more))  # noqa: S704 -- every text in it is escaped


def _story_svg(story: Story) -> Markup:
    from oracle.app.pages import story as drawings

    return Markup(drawings.draw(story, link=lambda _: ""))  # noqa: S704 -- every text in it is escaped


def _short(target: str) -> str:
    """Return an entity without its first word, or a record by the words of its file's name."""
    return target.removeprefix("entity:") if is_entity(target) else reference_key(target) or target
