"""The stretches of a record that stand for one thought each: what one vector is made of. Pure.

A stretch is a run of passages below the same headings, up to `MAX_CHARACTERS` long. Its text begins with the record's title and the
headings above it, since a paragraph seldom says what it is about. In a conversation every turn is a stretch besides: it is a
thought of its own, whatever is said before and after.
"""

from __future__ import annotations

from oracle.domain.markdown.passages import MAX_CHARACTERS, Passage, speaker_of
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_BETWEEN = " > "
_WIDE = 0.2
"""Share of Chinese, Japanese or Korean characters from which a text counts as written in one of these."""


@value
class Stretch:
    """The text that stands for passages `first` to `last`, numbered from 0 and inclusive."""

    text: str
    first: int
    last: int
    is_turn: bool = False


def stretches(title: str, passages: Sequence[Passage]) -> list[Stretch]:
    """Return the stretches of a record in order, its turns behind them; headings are in their texts, and belong to none."""
    found: list[Stretch] = []
    held: list[int] = []
    size = 0
    for number, passage in enumerate(passages):
        if passage.is_heading:
            continue
        is_new = held and (passage.headings != passages[held[0]].headings or size + len(passage.text) >= MAX_CHARACTERS)
        if is_new:
            found.append(_stretch(title, passages, held))
            held, size = [], 0
        held.append(number)
        size += len(passage.text) + 1
    if held:
        found.append(_stretch(title, passages, held))
    return [*found, *_turns(passages)] or [Stretch(title, 0, 0)]


def _turns(passages: Sequence[Passage]) -> list[Stretch]:
    """Return a stretch for each turn of a conversation."""
    speakers = [speaker_of(passage) for passage in passages]
    if not is_conversation(passages, speakers):
        return []
    return [Stretch(passages[at].text, at, at, is_turn=True) for at, speaker in enumerate(speakers) if speaker]


def is_conversation(passages: Sequence[Passage], speakers: Sequence[str]) -> bool:
    """Tell whether most passages are said by somebody, `speakers` saying by whom: a list of settings has colons too."""
    spoken = sum(map(bool, speakers))
    return spoken > 1 and 2 * spoken > sum(not passage.is_heading for passage in passages)


def _stretch(title: str, passages: Sequence[Passage], held: Sequence[int]) -> Stretch:
    headings = [heading for heading in passages[held[0]].headings if heading.strip() != title.strip()]
    above = _BETWEEN.join([title, *headings])
    body = "\n".join(passages[number].text for number in held)
    return Stretch(f"{above}\n{body}", held[0], held[-1])


def is_wide(text: str) -> bool:
    """Tell whether a text is written in Chinese, Japanese or Korean."""
    letters = sum(char.isalpha() for char in text)
    return sum("\u2e80" <= char <= "\U0003ffff" for char in text) > _WIDE * letters
