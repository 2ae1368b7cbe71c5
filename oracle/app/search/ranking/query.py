"""A search as the ranking understands it: its words, the dates in it, the shape of the answer it asks for. No disk, no index.

The word lists are in `data/query.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache
from itertools import islice

from oracle.domain import tables
from oracle.domain.compiling import compiled
from oracle.domain.injection import envelope
from oracle.domain.relations.patterns import synonyms
from oracle.domain.values import value
from oracle.index import fold
from oracle.index.fold import lower, pairs, tokens

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAY = (
    r"(?i)(?:\b(?P<before>\d{1,2})(?:st|nd|rd|th)? (?:of )?)?\b(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may"
    r"|june?|july?|aug(?:ust)?|sept?|september|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
    r"(?: (?P<after>\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? ?(?P<year>\d{4}))?"
    r"|(?P<iso>\d{4})[-/.年](?P<number>\d{1,2})(?:[-/.月](?P<day>\d{1,2}))?|\b(?P<alone>(?:19|20)\d\d)\b"
)
_DAYS_AFTER = 8


@value
class Day:
    """A day, month or year. A part that was not given is 0."""

    year: int
    month: int
    day: int


def days_in(text: str) -> list[Day]:
    """Return the dates in a text; `may` without a day or year beside it is a word, not a month."""
    found: list[Day] = []
    if not (any(map(str.isdigit, text)) or any(month in text.casefold() for month in _MONTHS)):
        return found  # as of most texts; compiling the pattern takes longer
    for match in compiled(_DAY).finditer(text):
        day = int(match["before"] or match["after"] or match["day"] or 0)
        year = int(match["year"] or match["iso"] or match["alone"] or 0)
        month = _MONTHS.index(match["month"][:3].casefold()) + 1 if match["month"] else int(match["number"] or 0)
        is_word = match["month"] in ("may", "march", "mar") and not (day or year)
        if not is_word and day <= 31 and month <= 12:
            found.append(Day(year, month, day))
    return found


def nearness(asked: Iterable[Day], stated: Sequence[Day]) -> float:
    """Return how well the dates of a record go with those of a question, 0 to 1."""
    return max((_near(one, other) for one in asked for other in stated), default=0.0)


def _near(asked: Day, stated: Day) -> float:
    if asked.year and stated.year and asked.year != stated.year and abs(asked.year - stated.year) > 1:
        return 0.0
    same_year = not (asked.year and stated.year) or asked.year == stated.year
    if not asked.month:
        return 0.2 if same_year else 0.0
    if not stated.month:
        return 0.0
    if asked.day and stated.day:
        return _near_days(asked, stated)
    if not same_year:
        return 0.0
    if asked.month == stated.month:
        return 0.7
    return 0.3 if stated.month == asked.month % 12 + 1 and 0 < stated.day <= _DAYS_AFTER else 0.0


def _near_days(asked: Day, stated: Day) -> float:
    year = asked.year or stated.year or 2000
    try:
        after = (date(stated.year or year, stated.month, stated.day) - date(year, asked.month, asked.day)).days
    except ValueError:
        return 0.0
    if after == 0:
        return 1.0
    if 0 < after <= _DAYS_AFTER:
        return 0.5
    return 0.1 if asked.month == stated.month and abs(after) < 31 else 0.0


_POSSESSIVE = r"(?i)[’'](?:s|t|re|ll|ve|d|m)\b"
_COMPOUND = r"[a-z]{2,}(?:-[a-z]{2,})+"
_MARKED = r"(?<![\w.:/@#+-])[a-z0-9][a-z0-9-]*(?:[_.:/]+[a-z0-9-]+)+|(?<![\w.:/@#+-])[a-z](?:\+\+|#)(?![\w+#])"
_MARKS = frozenset("_.:/+#")
"""Characters without one of which it matches nothing."""
_ROW = r"(?<![^\W_])[A-Za-z]{2,}(?:[ -]+[A-Za-z]{2,})+(?![^\W_])"
"""Neighbouring words that an identifier may be made of."""
_MOST_JOINED, _JOINS = 3, 32
"""How many neighbouring words are joined, and how many of these are looked for."""
_SINGLE = 0.4
"""Weight of one character of a longer run: it says little, but finds other words for the same."""
_WHOLE = 1e-6
"""Weight of a run of characters as a phrase: it changes no share. A signal of the ranking lifts the passages that hold it."""
_SHORT = 4
"""Characters of a run that may be one word, and is looked for as a phrase too."""
_LONGEST = 4_000
"""Characters of a question that are read."""


@value
class Term:
    """What is looked for: `tokens` in a row (mostly one), or one of the rows `also` in their place.

    `expression` is for the full-text index, "" for the ranking alone.
    """

    tokens: tuple[str, ...]
    expression: str
    weight: float
    also: tuple[tuple[str, ...], ...] = ()

    @property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """The rows of tokens that stand for it."""
        return (self.tokens, *self.also)


@value
class JoinedWords:
    """Neighbouring words written as one, as in an identifier, for the terms number `of`."""

    token: str
    of: tuple[int, ...]

    @property
    def expression(self) -> str:
        """What the full-text index is asked."""
        return fold.quote(self.token)


@value
class Translation:
    """A word in the other language for the terms number `of`; `weight` says how like they are, 0 to 1."""

    tokens: tuple[str, ...]
    expression: str
    weight: float
    of: tuple[int, ...]


@value
class SearchQuery:
    """The terms in the order of the question, its dates, and the shapes of answers that it asks for.

    `joined` are neighbouring words as one, and `translations` words in the other language, as far as records hold them.
    """

    text: str
    terms: tuple[Term, ...]
    days: tuple[Day, ...]
    shapes: frozenset[str]
    joined: tuple[JoinedWords, ...] = ()
    translations: tuple[Translation, ...] = ()

    @property
    def marked(self) -> re.Pattern[str] | None:
        """The pattern of the words with a mark, as they are written in small letters: `retry_count`, `node.js`, `c++`."""
        if _MARKS.isdisjoint(self.text):
            return None
        words = {found[0].rstrip(".:/") for found in compiled(_MARKED).finditer(self.text.lower())}
        if not words:
            return None
        return re.compile(
            rf"(?<![\w.:/@#+-])(?:{'|'.join(map(re.escape, sorted(words)))})(?![\w+#]|[.:/@-]\w)", re.ASCII
        )

    @property
    def words(self) -> tuple[str, ...]:
        """The single tokens that are looked for."""
        return tuple(term.tokens[0] for term in self.terms if len(term.tokens) == 1)

    @property
    def about(self) -> frozenset[int]:
        """The numbers of the terms that say what it is about: all but those that can ask for anything."""
        asking = {term.tokens[0] for term in self.terms} & _words("asking")
        asking |= {char for word in asking if not word.isascii() for char in word}
        found = frozenset(number for number, term in enumerate(self.terms) if term.tokens[0] not in asking)
        return found or frozenset(range(len(self.terms)))


@cache
def shapes_of(part: str) -> dict[str, str]:
    """Return the pattern of each shape: of the `question` that asks for it, or of the `answer` that has it."""
    return {name: tables.expand(shape[part]) for name, shape in tables.load("query")["shape"].items()}


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(tables.load("query")[name].split())


def parse_query(text: str) -> SearchQuery:
    """Read a person's words, without context that a hook added. Any text is a query; one of punctuation alone has no terms."""
    text = (envelope.strip(text) if "<" in text else text)[:_LONGEST].replace("\0", " ")
    small = text.lower()
    terms = tuple(_terms(text))
    return SearchQuery(
        text,
        terms,
        tuple(days_in(text)),
        frozenset(_shapes_asked_for(small)),
        tuple(islice(_join(text, terms), _JOINS)),
    )


def _shapes_asked_for(small: str) -> Iterator[str]:
    """Yield the shapes that a question in lower case asks for. A pattern is compiled for a text with one of its words."""
    for name, pattern in shapes_of("question").items():
        if any(word in small for word in shapes_of("words")[name].split()) and compiled(pattern).search(small):
            yield name


def said_by(text: str, names: Iterable[str]) -> str:
    """Return a question as the people would put it whose `names` it has: `my` for `Ann's`, `I` for `Ann`."""
    anyone = "|".join(map(re.escape, sorted(names)))
    if not anyone:
        return text
    named = re.compile(rf"(?i)\b(?:{anyone})(?: (?:{anyone}))*\b(?P<owns>[’']s\b)?")
    return named.sub(lambda match: "my" if match["owns"] else "I", text)


def _terms(text: str) -> list[Term]:
    wanted: dict[tuple[str, ...], Term] = {}
    fillers: dict[tuple[str, ...], Term] = {}
    if "'" in text or "’" in text:
        text = compiled(_POSSESSIVE).sub("", text)
    for chunk in fold.compose(text).split():
        words = fold.words_of(chunk)
        groups = [[word] for word in words] if compiled(_COMPOUND).fullmatch(chunk.strip(".,;:!?()")) else None
        parts = groups or fold.split_scripts(words)
        for at, part in enumerate(parts):
            is_unit = _is_unit(part, parts[max(at - 1, 0) : at] + parts[at + 1 : at + 2])
            for term in [Term((part[0],), "", 1.0)] if is_unit else _read(part):
                word = term.tokens[0] if len(term.tokens) == 1 else ""
                bucket = fillers if word in fold.STOP_WORDS or word in _words("fillers") else wanted
                if term.tokens not in bucket or bucket[term.tokens].weight < term.weight:
                    bucket[term.tokens] = term
    return list((wanted or fillers).values())


def _is_unit(part: list[str], beside: list[list[str]]) -> bool:
    """Return whether a part is one character beside a number (`第3章`, `10秒`): alone it would find every other number's."""
    is_one = len(part[0]) == 1 and fold.is_run(part[0])
    return is_one and any(char.isdigit() for other in beside for word in other for char in word)


def _read(part: list[str]) -> list[Term]:
    """Return the terms of one run of characters or of the words between two blanks."""
    if not fold.is_run(part[0]):
        words = tuple(word for token in part for word in tokens(token))
        also = _other_forms(part, words)
        wanted = " OR ".join(fold.quote(" ".join(form)) for form in (part, *also))
        return [Term(words, f"({wanted})" if also else wanted, 1.0, also)] if words else []
    run = lower(part[0])
    table = tables.load("query")
    asking = table["zh_question"] if len(run) <= _SHORT else f"{table['zh_question']}|{table['zh_filler']}"
    rest = [piece for piece in compiled(tables.expand(asking)).split(run) if piece] or [run]
    found = [term for piece in rest for term in _read_run(piece)]
    phrases = [pairs(piece) for piece in (*rest, run) if 2 < len(piece) <= _SHORT]
    return found + [Term(tuple(phrase), fold.quote(" ".join(phrase)), _WHOLE) for phrase in phrases]


def _other_forms(part: list[str], words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the rows to look for in place of a word or an identifier: its kin, its parts in a row, or its parts as one."""
    if len(words) > 1:
        return (("".join(words),),) if len(words) <= _MOST_JOINED and all(word[0].isalpha() for word in words) else ()
    kin = tuple((word,) for word in synonyms(words[0])) if words else ()
    humps = fold.humps(part[0])
    return (*kin, humps) if humps else kin


def _join(text: str, terms: Sequence[Term]) -> Iterator[JoinedWords]:
    """Yield each two and three neighbouring words as one: `RetryPolicy` holds both words of `retry policy`."""
    numbers = {term.tokens[0]: number for number, term in enumerate(terms) if len(term.tokens) == 1}
    for row in compiled(_ROW).findall(text):
        words = row.lower().replace("-", " ").split()
        for size in range(2, _MOST_JOINED + 1):
            for at in range(len(words) - size + 1):
                some = words[at : at + size]
                if some[0] in numbers and some[-1] in numbers:
                    yield JoinedWords("".join(some), tuple(sorted({numbers[word] for word in some if word in numbers})))


def _read_run(run: str) -> list[Term]:
    if len(run) == 1:
        return [Term((run,), f"{fold.quote(run)}*", 1.0)]
    singles = [Term((char,), "", _SINGLE) for char in dict.fromkeys(run)]
    return [*(Term((pair,), fold.quote(pair), 1.0) for pair in pairs(run)), *singles]
