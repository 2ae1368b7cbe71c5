"""Replace the lines of a few sources in the printed file of a target that has thousands of lines.

Lines are sorted by their source (`from`); the lines of a source are together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

_STRIDE = 512
"""Bytes of the first step beyond the next line: about two lines."""

_FROM, _SNIPPET = b'"from":"', b'","snippet":"'
"""The source of a line is between these two. Quoted text cannot contain them, because its quotes are escaped."""


def splice(printed: bytes, lines: Mapping[str, bytes]) -> list[bytes | memoryview] | None:
    """Return `printed` with the lines of each source replaced, in pieces; [] if nothing changes.

    Returns None if it is not a file of such lines, or would be empty.
    """
    if printed and not printed.endswith(b"\n"):
        return None
    whole = memoryview(printed)  # no copies: a file may have millions of bytes
    pieces: list[bytes | memoryview] = []
    kept = end = 0
    try:
        for source, new in sorted((source.encode(), new) for source, new in lines.items()):
            first = _place(printed, source, end)
            end = _end_of(printed, source, first)
            if whole[first:end] != new:
                pieces += [piece for piece in (whole[kept:first], new) if piece]
                kept = end
    except ValueError:
        return None
    if kept == 0 and not pieces:
        return []
    pieces += [whole[kept:]] if kept < len(printed) else []
    return pieces or None


def _place(printed: bytes, source: bytes, low: int) -> int:
    """Return the position of the lines of a source, or where they belong, from the start of the line `low` on.

    It steps forward in doubling strides, since the changes of one write are often close together, and then bisects.
    """
    high, stride = len(printed), 0
    while low and low + stride < high:
        begin = printed.rfind(b"\n", low, low + stride) + 1 or low
        end = printed.index(b"\n", begin) + 1
        if _source_of(printed, begin, end) >= source:
            high = begin
            break
        low, stride = end, stride * 2 or _STRIDE
    while low < high:
        begin = max(low, printed.rfind(b"\n", low, (low + high) // 2) + 1)
        end = printed.index(b"\n", begin) + 1
        if _source_of(printed, begin, end) < source:
            low = end
        else:
            high = begin
    return low


def _end_of(printed: bytes, source: bytes, begin: int) -> int:
    while begin < len(printed):
        end = printed.index(b"\n", begin) + 1
        if _source_of(printed, begin, end) != source:
            break
        begin = end
    return begin


def _source_of(printed: bytes, begin: int, end: int) -> bytes:
    """Return the source of a line, as UTF-8, which sorts like its characters. Raises ValueError."""
    first = printed.index(_FROM, begin, end) + len(_FROM)
    quoted = printed[first : printed.index(_SNIPPET, first, end)]
    return str(json.loads(b'"%b"' % quoted)).encode() if b"\\" in quoted else quoted
