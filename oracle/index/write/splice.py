"""Put the lines of a few sources into the printed file of a target: what a write changes in a file of thousands of lines.

Lines stand in the order of their source, which each names as `from`; a source's lines stand together. Pure.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


_STRIDE = 512
"""Bytes of the first stride beyond the next line: about two lines."""

_FROM, _SNIPPET = b'"from":"', b'","snippet":"'
"""Between them stands the source of a line; what is quoted in it holds neither, since its quotes are escaped."""


def splice(printed: bytes, lines: Mapping[str, bytes]) -> list[bytes | memoryview] | None:
    """Return `printed` with the lines of each source replaced by those given, in pieces; [] when it holds just them.

    None when it is not a file of such lines, or would hold none.
    """
    if printed and not printed.endswith(b"\n"):
        return None
    whole = memoryview(printed)  # of which no piece is copied: a file may have millions of bytes
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
    """Return where the lines of a source stand, or would, at or behind the beginning of a line `low`.

    By strides that double from where the last one stood, since what one write changes often stands together; then by halving.
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
    """Return the source of a line, as UTF-8, whose order is that of its characters. Raises ValueError."""
    first = printed.index(_FROM, begin, end) + len(_FROM)
    quoted = printed[first : printed.index(_SNIPPET, first, end)]
    return str(json.loads(b'"%b"' % quoted)).encode() if b"\\" in quoted else quoted
