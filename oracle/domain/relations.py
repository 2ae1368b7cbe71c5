"""What a question asks of the links of a record: who or what stands at the other end, and by which relation. Pure.

A relation is recognised by the words of the question, and by a few families of how people say it: that somebody works
somewhere, put money into something, was at a meeting, decided, reviewed, stands in the place of another. The clause that holds
the link counts before the rest of its sentence; what it denies, or says is over, counts little.
"""

from __future__ import annotations

from oracle.domain.compiling import compiled
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

PERSON, ORGANISATION, MEETING, IDEA = "person", "organisation", "meeting", "idea"
_ANY = frozenset[str]()
_PEOPLE, _FIRMS, _MEETINGS = frozenset({PERSON}), frozenset({ORGANISATION}), frozenset({MEETING})

NAMED = "\x01"
"""Stands in a question for the name of the record, and in a sentence for a link."""


@value
class Family:
    """How a relation is said, as patterns: by `plain` words or by `weak` ones, which say other things too.

    `doers` and `things` are the kinds of what may stand at its two ends; `lasts` says that it can be over; where `other` words
    stand, the clause is of another relation.
    """

    plain: str
    weak: str
    doers: frozenset[str]
    things: frozenset[str]
    lasts: bool = False
    other: str = ""


_FAMILIES = (
    Family(
        r"work(?:s|ed|ing|er|ers)?|employ\w*|join(?:s|ed|ing)?|hir(?:e|es|ed|ing)|staff(?:er|ers)?|engineer|designer|colleagues?"
        r"|scientist|ceo|cto|cfo|coo|cmo|vp|chief|head of|manager|president|analyst|associate|principal"
        r"|(?:an?|general|managing|founding|senior|venture) partner|director of (?:engineering|product|sales|marketing|design|research)",
        r"lead|leads|leading|led|runs?|running|heads|role|team|manages|position|partner|operations|sales|founders?"
        r"|co-?found(?:er|ers|ed)|at the helm|serves?|oversees|builds|operates|responsible|owns|job|salary|here",
        _PEOPLE, _FIRMS, lasts=True, other=r"boards?|an? director|advis\w+|angel",
    ),
    Family(
        r"invest\w*|back(?:s|ed|er|ers|ing)|put .{0,40}into|funded|funding|seed|series [a-f]|angels?|portfolio|che(?:ck|que)s?|stake|money|wired|cap table",
        r"back|funds?|committed|position|participated|rounds?|raised?|raising|capital|led|leads|bet|term sheet|lead",
        _PEOPLE | _FIRMS, _FIRMS, other=r"boards?|advis\w+",
    ),
    Family(
        r"(?:co-?)?(?:founded|founders?|found|founding)|start(?:s|ed|ing)?|launch(?:es|ed)?|creat(?:ed|e|or)|establish(?:ed)?",
        r"built|began|set up|incorporated|behind|first version|idea|beginning",
        _PEOPLE, _FIRMS, other=r"mentor\w*|advis\w+|invest\w*|backed|the founders",
    ),
    Family(
        r"attend\w*|participa\w*|present|joined|in the room|took part|was at|were at|was there|on the call|dialled in|dialed in|sat|came to|dial\w+|showed up|spoke|around the table",
        r"met|presented|facilitated|hosted|chaired|minutes",
        _PEOPLE, _MEETINGS,
        other=r"follow(?:ed)?[ -]?ups?|intro|introduc\w+|e-?mail(?:ed)?|circle back|reach(?:ed)? out|in passing|mention\w*|quoted|ask|should call|note from|name of",
    ),
    Family(
        r"advis\w*|advice|mentor\w*|counsel\w*|consult\w*",
        r"board|guid(?:es|ed|ance)|coach\w*|sounding",
        _PEOPLE, _FIRMS, lasts=True,
    ),
    Family(
        r"(?:the |its |their |a |our )?boards?(?! meeting)|board (?:seat|member|members|director)|directors?",
        r"chairs?|chair(?:s|man|woman|ed)|seat|members?|elected|governance",
        _PEOPLE, _FIRMS, lasts=True,
    ),
    Family(
        r"buy(?! from)|bought(?! from)|acqui(?:re|res|red|rer|ring|sition|sitions)|purchased?|merge[dr]?|takeover|took over",
        r"belongs? to|owned|owns|sold|deal|absorbed|subsidiary|swallowed|sale|exit",
        _PEOPLE | _FIRMS, _FIRMS,
    ),
    Family(
        r"customers?|clients?|pays|paid|paying|subscrib\w+|licen[cs]\w+|(?:buys?|bought) from",
        r"uses?|using|runs? .{0,30}on|sold|signed|contract|bought|buys|rolled out|relies|accounts?",
        _PEOPLE | _FIRMS, _FIRMS, lasts=True,
    ),
    Family(r"partner(?:s|ed|ship|ships)|alliance|collaborat\w+", r"integrat\w+|together|jointly", _PEOPLE | _FIRMS, _FIRMS),
    Family(r"compet\w+|rivals?", r"against|versus|alternative|head-to-head", _FIRMS, _FIRMS),
    Family(
        r"coin(?:s|ed|ing)?|credit(?:s|ed)?|came up with|come up with|introduced|inventor|invent(?:ed|s)|originat\w+",
        r"author|term|phrase|idea|wrote|essay|first|popularised|popularized|framework|named",
        _PEOPLE, frozenset({IDEA}),
    ),
    Family(
        r"practi[cs]\w+|appl(?:y|ies|ied)|examples?|adopt\w*|exemplif\w+|embod\w+|illustrat\w+",
        r"uses?|lines of|case|run along|follows?|lives|model|instance",
        _PEOPLE | _FIRMS, frozenset({IDEA}),
    ),
    Family(r"decid\w*|decision|approv\w+|agreed?|choos\w+|chosen?|settled", r"signed off", _PEOPLE, _ANY),
    Family(r"block\w*|depend\w*|waits?|waiting|stuck|prerequisite", r"needs", _ANY, _ANY),
    Family(r"replac\w+|supersed\w+|successor|deprecat\w+|obsolete|retir\w+", r"instead|in place of", _ANY, _ANY),
    Family(r"review\w*|audit\w*|inspect\w*", r"approved?|checked", _PEOPLE, _ANY),
    Family(r"owns?|owners?|maintain\w*|responsible|in charge", r"runs|looks after", _PEOPLE, _ANY, lasts=True),
    Family(r"writ(?:e|es|ing|ten)|wrote|author\w*|draft\w*", r"essay|post", _PEOPLE, _ANY),
    Family(r"reports?(?: to)?|boss|managers?", r"manages|led by|under", _PEOPLE, _PEOPLE, lasts=True),
    Family(r"meets?|met|knows?|introduc\w+|friends?", r"coffee|dinner|lunch|talked", _PEOPLE, _ANY),
)  # fmt: skip
_WORK, _ATTEND = 0, 3

_KINDS = {
    PERSON: "person people contact contacts member members human humans staff user users who angel angels individual individuals everyone everybody anyone",
    ORGANISATION: "company companies startup startups firm firms business businesses organisation organisations organization"
    " organizations fund funds corporation corporations",
    MEETING: "meeting meetings event events call calls session sessions",
    IDEA: "concept concepts idea ideas topic topics",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}

_OPENING = r"(?:(?:please|and|so|tell me|show me|give me|remind me|(?:can|could) you(?: tell me)?|do (?:you|we) know|find|find me|list|name|all)\W+)*"
_WHO = r"(?i)\b(?:who|whom|whose)\b|谁"
_ASKS = (
    rf"(?i)^\W*{_OPENING}(?:(?:in|at|by|for|with|from|to|on|of) )?(?:who|whom|whose|what|which|where)\b|^\W*(?:please )?(?:list|name)\b"
    r"|\b(?:everyone|everybody|anyone|names of|list of)\b|谁|哪"
)
_DOER = (
    r"(?:(?:co-?)?founders|investors|advis[oe]rs|employees|staff|attendees|participants|customers|clients|directors|members|backers"
    r"|angels|acquirer)"
)
_BARE = (
    r"(?i)^(?:the )?(?:people|everyone|companies|startups|meetings|(?:co-?)?founders?|investors?|advis[oe]rs?|employees|staff|attendees"
    r"|participants|customers|clients|board members|directors|backers|members|team)\b"
    rf"|^(?:does|do|did|has|have|had|is|are|was|were) .*\b{_DOER}\b|, (?:and )?(?:who|which|what)\b"
    r"|\b(?:(?:co-?)?founders?|investors?|advis[oe]rs?|employees|employer|staff|attendees|participants|customers|clients"
    r"|board members|directors|backers|portfolio|investments|acquisitions|team)(?: companies| members)?\W*$"
)
_LIGHT = frozenset("came come take took make made get got put give gave has have go went part".split())
_PAST = frozenset("used longer former formerly previous previously left leave past before alumni departed quit".split())
_MOST_BARE = 9
"""Words of a question that is put without a verb."""
_DOERS = rf"\b{_DOER}\b"
_THING_OF = (
    rf"\b(?:did|does|do|has|have|had) {NAMED}|\bby {NAMED}|{NAMED}.*\b(?:an?|the) (?:\w+ ){{0,2}}(?:(?:co-)?founder|investor|advis[oe]r"
    r"|employee|attendee|participant|customer|client|director|member|backer)\b|\b(?:employer|portfolio|investments|acquisitions|boards)\b"
)
_IS_NAMED = rf"\b(?:is|was|are|were) {NAMED}"
_ASKS_PAST = r"\bused to\b|\bno longer\b|\bformer(?:ly)?\b|\bprevious(?:ly)?\b|\bleft\b|\bleave\b|\bpast\b|\bex-|\bbefore\b|\balum\w*|\bdeparted\b|\bquit\b"
_LEFT = (
    r"\bformer(?:ly)?\b|\bex-|\bleft\b|\bleaving\b|\bdepart\w+|\bstepped (?:down|away)|\bmoved on\b|\bno longer\b|\balum\w*|\bresigned\b"
    r"|\bquit\b|\bpreviously\b|\bused to\b"
)
_OVER = (
    r"\bonce\b|\bbefore (?:that|this)\b|\bearlier\b|\bprior\b|\bwas (?:an?|the|its|their|head|chief|vp|c[teofm]o)\b|\bworked (?:at|for|as|with)\b|\btime at\b"
    r"|\bspent (?:\w+ ){1,3}(?:years|months)\b|\bserved (?:as|at)\b|\bhad been\b|\buntil\b|\bthrough \d{4}\b"
    r"|\bstint\b|\btenure\b|\bpast\b|\bcut (?:his|her|their) teeth\b"
)
_DENIED = (
    r"\bdeclin\w+|\brefus\w+|\breject\w+|\bpass(?:ed)? (?:on|over)\b|\band passed\b|\bturned (?:it |them )?down\b|\bnot\b(?! only|\W*$)|n['’]t\b|\bnever\b"
    r"|\bapolog\w+|\babsent\b|\bmissed\b|\bregrets\b|\bunable\b|\bunlike\b|\binstead of\b|\brather than\b|\balmost\b|\bnearly\b"
    r"|\bconsidered\b|\bwalked away\b|\bfell through\b|\bcancel\w*|\babandon\w*|\brumou?r\w*"
    r"|\b(?:no|without) (?:\w+ )?(?:money|capital|funding|investors?|advis[oe]rs?|board|customers?)\b"
)
_CLAUSE = r"[,;:()—–]|\b(?:but|while|whereas|before|after|though|although)\b"
_NOUN = r"(?:customer|client|investor|backer|owner|acquirer|subscriber|member|partner|competitor)s?"
_PERSON_NAME = r"(?:[A-Z][\w'’-]+\.? ){1,3}[A-Z][\w'’-]+"
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
    """A question about a record's links: its own words for the relation, families, kinds of answer, and what it takes for granted."""

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
        rest = _REST * self._spoken(sentence, words) if fit < FAMILY else 0.0
        placed = self._placed(sentence, start, place) if place >= 0 else 0.0
        if rest > fit or fit <= placed:
            fit, near = max(fit, rest, placed), sentence
        return self._judge(fit, near)

    def heads(self, heading: str) -> float:
        """Return how well what stands under a heading, in small letters, has the relation: `Attendees`, `Key investors`."""
        patterns = (_FAMILIES[number].plain for number in self.families)
        if any(compiled(rf"(?:(?:key|current|our|the) )?(?:{plain})").fullmatch(heading.strip()) for plain in patterns):
            return FAMILY
        return _HEADING * self._spoken(heading, None)

    def _placed(self, sentence: str, start: int, place: int) -> float:
        """Return what the place of a link says: who is the subject of a sentence about a meeting, or `at` it, was there."""
        at = sentence[:place].endswith(("at ", "into "))
        if _ATTEND in self.families:
            first = not compiled(r"\w").search(sentence[start:place])
            return FAMILY * (_SURELY if at else _THERE if first else _NAMED)
        return FAMILY * _WEAK if at and _WORK in self.families else 0.0

    def _spoken(self, text: str, words: Collection[str] | None) -> float:
        words = words if words is not None else compiled(r"\w+").findall(text)
        if any(_alike(cue, word) for cue in self.cues for word in words):
            return 1.0
        best = 0.0
        for number in self.families:
            family = _FAMILIES[number]
            if _says(family.plain, text):
                return FAMILY
            if _says(family.weak, text):
                best = FAMILY * _WEAK
        return best

    def _judge(self, fit: float, near: str) -> float:
        """Lower what the words that speak of a relation deny, say is over, or say of another one."""
        families = [_FAMILIES[number] for number in self.families]
        if compiled(_DENIED).search(near):
            return fit * _IN_VAIN
        if any(family.other and _says(family.other, near) for family in families):
            fit *= _OTHERWISE
        if not self.past and not any(family.lasts for family in families):
            return fit
        left = compiled(_LEFT).search(near) is not None
        over = left or compiled(_OVER).search(near) is not None
        if self.past:
            return max(fit, FAMILY) if left or (over and fit) else fit * _AFTERWARDS
        return fit * _AFTERWARDS if over else fit

    def suits(self, sentence: str, place: int, *, asked_is_link: bool) -> bool:
        """Tell whether the link at `place` stands at the right end of the relation; `asked_is_link` when it is what is asked for."""
        for number in self.families:
            pattern = compiled(rf"\b(?:{_FAMILIES[number].plain})\b")
            cues = sorted(pattern.finditer(sentence), key=lambda match: abs(match.start() - place))
            if cues:
                did = _is_doer(sentence, cues[0].span(), place)
                return did != (self.thing if asked_is_link else not self.thing)
        return True


def _says(words: str, text: str) -> bool:
    return compiled(rf"\b(?:{words})\b").search(text) is not None


def _is_doer(sentence: str, cue: tuple[int, int], place: int) -> bool:
    """Tell whether the link at `place` does what the word at `cue` says, rather than that it is done to it."""
    noun = compiled(_NOUN).fullmatch(sentence[slice(*cue)]) is not None
    if place < cue[0]:
        if sentence.startswith(("'s", "’s"), place + 1) or compiled(r"\b(?:in|into|of|at|for|on) $").search(sentence[:place]):
            return False
        return noun or not compiled(r"\b(?:was|were|is|been|being) $").search(sentence[place : cue[0]])
    between = sentence[cue[1] : place]
    if noun:
        return compiled(r"^ (?:of|in|to) ").search(between) is None
    return compiled(r"\b(?:by|from)\b").search(between) is not None


def clause(sentence: str, place: int) -> tuple[int, int]:
    """Return where the clause of a sentence that holds `place` begins and ends; all of it for -1."""
    if place < 0:
        return 0, len(sentence)
    start, end = 0, len(sentence)
    for match in compiled(_CLAUSE).finditer(sentence):
        if match.end() <= place:
            start = match.start() if match[0].isalpha() else match.end()
        elif match.start() > place:
            end = match.start()
            break
    return start, end


def asks_for_links(text: str) -> bool:
    """Tell whether a question asks who, what or which, if without a verb: its answer may be what a record links to."""
    return compiled(_ASKS).search(text) is not None or is_bare(text)


def is_bare(text: str) -> bool:
    """Tell whether a question is put without a verb: `Harbor employees`."""
    return len(text.split()) <= _MOST_BARE and compiled(_BARE).search(text.strip()) is not None


def asked(text: str, cues: Iterable[str], about: str = "") -> Asked:
    """Read what is asked of the links of a record of the kind `about`, "" if unknown.

    `text` has `NAMED` in the place of its name; `cues` are the words of the question beside it.
    """
    small = text.lower()
    who = compiled(_WHO).search(small) is not None
    stated = _stated_kinds(small) if not who else _ANY
    families = _families(small, stated or (_PEOPLE if who else _ANY), about)
    thing = _asks_for_thing(small, who=who)
    if about and families:
        ends = {(about in _FAMILIES[number].doers, about in _FAMILIES[number].things) for number in families}
        thing = True if ends == {(True, False)} else False if ends == {(False, True)} else thing
    kinds = stated
    if families and not kinds:
        sides = [_FAMILIES[number].things if thing else _FAMILIES[number].doers for number in families]
        kinds = frozenset().union(*sides) if all(sides) else _ANY
    if who and not kinds:
        kinds = _PEOPLE
    past = compiled(_ASKS_PAST).search(small) is not None
    own = frozenset(cue for cue in cues if cue not in _KIND_OF and cue not in _LIGHT and not (past and cue in _PAST))
    return Asked(own, families, kinds, who, past, thing)


def _families(small: str, kinds: frozenset[str], about: str) -> tuple[int, ...]:
    """Return the families of a question that what it is about can have, by plain words, else weak ones, else by the kinds alone."""
    can = [
        (number, family)
        for number, family in enumerate(_FAMILIES)
        if not about or not (family.doers and family.things) or about in family.doers | family.things
    ]
    for pick in (lambda family: family.plain, lambda family: family.weak):
        found = tuple(number for number, family in can if _says(pick(family), small))
        if found:
            return found
    return _unsaid(kinds, about)


def _asks_for_thing(small: str, *, who: bool) -> bool:
    if compiled(_DOERS).search(small):
        return False
    if compiled(_THING_OF).search(small):
        return True
    return not who and compiled(_IS_NAMED).search(small) is not None


def _stated_kinds(small: str) -> frozenset[str]:
    """Return the kinds of things that a question names before the record: `Which companies did …`."""
    before, _, after = small.partition(NAMED)
    words = compiled(r"\w+").findall(f"{before} {after}" if after.startswith(("'s ", "’s ")) else before)[:6]
    return frozenset(_KIND_OF[word] for word in words if word in _KIND_OF and word not in ("who", "members", "staff"))


def _unsaid(kinds: frozenset[str], about: str) -> tuple[int, ...]:
    """Return the family of a question that says no relation: who is at a meeting attends it, who is at a company works there."""
    ends = kinds | {about}
    if MEETING in ends and PERSON in ends:
        return (_ATTEND,)
    return (_WORK,) if PERSON in ends and ORGANISATION in ends else ()


def kind_of(classes: Collection[str]) -> str:
    """Tell by the words of a record's folder, seat and kind what it is about: one of four kinds, or ""."""
    return next((_KIND_OF[word] for word in sorted(classes) if word in _KIND_OF), "")


def looks_like_a_person(title: str) -> bool:
    """Tell whether a title is two to four capitalised words: a name, when nothing else says what it is."""
    return compiled(_PERSON_NAME).fullmatch(title) is not None


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= _BEGINNING - 1 and longer.startswith(shorter.removesuffix("e")):
        return True
    return len(shorter) >= _BEGINNING and one[:_BEGINNING] == other[:_BEGINNING]
