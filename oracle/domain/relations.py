"""What a question asks of the links of a record: who or what stands at the other end, and by which relation. Pure.

A relation is recognised by its own words, by words that begin as they do (`invest`, `investor`), and by the few families below:
how a team says that somebody works somewhere, decided, reviewed, is blocked, stands in the place of another.
"""

from __future__ import annotations

from oracle.domain.compiling import compiled
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_FAMILIES = tuple(
    frozenset(words.split())
    for words in (
        "work works working employ employed join joined hire hired engineer ceo cto cfo coo vp chief head lead leads role team"
        " staff colleague director manager manages position runs",
        "invest back backed backer backing fund funded funding seed series round stake angel portfolio check cheque raised raise",
        "found founded founder cofounder cofounded start started launch launched create created establish established",
        "attend attendee attended participant participants present joined met sat",
        "advise advisor adviser advisory board mentor counsel consult",
        "decide decided decision approve approved agree agreed choose chose chosen settled",
        "block blocked blocker depend depends dependency wait waits waiting stuck prerequisite needs",
        "replace replaced supersede supersedes superseded successor instead deprecate deprecated obsolete retire retires retired",
        "review reviewed reviewer audit audited inspect inspected approve approved",
        "own owns owner maintain maintains maintainer responsible charge",
        "write wrote written author authored draft drafted",
        "buy bought acquire acquired acquirer purchase purchased merge merged",
        "report reports manager boss",
        "meet met know knows introduce introduced friend",
    )
)
_PEOPLE = frozenset("person people contact contacts member members human humans staff user users who".split())
_WHO = r"(?i)^\W*(?:who|whom|whose)\b|\bby whom\b|谁"
_ASKS = r"(?i)^\W*(?:(?:in|at|by|for|with|from|to|on) )?(?:who|whom|whose|what|which|where|list|name)\b|谁|哪"
_PERSON_NAME = r"(?:[A-Z][\w'’-]+\.? ){1,3}[A-Z][\w'’-]+"
_BEGINNING = 5
"""Letters that two words of one relation share."""

FAMILY = 0.7
"""What a word of the same family counts beside the word of the question itself."""


@value
class Asked:
    """A question about a record's links: the words of the relation, and whether people are asked for."""

    cues: frozenset[str]
    people: bool

    def fits(self, words: Collection[str]) -> float:
        """Return how well a linking sentence, its words in small letters, speaks of the relation: 0 to 1."""
        if not self.cues:
            return 0.0
        return max((_fit(cue, words) for cue in self.cues), default=0.0)


def asks_for_links(text: str) -> bool:
    """Tell whether a question asks who, what or which: its answer may be what a record links to."""
    return compiled(_ASKS).search(text) is not None


def asked(text: str, cues: Iterable[str]) -> Asked:
    """Read what is asked of the links of a record; `cues` are the words of the question beside the record's name."""
    return Asked(frozenset(cues), compiled(_WHO).search(text) is not None)


def is_person(classes: Collection[str]) -> bool:
    """Tell by the words of a record's folder, seat and kind whether it is about a person."""
    return not _PEOPLE.isdisjoint(classes)


def looks_like_a_person(title: str) -> bool:
    """Tell whether a title is two to four capitalised words: a name, when nothing else says what it is."""
    return compiled(_PERSON_NAME).fullmatch(title) is not None


def _fit(cue: str, words: Collection[str]) -> float:
    if any(_alike(cue, word) for word in words):
        return 1.0
    families = [family for family in _FAMILIES if any(_alike(cue, word) for word in family)]
    return FAMILY if any(not family.isdisjoint(words) for family in families) else 0.0


def _alike(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= _BEGINNING - 1 and longer.startswith(shorter.removesuffix("e")):
        return True
    return one == other or (len(shorter) >= _BEGINNING and one[:_BEGINNING] == other[:_BEGINNING])
