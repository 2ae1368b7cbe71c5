"""Patterns compiled on first use: a program that never meets their texts does not pay for them (0.1 to 5 ms a pattern)."""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:

    def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
        """Return the pattern object; asking again costs a look into a dictionary."""
        ...

else:
    compiled = cache(re.compile)

INVISIBLE = (  # also the marks of writing direction and the selectors of variants
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef"
)
"""Characters that no reader sees, as a part of a class of a pattern."""
