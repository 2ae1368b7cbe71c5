"""The sentences of a page, their links taken out: which records they name, where, and in what words they speak of them. Pure."""

from __future__ import annotations

import re
from itertools import islice

from oracle.app.search.ranking.pages import Page
from oracle.domain.compiling import compiled
from oracle.domain.links.links import reference_key
from oracle.domain.relations.patterns import NAMED
from oracle.domain.values import value
from oracle.index.fold import RUN
from oracle.index.read.tokens import lower, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LINK = r"\[\[(?P<wiki>[^\[\]|\n]+)(?:\|(?P<alias>[^\[\]\n]+))?\]\]|\[(?P<text>[^\[\]\n]+)\]\((?P<place>[^()\s]+)\)"
_SENTENCE = (
    r"(?<=[.!?。！？；])\s+|(?<=[。！？；])(?=[^\s”’」』）])|(?<=;)\s+(?=[A-Z\[])|\n\s*\n"
    r"|\n(?=\s*(?:[-*+|>#]|\d+[.)]|\**[A-Z][\w ]{0,20}:))"
)
_GOES_ON = r"(?i)^\W*(?:(?:she|he|they|her|his|their)\b|[他她它其])"
_MOST_SAYINGS, _MOST_FOLLOW = 100, 10
"""Sentences of a page that are weighed for what they say of one record, and those that may go on about it."""
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


def is_run(name: str) -> bool:
    """Tell whether a name is written without blanks around it, as in Chinese; figures and Latin letters may stand in it."""
    return not name.isascii() and len(name) > 1 and compiled(RUN).search(name) is not None


def key_of(name: str) -> str:
    """Return the key of what a link leads to, or of its label."""
    return reference_key(name.partition("#")[0].removesuffix(".md"))


@value
class Sayings:
    """The sentences of a page, and the numbers of those with a link of each key, and of each passage."""

    all: tuple[Saying, ...]
    by_key: dict[str, list[int]]
    by_passage: dict[int, list[int]]


def sayings(page: Page) -> Sayings:
    """Return the sentences of a page, read when they are first asked for."""
    if page.sayings is None:
        found = Sayings(tuple(_read(page)), {}, {})
        for number, saying in enumerate(found.all):
            found.by_passage.setdefault(saying.at, []).append(number)
            for key in frozenset[str]().union(*(mention.keys for mention in saying.mentions)):
                found.by_key.setdefault(key, []).append(number)
        page.sayings = found
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
    """Yield the first sentences of a page that name a record, and where in them; -1 for one that goes on about it."""
    said = sayings(page).all
    for number in islice(_naming(page, names), _MOST_SAYINGS):
        yield said[number], _place(said[number], names)
        for after in said[number + 1 : number + 1 + _MOST_FOLLOW]:
            if not after.follows or _place(after, names) >= 0:
                break
            yield after, -1


def speaks_of(page: Page, names: Names) -> bool:
    """Tell whether a sentence of a page names a record, by a link or in plain words."""
    return next(_naming(page, names), None) is not None


def _naming(page: Page, names: Names) -> Iterator[int]:
    """Yield the numbers of the sentences that name a record, in order; plain words are sought where the rarest of them stands."""
    said = sayings(page)
    numbers = {number for key in names.keys for number in said.by_key.get(key, ())}
    places = min((page.postings.get(word, []) for word in tokens(names.title)), key=len, default=[])
    numbers.update(number for at in set(places) for number in said.by_passage.get(at, ()))
    return (number for number in sorted(numbers) if _place(said.all[number], names) >= 0)


def _place(saying: Saying, names: Names) -> int:
    for mention in saying.mentions:
        if not mention.keys.isdisjoint(names.keys):
            return mention.place
    title = names.title
    if " " in title or is_run(title):
        return lower(saying.text).find(lower(title))
    if title not in saying.text:
        return -1
    match = re.search(_SINGLE % re.escape(title), saying.text)  # `compiled` keeps each pattern for good
    return match.start() if match else -1
