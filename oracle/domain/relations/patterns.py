"""Relations between things and the phrases that say them, from `data/relations.toml`. Pure.

The relations are those of teams: work, money, meetings, decisions, reviews.
"""

from __future__ import annotations

from functools import cache

from oracle.domain import tables
from oracle.domain.compiling import compiled
from oracle.domain.values import value

NAMED = "\x01"
"""Replaces the name of the record in a question, and a link in a sentence."""
PERSON, ORGANISATION, MEETING = "person", "organisation", "meeting"
WORK, ATTEND = "work", "attend"

_SPELLED = r"(\w{3,20}?[iy])([sz])(e|ed|es|er|ers|ing|able|ations?)"  # `serialise`, `analyzer`


@value
class Phrase:
    """A pattern of English and one of Chinese, which is looked for in texts that are not ASCII alone; "" matches nothing."""

    en: str = ""
    zh: str = ""

    def is_in(self, text: str) -> bool:
        """Return whether a text has the phrase."""
        if self.en and compiled(self.en).search(text):
            return True
        return bool(self.zh) and not text.isascii() and compiled(self.zh).search(text) is not None

    def is_all(self, text: str) -> bool:
        """Return whether a text is the phrase."""
        return any(compiled(pattern).fullmatch(text) for pattern in self._patterns(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where a text has the phrase."""
        return [found.span() for pattern in self._patterns(text) for found in compiled(pattern).finditer(text)]

    def replace_in(self, text: str, by: str = "") -> str:
        """Return a text with something else in the place of the phrase."""
        for pattern in self._patterns(text):
            text = compiled(pattern).sub(by, text)
        return text

    def _patterns(self, text: str) -> list[str]:
        return [pattern for pattern in (self.en, "" if text.isascii() else self.zh) if pattern]


@value
class RelationPattern:
    """How a relation is said, what may be at its two ends, and what shows that a clause is of another one."""

    name: str
    strong: Phrase
    weak: Phrase
    excludes: Phrase
    subjects: frozenset[str]
    objects: frozenset[str]
    can_end: bool

    @property
    def any(self) -> Phrase:
        """The strong and the weak phrase in one."""
        both = (self.strong, self.weak)
        return Phrase("|".join(one.en for one in both), "|".join(one.zh for one in both if one.zh))


@cache
def relation_patterns() -> tuple[RelationPattern, ...]:
    """Return the relations in the order of the table."""
    return tuple(
        RelationPattern(
            row["name"],
            _whole_words(row["strong"], row.get("zh", "")),
            _whole_words(row["weak"], row.get("zh_weak", "")),
            _whole_words(row.get("excludes", ""), row.get("zh_excludes", "")),
            frozenset(row.get("subjects", "").split()),
            frozenset(row.get("objects", "").split()),
            "can_end" in row,
        )
        for row in tables.load("relations")["relation"]
    )


def _whole_words(en: str, zh: str) -> Phrase:
    return Phrase(rf"\b(?:{tables.expand(en)})\b" if en else "", zh)


@cache
def phrase(name: str) -> Phrase:
    """Return a phrase of the table by its name."""
    table = tables.load("relations")
    return Phrase(**{key: tables.expand(text, table["parts"]) for key, text in table["phrase"][name].items()})


@cache
def word_list(name: str) -> frozenset[str]:
    """Return a set of words of the table by its name."""
    return frozenset(tables.load("relations")["words"][name].split())


@cache
def kinds_by_word(*, of_folders: bool = False) -> dict[str, str]:
    """Return the kind of thing that each word means in a question, or in the name of a folder."""
    found: dict[str, str] = {}
    for row in tables.load("relations")["kind"]:
        own = row["words"].split()
        if of_folders:
            own += [*row.get("folders", "").split(), *(word for word in row["zh"].split("|") if len(word) > 1)]
        found |= dict.fromkeys(own, row["name"])
    return found


def kinds_asked_for(text: str) -> frozenset[str]:
    """Return the kinds of things that a question in Chinese asks for by name."""
    found = compiled(phrase("kind").zh).search(text)
    rows = tables.load("relations")["kind"]
    return frozenset(row["name"] for row in rows if found and found[1] in row["zh"].split("|"))


def without_question_words(text: str) -> str:
    """Return a question in Chinese without the words that ask, which no blanks keep from the words of a relation."""
    return phrase("asking").replace_in(text, " ")


@cache
def _synonyms() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in "\n".join(tables.load("synonyms").values()).split("\n"):
        group = line.split()
        for word in group:
            found[word] = (*found.get(word, ()), *(other for other in group if other != word))
    return found


def synonyms(word: str) -> tuple[str, ...]:
    """Return the words to look for beside one in lower case; () for most.

    They are those of the table, with or without the ending of the plural, and the British or American spelling.
    """
    known = _synonyms()
    singular = (word.removesuffix(ending) for ending in ("s", "es"))
    found = known.get(word) or next((known[one] for one in singular if one in known), ())
    spelled = compiled(_SPELLED).fullmatch(word)
    if spelled is None:
        return found
    other = spelled[1] + ("z" if spelled[2] == "s" else "s") + spelled[3]
    return found if other in found else (*found, other)
