"""Print JSON as `json.dumps(…, indent=2, ensure_ascii=False)` does, byte for byte, without its slow encoder for indents.

On the way of every query: strings go through the C encoder one by one, the rest is put together here.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as quote

from oracle.domain.instants import extracted_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.app.oracle import BacklinkRow


def print_json(value: object, line: str = "\n") -> str:
    """Return a value as indented JSON; `line` is the line end with the indentation of the place it stands in."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict) and value:
        below = line + "  "
        items = [f"{_key(key)}: {print_json(item, below)}" for key, item in value.items()]
        return "{" + below + f",{below}".join(items) + line + "}"
    if isinstance(value, list | tuple) and value:
        below = line + "  "
        return "[" + below + f",{below}".join([print_json(item, below) for item in value]) + line + "]"
    return json.dumps(value)


def _key(key: object) -> str:
    return quote(key) if isinstance(key, str) else json.dumps({key: 0}, ensure_ascii=False)[1:-4]


def print_line(value: object) -> str:
    """Return a value as JSON on one line, keys sorted."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def print_backlinks(target: str, rows: Iterable[BacklinkRow]) -> str:
    """Return the backlinks of a target as indented JSON; `status` and `retired_by` stand only beside retired sources."""
    to = quote(target)
    incoming = [
        f'\n    {{\n      "from": {quote(slug)},\n      "to": {to},\n      "type": {quote(kind)},\n'
        f'      "snippet": {quote(snippet)},\n      "extracted_at": "{extracted_at(mtime_ns)}"{_standing(by, how)}\n    }}'
        for slug, kind, snippet, _, mtime_ns, _, by, how in rows
    ]
    listed = f"[{','.join(incoming)}\n  ]" if incoming else "[]"
    return f'{{\n  "target": {to},\n  "incoming_count": {len(incoming)},\n  "incoming": {listed}\n}}'


def _standing(by: str, how: str) -> str:
    if not by:
        return ""
    status = "retired" if how == "retires" else "superseded"
    return f',\n      "status": "{status}",\n      "retired_by": {quote(by)}'
