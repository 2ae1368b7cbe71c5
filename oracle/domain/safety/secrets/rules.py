"""Read the tables of patterns beside this module, find the values that a row describes, and judge values by themselves."""

from __future__ import annotations

import binascii
import re
from functools import cache
from itertools import pairwise

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
    """Return the tables of a TOML file beside this module, without examples and sources.

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
        elif " = " in line and not line.startswith(("#", "example", "source")):
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


# Which values look like a credential; `values.toml` lists what only looks like one -------------------------------------


_PIECE = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_RUN = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])"


@cache
def _any_of(table: str) -> re.Pattern[str]:
    """Return the pattern that matches wherever one of a table in `values.toml` does."""
    return compiled("|".join(row["pattern"] for row in read_tables("values.toml")[table]))


@cache
def _terms() -> re.Pattern[str]:
    """Return the pattern of words that are written with digits or capitals in them: `OAuth2`, `K8s`, `V2`."""
    words = "|".join(row["words"].replace(" ", "|") for row in read_tables("values.toml")["term"])
    return compiled(rf"(?<![A-Z0-9])(?:{words})(?![a-z])")


@cache
def _usual_pairs() -> frozenset[str]:
    """Return the pairs of letters that are usual in words and names."""
    (followers,) = read_tables("values.toml")["followers"]
    return frozenset(first + second for first, row in followers.items() for second in row)


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder for a real one: named so, repeated, or counted up (`abcdef123456`)."""
    if len(set(value)) < 4 or _any_of("placeholder").search(value):
        return True
    steps = sum(ord(after) - ord(before) in (0, 1) for before, after in pairwise(value))
    return steps >= 0.6 * (len(value) - 1)


def is_token(value: str) -> bool:
    """Accept the body of a vendor shape: the shape is the evidence, so only placeholders and written words are refused."""
    if is_placeholder(value) or len(set(value)) < 6:
        return False
    parts = compiled(r"[-_./:]").split(value)
    return len(parts) == 1 or not all(map(compiled(r"[a-z]*\d{0,2}|[A-Z]*|\d+").fullmatch, parts))


def is_dense_token(value: str) -> bool:
    """Accept a body behind a prefix that ordinary names share (`sk-`): one long part of it, or all of it, is opaque."""
    if not is_token(value):
        return False
    parts = compiled(r"[-_]").split(value)
    if any(len(part) >= 16 and any(map(str.isdigit, part)) for part in parts):
        return True
    return len(value) >= 20 and _count_classes(value) >= 2 and not is_worded(value)


_VERSIONED = (  # `Qwen2.5-72B-Instruct`: a name, and beside it versions, sizes, dates and further names
    r"[A-Za-z]{2,16}\d{0,3}(?:[-_.:/](?:[A-Za-z]{2,16}\d{0,3}|[A-Za-z]?\d{1,4}[A-Za-z]{0,2}|\d{6}|\d{8})){2,8}"
)
_PART = r"[A-Za-z]*\d{0,5}|\d{6}|\d{8}|(?:[A-Za-z]{2,}|[A-Z])\d{1,5}(?:[A-Z][a-z]{2,})+|(?:[A-Z][a-z]{3,}|\dof\d)+"
_PLACED = (  # `db-main-eu1-rw`: short words and numbers between marks, as machines and what they keep are named
    r"(?=.*[a-z]{4})[a-z]{2,}\d{0,3}(?:[-_.](?:[a-z]{2,}\d{0,3}|[a-z]?\d{1,4})){2,}"
)
_MARKED_PART = _PART + r"|[a-z]+\d{1,2}[a-z]+"  # `k8s`, `base64url`


def is_worded(value: str) -> bool:
    """Return whether a value is put together from words: `refresh-token-rotation-2`, `createdAtTimestamp`.

    Digits may be alone between marks or end a part; so do versions (`Llama-3.1-8B`). Of the pairs of letters
    within the words three in four must be usual ones: one random text of 16 lower-case letters in 500 has that
    many. Marks are evidence too and lower it.
    """
    if _is_versioned(value):
        return True
    value = _terms().sub("Terminal", value)
    parts = [part for part in compiled(r"%[0-9A-F]{2}|[-_./:,@+&#*]").split(value) if part]
    if not all(map(compiled(_PART if len(parts) == 1 else _MARKED_PART).fullmatch, parts)):
        return False
    words = [word for part in parts for word in compiled(_RUN).findall(part)]
    letters = sum(map(len, words))
    if letters < 0.5 * len(value) or max(map(len, words)) > 40:
        return False
    one_case = value.islower() or value.isupper()
    initials = [part for part in parts if part.isalpha() and part.isupper() and 2 <= len(part) <= 3]
    spelled = letters - sum(map(len, initials))
    if not spelled or spelled < 3.4 * (len(words) - len(initials)):
        return value.islower() and len(parts) >= 3
    marked = len(parts) > 1 and one_case and max(map(len, words)) <= 14
    humped = len(words) >= 3 and not one_case and letters >= 4 * len(words)
    usual, pairs = _count_pairs(words)
    return usual >= (0.6 if marked or humped else 0.75) * pairs


def _is_versioned(value: str) -> bool:
    """Return whether a value names a product and a version of it: short parts, and words of usual pairs of letters."""
    if not compiled(_VERSIONED).fullmatch(value):
        return False
    words = [word for word in compiled(_RUN).findall(value) if not word.isupper()]
    usual, pairs = _count_pairs(words)
    return max(map(len, words), default=0) >= 4 and usual >= 0.75 * pairs


def _count_pairs(words: list[str]) -> tuple[int, int]:
    """Count the usual ones among the pairs of letters that follow one another in words, and all of them."""
    usual = _usual_pairs()
    pairs = [first + second for word in words for first, second in pairwise(word.lower())]
    return sum(pair in usual for pair in pairs), len(pairs)


def _is_unspeakable(value: str) -> bool:
    """Return whether most pairs of letters are unusual: one name in 400 of documentation is so, and three random texts in four."""
    usual, pairs = _count_pairs(compiled(_RUN).findall(value))
    return pairs >= 3 and usual < 0.5 * pairs


def _count_classes(value: str) -> int:
    """Count which of lower case, upper case, digits and the symbols of passwords a value has."""
    return sum(compiled(kind).search(value) is not None for kind in ("[a-z]", "[A-Z]", "[0-9]", "[!#$%^&*+?@~]"))


def is_random(value: str) -> bool:
    """Return whether an assigned value is opaque: not an address, a placeholder, a reference or a name made of words.

    From 16 characters on nothing else is asked. A shorter one has to mix three classes of characters, or to change
    class often. Names and words have long runs of one class (`oauth2-proxy`: 3.7 on average). Random text has short
    ones (base 62: about 1.7).
    """
    size = len(value)
    if not 8 <= size <= 4096 or len(set(value)) < 6 or _any_of("harmless").search(value) or is_placeholder(value):
        return False
    if not any(map(str.isalpha, value)):
        return False
    if size >= 16:
        return not (is_worded(value) or _encodes_words(value))
    return _is_mixed(value)


def _encodes_words(value: str) -> bool:
    """Return whether a value is the Base64 of a text that would not be called random itself."""
    try:
        text = binascii.a2b_base64(value, strict_mode=True).decode("ascii")
    except ValueError:
        return False
    return text.isprintable() and not is_random(text.replace(" ", "-"))


def _is_mixed(value: str) -> bool:
    """Judge a value of 8 to 15 characters by how it mixes the classes of characters."""
    if compiled(rf"[/\[(]|^{_PLACED}$").search(value):
        return False
    pieces = compiled(_PIECE).findall(value)
    average = sum(map(len, pieces)) / len(pieces)
    if value.isalnum() and _is_unspeakable(value):
        return True
    if value.isalpha():
        return average < (2.5 if len(value) >= 12 else 2.2)
    if _count_classes(value) >= 3:
        return _has_symbols(value) or not is_worded(value)
    if _has_symbols(value):
        return average < 4.5
    return any(map(str.isdigit, value)) and (len(pieces) >= 5 or average < 2.2)


def is_scattered(value: str) -> bool:
    """Return whether a value mixes lower case, capitals and digits so often that no name is put together like that."""
    if len(value) < 10 or compiled(r"[_,;:./()\[\]]").search(value):
        return False
    pieces = compiled(_PIECE).findall(value)
    mixed = all(compiled(kind).search(value) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    return mixed and (sum(map(len, pieces)) < 2.2 * len(pieces) or _is_unspeakable(value))


def is_opaque(value: str) -> bool:
    """Return whether a value is scattered, or has 16 or more letters and digits that alternate, as hex does.

    This is enough where a name and a blank are the only other signs.
    """
    if is_scattered(value):
        return True
    if len(value) < 16 or not (value.isascii() and value.isalnum()):
        return False
    is_hex = compiled("[0-9a-f]{32,}|[0-9A-F]{32,}").fullmatch(value)
    return bool(is_hex or len(value) < 3 * len(compiled(_PIECE).findall(value))) and is_random(value)


def _has_symbols(value: str) -> bool:
    """Return whether a value has the punctuation of passwords, with digits or with both cases."""
    if not compiled(r"[!#$%^&*+?@~]").search(value):
        return False
    return any(map(str.isdigit, value)) or compiled(r"[a-z].*[A-Z]|[A-Z].*[a-z]").search(value[1:]) is not None


def is_credential(value: str) -> bool:
    """Return whether a value looks random and is long enough to be given away by its place."""
    return len(value) >= 16 and is_random(value)
