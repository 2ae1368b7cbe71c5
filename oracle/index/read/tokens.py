"""The words of a text as the ranking of passages compares them: what the full-text index makes of them, but for stems."""

from __future__ import annotations

import unicodedata

from oracle.domain.compiling import compiled
from oracle.index import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

_MARKS = "[\u0300-\u036f]"
_NO_CYRILLIC = "[^\u0400-\u04ff]+"


def lower(text: str) -> str:
    """Return text in lower case, without the marks of Latin and Greek letters; `й` and `ї` are letters of their own."""
    if text.isascii():
        return text.lower()
    parts = compiled(_NO_CYRILLIC).sub(_decomposed, fold.compose(text).lower())
    return unicodedata.normalize("NFC", compiled(_MARKS).sub("", parts))


def _decomposed(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFD", found[0])


def tokens(text: str) -> list[str]:
    """Return the words of a text in order; of a run without blanks its pairs of characters, then its characters."""
    text = lower(text)
    if text.isascii():
        return compiled(fold.WORD).findall(text)
    found: list[str] = []
    for at, piece in enumerate(compiled(fold.RUN).split(text)):
        found += [*pairs(piece), *piece] if at % 2 else compiled(fold.WORD).findall(piece)
    return found


def pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters of a run; none of a single character."""
    return [run[at : at + 2] for at in range(len(run) - 1)]


def count_row(words: Sequence[str], row: tuple[str, ...]) -> int:
    """Return how often the words of `row` follow one another."""
    return sum(tuple(words[at : at + len(row)]) == row for at in range(len(words)))


def is_wide(token: str) -> bool:
    """Return whether a token comes from a run without blanks."""
    return not token.isascii() and compiled(fold.RUN).match(token) is not None


def has_run(name: str) -> bool:
    """Return whether a name is written without blanks, as in Chinese; digits and Latin letters may be in it."""
    return not name.isascii() and len(name) > 1 and compiled(fold.RUN).search(name) is not None
