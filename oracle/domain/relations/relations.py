"""What a question asks of the links of a record: who or what is at the other end, and by which relation. Pure.

A relation is recognised by the words of the question and by the phrases in `data/relations.toml`. The clause that holds the link
counts more than the rest of its sentence. What the clause denies, or says is over, counts little.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from oracle.domain.compiling import compiled
from oracle.domain.relations.patterns import (
    ATTEND,
    MEETING,
    NAMED,
    ORGANISATION,
    PERSON,
    WORK,
    RelationPattern,
    kinds_asked_for,
    kinds_by_word,
    phrase,
    relation_patterns,
    word_list,
)
from oracle.domain.values import value


def taken_back(rest: str) -> bool:
    """Return whether what follows a clause denies it: `… but never did`, unless it speaks of another link."""
    if not rest or not phrase("taken_back").is_in(rest):
        return False
    return NAMED not in rest[: clause(rest, 1)[1]]


def clause(sentence: str, place: int) -> tuple[int, int]:
    """Return where the clause of a sentence that holds `place` begins and ends; all of it for -1."""
    if place < 0:
        return 0, len(sentence)
    start, end = 0, len(sentence)
    for match in compiled(phrase("clause_end").en).finditer(sentence):
        if match.end() <= place:
            start = match.start() if match[0].isalpha() else match.end()
        elif match.start() > place:
            end = match.start()
            break
    return start, end


def is_subject(sentence: str, cue: tuple[int, int], place: int) -> bool:
    """Return whether the link at `place` is the subject of the word at `cue`, rather than its object."""
    word = sentence[slice(*cue)]
    if phrase("reversed").is_all(word):
        return place > cue[0]
    if phrase("object_noun").is_all(word):
        return not _is_called(sentence, cue, place)
    if phrase("subject_noun").is_all(word):
        return _is_called(sentence, cue, place)
    if place < cue[0]:
        before = _is_before(sentence, cue, place)
        if before is not None:
            return before
        is_active = compiled(r"\w+ing\b").match(sentence, cue[0]) is not None
        return is_active or not phrase("passive").is_in(sentence[place + 1 : cue[0]])
    return phrase("by_link").is_in(sentence[cue[0] : place])


def _is_called(sentence: str, cue: tuple[int, int], place: int) -> bool:
    """Return whether the link at `place` is what the noun at `cue` calls it."""
    if place >= cue[0]:
        return not sentence.startswith((" of ", " in ", " to "), cue[1], place)
    before = _is_before(sentence, cue, place)
    return not sentence.startswith("的", place + 1, cue[0]) if before is None else before


def _is_before(sentence: str, cue: tuple[int, int], place: int) -> bool | None:
    """Return whether a link before the cue is the subject, by the words around it; None when they do not show it."""
    if phrase("by_next").is_in(sentence[:place]):
        return True
    if sentence.startswith(("'s", "’s"), place + 1) or phrase("to_next").is_in(sentence[:place]):
        return False
    return None


_LISTED = r"\s*(?:[-*+|]|\d+[.)])"
_MOST_WITHOUT_VERB = 9
"""Words of a question without a verb, at most."""
_OTHER_WORD = "found"
"""Begins like `founded`, and belongs to `find`."""
_BEGINNING = 5
"""Letters that two words of one relation share."""
_NO_KIND = frozenset({"who", "members", "staff"})
"""Words that name people, and say nothing of who is asked for."""

FAMILY = 0.9
"""Weight of another word for the relation; one from the question has 1."""
_WEAK, _REST, _HEADING = 0.6, 0.85, 0.45
"""Weights of a word that says other things too, of one outside the clause, and of one in a heading that says more."""
_SURELY, _THERE, _NAMED = 0.8, 0.62, 0.5
"""Weights, for a meeting, of somebody who was `at` it, who does something in its notes, and who is only named there."""
_AFTERWARDS, _OTHERWISE, _IN_VAIN = 0.4, 0.4, 0.05
"""Share that is left when the relation is over, when another one is spoken of, and when it is denied."""


@value
class RelationQuery:
    """A question about the links of a record."""

    cues: frozenset[str]
    """Words of its own that may name the relation."""
    patterns: tuple[RelationPattern, ...]
    kinds: frozenset[str]
    """Kinds of things that it asks for; without them, any."""
    asks_who: bool
    asks_past: bool
    asks_object: bool
    """It asks for what something was done to; the record that it names did it."""

    def fits(self, sentence: str, words: Collection[str], place: int = -1) -> float:
        """Return how well a sentence in lower case speaks of the relation to the link at `place` in it (-1: to any): 0 to 1."""
        start, end = clause(sentence, place)
        near = sentence[start:end]
        fit = self._said_in(near, words if place < 0 else None)
        rest = _REST * self._beside(sentence, (start, end), words) if fit < FAMILY else 0.0
        placed = self._placed(sentence, start, place) if place >= 0 else 0.0
        if rest > fit or fit <= placed:
            fit, near = max(fit, rest, placed), sentence
        elif taken_back(sentence[end:]):
            return fit * _IN_VAIN
        return self._judge(fit, near)

    def _beside(self, sentence: str, near: tuple[int, int], words: Collection[str]) -> float:
        """Return what the rest of a sentence says of the link in a clause. What it says of other links counts in a list alone."""
        own = sentence[slice(*near)]
        if near == (0, len(sentence)) or not compiled(r"\b(?!and\b|or\b)\w{2,}").search(own):
            return self._said_in(sentence, words)
        clauses = compiled(phrase("clause_end").en).split(sentence)
        free = [part for part in clauses if part and NAMED not in part]
        return self._said_in(" ".join(free), None) if free else 0.0

    def heads(self, heading: str, sentence: str) -> float:
        """Return how well a sentence under a heading has the relation, both in lower case: `Attendees`, `Key investors`."""
        fit = self._said_in(heading, None)
        if not fit or phrase("roster").is_all(heading.strip()):
            return fit
        if compiled(_LISTED).match(sentence) and self._says_no_more(heading):
            return self._judge(fit, sentence)
        return _HEADING * fit

    def _says_no_more(self, heading: str) -> bool:
        """Return whether a heading has nothing but words of the relation."""
        for pattern in self.patterns:
            heading = pattern.any.replace_in(heading)
        return not phrase("of_a_heading").replace_in(heading).strip(" :*")

    def _placed(self, sentence: str, start: int, place: int) -> float:
        """Return what the place of a link says: the subject of a sentence about a meeting, or who was `at` it, was there."""
        names = {pattern.name for pattern in self.patterns}
        at = sentence[:place].endswith(("at ", "into ", "在"))
        if ATTEND in names:
            is_first = not compiled(r"\w").search(sentence[start:place])
            return FAMILY * (_SURELY if at else _THERE if is_first else _NAMED)
        return FAMILY * _WEAK if at and WORK in names else 0.0

    def _said_in(self, text: str, words: Collection[str] | None) -> float:
        words = words if words is not None else compiled(r"\w+").findall(text)
        if any(_share_stem(cue, word) for cue in self.cues for word in words):
            return 1.0
        if not text.isascii() and any(cue in text for cue in self.cues if not cue.isascii()):
            return 1.0
        if any(pattern.strong.is_in(text) for pattern in self.patterns):
            return FAMILY
        return FAMILY * _WEAK if any(pattern.weak.is_in(text) for pattern in self.patterns) else 0.0

    def _judge(self, fit: float, near: str) -> float:
        """Lower what the words that speak of a relation deny, say is over, or say of another one."""
        near = phrase("stayed").replace_in(near, "stayed")
        if phrase("denied").is_in(near):
            return fit * _IN_VAIN
        if any(pattern.excludes.is_in(near) for pattern in self.patterns):
            fit *= _OTHERWISE
        if not self.asks_past and not any(pattern.can_end for pattern in self.patterns):
            return fit
        left = phrase("left").is_in(near)
        over = left or phrase("over").is_in(near)
        if self.asks_past:
            return max(fit, FAMILY) if left or (over and fit) else fit * _AFTERWARDS
        return fit * _AFTERWARDS if over else fit

    @property
    def goes_either_way(self) -> bool:
        """Return whether the same kinds of things can be at both ends, so that the words alone say which is which."""
        return bool(self.patterns) and not any(one.subjects or one.objects for one in self.patterns)

    def suits(self, sentence: str, place: int, *, asked_is_link: bool) -> bool:
        """Return whether the link at `place` is at the right end of the relation; `asked_is_link` when it is what is asked for."""
        strong = [cue for pattern in self.patterns for cue in pattern.strong.spans(sentence)]
        cues = strong or [cue for pattern in self.patterns for cue in pattern.weak.spans(sentence)]
        if not cues:
            return True
        did = is_subject(sentence, min(cues, key=lambda cue: abs(cue[0] - place)), place)
        return did != (self.asks_object if asked_is_link else not self.asks_object)


def is_aside(heading: str) -> bool:
    """Return whether a heading, in lower case, says nothing of the links below it."""
    return phrase("aside").is_all(heading.strip(" :*"))


def asks_for_links(text: str) -> bool:
    """Return whether a question asks who, what or which, with a verb or without: a link of a record may answer it."""
    return phrase("link").is_in(text.lower()) or is_bare(text)


def asks_for_itself(text: str) -> bool:
    """Return whether a question, with `NAMED` in the place of a name, asks what it names is: `Which NAMED do we run?`."""
    return phrase("named_itself").is_in(text.lower())


def is_bare(text: str) -> bool:
    """Return whether a question has no verb: `Harbor employees`."""
    return len(text.split()) <= _MOST_WITHOUT_VERB and phrase("without_verb").is_in(text.strip().lower())


def read_relation(text: str, cues: Iterable[str], about: str = "") -> RelationQuery:
    """Read what a question asks of the links of a record of the kind `about`, "" if unknown.

    `text` has `NAMED` in the place of its name; `cues` are the words of the question beside it.
    """
    small = text.lower()
    who = phrase("who").is_in(small)
    kinds = frozenset() if who else _stated_kinds(small)
    people = frozenset({PERSON} if who else ())
    patterns = _patterns_in(small, kinds or people, about)
    asks_object = _asks_for_object(small, who=who)
    if about and patterns:
        ends = {(about in one.subjects, about in one.objects) for one in patterns}
        asks_object = True if ends == {(True, False)} else False if ends == {(False, True)} else asks_object
    if patterns and not kinds:
        sides = [one.objects if asks_object else one.subjects for one in patterns]
        kinds = frozenset().union(*sides) if all(sides) else kinds
    past = phrase("past").is_in(small)
    empty = kinds_by_word().keys() | word_list("light") | (word_list("past") if past else frozenset())
    return RelationQuery(frozenset(cues) - empty, patterns, kinds or people, who, past, asks_object)


def _patterns_in(small: str, kinds: frozenset[str], about: str) -> tuple[RelationPattern, ...]:
    """Return the relations of a question that its record can have: by strong words, else by weak ones, else by the kinds alone."""
    can = [
        one
        for one in relation_patterns()
        if not about or not (one.subjects and one.objects) or about in one.subjects | one.objects
    ]
    strong = tuple(one for one in can if one.strong.is_in(small))
    if strong:
        return strong
    times = [len(one.weak.spans(small)) for one in can]
    most = max(times, default=0)
    if most:
        return tuple(one for one, n in zip(can, times, strict=True) if n == most)
    ends = kinds | {about}
    implied = ATTEND if {MEETING, PERSON} <= ends else WORK if {PERSON, ORGANISATION} <= ends else ""
    return tuple(one for one in relation_patterns() if one.name == implied)


def _asks_for_object(small: str, *, who: bool) -> bool:
    if phrase("subject").is_in(small):
        return False
    return phrase("object").is_in(small) or (not who and phrase("is_named").is_in(small))


def _stated_kinds(small: str) -> frozenset[str]:
    """Return the kinds of things that a question names before the record: `Which companies did …`."""
    before, _, after = phrase("angel_as_adjective").replace_in(small).partition(NAMED)
    words = compiled(r"\w+").findall(f"{before} {after}" if after.startswith(("'s ", "’s ")) else before)[:6]
    kinds = kinds_by_word()
    return kinds_asked_for(small) or frozenset(kinds[word] for word in words if word in kinds and word not in _NO_KIND)


def kind_of(classes: Collection[str]) -> str:
    """Return the kind of thing that a record is about by the words of its folder, seat and kind, "" if they don't say."""
    kinds = kinds_by_word(of_folders=True)
    return next((kinds[word] for word in sorted(classes) if word in kinds), "")


def looks_like_a_person(title: str) -> bool:
    """Return whether a title is two to four capitalised words, or a Chinese surname with one or two characters more."""
    return phrase("person_name").is_all(title)


def _share_stem(one: str, other: str) -> bool:
    if one == other or _OTHER_WORD in (one, other):
        return one == other
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= _BEGINNING - 1 and longer.startswith(shorter.removesuffix("e")):
        return True
    return len(shorter) >= _BEGINNING and one[:_BEGINNING] == other[:_BEGINNING]
