"""The tables of words and patterns in `data/`.

The tables use the part of TOML that `load` reads. Importing tomllib takes 4 ms and reading the largest table with it 5 ms, which
a search or a write can't afford; this takes 0.3 ms. A test compares both.
"""

from __future__ import annotations

from functools import cache

from oracle.domain.compiling import compiled
from oracle.domain.values import NOTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


_LINE = (
    r"(?ms)^\[(?P<table>[\w.]+)\]|^\[\[(?P<item>\w+)\]\]"
    r"|^(?P<key>\w+) = (?:'''\n?(?P<long>.*?)'''|'(?P<text>[^'\n]*)'|(?P<true>true))"
)


@cache
def load(name: str) -> dict[str, Any]:
    """Return the content of `data/<name>.toml`: texts, flags, tables of them, and lists of tables."""
    with open(f"{__file__.removesuffix('tables.py')}data/{name}.toml", encoding="utf-8") as stream:
        return parse(stream.read())


def parse(text: str) -> dict[str, Any]:
    """Read comments, `[table]`, `[[list]]`, `key = true` and keys with literal strings; anything else is ignored."""
    found: dict[str, Any] = {}
    table = found
    for line in compiled(_LINE).finditer(text):
        if line["table"]:
            table = found
            for part in line["table"].split("."):
                table = table.setdefault(part, {})
        elif line["item"]:
            table = {}
            found.setdefault(line["item"], []).append(table)
        else:
            table[line["key"]] = True if line["true"] else line["text"] if line["long"] is None else line["long"]
    return found


def expand(pattern: str, parts: Mapping[str, str] = NOTHING) -> str:
    """Return a pattern of a table as one regular expression: a line break stands for `|`, (?&name) for a part."""
    joined = pattern.strip("\n").replace("\n", "|")
    return compiled(r"\(\?&(\w+)\)").sub(lambda found: f"(?:{expand(parts[found[1]], parts)})", joined)
