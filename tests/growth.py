"""What work costs beside other work, by processor time and never in absolute seconds: machines are noisy.

Noise only adds to a measurement, so the least of several is nearest to the truth.
"""

from __future__ import annotations

import math
import resource
from collections.abc import Callable, Sized
from typing import TypeVar

_TRIES = 6
_NOISE, _OWN_NOISE = 0.05, 0.01
"""Seconds that a measurement may be off: of work that may start programs, and of work inside this process alone."""

Given = TypeVar("Given", bound=Sized)


def grows_linearly(work: Callable[[Given], object], small: Given, *, to: Given) -> bool:
    """Tell whether `work` takes at most three times as long an item (a character of a text) for `to` as for `small`."""
    return costs_at_most(3 * len(to) / len(small), lambda: work(to), than=lambda: work(small), noise=_OWN_NOISE)


def costs_at_most(
    times: float, work: Callable[[], object], *, than: Callable[[], object], noise: float = _NOISE
) -> bool:
    """Tell whether `work` costs at most so many times what other work does, by the least of up to six measurements."""
    less = more = math.inf
    for _ in range(_TRIES):
        less, more = min(less, _cost(than)), min(more, _cost(work))
        if more <= times * less + noise:
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
