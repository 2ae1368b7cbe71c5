"""What a clause of a sentence says: where it begins and ends, which words stand in it, whether the next one takes it back. Pure."""

from __future__ import annotations

from oracle.domain.compiling import compiled
from oracle.domain.relations import chinese
from oracle.domain.relations.directions import NAMED
from oracle.domain.relations.patterns import TAKEN_BACK

CLAUSE = (
    r"[,;:()—–，；：（）]|\b(?:but|while|whereas|before|though|although)\b|(?<!look )(?<!looks )(?<!looking )\bafter\b"
    rf"|\band (?=[^{NAMED}]*{NAMED})(?=(?:\w+ly )?(?:has|have|had|is|was|later|then|also|now|since|sits|\w+ed|\w+[^s]s)\b)"
    r"|\bto (?=(?:start|found|launch|join|build|create)\b)"
)


def says(words: str, wide: str, text: str) -> bool:
    """Tell whether a text says one of the words, or of the Chinese ones; none are said by ""."""
    return holds(rf"\b(?:{words})\b" if words else "", wide, text)


def holds(pattern: str, wide: str, text: str) -> bool:
    """Tell whether a text has what a pattern describes, or the Chinese one; nothing is described by ""."""
    if pattern and compiled(pattern).search(text) is not None:
        return True
    return bool(wide) and not text.isascii() and compiled(wide).search(text) is not None


def said(words: str, wide: str, text: str) -> list[tuple[int, int]]:
    """Return where a text says one of the words, or of the Chinese ones."""
    found = [match.span() for match in compiled(rf"\b(?:{words})\b").finditer(text)]
    if wide and not text.isascii():
        found += [match.span() for match in compiled(wide).finditer(text)]
    return found


def taken_back(rest: str) -> bool:
    """Tell whether what follows a clause denies it: `… but never did`, unless it speaks of another link."""
    if not rest or not holds(TAKEN_BACK, chinese.TAKEN_BACK, rest):
        return False
    return NAMED not in rest[: clause(rest, 1)[1]]


def clause(sentence: str, place: int) -> tuple[int, int]:
    """Return where the clause of a sentence that holds `place` begins and ends; all of it for -1."""
    if place < 0:
        return 0, len(sentence)
    start, end = 0, len(sentence)
    for match in compiled(CLAUSE).finditer(sentence):
        if match.end() <= place:
            start = match.start() if match[0].isalpha() else match.end()
        elif match.start() > place:
            end = match.start()
            break
    return start, end
