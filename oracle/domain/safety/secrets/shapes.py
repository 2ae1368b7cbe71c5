"""Find tokens in the formats that vendors publish. `shapes.toml` lists the formats."""

from __future__ import annotations

import re
from functools import cache

from oracle.domain.safety.secrets.opaque import is_dense_token, is_token
from oracle.domain.safety.secrets.rules import Secret, compiled, each, expand, read_tables
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.domain.safety.secrets.rules import Row

_OTHER_KINDS = ("private-key", "url-password", "authorization", "seed-phrase", "assignment")
_HEAD = r"[A-Za-z0-9]+[^A-Za-z0-9]?"  # the start of a word or of a part of one, with its first three characters
_OPAQUE_PART = r"(?:^|[/.])(?=[^/.]{15})(?:[^/.]{30}|[^/.]*[0-9A-Z])"


@value
class Shape:
    """One format of tokens, as a row of `shapes.toml` says it."""

    kind: str
    literals: tuple[str, ...]
    pattern: str
    prefixes: tuple[str, ...]
    is_dense: bool
    before: frozenset[str]
    whole: str

    def find(self, text: str) -> Iterator[Secret]:
        """Yield the tokens of this format."""
        for found in each(text, self.literals, self.pattern):
            start, end = found.span("v") if "v" in found.re.groupindex else found.span()
            if self.before:
                start = self._grow_left(text, start)
                if not compiled(self.whole).fullmatch(text, start, end):
                    continue
            if self._accepts(text[start:end]):
                yield Secret(self.kind, start, end)

    def _grow_left(self, text: str, start: int) -> int:
        limit = max(0, start - 80)
        while start > limit and text[start - 1] in self.before:
            start -= 1
        is_escaped = text[start - 1 : start] == "\\" and text[start] in "nrt"  # the letter belongs to a line end
        return start + is_escaped

    def _accepts(self, token: str) -> bool:
        body = token[max((len(prefix) for prefix in self.prefixes if token.startswith(prefix)), default=0) :]
        return is_dense_token(body) if self.is_dense else is_token(body)


def find_shapes(text: str) -> Iterator[Secret]:
    """Find tokens of published formats."""
    words = _long_words(text)
    for number in _shapes_in(words) if words else ():
        yield from _shape(number).find(text)


def _long_words(text: str) -> str:
    """Keep the words of which a part could be a token: 15 characters with a digit or a capital, or 30. Prose has few."""
    ascii_only = text if text.isascii() else text.encode("ascii", "replace").decode().replace("?", " ")
    search = compiled(_OPAQUE_PART).search
    return " ".join([word for word in {word for word in ascii_only.split() if len(word) >= 15} if search(word)])


def _shapes_in(words: str) -> list[int]:
    """Return the numbers of the shapes whose literal is in these words, in order."""
    heads = {head[:3] for head in compiled(_HEAD).findall(words)}
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
        starts_words = "prefixes" in row or row["pattern"].startswith("(?&edge)")
        for literal in row.get("prefixes") or row["literals"]:
            is_head = starts_words and len(literal) > 2 and compiled(_HEAD).fullmatch(literal[:3])
            heads.setdefault(literal[:3] if is_head else "", []).append((literal, number))
    return heads


@cache
def _shape(number: int) -> Shape:
    row = _rows()[number]
    prefixes = tuple(row.get("prefixes", ()))
    start = "|".join(map(re.escape, prefixes))
    pattern = f"(?&edge)(?P<v>(?:{start}){row['body']})" if prefixes else row["pattern"]
    return Shape(
        row["kind"],
        prefixes or tuple(row["literals"]),
        expand(pattern, read_tables("shapes.toml")["parts"][0]),
        prefixes,
        row.get("check") == "dense",
        frozenset(compiled(row["before"]).findall("".join(map(chr, range(128))))) if "before" in row else frozenset(),
        row.get("whole", ""),
    )


def _rows() -> list[Row]:
    return read_tables("shapes.toml")["shape"]


@cache
def markers() -> tuple[str, ...]:
    """Return what may stand for a redacted credential."""
    return tuple(f"[REDACTED:{kind}]" for kind in dict.fromkeys((*(row["kind"] for row in _rows()), *_OTHER_KINDS)))
