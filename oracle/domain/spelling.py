"""Spelling: whether a word is another one mistyped, and the question "did you mean". Pure and cheap to import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oracle.domain.names import fold_name
from oracle.wording import say

_SHORTEST_MISTYPED = 3
"""Bytes of a name below which another letter makes another name."""
_LEAST_ALIKE = 0.8
"""How alike two words must be for one to be offered for the other, as `difflib` counts."""


def is_one_letter_off(one: str, other: str) -> bool:
    """Return whether two names differ by one letter that was added, left out, replaced or swapped with its neighbour.

    Names that differ in a digit, and names of one or two letters, are no slips.
    """
    if min(len(one.encode()), len(other.encode())) < _SHORTEST_MISTYPED:
        return False
    if [*filter(str.isdigit, one)] != [*filter(str.isdigit, other)]:
        return False
    return _is_one_edit_off(one, other)


def is_one_slip_off(typed: str, meant: str) -> bool:
    """Return whether a word is another one in other case, or with one character added, left out, replaced or swapped."""
    one, other = fold_name(typed), fold_name(meant)
    return typed != meant and (one == other or _is_one_edit_off(one, other))


def is_mistyped(typed: str, meant: str) -> bool:
    """Return whether a name is another one with one slip, or a piece of it that was cut off at either end."""
    one, other = fold_name(typed), fold_name(meant)
    is_cut = 0 < len(one) < len(other) and (other.startswith(one) or other.endswith(one))
    return is_cut or is_one_slip_off(typed, meant)


def differs_in_case(typed: str, meant: str) -> bool:
    """Return whether a word is another one in other case: the slip that comes before every other."""
    return typed != meant and fold_name(typed) == fold_name(meant)


def _is_one_edit_off(one: str, other: str) -> bool:
    if len(one) != len(other):
        short, long = sorted((one, other), key=len)
        return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))
    differing = [place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
    if len(differing) != 2:
        return len(differing) == 1
    left, right = differing
    return right == left + 1 and one[left : right + 1] == other[right] + other[left]


def suggest(word: str, choices: Iterable[str]) -> str:
    """Return the way out for a word that a closed set does not hold: the one that may be meant, else all of them."""
    known = tuple(choices)
    return guess(word, known) or say("Choose one of {choices}.", choices=known)


def guess(word: str, known: Sequence[str]) -> str:
    """Return the question whether a known word is meant, "" if none is near."""
    near = find_near(word, known)
    return say("Did you mean {near}?", near=near) if near else ""


def guess_task(task_id: str, known: Iterable[str]) -> str:
    """Return the question whether a known task is meant. A task of another number is another task, so it is not offered."""
    digits = sorted(filter(str.isdigit, task_id))
    return guess(task_id, [one for one in known if sorted(filter(str.isdigit, one)) == digits])


def find_near(word: str, known: Sequence[str]) -> str:
    """Return the known word that a mistyped one is nearest to, "" if none is near."""
    for is_near in (differs_in_case, is_one_slip_off, is_mistyped):
        if meant := [one for one in known if is_near(word, one)]:
            return meant[0]
    from difflib import get_close_matches

    return "".join(get_close_matches(fold_name(word), known, n=1, cutoff=_LEAST_ALIKE))
