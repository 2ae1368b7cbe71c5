"""Give memory back: glibc keeps what large texts once took, and does so for each thread."""

from __future__ import annotations

import ctypes

_LARGE_AT, _MOST_POOLS = -3, -8
"""The numbers of glibc's M_MMAP_THRESHOLD and M_ARENA_MAX."""

_LARGE = 256 * 1024


def spare() -> bool:
    """Let threads share one pool, and return texts above 256 KiB to the system. False where the C library can't."""
    try:
        choose = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    return bool(choose(_MOST_POOLS, 1) and choose(_LARGE_AT, _LARGE))
