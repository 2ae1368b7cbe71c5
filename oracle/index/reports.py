"""What a reconcile says of itself, and how it tells of its progress. Values only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[int, str], None]
"""Called now and then with a count and what is being counted."""

SMALLEST_TREE = 20
"""A tree of fewer known records may be emptied without a question."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a reconcile did: records taken (new or changed), records dropped, projections printed, and whether all was anew."""

    taken: int
    dropped: int
    printed: int
    rebuilt: bool
