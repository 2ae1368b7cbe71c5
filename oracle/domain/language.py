"""Which language an operator is answered in, from what they wrote last. Pure.

Letters are counted, of the last messages together: code, addresses and paths are no language of anybody's, and neither are
digits and punctuation. What is mixed, or says too little, is answered in Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from oracle.domain.markdown.masks import mask_code, unify_line_ends
from oracle.domain.values import value

CHINESE, ENGLISH = "zh", "en"
DEFAULT = CHINESE
MESSAGES = 3
"""How many messages count, from the last one back."""

THRESHOLD = 70
"""Per cent of the letters that one script has to have."""

LONGEST = 20_000
"""Characters of a message that are looked at, from its beginning."""

_HAN = (
    (0x3005, 0x3007),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
_LATIN = ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x1E00, 0x1EFF), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A))
_RUN = re.compile(r"[!-~]+")


@value
class Decision:
    """The language, and the letters that speak for it: Chinese, Latin and all of them."""

    language: str
    chinese: int
    latin: int
    letters: int
    messages: int

    @property
    def is_default(self) -> bool:
        """Whether neither language reached its share."""
        return max(self.chinese, self.latin) * 100 < THRESHOLD * self.letters or not self.letters

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "language": self.language,
            "default": self.is_default,
            "messages": self.messages,
            "letters": self.letters,
            "chinese": self.chinese,
            "latin": self.latin,
        }


def decide(messages: Sequence[str]) -> Decision:
    """Decide from the messages of an operator, oldest first; blank ones are skipped."""
    last = [text for text in messages if text.strip()][-MESSAGES:]
    letters = [char for text in last for char in _prose(text[:LONGEST]) if char.isalpha() or _is(char, _HAN)]
    chinese = sum(_is(char, _HAN) for char in letters)
    latin = sum(_is(char, _LATIN) for char in letters)
    is_english = bool(letters) and latin * 100 >= THRESHOLD * len(letters)
    return Decision(ENGLISH if is_english else DEFAULT, chinese, latin, len(letters), len(last))


def _prose(text: str) -> str:
    """Return the text without code, and without the runs of ASCII that a slash makes a path or an address of."""
    return _RUN.sub(lambda run: " " if "/" in run[0] else run[0], mask_code(unify_line_ends(text)))


def _is(char: str, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= ord(char) <= last for first, last in ranges)
