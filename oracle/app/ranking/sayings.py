"""The sentences of a page, their links taken out: which records they name, where, and in what words they speak of them. Pure."""

from __future__ import annotations

import re

from oracle.app.ranking.pages import Page
from oracle.domain.compiling import compiled
from oracle.domain.links import reference_key
from oracle.domain.relations import NAMED
from oracle.domain.values import value
from oracle.index.tokens import lower, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LINK = r"\[\[(?P<wiki>[^\[\]|\n]+)(?:\|(?P<alias>[^\[\]\n]+))?\]\]|\[(?P<text>[^\[\]\n]+)\]\((?P<place>[^()\s]+)\)"
_SENTENCE = r"(?<=[.!?。！？；])\s+|(?<=;)\s+(?=[A-Z\[])|\n\s*\n|\n(?=\s*(?:[-*+|>#]|\d+[.)]|\**[A-Z][\w ]{0,20}:))"
_GOES_ON = r"(?i)^\W*(?:she|he|they|her|his|their)\b"
_SINGLE = r"(?<![\w-])(?<![A-Z]\w\w )%s(?![\w-])(?! [A-Z])"


@value
class Mention:
    """A link in a sentence: the keys of what it names, where it stands, and the folder that it leads into, if it says one."""

    keys: frozenset[str]
    place: int
    folder: str


@value
class Saying:
    """A sentence of the passage `at`: each link in it is NAMED, `mentions` are its keys with its place.

    `follows` says that it goes on about what the sentence before names.
    """

    at: int
    text: str
    headings: str
    mentions: tuple[Mention, ...]
    follows: bool


@value
class Names:
    """What a record is called: keys that a link to it may have, and its title in plain words."""

    keys: frozenset[str]
    title: str

    @classmethod
    def of(cls, title: str, slug: str) -> Names:
        """Name a record by its title and the last part of its path, with or without the folders that are written into it."""
        tail = slug.rpartition("/")[2]
        last = tail.replace("__", "--").rpartition("--")[2]
        return cls(frozenset(key_of(name) for name in (title, tail, last)) - {""}, title)


def key_of(name: str) -> str:
    """Return the key of what a link leads to, or of its label."""
    return reference_key(name.partition("#")[0].removesuffix(".md"))


def sayings(page: Page) -> list[Saying]:
    """Return the sentences of a page, read when they are first asked for."""
    if page.sayings is None:
        page.sayings = list(_read(page))
    return page.sayings


def _read(page: Page) -> Iterable[Saying]:
    for at, passage in enumerate(page.passages):
        heading = lower(passage.headings[-1]) if passage.headings else ""
        headings = heading if tokens(heading) != page.title else ""
        for piece in compiled(_SENTENCE).split(passage.text):
            if piece.strip():
                text, mentions = _take_links(piece)
                yield Saying(at, text, headings, mentions, not mentions and bool(compiled(_GOES_ON).search(text)))


def _take_links(piece: str) -> tuple[str, tuple[Mention, ...]]:
    found: list[Mention] = []
    parts: list[str] = []
    size = last = 0
    for match in compiled(LINK).finditer(piece):
        before = piece[last : match.start()]
        size += len(before)
        names = (match["wiki"], match["alias"], match["text"], match["place"])
        folder = (match["wiki"] or match["place"]).rpartition("/")[0].rpartition("/")[2]
        found.append(Mention(frozenset(key_of(name) for name in names if name) - {""}, size, lower(folder)))
        parts += [before, NAMED]
        size += 1
        last = match.end()
    return "".join([*parts, piece[last:]]), tuple(found)


def spoken_of(page: Page, names: Names) -> Iterable[tuple[Saying, int]]:
    """Yield the sentences of a page that name a record, and where in them; -1 for one that goes on about it."""
    about_it = False
    for saying in sayings(page):
        place = _place(saying, names)
        if place >= 0:
            about_it = True
            yield saying, place
        elif not saying.follows:
            about_it = False
        elif about_it:
            yield saying, -1


def speaks_of(page: Page, names: Names) -> bool:
    """Tell whether a sentence of a page names a record, by a link or in plain words."""
    return any(_place(saying, names) >= 0 for saying in sayings(page))


def _place(saying: Saying, names: Names) -> int:
    for mention in saying.mentions:
        if not mention.keys.isdisjoint(names.keys):
            return mention.place
    title = names.title
    if " " in title:
        return lower(saying.text).find(lower(title))
    if title not in saying.text:
        return -1
    match = compiled(_SINGLE % re.escape(title)).search(saying.text)
    return match.start() if match else -1
