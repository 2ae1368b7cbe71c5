"""Chains of records of which each replaced another, in words for people. Cheap to import: a listing passes here."""

from __future__ import annotations

from oracle.wording import Sentence, joined, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_NEAREST = 3
"""Successors that are named before the last one."""


def replaced_by(chain: Sequence[str]) -> str:
    """Return the words that mark a record which no longer holds, nearest successor first; "" while it holds.

    Of a long chain the nearest and the last are named: a listing that names all of each record is the square of it.
    """
    if not chain:
        return ""
    between = len(chain) - _NEAREST - 1
    if between < 1:
        return say("by {chain}", chain=joined(", then ", chain))
    nearest = joined(", then ", chain[:_NEAREST])
    return say("by {nearest}, … {between} more, then {last}", nearest=nearest, between=between, last=chain[-1])


def replaces(chain: Sequence[str]) -> Sentence:
    """Return the note on the records that one replaces, nearest first; a long chain is cut as `replaced_by` cuts it."""
    between = len(chain) - _NEAREST - 1
    if between < 1:
        return say("it replaces {supersedes}", supersedes=chain)
    nearest, last = joined(", then ", chain[:_NEAREST]), chain[-1]
    return say("it replaces {nearest}, … {between} more, then {last}", nearest=nearest, between=between, last=last)
