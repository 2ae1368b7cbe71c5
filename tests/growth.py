"""How the cost of a text grows with its length, by processor time and never in absolute seconds: machines are noisy."""

from __future__ import annotations

import time
from collections.abc import Callable

_TRIES = 3


def grows_linearly(work: Callable[[str], object], small: str, *, to: str) -> bool:
    """Tell whether `work` takes at most three times as long a character for the text `to` as for the text `small`."""
    most = 3 * len(to) / len(small)
    for _ in range(_TRIES):
        less, more = _cost(work, small), _cost(work, to)
        if more <= most * less + 0.05:
            return True
    return False


def _cost(work: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    work(text)
    return time.process_time() - began
