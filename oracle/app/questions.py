"""A person's question as the answerer sees it: its words with their weights, and the names in it. App room; reads the index.

Coverage is the share of the question's words that a text holds, rare words weighing more (by how many indexed texts hold them).
Names are words that must be somewhere in memory for it to know anything about them: a question that names what no record names
is not answered by whatever is nearest.
"""

from __future__ import annotations

import math
import re

from oracle.domain.values import value
from oracle.index import fold
from oracle.index.frequencies import document_frequencies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.app.oracle import Oracle

_FILLERS = frozenset(
    """about after also any anyone before can could did get gets got has her his if into just may me might much must my no not
    off often our ours out over should so some than there too up us use used uses using very were what while would yet""".split()
)
"""Words that ask rather than name, beside the stop words of the index."""

_FILLERS_HAN = re.compile(
    "为什么|为何|什么|怎么样|怎么|怎样|如何|哪个|哪些|哪里|哪种|哪一|多少|多久|几个|是否|能不能|是不是|有没有|可不可以|我们|你们|他们|咱们"
    "|自己|时候|的话|一个|这个|那个|这些|那些|可以|[吗呢吧啊的了着过和与或还是在把被给让对从到就都也又而且]"
)
"""The same in Chinese, where a pair that holds one of them is no word."""

_SPLIT_PAIR = 0.3
"""Weight of a pair of Chinese characters that no text holds: mostly the end of one word and the beginning of the next."""

_STEM = 4
_QUOTED = re.compile(r"[\"“”「」『』《》«»]")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9+#]*")
_NO_NAMES = frozenset(
    """mr mrs ms dr prof st vs jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august
    september october november december mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday
    ok id""".split()
)
_LONGEST = 4000
"""Characters of a question that are read."""


@value
class Question:
    """A question with the weight of each of its words; `unknown` are the names in it that no record holds."""

    text: str
    weights: Mapping[str, float]
    unknown: tuple[str, ...] = ()

    def coverage(self, text: str) -> float:
        """Return the share, 0 to 1, of the question's words that a text holds, each by its weight."""
        whole = sum(self.weights.values())
        words = set(re.findall(r"[^\W_]+", fold.fold(text).lower()))
        held = sum(weight for term, weight in self.weights.items() if _holds(words, term))
        return held / whole if whole else 0.0


def read_question(oracle: Oracle, text: str, *, fresh: bool = False) -> Question:
    """Weigh the words of a question by the index. One without any word weighs nothing."""
    text = text[:_LONGEST]
    names = names_in(text)
    plain = text if text.isascii() else _FILLERS_HAN.sub(" ", text)
    terms = [
        term
        for term in fold.terms_of(plain) or fold.terms_of(text)
        if len(term) > 1 or not term.isascii() or term.isdigit()
    ]
    terms = [term for term in terms if term not in _FILLERS] or terms
    asked = [*terms, *names]
    expressions = [fold.match_expression(term) for term in asked]
    total, found = oracle.index.read(lambda connection: document_frequencies(connection, expressions), fresh=fresh)
    frequencies = dict(zip(asked, found, strict=True))
    weights = {term: _weight(term, frequencies[term], total) for term in terms}
    return Question(text, weights, tuple(name for name in names if not frequencies[name]))


def names_in(text: str) -> list[str]:
    """Return the names in a question: words with a capital or digit inside, or a capital where no sentence begins.

    Among Chinese characters every Latin word is one. Titles in quotation marks are not looked into.
    """
    is_wide = any(char >= "\u2e80" for char in text)
    found: dict[str, None] = {}
    for piece in _QUOTED.split(text)[::2]:
        for match in _LATIN.finditer(piece):
            word = match[0]
            begins = piece[: match.start()].rstrip()[-1:] in ("", ".", "?", "!", ":", ";", "。", "？", "！")
            is_name = (
                is_wide
                or any(char.isupper() or char.isdigit() for char in word[1:])
                or (word[0].isupper() and not begins)
            )
            if is_name and len(word) > 2 and word.lower() not in _NO_NAMES:
                found[word] = None
    return list(found)


def _weight(term: str, frequency: int, total: int) -> float:
    weight = math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
    return weight * _SPLIT_PAIR if not frequency and not term.isascii() else weight


def _holds(words: set[str], term: str) -> bool:
    """Tell whether a text holds a word or one that begins as it does, so that `retry` finds `retried`."""
    if term in words:
        return True
    if not term.isascii() or len(term) <= _STEM:
        return False
    stem = term[: max(_STEM, len(term) - 3)]
    return any(word.startswith(stem) for word in words)
