"""Print a file's modification time cheaply: on the way of every backlinks query. Pure; imports nothing but `time`."""

from __future__ import annotations

import time
from functools import lru_cache

NS = 1_000_000_000


@lru_cache(maxsize=4096)
def _print_second(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


def extracted_at(mtime_ns: int) -> str:
    """Return the time of extraction that projections state: the source's mtime, UTC, whole seconds, so that a rebuild agrees.

    Times beyond the years 1 to 9999 are printed as the nearest of those.
    """
    return _print_second(min(max(mtime_ns // NS, -62_135_596_800), 253_402_300_799))
