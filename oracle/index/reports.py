"""What a reconcile says of itself, how it tells of its progress, and its refusal to drop what was known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from oracle.errors import TreeEmptied
from oracle.wording import Sentence, say

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


def emptied(what: Sentence) -> TreeEmptied:
    """Return the refusal to drop most of what was known, with the ways out."""
    return TreeEmptied(
        what,
        hint=say(
            "Mount the disk or name the right Root; if they were really removed, run `oracle index reconcile "
            "--accept-removals`."
        ),
    )
