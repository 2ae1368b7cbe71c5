"""What a question asks of the links of a record: who or what stands at the other end, and by which relation. Pure.

A relation is recognised by the words of the question, and by a few families of how people say it: that somebody works
somewhere, put money into something, was at a meeting, decided, reviewed, stands in the place of another. The clause that holds
the link counts before the rest of its sentence; what it denies, or says is over, counts little.
"""

from __future__ import annotations

from oracle.domain.compiling import compiled
from oracle.domain.relations import chinese, directions
from oracle.domain.relations.chinese import MEETING, ORGANISATION, PERSON
from oracle.domain.relations.clauses import CLAUSE, clause, holds, said, says, taken_back
from oracle.domain.relations.patterns import (
    ANY,
    ATTEND,
    DENIED,
    FAMILIES,
    KIND_OF,
    KIND_OF_FOLDER,
    LEFT,
    OVER,
    PEOPLE,
    STAYED,
    WORK,
)
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

NAMED = directions.NAMED

_OPENING = (
    r"(?:(?:please|and|so|tell me|show me|give me|remind me|(?:can|could) you(?: tell me)?|do (?:you|we) know|find|find me"
    r"|list|name|all)\W+)*"
)
_WHO = r"(?i)\b(?:who|whom|whose)\b|谁"
_ASKS = (
    rf"(?i)^\W*{_OPENING}(?:(?:in|at|by|for|with|from|to|on|of) )?(?:who|whom|whose|what|which|where)\b"
    r"|^\W*(?:please )?(?:list|name)\b|\b(?:everyone|everybody|anyone|names of|list of)\b"
    rf"|{chinese.ASKS}"
)
_DOER = (
    r"(?:(?:co-?)?founders|investors|advis[oe]rs|employees|staff|attendees|participants|customers|clients|directors|members|backers"
    r"|angels|acquirer)"
)
_BARE = (
    r"(?i)^(?:the )?(?:people|everyone|companies|startups|meetings|(?:co-?)?founders?|investors?|advis[oe]rs?|employees|staff"
    r"|attendees|participants|customers|clients|board members|directors|backers|members|team)\b"
    rf"|^(?:does|do|did|has|have|had|is|are|was|were) .*\b{_DOER}\b|, (?:and )?(?:who|which|what)\b"
    r"|\b(?:(?:co-?)?founders?|investors?|advis[oe]rs?|employees|employer|staff|attendees|participants|customers|clients"
    r"|board members|directors|backers|portfolio|investments|acquisitions|team)(?: companies| members)?\W*$"
)
_LISTED = r"\s*(?:[-*+|]|\d+[.)])"
_LIGHT_HEADING = (
    r"\b(?:the|of|by|on|in|at|for|to|our|its|their|and|with|key|current|all|list|who|customers|services|people)\b"
    r"|[的中过人者与和]"
)
_LIGHT = frozenset("came come take took make made get got put give gave has have go went part write wrote".split())
_PAST = frozenset(
    "used longer former formerly previous previously left leave past before alumni departed quit resign resigned".split()
)
_MOST_BARE = 9
"""Words of a question that is put without a verb."""
_ROSTER = rf"(?:(?:key|current|our|the) )?(?:{_DOER}|present|board|portfolio|team|acquisitions|investments)"
_DOERS = rf"\b{_DOER}\b|{NAMED}的?(?:有哪些|有什么|有谁)?(?:{chinese.DOER})|(?:{chinese.DOER})(?:有|是|都|为)*(?:哪|谁)"
_THING_OF = (
    rf"\b(?:did|does|do|has|have|had) {NAMED}|\bby {NAMED}|{NAMED}.*\b(?:an?|the) (?:\w+ ){{0,2}}(?:(?:co-)?founder|investor"
    r"|advis[oe]r|employee|attendee|participant|customer|client|director|member|backer)\b"
    r"|\b(?:employer|portfolio|investments|acquisitions|boards|mentees|prot[eé]g[eé]s?)\b"
)
_WIDE_THING_OF = rf"{NAMED}(?!的?(?:被|由|让|受|遭|是谁))[^谁被由]*(?:哪|什么)(?!家?公司的)"
_DONE_BY = (
    rf"\b(?:is|are|was|were|been|be|being)\b.* (?:by|waiting (?:for|on)|stuck on)[^\w{NAMED}]*$|(?:被|由|受)(?:谁|哪)"
)
_IS_NAMED = rf"\b(?:is|was|are|were) {NAMED}"
_ITSELF = (
    rf"\bwhich {NAMED} (?:is|was|are|were|do|does|did|has|have|had|can|should|must|(?:run|use|serve|hold)s)\b"
    rf"|\bwhat {NAMED} (?:do|did|are|were|have|had|can|should|must) (?:we|you|i|they)\b"
)
_ASKS_PAST = (
    r"\bused to\b|\bno longer\b|\bformer(?:ly)?\b|\bprevious(?:ly)?\b"
    r"|\bleft\b|\bleave\b|\bpast\b|\bex-|\bbefore\b|\balum\w*|\bdeparted\b|\bquit\b|\bresign(?:ed)?\b"
)
_ASIDE = r"see also|(?:further )?reading|related(?: \w+)?|links|references|backlinks"
"""Headings of lists that say nothing of their links."""
_ANGEL_NOUN = r"\bangel (?=(?:portfolio|investment|position|bet|che(?:ck|que))s?\b)"
_PERSON_NAME = r"(?:[A-Z][\w'’-]+\.? ){1,3}[A-Z][\w'’-]+"
_ANOTHER_WORD = "found"
"""Begins like `founded`, and is of `find`."""
_BEGINNING = 5
"""Letters that two words of one relation share."""

FAMILY = 0.9
"""What words of the same family count beside the word of the question itself."""
_WEAK, _REST, _HEADING = 0.6, 0.85, 0.45
"""What a word counts that says other things too, one outside the link's clause, and one in a heading that says more."""
_SURELY, _THERE, _NAMED = 0.8, 0.62, 0.5
"""What it says of a meeting that somebody was `at` it, does something in its notes, or is only named there."""
_AFTERWARDS, _OTHERWISE, _IN_VAIN = 0.4, 0.4, 0.05
"""What is left of it when it is over, when another relation is spoken of, when it is denied."""


@value
class Asked:
    """A question about a record's links: words of its own, families, kinds of answer, what it takes for granted."""

    cues: frozenset[str]
    families: tuple[int, ...]
    kinds: frozenset[str]
    people: bool
    past: bool
    thing: bool
    """What is asked for is what something was done to; the record that is named did it."""

    def fits(self, sentence: str, words: Collection[str], place: int = -1) -> float:
        """Return how well a sentence in small letters speaks of the relation to the link at `place` in it (-1: to any): 0 to 1."""
        start, end = clause(sentence, place)
        near = sentence[start:end]
        fit = self._spoken(near, words if place < 0 else None)
        rest = _REST * self._beside(sentence, (start, end), words) if fit < FAMILY else 0.0
        placed = self._placed(sentence, start, place) if place >= 0 else 0.0
        if rest > fit or fit <= placed:
            fit, near = max(fit, rest, placed), sentence
        elif taken_back(sentence[end:]):
            return fit * _IN_VAIN
        return self._judge(fit, near)

    def _beside(self, sentence: str, near: tuple[int, int], words: Collection[str]) -> float:
        """Return what the rest of a sentence says of the link in a clause: what is said of other links only in a list of them."""
        own = sentence[slice(*near)]
        if near == (0, len(sentence)) or not compiled(r"\b(?!and\b|or\b)\w{2,}").search(own):
            return self._spoken(sentence, words)
        free = [part for part in compiled(CLAUSE).split(sentence) if part and NAMED not in part]
        return self._spoken(" ".join(free), None) if free else 0.0

    def heads(self, heading: str, sentence: str) -> float:
        """Return how well a sentence under a heading, in small letters both, has the relation: `Attendees`, `Key investors`."""
        fit = self._spoken(heading, None)
        if not fit or compiled(_ROSTER).fullmatch(heading.strip()):
            return fit
        if compiled(_LISTED).match(sentence) and self._says_no_more(heading):
            return self._judge(fit, sentence)
        return _HEADING * fit

    def _says_no_more(self, heading: str) -> bool:
        """Tell whether a heading is of nothing but words of the relation."""
        for number in self.families:
            family = FAMILIES[number]
            heading = compiled(rf"\b(?:{family.plain}|{family.weak})\b").sub("", heading)
            wide = "|".join(filter(None, (family.wide, family.wide_weak)))
            heading = compiled(wide).sub("", heading) if wide and not heading.isascii() else heading
        return not compiled(_LIGHT_HEADING).sub("", heading).strip(" :*")

    def _placed(self, sentence: str, start: int, place: int) -> float:
        """Return what the place of a link says: who is the subject of a sentence about a meeting, or `at` it, was there."""
        at = sentence[:place].endswith(("at ", "into ", "在"))
        if ATTEND in self.families:
            first = not compiled(r"\w").search(sentence[start:place])
            return FAMILY * (_SURELY if at else _THERE if first else _NAMED)
        return FAMILY * _WEAK if at and WORK in self.families else 0.0

    def _spoken(self, text: str, words: Collection[str] | None) -> float:
        words = words if words is not None else compiled(r"\w+").findall(text)
        if any(_alike(cue, word) for cue in self.cues for word in words):
            return 1.0
        if not text.isascii() and any(cue in text for cue in self.cues if not cue.isascii()):
            return 1.0
        best = 0.0
        for number in self.families:
            family = FAMILIES[number]
            if says(family.plain, family.wide, text):
                return FAMILY
            if says(family.weak, family.wide_weak, text):
                best = FAMILY * _WEAK
        return best

    def _judge(self, fit: float, near: str) -> float:
        """Lower what the words that speak of a relation deny, say is over, or say of another one."""
        families = [FAMILIES[number] for number in self.families]
        near = compiled(STAYED).sub("stayed", near)
        near = near if near.isascii() else compiled(chinese.STAYED).sub("", near)
        if holds(DENIED, chinese.DENIED, near):
            return fit * _IN_VAIN
        if any(says(family.other, family.wide_other, near) for family in families):
            fit *= _OTHERWISE
        if not self.past and not any(family.lasts for family in families):
            return fit
        left = holds(LEFT, chinese.LEFT, near)
        over = left or holds(OVER, chinese.OVER, near)
        if self.past:
            return max(fit, FAMILY) if left or (over and fit) else fit * _AFTERWARDS
        return fit * _AFTERWARDS if over else fit

    @property
    def goes_either_way(self) -> bool:
        """Tell whether the same kinds of things can stand at both ends, so that the words alone say which is which."""
        return bool(self.families) and not any(FAMILIES[n].doers or FAMILIES[n].things for n in self.families)

    def suits(self, sentence: str, place: int, *, asked_is_link: bool) -> bool:
        """Tell whether the link at `place` is at the right end of the relation; `asked_is_link` when it is what is asked for."""
        families = [FAMILIES[number] for number in self.families]
        for cues in (
            [cue for family in families for cue in said(family.plain, family.wide, sentence)],
            [cue for family in families for cue in said(family.weak, family.wide_weak, sentence)],
        ):
            if cues:
                did = directions.is_doer(sentence, min(cues, key=lambda cue: abs(cue[0] - place)), place)
                return did != (self.thing if asked_is_link else not self.thing)
        return True


def is_aside(heading: str) -> bool:
    """Tell whether a heading, in small letters, is of a list that says nothing of its links."""
    return compiled(_ASIDE).fullmatch(heading.strip(" :*")) is not None


def asks_for_links(text: str) -> bool:
    """Tell whether a question asks who, what or which, if without a verb: its answer may be what a record links to."""
    return compiled(_ASKS).search(text) is not None or is_bare(text)


def asks_for_itself(text: str) -> bool:
    """Tell whether a question, with `NAMED` in the place of a name, asks what it names is: `Which NAMED do we run?`."""
    return compiled(_ITSELF).search(text.lower()) is not None


def is_bare(text: str) -> bool:
    """Tell whether a question is put without a verb: `Harbor employees`."""
    return len(text.split()) <= _MOST_BARE and compiled(_BARE).search(text.strip()) is not None


def asked(text: str, cues: Iterable[str], about: str = "") -> Asked:
    """Read what is asked of the links of a record of the kind `about`, "" if unknown.

    `text` has `NAMED` in the place of its name; `cues` are the words of the question beside it.
    """
    small = text.lower()
    who = compiled(_WHO).search(small) is not None
    stated = _stated_kinds(small) if not who else ANY
    families = _families(small, stated or (PEOPLE if who else ANY), about)
    thing = _asks_for_thing(small, who=who)
    if about and families:
        ends = {(about in FAMILIES[number].doers, about in FAMILIES[number].things) for number in families}
        thing = True if ends == {(True, False)} else False if ends == {(False, True)} else thing
    kinds = stated
    if families and not kinds:
        sides = [FAMILIES[number].things if thing else FAMILIES[number].doers for number in families]
        kinds = frozenset().union(*sides) if all(sides) else ANY
    if who and not kinds:
        kinds = PEOPLE
    past = holds(_ASKS_PAST, chinese.ASKS_PAST, small)
    own = frozenset(cue for cue in cues if cue not in KIND_OF and cue not in _LIGHT and not (past and cue in _PAST))
    return Asked(own, families, kinds, who, past, thing)


def _families(small: str, kinds: frozenset[str], about: str) -> tuple[int, ...]:
    """Return the families of a question that what it is about can have, by plain words, else weak ones, else by the kinds alone."""
    can = [
        (number, family)
        for number, family in enumerate(FAMILIES)
        if not about or not (family.doers and family.things) or about in family.doers | family.things
    ]
    plain = tuple(number for number, family in can if says(family.plain, family.wide, small))
    if plain:
        return plain
    times = {number: len(said(family.weak, family.wide_weak, small)) for number, family in can}
    most = max(times.values(), default=0)
    return tuple(number for number, n in times.items() if n == most) if most else _unsaid(kinds, about)


def _asks_for_thing(small: str, *, who: bool) -> bool:
    if compiled(_DOERS).search(small) or compiled(_DONE_BY).search(small):
        return False
    if compiled(_WIDE_THING_OF).search(small) or compiled(_THING_OF).search(small):
        return True
    return not who and compiled(_IS_NAMED).search(small) is not None


def _stated_kinds(small: str) -> frozenset[str]:
    """Return the kinds of things that a question names before the record: `Which companies did …`."""
    before, _, after = compiled(_ANGEL_NOUN).sub("", small).partition(NAMED)
    words = compiled(r"\w+").findall(f"{before} {after}" if after.startswith(("'s ", "’s ")) else before)[:6]
    wide = chinese.stated_kinds(small) if not small.isascii() else ANY
    return wide or frozenset(
        KIND_OF[word] for word in words if word in KIND_OF and word not in ("who", "members", "staff")
    )


def _unsaid(kinds: frozenset[str], about: str) -> tuple[int, ...]:
    """Return the family of a question that says no relation: who is at a meeting attends it, who is at a company works there."""
    ends = kinds | {about}
    if MEETING in ends and PERSON in ends:
        return (ATTEND,)
    return (WORK,) if PERSON in ends and ORGANISATION in ends else ()


def kind_of(classes: Collection[str]) -> str:
    """Tell by the words of a record's folder, seat and kind what it is about: one of four kinds, or ""."""
    return next((KIND_OF_FOLDER[word] for word in sorted(classes) if word in KIND_OF_FOLDER), "")


def looks_like_a_person(title: str) -> bool:
    """Tell whether a title is two to four capitalised words: a name, when nothing else says what it is."""
    return compiled(_PERSON_NAME).fullmatch(title) is not None or chinese.is_person_name(title)


def _alike(one: str, other: str) -> bool:
    if one == other or _ANOTHER_WORD in (one, other):
        return one == other
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= _BEGINNING - 1 and longer.startswith(shorter.removesuffix("e")):
        return True
    return len(shorter) >= _BEGINNING and one[:_BEGINNING] == other[:_BEGINNING]
