"""Put the lines of a few sources into the printed file of a target: what a write changes in a file of thousands of lines.

Lines stand in the order of their source, which each names as `from`; a source's lines stand together. Pure.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


_STRIDE = 512
"""Bytes of the first stride: about two lines."""


def splice(printed: bytes, lines: Mapping[str, bytes]) -> bytes | None:
    """Return `printed` with the lines of each source replaced by those given; None when it is not a file of such lines."""
    if printed and not printed.endswith(b"\n"):
        return None
    pieces: list[bytes] = []
    end = 0
    try:
        for source in sorted(lines):
            first = _place(printed, source, end)
            pieces += (printed[end:first], lines[source])
            end = _end_of(printed, source, first)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return b"".join((*pieces, printed[end:]))


def _place(printed: bytes, source: str, low: int) -> int:
    """Return where the lines of a source stand, or would, at or behind the beginning of a line `low`.

    By strides that double from `low`, since what one write changes often stands together, then by halving.
    """
    high, stride = len(printed), _STRIDE
    while low + stride < high:
        begin = printed.rfind(b"\n", low, low + stride) + 1 or low
        end = printed.index(b"\n", begin) + 1
        if _source_of(printed, begin, end) >= source:
            high = begin
            break
        low, stride = end, stride * 2
    while low < high:
        begin = max(low, printed.rfind(b"\n", low, (low + high) // 2) + 1)
        end = printed.index(b"\n", begin) + 1
        if _source_of(printed, begin, end) < source:
            low = end
        else:
            high = begin
    return low


def _end_of(printed: bytes, source: str, begin: int) -> int:
    while begin < len(printed):
        end = printed.index(b"\n", begin) + 1
        if _source_of(printed, begin, end) != source:
            break
        begin = end
    return begin


def _source_of(printed: bytes, begin: int, end: int) -> str:
    name = json.loads(printed[begin:end])["from"]
    if not isinstance(name, str):
        raise TypeError(name)
    return name
