"""The report of a reconcile, its progress, and the refusal to drop most records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from oracle.errors import TreeEmptied
from oracle.wording import Sentence, say

Progress = Callable[[int, str], None]
"""Called now and then with a count and what is counted."""

SMALLEST_TREE = 20
"""A tree with fewer known records may be emptied without confirmation."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a reconcile: records indexed, records dropped, projections printed, and whether it was a rebuild."""

    taken: int
    dropped: int
    printed: int
    rebuilt: bool


def emptied(what: Sentence) -> TreeEmptied:
    """Return the error that most known records are gone, with the ways out."""
    return TreeEmptied(
        what,
        hint=say(
            "Mount the disk or choose the right Root. If the records were really removed, run `oracle index "
            "reconcile --accept-removals`."
        ),
    )
