"""Read the tables of patterns beside this module, and find the values that a row describes."""

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

_REACH = 254  # characters in front of a literal in which `behind` is looked for
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


@value
class Rule:
    """What a row of a table says: the pattern of a value, what must be in front of it, and how the value is judged."""

    kind: str
    pattern: str
    behind: str
    check: Check

    def find(self, text: str, places: Iterable[int]) -> Iterator[Secret]:
        """Yield the values of the pattern that starts at one of these places, none within another."""
        done = 0
        for at in places:
            found = compiled(self.pattern).match(text, at) if at >= done else None
            if found is None:
                continue
            done = found.end()
            group: str | int = "v" if "v" in found.re.groupindex else 0
            start, end = found.span(group)
            if self.behind:
                before = compiled(self.behind).search(text, max(0, at - _REACH), at)
                if before is None:
                    continue
                start = before.start("v") if "v" in before.re.groupindex else start
            if self.check(found["body"] if "body" in found.re.groupindex else text[start:end]):
                yield Secret(self.kind, start, end)


def rule_of(row: Row, parts: Row, check: Check) -> Rule:
    """Return the rule of a row with a pattern, with prefixes and a body, or with a command and an option."""
    if "prefixes" in row:
        start = "|".join(map(re.escape, row["prefixes"]))
        edge = "(?&glue)" if "glued" in row else "(?&edge)"
        pattern = f"{edge}(?P<v>(?:{start})(?P<body>{row['body']}))"
    elif "command" in row:
        pattern = rf"(?i:{row['command']})(?=[ \t])[^\n|;\0]{{0,200}}?[ \t]{row['option']}(?&argument)"
    else:
        pattern = row.get("pattern", "")
    behind = rf"(?:{row['behind']})\Z" if "behind" in row else ""
    return Rule(row.get("kind", "assignment"), expand(pattern, parts), expand(behind, parts), check)


def starts(text: str, literal: str) -> Iterator[int]:
    """Yield the places of a literal, left to right."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))
