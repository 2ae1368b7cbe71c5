"""Print JSON byte for byte like `json.dumps(…, indent=2, ensure_ascii=False)`, without its slow encoder for indents.

Every query uses this. Strings go through the C encoder; the rest is assembled here.
"""

from __future__ import annotations

import json
import sys
from json.encoder import encode_basestring as quote

from oracle.domain.timestamps import NS, print_second

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.app.records.graph import BacklinkLine

_DEEPEST = 50_000
"""The recursion limit: two calls for each level of a value, whose depth the JSON reader limits."""


def print_json(value: object) -> str:
    """Return a value as indented JSON, at any depth that could be read."""
    try:
        return _print(value, "\n")
    except RecursionError:
        limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEPEST))
    try:
        return _print(value, "\n")
    finally:
        sys.setrecursionlimit(limit)


def _print(value: object, line: str) -> str:
    """Return a value as JSON. `line` is a line end and the indentation of the line around it."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict) and value:
        below = line + "  "
        items = [f"{_key(key)}: {_print(item, below)}" for key, item in value.items()]
        return "{" + below + f",{below}".join(items) + line + "}"
    if isinstance(value, list | tuple) and value:
        below = line + "  "
        return "[" + below + f",{below}".join([_print(item, below) for item in value]) + line + "]"
    return json.dumps(value)


def _key(key: object) -> str:
    return quote(key) if isinstance(key, str) else json.dumps({key: 0}, ensure_ascii=False)[1:-4]


def print_line(value: object) -> str:
    """Return a value as JSON on one line, keys sorted."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def print_backlinks(target: str, rows: Iterable[BacklinkLine]) -> str:
    """Return the backlinks of a target as indented JSON. Only retired sources have `status` and `retired_by`."""
    to = quote(target)
    types: dict[str, str] = {}
    stamps: dict[int, str] = {}
    incoming: list[str] = []
    for slug, kind, snippet, mtime_ns, by, how in rows:
        middle = types.get(kind)
        if middle is None:
            middle = types[kind] = f',\n      "to": {to},\n      "type": {quote(kind)},\n      "snippet": '
        second = mtime_ns // NS
        stamp = stamps.get(second)
        if stamp is None:
            stamp = stamps[second] = f',\n      "extracted_at": "{print_second(second)}"'
        end = _standing(by, how) if by else _END
        incoming.append(f"{quote(slug)}{middle}{quote(snippet)}{stamp}{end}")
    if not incoming:
        return f'{{\n  "target": {to},\n  "incoming_count": 0,\n  "incoming": []\n}}'
    listed = f",{_BEGIN}".join(incoming)
    return f'{{\n  "target": {to},\n  "incoming_count": {len(incoming)},\n  "incoming": [{_BEGIN}{listed}\n  ]\n}}'


_BEGIN = '\n    {\n      "from": '
_END = "\n    }"


def _standing(by: str, how: str | None) -> str:
    status = "retired" if how == "retires" else "superseded"
    return f',\n      "status": "{status}",\n      "retired_by": {quote(by)}{_END}'
