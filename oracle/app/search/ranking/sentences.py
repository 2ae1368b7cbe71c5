"""The sentences of a page, their links taken out: which records they name, where, and in what words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from oracle.app.search.ranking.pages import PageLink, PageSentence, PageSentences, RecordPage
from oracle.domain.compiling import compiled
from oracle.domain.links.links import reference_key
from oracle.domain.relations.patterns import NAMED
from oracle.domain.values import value
from oracle.index.fold import has_run, lower, tokens

LINK = r"\[\[(?P<wiki>[^\[\]|\n]+)(?:\|(?P<alias>[^\[\]\n]+))?\]\]|\[(?P<text>[^\[\]\n]+)\]\((?P<place>[^()\s]+)\)"
_END = (
    r"(?<=[.!?。！？；])\s+|(?<=[。！？；])(?=[^\s”’」』）])|(?<=;)\s+(?=[A-Z\[])|\n\s*\n"
    r"|\n(?=\s*(?:[-*+|>#]|\d+[.)]|\**[A-Z][\w ]{0,20}:))"
)
_GOES_ON = r"(?i)^\W*(?:(?:she|he|they|her|his|their)\b|[他她它其])"
_MOST, _MOST_FOLLOW = 100, 10
"""PageSentences of a page that are weighed for what they say of one record, and those after each that may go on about it."""
_SINGLE = r"(?<![\w-])(?<![A-Z]\w\w )%s(?![\w-])(?! [A-Z])"


@value
class Names:
    """What a record is called: the keys that a link to it may have, and its title in plain words."""

    keys: frozenset[str]
    title: str

    @classmethod
    def of(cls, title: str, slug: str) -> Names:
        """Name a record by its title and the last part of its path, with the folders written into it or without."""
        tail = slug.rpartition("/")[2]
        last = tail.replace("__", "--").rpartition("--")[2]
        return cls(frozenset(_key_of(name) for name in (title, tail, last)) - {""}, title)


def _key_of(name: str) -> str:
    """Return the key of the target of a link, or of its label."""
    return reference_key(name.partition("#")[0].removesuffix(".md"))


def sentences_of(page: RecordPage) -> PageSentences:
    """Return the sentences of a page, read when they are first asked for."""
    if page.sentences is None:
        page.sentences = found = PageSentences(tuple(_read(page)), {}, {})
        for number, sentence in enumerate(found.all):
            found.by_passage.setdefault(sentence.at, []).append(number)
            for key in {key for mention in sentence.mentions for key in mention.keys}:
                found.by_key.setdefault(key, []).append(number)
    return page.sentences


def _read(page: RecordPage) -> Iterable[PageSentence]:
    for at, passage in enumerate(page.passages):
        heading = lower(passage.headings[-1]) if passage.headings else ""
        heading = heading if tokens(heading) != page.title else ""
        for piece in compiled(_END).split(passage.text):
            if piece.strip():
                text, mentions = _take_links(piece)
                yield PageSentence(at, text, heading, mentions, not mentions and bool(compiled(_GOES_ON).search(text)))


def _take_links(piece: str) -> tuple[str, tuple[PageLink, ...]]:
    found: list[PageLink] = []
    text, last = "", 0
    for match in compiled(LINK).finditer(piece):
        text += piece[last : match.start()]
        folder = (match["wiki"] or match["place"]).rpartition("/")[0].rpartition("/")[2]
        keys = frozenset(_key_of(name) for name in match.group("wiki", "alias", "text", "place") if name) - {""}
        found.append(PageLink(keys, len(text), lower(folder)))
        text += NAMED
        last = match.end()
    return text + piece[last:], tuple(found)


def spoken_of(page: RecordPage, names: Names) -> Iterable[tuple[PageSentence, int]]:
    """Yield the first sentences of a page that name a record, and where in them; -1 for one that goes on about it."""
    said = sentences_of(page).all
    for number in islice(_naming(page, names), _MOST):
        yield said[number], _place(said[number], names)
        for after in said[number + 1 : number + 1 + _MOST_FOLLOW]:
            if not after.follows or _place(after, names) >= 0:
                break
            yield after, -1


def speaks_of(page: RecordPage, names: Names) -> bool:
    """Return whether a sentence of a page names a record, by a link or in plain words."""
    return next(_naming(page, names), None) is not None


def _naming(page: RecordPage, names: Names) -> Iterator[int]:
    """Yield the numbers of the sentences that name a record, in order; its title is looked for where its rarest word is."""
    said = sentences_of(page)
    numbers = {number for key in names.keys for number in said.by_key.get(key, ())}
    places = min((page.postings.get(word, "") for word in tokens(names.title)), key=len, default="")
    numbers.update(number for at in set(map(ord, places)) for number in said.by_passage.get(at, ()))
    return (number for number in sorted(numbers) if _place(said.all[number], names) >= 0)


def _place(sentence: PageSentence, names: Names) -> int:
    for mention in sentence.mentions:
        if not mention.keys.isdisjoint(names.keys):
            return mention.place
    title = names.title
    if " " in title or has_run(title):
        return lower(sentence.text).find(lower(title))
    if title not in sentence.text:
        return -1
    match = re.search(_SINGLE % re.escape(title), sentence.text)  # `compiled` keeps each pattern for good
    return match.start() if match else -1
