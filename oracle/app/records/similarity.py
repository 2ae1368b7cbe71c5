"""How alike two records are: the share of their words that both have, by beginnings of words and pairs of Chinese characters.

App room. Candidates come from the index, what they say from their files: fields of frontmatter are no claim.
"""

from __future__ import annotations

from oracle.domain.compiling import compiled
from oracle.domain.values import value
from oracle.index import fold
from oracle.index.read import alike, query
from oracle.store.markdown import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.index.db import Connection
    from oracle.store.root.layout import Root

ALIKE = 0.5
"""Share of common words (Jaccard) from which two records are called near-duplicates."""

_LINK = r"\[\[[^\]\n]*\]\]|https?://\S+"
_STEM = 4
_MOST_CHARACTERS = 4_000
"""Of a text; what two records claim stands at their heads."""

_FEWEST = 5
"""Words that two records have in common at least, to be called alike."""

_CANDIDATES, _ASKED = 5, 16


@value
class Words:
    """What a record says, as sets: the words of its title, of its text, and of both; and those it is looked for by."""

    title: frozenset[str]
    body: frozenset[str]
    whole: frozenset[str]
    telling: tuple[str, ...] = ()


def words_of(title: str, body: str) -> Words:
    """Return the words of a title and a text; a link is no claim of the record that holds it."""
    text = compiled(_LINK).sub(" ", body[:_MOST_CHARACTERS])
    named, said = fold.terms_of(title), fold.terms_of(text)
    longest = sorted(set(said), key=lambda word: (-len(word), word))[:_ASKED]
    titled, stated = _stems(named), _stems(said)
    return Words(titled, stated, titled | stated, tuple(dict.fromkeys((*named, *longest))))


def words_in(root: Root, path: str, title: str) -> Words | None:
    """Return the words of the record at a root-relative path, None when its file is gone."""
    try:
        document = records.parse(path, records.read(root.join(path)))
    except OSError:
        return None
    return words_of(title, document.body)


def _stems(words: Sequence[str]) -> frozenset[str]:
    return frozenset(word[: max(_STEM, len(word) - 3)] if word.isascii() else word for word in words)


def share(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common words among all words of two sets, 0 for two empty ones."""
    return len(one & other) / max(1, len(one | other))


def likeness(one: Words, other: Words) -> float:
    """Return how alike two records are, 0 to 1: by all their words, or by their texts alone where titles differ.

    Records with hardly a word in common are not alike, however short they are.
    """
    whole = share(one.whole, other.whole) if len(one.whole & other.whole) >= _FEWEST else 0.0
    body = share(one.body, other.body) if len(one.body & other.body) >= _FEWEST else 0.0
    return max(whole, body)


def near_duplicates(connection: Connection, root: Root, slug: str, limit: int = 5) -> list[str]:
    """Return the records that hold and share at least half of their words with `slug`, most alike first."""
    row = query.summary(connection, slug)
    words = words_in(root, str(row[1]), str(row[5])) if row is not None else None
    if row is None or words is None:
        return []
    near: list[tuple[float, str]] = []
    for summary in candidates(connection, words):
        if summary[0] != slug and summary[-2] is None:
            other = words_in(root, str(summary[1]), str(summary[5]))
            found = likeness(words, other) if other is not None else 0.0
            near += [(-found, str(summary[0]))] if found >= ALIKE else []
    return [name for _, name in sorted(near)][:limit]


def candidates(connection: Connection, words: Words) -> list[tuple[object, ...]]:
    """Return the summaries of the records that share rare words of a title and a text, those with the most first."""
    return alike.sharing(connection, words.telling, _CANDIDATES)
