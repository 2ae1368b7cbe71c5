"""The passage of a text that answers a query best: whole lines, at most 700 characters. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oracle.index.fold import fold, terms_of

MAX_CHARACTERS = 700
_STEM = 4
"""A word of the query is looked for by its beginning, so that `retry` finds `retried`."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of lines, both numbers from 1 and inclusive."""

    text: str
    first_line: int
    last_line: int


def best_passage(text: str, query: str) -> Passage:
    """Return the passage with the most different words of `query`; the earliest of equals; the first when none has any."""
    stems = {term[: max(_STEM, len(term) - 3)] for term in terms_of(query)}
    best, most = Passage("", 1, 1), -1
    for passage in _passages(text):
        folded = fold(passage.text).lower()
        score = sum(1 for stem in stems if stem in folded)
        if score > most:
            best, most = passage, score
    return best


def _passages(text: str) -> Iterator[Passage]:
    """Split at blank lines, and again where a passage would grow over the limit; a longer line is cut into pieces."""
    lines: list[str] = []
    first = 1
    for number, line in enumerate(text.split("\n"), 1):
        size = sum(map(len, lines)) + len(lines) + len(line)
        if lines and (not line.strip() or size > MAX_CHARACTERS):
            yield Passage("\n".join(lines), first, first + len(lines) - 1)
            lines = []
        if len(line) > MAX_CHARACTERS:
            yield from (
                Passage(line[at : at + MAX_CHARACTERS], number, number) for at in range(0, len(line), MAX_CHARACTERS)
            )
        elif line.strip():
            first = first if lines else number
            lines.append(line)
    if lines:
        yield Passage("\n".join(lines), first, first + len(lines) - 1)
