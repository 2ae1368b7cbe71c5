"""Read the tables of patterns beside this module, and find what a pattern matches at a literal."""

from __future__ import annotations

import re
from functools import cache

from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Check = Callable[[str], bool]
    Row = dict[str, Any]

MASK = "\0"  # stands for text that is redacted already; no pattern matches it
UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


@value
class Secret:
    """One credential: its kind, and where the value starts and ends."""

    kind: str
    start: int
    end: int


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern compiled once, for ASCII classes."""
    return re.compile(pattern, re.ASCII)


@cache
def read_tables(name: str) -> dict[str, list[Row]]:
    """Return the tables of a TOML file beside this module.

    It reads one value a line, without escapes. Importing `tomllib` and parsing with it takes 25 ms, this takes 1 ms.
    """
    folder = __file__.rpartition("rules.py")[0]
    with open(folder + name, encoding="utf-8") as file:  # noqa: PTH123 -- importing pathlib takes longer than reading
        lines = file.read().splitlines()
    tables: dict[str, list[Row]] = {}
    row: Row = {}
    for line in lines:
        if line.startswith("["):
            row = {}
            tables.setdefault(line.partition("]")[0].lstrip("["), []).append(row)
        elif " = " in line and not line.startswith("#"):
            key, _, written = line.partition(" = ")
            row[key] = _read_value(written)
    return tables


def _read_value(written: str) -> str | list[str]:
    if written.startswith("'''"):
        return written[3:-3]
    return [item[1:-1] for item in written[1:-1].split(", ")] if written.startswith("[") else written[1:-1]


def expand(pattern: str, parts: Row) -> str:
    """Return a pattern in which the part of that name stands for each `(?&name)`."""
    while "(?&" in pattern:
        pattern = compiled(r"\(\?&(\w+)\)").sub(lambda found: parts[found[1]], pattern)
    return pattern


def each(text: str, literals: Iterable[str], pattern: str) -> Iterator[re.Match[str]]:
    """Yield the matches that start at one of the literals, left to right for each literal, none within another."""
    for literal in literals:
        at = text.find(literal)
        while at >= 0:
            found = compiled(pattern).match(text, at)
            if found:
                yield found
            at = text.find(literal, max(found.end() if found else 0, at + 1))


def starts(text: str, literal: str) -> Iterator[int]:
    """Yield the places of a literal, left to right."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


def values_at(kind: str, text: str, places: Iterable[int], pattern: str, check: Check) -> Iterator[Secret]:
    """Yield the values `v` of a pattern that starts at one of these places and that `check` accepts, none within another."""
    done = 0
    for at in places:
        found = compiled(pattern).match(text, at) if at >= done else None
        if found and check(found["v"]):
            yield Secret(kind, *found.span("v"))
        if found:
            done = found.end()
