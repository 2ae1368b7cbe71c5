"""Which records a question names, by title or by the name of the file, wherever the name ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from oracle.app.search.ranking.query import Question
from oracle.app.search.ranking.sentences import is_run
from oracle.domain.compiling import compiled
from oracle.domain.links.links import reference_key
from oracle.domain.relations import relations
from oracle.domain.relations.patterns import NAMED, without_question_words
from oracle.domain.values import value
from oracle.index.db import Connection
from oracle.index.fold import quote
from oracle.index.read import candidates
from oracle.index.read.tokens import is_wide, lower, tokens

_LONGEST_NAME = 8
"""Words of a name that are looked for in a question."""
_RARE, _MOST_PAIRS = 6, 24
"""Rare words of a question, and pairs of characters, by which titles are looked for."""


@value
class Anchor:
    """A record that a question names, and the words by which it does."""

    record: int
    slug: str
    title: str
    words: tuple[str, ...]


def find_anchors(connection: Connection, question: Question, rare: Sequence[str]) -> list[Anchor]:
    """Return the records whose title or name stands in the question, the longest names first; none inside another."""
    words = tokens(question.text)
    runs = {
        reference_key("-".join(words[at : at + size]))
        for size in range(1, _LONGEST_NAME + 1)
        for at in range(len(words) - size + 1)
    }
    found: list[Anchor] = []
    for record, slug, title in candidates.named(connection, sorted(runs - {""}), [*rare[:_RARE], *_pairs(question)]):
        names = (tokens(title), tokens(slug.rpartition("/")[2]))
        name = max((tuple(name) for name in names if _stands_in(name, words)), key=len, default=())
        if is_run(title) and title in question.text:
            found.append(Anchor(record, slug, title, (title,)))
        elif name and (len(name) > 1 or _is_name(name[0], question)):
            found.append(Anchor(record, slug, title, name))
    found.sort(key=lambda anchor: (-len(anchor.words), -len(anchor.title) * is_run(anchor.title), anchor.slug))
    kept: list[Anchor] = []
    for anchor in found:
        if not any(_is_part_of(anchor, other) for other in kept):
            kept.append(anchor)
    return kept[:4]


def _pairs(question: Question) -> list[str]:
    """Return the first pairs of characters of a question in Chinese, which may be of names: no blank tells where one ends."""
    if question.text.isascii():
        return []
    words = tokens(without_question_words(question.text))
    return [quote(word) for word in islice(dict.fromkeys(words), 2 * _MOST_PAIRS) if len(word) == 2 and is_wide(word)][
        :_MOST_PAIRS
    ]


def _is_part_of(one: Anchor, other: Anchor) -> bool:
    """Tell whether a name stands in another that is longer."""
    if is_run(one.title) and is_run(other.title):
        return len(other.title) > len(one.title) and one.title in other.title
    return len(other.words) > len(one.words) and _stands_in(one.words, other.words)


def _stands_in(name: Sequence[str], words: Sequence[str]) -> bool:
    size = len(name)
    return size > 0 and any(list(words[at : at + size]) == list(name) for at in range(len(words) - size + 1))


def _is_name(word: str, question: Question) -> bool:
    """Tell whether a word alone may name a record: it has a capital in the question, or digits.

    At its head every word has one, but the first word of a question without a verb names what it is about.
    """
    if word not in question.words:
        return False
    head = -1 if relations.is_bare(question.text) else 0
    return any(
        lower(match[0]) == word and match.start() > head and not match[0].islower()
        for match in compiled(r"[^\W_]+").finditer(question.text)
    )


def unnamed(text: str, anchors: Sequence[Anchor]) -> str:
    """Return a question with a sign in the place of the names of what it asks about."""
    for anchor in anchors:
        words = r"[\W_]+".join(compiled(r"\W").sub(r"\\\g<0>", word) for word in anchor.words)
        pattern = words if is_run(anchor.words[0]) else rf"(?i)(?<!\w){words}(?!\w)"
        text = re.sub(pattern, NAMED, text)  # `compiled` keeps each pattern for good
    return text
