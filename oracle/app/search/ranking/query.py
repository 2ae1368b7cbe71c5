"""A search as the ranking understands it: its words, the dates in it, the shape of the answer it asks for. No disk, no index."""

from __future__ import annotations

import re

from oracle.app.search.ranking.dates import Day, days_in
from oracle.domain.compiling import compiled
from oracle.domain.relations.synonyms import synonyms
from oracle.domain.values import value
from oracle.index import fold
from oracle.index.read.tokens import lower, pairs, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_POSSESSIVE = r"(?i)[’'](?:s|t|re|ll|ve|d|m)\b"
_COMPOUND = r"[a-z]{2,}(?:-[a-z]{2,})+"
_SINGLE = 0.4
"""Weight of one character of a longer run: it says little, but finds other words for the same."""
_WHOLE = 1e-6
"""Weight of a run of characters as a phrase: it changes no share. A signal of the ranking lifts the passages that hold it."""
_FILLERS = frozenset(
    """any been can could don didn doesn isn wasn aren weren won wouldn couldn shouldn hasn haven hadn he her his him into just
    me my not no our she should so some than us very was would""".split()
)
"""Words that are looked for when nothing else is there, beside the stop words of the index."""
_WIDE_ASKING = (
    "[是在有]?(?:为什么|为何|什么|怎么样|怎么|怎样|如何|哪个|哪些|哪里|哪儿|哪种|哪一|哪|谁|多少|多久|几个|几点)是?"
    "|是否|能不能|是不是|有没有|可不可以|[吗呢]$"
)
"""What a Chinese question asks with; it is cut out of any run of characters."""
_WIDE_FILLERS = f"{_WIDE_ASKING}|我们|你们|他们|时候|的话|一个|这个|那个|这些|那些|[吗呢吧啊的了着过么]"
"""What else stands between the words of a long run; in a short one its characters may be part of a word."""
_SHORT = 4
"""Characters of a run that may be one word, and is looked for as a phrase too."""
_ASKING = frozenset(
    """know knows known knew tell tells told decide decides decided choose chooses chose chosen pick picks picked select selects
    selected happen happens happened mention mentions mentioned think thinks thought say says said use uses used using
    many much often may might must shall 选择 决定 知道 告诉 使用 采用 选用""".split()
)
"""Words with which anything can be asked for: where one stands beside others, it is no part of what a question is about."""
_LONGEST = 4_000
"""Characters of a question that are read."""

_SHAPES = (
    ("time", r"\bwhen\b|\b(?:what|which) (?:year|month|day|date|time)\b|什么时候|何时|哪[年天]"),
    ("number", r"\bhow (?:many|much|long|often|old|far)\b|多少|几[个次天]|多[久长大]"),
    ("name", r"^\W*(?:who|whose|whom|where)\b|\bwhich (?:city|country|place|team|person)\b|谁|哪里"),
)


@value
class Term:
    """What is looked for: `tokens` in a row (mostly one); `expression` is for the full-text index, "" for the ranking alone.

    Each of the words `also` does in the place of the one token.
    """

    tokens: tuple[str, ...]
    expression: str
    weight: float
    also: tuple[str, ...] = ()


@value
class Question:
    """The terms in the order of the question, the pairs of words that stand beside each other, dates, and answer shapes."""

    text: str
    terms: tuple[Term, ...]
    days: tuple[Day, ...]
    shapes: frozenset[str]

    @property
    def words(self) -> tuple[str, ...]:
        """The single tokens that are looked for."""
        return tuple(term.tokens[0] for term in self.terms if len(term.tokens) == 1)

    @property
    def about(self) -> frozenset[int]:
        """The numbers of the terms that say what it is about: all but those with which anything is asked for."""
        asking = {term.tokens[0] for term in self.terms} & _ASKING
        asking |= {char for word in asking if not word.isascii() for char in word}
        found = frozenset(number for number, term in enumerate(self.terms) if term.tokens[0] not in asking)
        return found or frozenset(range(len(self.terms)))


def understand(text: str) -> Question:
    """Read a person's words; any text is a question, and one of punctuation alone has no terms."""
    text = text[:_LONGEST].replace("\0", " ")
    small = text.lower()
    shapes = frozenset(name for name, pattern in _SHAPES if compiled(pattern).search(small))
    return Question(text, tuple(_terms(text)), tuple(days_in(text)), shapes)


def said_by(text: str, names: Iterable[str]) -> str:
    """Return a question as those would put it whose `names` stand in it, in small letters: `my` for `Ann's`, `I` for `Ann`."""
    alike = "|".join(map(re.escape, sorted(names)))
    if not alike:
        return text
    named = re.compile(rf"(?i)\b(?:{alike})(?: (?:{alike}))*\b(?P<owns>[’']s\b)?")
    return named.sub(lambda match: "my" if match["owns"] else "I", text)


def _terms(text: str) -> list[Term]:
    wanted: dict[tuple[str, ...], Term] = {}
    fillers: dict[tuple[str, ...], Term] = {}
    for chunk in fold.compose(compiled(_POSSESSIVE).sub("", text)).split():
        words = fold.words_of(chunk)
        groups = [[word] for word in words] if compiled(_COMPOUND).fullmatch(chunk.strip(".,;:!?()")) else None
        parts = groups or fold.split_scripts(words)
        for at, part in enumerate(parts):
            is_unit = _is_unit(part, parts[max(at - 1, 0) : at] + parts[at + 1 : at + 2])
            for term in [Term((part[0],), "", 1.0)] if is_unit else _read(part):
                is_filler = len(term.tokens) == 1 and term.tokens[0] in _ALL_FILLERS
                bucket = fillers if is_filler else wanted
                if term.tokens not in bucket or bucket[term.tokens].weight < term.weight:
                    bucket[term.tokens] = term
    return list((wanted or fillers).values())


def _is_unit(part: list[str], beside: list[list[str]]) -> bool:
    """Tell whether a part is one character beside a number (`第3章`, `10秒`): alone it would find every other number's."""
    is_one = len(part[0]) == 1 and fold.is_run(part[0])
    return is_one and any(char.isdigit() for other in beside for word in other for char in word)


_ALL_FILLERS = fold.STOP_WORDS | _FILLERS


def _read(part: list[str]) -> list[Term]:
    """Return the terms of one run of characters or of the words between two blanks."""
    if not fold.is_run(part[0]):
        words = tuple(word for token in part for word in tokens(token))
        also = synonyms(words[0]) if len(words) == 1 else ()
        wanted = " OR ".join(fold.quote(word) for word in (" ".join(part), *also))
        return [Term(words, f"({wanted})" if also else wanted, 1.0, also)] if words else []
    run = lower(part[0])
    asking = _WIDE_ASKING if len(run) <= _SHORT else _WIDE_FILLERS
    rest = [piece for piece in compiled(asking).split(run) if piece] or [run]
    found = [term for piece in rest for term in _read_run(piece)]
    return found + [_phrase(piece) for piece in (*rest, run) if 2 < len(piece) <= _SHORT]


def _read_run(run: str) -> list[Term]:
    if len(run) == 1:
        return [Term((run,), f"{fold.quote(run)}*", 1.0)]
    singles = [Term((char,), "", _SINGLE) for char in dict.fromkeys(run)]
    return [*(Term((pair,), fold.quote(pair), 1.0) for pair in pairs(run)), *singles]


def _phrase(run: str) -> Term:
    """Return the term that finds a whole run; its pairs have the weight."""
    return Term(tuple(pairs(run)), fold.quote(" ".join(pairs(run))), _WHOLE)
