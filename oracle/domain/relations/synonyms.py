"""Words that a search looks for in place of one another, from `data/synonyms.toml`. Pure."""

from __future__ import annotations

from functools import cache

from oracle.domain import tables


@cache
def _synonyms() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in "\n".join(tables.load("synonyms").values()).split("\n"):
        group = line.split()
        for word in group:
            found[word] = (*found.get(word, ()), *(other for other in group if other != word))
    return found


def synonyms(word: str) -> tuple[str, ...]:
    """Return the words to look for beside one in lower case, with or without the `s` of the plural; () for most."""
    known = _synonyms()
    return known.get(word) or known.get(word.removesuffix("s"), ())
