"""Words in the other language, English or Chinese, for those of a search, so that a question finds records in either.

They lie in `data/translations.txt`, which `benchmarks/translations.py` made from the quick model of the semantic extra: a line
a word, sorted, with the nearest words in the other language. The digit behind each is their cosine in tenths. An English word
is there by its stem. The file is read when a search first needs it.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache

from oracle.app.search.ranking.query import SearchQuery, Translation
from oracle.domain import tables
from oracle.index import fold
from oracle.index.fold import is_run, pairs
from oracle.index.read.candidates import stemmer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LONGEST = 4
"""The most characters of a Chinese word in the file."""


@cache
def _lines() -> list[str]:
    with open(f"{tables.__file__.removesuffix('tables.py')}data/translations.txt", encoding="utf-8") as stream:
        return stream.read().split("\n")


def translations_of(word: str) -> list[tuple[str, float]]:
    """Return the words in the other language for a Chinese word or an English stem, with their likeness, 0 to 1."""
    lines = _lines()
    at = bisect_left(lines, f"{word} ")
    if at == len(lines) or not lines[at].startswith(f"{word} "):
        return []
    return [(one[:-1], int(one[-1]) / 10) for one in lines[at].split()[1:]]


def translate(query: SearchQuery) -> tuple[Translation, ...]:
    """Return words in the other language for a search, none of which is its own; of equal ones the most like."""
    numbers = {term.tokens: number for number, term in enumerate(query.terms)}
    found: dict[tuple[str, ...], Translation] = {}
    for word, terms in (*_english(query), *_chinese(query, numbers)):
        of = tuple(sorted(query.about.intersection(terms)))
        for other, likeness in translations_of(word) if of else ():
            tokens = tuple(pairs(other)) if is_run(other) else (other,)
            if tokens not in numbers and (tokens not in found or found[tokens].weight < likeness):
                found[tokens] = Translation(tokens, fold.quote(" ".join(tokens)), likeness, of)
    return tuple(found.values())


def _english(query: SearchQuery) -> Iterator[tuple[str, list[int]]]:
    """Yield the stem of each English word with its number."""
    words = {term.tokens[0]: number for number, term in enumerate(query.terms) if len(term.tokens) == 1}
    words = {word: number for word, number in words.items() if word.isascii()}
    for word, stem in stemmer().stems(words).items():
        yield stem, [words[word]]


def _chinese(query: SearchQuery, numbers: Mapping[tuple[str, ...], int]) -> Iterator[tuple[str, list[int]]]:
    """Yield the Chinese words, at each place the longest that the file has, with the numbers of their pairs and characters."""
    for run in filter(is_run, fold.words_of(fold.compose(query.text))):
        at = 0
        while at < len(run):
            words = (run[at : at + size] for size in range(min(_LONGEST, len(run) - at), 1, -1))
            word = next((word for word in words if translations_of(word)), "")
            if word:
                yield word, [numbers[part,] for part in (*pairs(word), *word) if (part,) in numbers]
            at += len(word) or 1
