"""What the clause of a sentence that holds a link says of it: where it ends, what the next one takes back, who does what. Pure."""

from __future__ import annotations

from oracle.domain.compiling import compiled
from oracle.domain.relations.patterns import NAMED, phrase


def taken_back(rest: str) -> bool:
    """Return whether what follows a clause denies it: `… but never did`, unless it speaks of another link."""
    if not rest or not phrase("taken_back").is_in(rest):
        return False
    return NAMED not in rest[: clause(rest, 1)[1]]


def clause(sentence: str, place: int) -> tuple[int, int]:
    """Return where the clause of a sentence that holds `place` begins and ends; all of it for -1."""
    if place < 0:
        return 0, len(sentence)
    start, end = 0, len(sentence)
    for match in compiled(phrase("clause_end").en).finditer(sentence):
        if match.end() <= place:
            start = match.start() if match[0].isalpha() else match.end()
        elif match.start() > place:
            end = match.start()
            break
    return start, end


def is_subject(sentence: str, cue: tuple[int, int], place: int) -> bool:
    """Return whether the link at `place` is the subject of the word at `cue`, rather than its object."""
    word = sentence[slice(*cue)]
    if phrase("reversed").is_all(word):
        return place > cue[0]
    if phrase("object_noun").is_all(word):
        return not _is_called(sentence, cue, place)
    if phrase("subject_noun").is_all(word):
        return _is_called(sentence, cue, place)
    if place < cue[0]:
        before = _is_before(sentence, cue, place)
        if before is not None:
            return before
        is_active = compiled(r"\w+ing\b").match(sentence, cue[0]) is not None
        return is_active or not phrase("passive").is_in(sentence[place + 1 : cue[0]])
    return phrase("by_link").is_in(sentence[cue[0] : place])


def _is_called(sentence: str, cue: tuple[int, int], place: int) -> bool:
    """Return whether the link at `place` is what the noun at `cue` calls it."""
    if place >= cue[0]:
        return not sentence.startswith((" of ", " in ", " to "), cue[1], place)
    before = _is_before(sentence, cue, place)
    return not sentence.startswith("的", place + 1, cue[0]) if before is None else before


def _is_before(sentence: str, cue: tuple[int, int], place: int) -> bool | None:
    """Return whether a link before the cue is the subject, by the words around it; None when they do not show it."""
    if phrase("by_next").is_in(sentence[:place]):
        return True
    if sentence.startswith(("'s", "’s"), place + 1) or phrase("to_next").is_in(sentence[:place]):
        return False
    return None
