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
