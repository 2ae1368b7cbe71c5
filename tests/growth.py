"""What work costs beside other work, by processor time and never in absolute seconds: machines are noisy."""

from __future__ import annotations

import resource
from collections.abc import Callable, Sized
from typing import TypeVar

_TRIES = 3
_NOISE = 0.05
"""Seconds that a measurement may be off."""

Given = TypeVar("Given", bound=Sized)


def grows_linearly(work: Callable[[Given], object], small: Given, *, to: Given) -> bool:
    """Tell whether `work` takes at most three times as long an item (a character of a text) for `to` as for `small`."""
    return costs_at_most(3 * len(to) / len(small), lambda: work(to), than=lambda: work(small))


def costs_at_most(times: float, work: Callable[[], object], *, than: Callable[[], object]) -> bool:
    """Tell whether `work` costs at most so many times what other work does; asked again when the machine was noisy."""
    for _ in range(_TRIES):
        less, more = _cost(than), _cost(work)
        if more <= times * less + _NOISE:
            return True
    return False


def _cost(work: Callable[[], object]) -> float:
    began = _spent()
    work()
    return _spent() - began


def _spent() -> float:
    """Return the seconds of the processor that this process used, and the programs that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
