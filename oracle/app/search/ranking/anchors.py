"""The records that a question names, by title or by the name of the file."""

from __future__ import annotations

import re
from itertools import islice

from oracle.domain.compiling import compiled
from oracle.domain.links.links import reference_key
from oracle.domain.relations import relations
from oracle.domain.relations.patterns import NAMED, without_question_words
from oracle.domain.values import value
from oracle.index.fold import count_row, has_run, is_run, lower, quote, tokens
from oracle.index.read import candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.search.ranking.query import SearchQuery
    from oracle.index.db import Connection

_LONGEST_NAME = 8
"""Words of a name that are looked for in a question."""
_RARE, _MOST_PAIRS = 6, 24
"""Rare words of a question, and pairs of characters, by which titles are looked for."""
_MOST = 4


@value
class Anchor:
    """A record that a question names, and the words by which it does."""

    record: int
    slug: str
    title: str
    words: tuple[str, ...]


def find_anchors(connection: Connection, question: SearchQuery, rare: Sequence[str]) -> list[Anchor]:
    """Return the records whose title or name is in the question, the longest names first, none inside another."""
    words = tokens(question.text)
    runs = {
        reference_key("-".join(words[at : at + size]))
        for size in range(1, _LONGEST_NAME + 1)
        for at in range(len(words) - size + 1)
    }
    found: list[Anchor] = []
    for record, slug, title in candidates.named(connection, sorted(runs - {""}), [*rare[:_RARE], *_pairs(question)]):
        names = (tuple(tokens(title)), tuple(tokens(slug.rpartition("/")[2])))
        name = max((name for name in names if name and count_row(words, name)), key=len, default=())
        if has_run(title) and title in question.text:
            found.append(Anchor(record, slug, title, (title,)))
        elif name and (len(name) > 1 or _is_name(name[0], question)):
            found.append(Anchor(record, slug, title, name))
    found.sort(key=lambda one: (-len(one.words), -len(one.title) * has_run(one.title), one.slug))
    kept: list[Anchor] = []
    for anchor in found:
        if not any(_is_part_of(anchor, other) for other in kept):
            kept.append(anchor)
    return kept[:_MOST]


def _pairs(question: SearchQuery) -> list[str]:
    """Return the first pairs of characters of a question in Chinese: no blank shows which of them are a name."""
    if question.text.isascii():
        return []
    words = islice(dict.fromkeys(tokens(without_question_words(question.text))), 2 * _MOST_PAIRS)
    return [quote(word) for word in words if len(word) == 2 and is_run(word)][:_MOST_PAIRS]


def _is_part_of(one: Anchor, other: Anchor) -> bool:
    """Return whether a name is in another that is longer."""
    if has_run(one.title) and has_run(other.title):
        return len(other.title) > len(one.title) and one.title in other.title
    return len(other.words) > len(one.words) and count_row(other.words, one.words) > 0


def _is_name(word: str, question: SearchQuery) -> bool:
    """Return whether one word alone may name a record: it has a capital in the question, or digits.

    The first word always has a capital; it counts when the question has no verb, as it then names the topic.
    """
    if word not in question.words:
        return False
    head = -1 if relations.is_bare(question.text) else 0
    return any(
        lower(match[0]) == word and match.start() > head and not match[0].islower()
        for match in compiled(r"[^\W_]+").finditer(question.text)
    )


def unnamed(text: str, anchors: Sequence[Anchor]) -> str:
    """Return a question with NAMED in place of the names of what it asks about."""
    for anchor in anchors:
        words = r"[\W_]+".join(compiled(r"\W").sub(r"\\\g<0>", word) for word in anchor.words)
        pattern = words if has_run(anchor.words[0]) else rf"(?i)(?<!\w){words}(?!\w)"
        text = re.sub(pattern, NAMED, text)  # `compiled` keeps each pattern for good
    return text
