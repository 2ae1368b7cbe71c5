"""Find tokens in the formats that vendors publish. `shapes.toml` lists the formats."""

from __future__ import annotations

from functools import cache

from oracle.domain.safety.secrets.opaque import is_dense_token, is_token
from oracle.domain.safety.secrets.rules import compiled, read_tables, rule_of, starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.domain.safety.secrets.rules import Row, Rule, Secret

_OTHER_KINDS = ("private-key", "url-password", "authorization", "seed-phrase", "assignment")
_HEAD = r"[A-Za-z0-9]+[^A-Za-z0-9]?"  # the start of a word or of a part of one, with its first three characters
_OPAQUE_PART = r"(?:^|[/.])(?=[^/.]{15})(?:[^/.]{30}|[^/.]*[0-9A-Z])"


def find_shapes(text: str, words: str) -> Iterator[Secret]:
    """Find tokens of published formats. `words` are the long words of the text."""
    for number in _shapes_in(words) if words else ():
        for literal in _literals_of(_rows()[number]):
            yield from _rule(number).find(text, starts(text, literal))


def long_words(text: str) -> str:
    """Keep the words of which a part could be a token: 15 characters with a digit or a capital, or 30. Prose has few."""
    ascii_only = text if text.isascii() else text.encode("ascii", "replace").decode().replace("?", " ")
    search = compiled(_OPAQUE_PART).search
    return " ".join([word for word in {word for word in ascii_only.split() if len(word) >= 15} if search(word)])


def _shapes_in(words: str) -> list[int]:
    """Return the numbers of the shapes whose literal is in these words, in order."""
    heads = {head[:3] for head in compiled(_HEAD).findall(words)}
    heads.update(compiled(r"[a-z](?=([A-Z][A-Za-z0-9].))").findall(words))
    if "\\" in words or "%" in words:  # escaped line ends, characters of a URL
        heads.update(compiled(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})(?=([A-Za-z0-9].{2}))").findall(words))
    by_head = _literals_by_head()
    near = [*by_head[""], *(pair for head in heads & by_head.keys() for pair in by_head[head])]
    return sorted({number for literal, number in near if literal in words})


@cache
def _literals_by_head() -> dict[str, list[tuple[str, int]]]:
    """Return each literal with the number of its shape by its first three characters, under "" if it may be inside a word."""
    heads: dict[str, list[tuple[str, int]]] = {}
    for number, row in enumerate(_rows()):
        starts_words = "glued" not in row and ("prefixes" in row or row["pattern"].startswith("(?&edge)"))
        for literal in _literals_of(row):
            is_head = starts_words and len(literal) > 2 and compiled(_HEAD).fullmatch(literal[:3])
            heads.setdefault(literal[:3] if is_head else "", []).append((literal, number))
    return heads


@cache
def _rule(number: int) -> Rule:
    row = _rows()[number]
    check = is_dense_token if row.get("check") == "dense" else is_token
    return rule_of(row, read_tables("shapes.toml")["parts"][0], check)


def _rows() -> list[Row]:
    return read_tables("shapes.toml")["shape"]


def _literals_of(row: Row) -> list[str]:
    literals: list[str] = row.get("prefixes") or row["literals"]
    return literals


@cache
def markers() -> tuple[str, ...]:
    """Return what may stand for a redacted credential."""
    return tuple(f"[REDACTED:{kind}]" for kind in dict.fromkeys((*(row["kind"] for row in _rows()), *_OTHER_KINDS)))
