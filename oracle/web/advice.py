"""Say in the words of a page what to do about an error: the use cases name commands and their options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from oracle.domain.values import value
from oracle.errors import NotFound
from oracle.wording import Sentence, say, spoken

if TYPE_CHECKING:
    from oracle.errors import OracleError

_OPTION = re.compile(r"(?<![\w-])--(?=[a-z])")
_CODE = re.compile(r"^not_in_\w+\s*[:：]\s*", re.ASCII)
_CHOSEN = {"/record": "name", "/entity": "name", "/graph": "name", "/handoff": "project", "/handoffs": "state"}
"""The parameter of each page for which a hint may offer names."""

_LOOKS_UP = (
    ("oracle list --entities", say("See what is mentioned most"), "/graph"),
    ("oracle handoffs", say("See all handoffs"), "/handoffs"),
    ("oracle list", say("See the newest records"), "/timeline"),
    ("oracle index status", say("See the newest records"), "/timeline"),
)
"""The commands that only show something, and the page that shows it."""

WayOut = tuple[str, str, Mapping[str, str]]
"""A link: its text, a path, and the parameters."""


@value
class Advice:
    """What to do: a sentence, "" for none, and links."""

    sentence: str
    links: tuple[WayOut, ...] = ()


def advise(error: OracleError, path: str, parameters: Mapping[str, str]) -> Advice:
    """Return what a reader of the page at an address can do about its error."""
    hint = error.hint
    names = dict.fromkeys(_names_in(hint)) if path in _CHOSEN else {}
    links = tuple((name, path, {**parameters, _CHOSEN[path]: name}) for name in names if name)
    words = (parameters.get("name") or parameters.get("task") or "") if isinstance(error, NotFound) else ""
    search = ((say("Search for {words}", words=words), "/search", {"q": words}),) if words.strip() else ()
    if links:
        return Advice(say("Did you mean one of these?"), (*links, *search))
    names_commands = isinstance(hint, Sentence) and ("--" in hint.template or any(one in hint for one, *_ in _LOOKS_UP))
    if not isinstance(hint, Sentence) or not (names or names_commands):
        return Advice(hint, search)
    meant = say("Did you mean {name}?", name=hint.values["name"]) if "{name}?" in hint.template else ""
    pages: list[WayOut] = [(text, page, {}) for command, text, page in _LOOKS_UP if command in hint]
    return Advice(meant or say("Follow a link, or search."), (*search, *pages[:1]))


def plainly(sentence: str) -> str:
    """Return an error in the language of the page, without what only programs and a command line know."""
    text = _OPTION.sub("", _CODE.sub("", spoken(sentence)))
    return f"{text[:1].upper()}{text[1:]}"


def _names_in(hint: object) -> Iterator[str]:
    """Yield the names that a hint lists, "" for an entity that nothing mentions."""
    for found in hint.values.values() if isinstance(hint, Sentence) else ():
        if isinstance(found, Sentence):
            yield from _names_in(found)
        elif isinstance(found, tuple):
            yield from map(_name_in, found)


def _name_in(listed: object) -> str:
    """Return the name of an item of a list, "" for an entity that nothing mentions."""
    if not isinstance(listed, Sentence):
        return str(listed)
    count = listed.values.get("count")
    return "" if isinstance(count, Sentence) and "n" not in count.values else str(listed.values.get("name", listed))
