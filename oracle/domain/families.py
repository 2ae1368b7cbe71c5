"""How people say that one thing has to do with another: words of some relations, of their end, of their denial. Pure, no names.

The families say how teams speak of work, money, meetings, decisions and reviews; each is a pattern over small letters.
"""

from __future__ import annotations

from oracle.domain.values import value

PERSON, ORGANISATION, MEETING, IDEA = "person", "organisation", "meeting", "idea"
ANY = frozenset[str]()
PEOPLE, FIRMS, MEETINGS = frozenset({PERSON}), frozenset({ORGANISATION}), frozenset({MEETING})


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


FAMILIES = (
    Family(
        r"work(?:s|ed|ing|er|ers)?|employ\w*|join(?:s|ed|ing)?|hir(?:e|es|ed|ing)|staff(?:er|ers)?|engineer|designer|colleagues?"
        r"|scientist|ceo|cto|cfo|coo|cmo|vp|chief|head of|manager|president|analyst|associate|principal"
        r"|(?:company|employer|affiliation)(?=\W*:)|(?:an?|general|managing|founding|senior|venture) partner|partners? at"
        r"|director of (?:engineering|product|sales|marketing|design|research)",
        r"lead|leads|leading|led|runs?|running|heads|role|team|manages|position|partner|operations|sales|founders?"
        r"|co-?found(?:er|ers|ed)|at the helm|serves?|oversees|builds|operates|responsible|owns|job|salary|here",
        PEOPLE, FIRMS, lasts=True, other=r"boards?|an? director|advis\w+|counsel\w*|mentor\w*|angel|met|interview\w*",
    ),
    Family(
        r"invest\w*|back(?:s|ed|er|ers|ing)|put .{0,40}into|funded|funding|seed|series [a-f]|angels?|portfolio|che(?:ck|que)s?"
        r"|stakes?|money|dollars|wired|cap table|financ\w+|shareholders?|owns (?:a|part|some)\b.*",
        r"back|funds?|committed|position|participated|rounds?|raised?|raising|capital|led|leads|bet|term sheet|lead",
        PEOPLE | FIRMS, FIRMS, other=r"boards?|advis\w+|shares?|in common",
    ),
    Family(
        r"(?:co-?)?(?:founded|founders?|founding)|found(?! (?:at|in|on|out|that)\b)"
        r"|start(?:s|ed|ing)?|launch(?:es|ed)?|creat(?:ed|e|or)|establish(?:ed)?",
        r"builds?|built|began|begin|set up|incorporated|behind|first version|idea|beginning",
        PEOPLE, FIRMS, other=r"mentor\w*|advis\w+|invest\w*|backed|the founders",
    ),
    Family(
        r"attend\w*|participa\w*|present|join(?:s|ed)?|in the room|took part|was at|were at|was there|on the call"
        r"|sat|came to|went to|go to|dial\w+|showed up|spoke|around the table",
        r"met|presented|facilitated|hosted|chaired|minutes",
        PEOPLE, MEETINGS,
        other=r"follow(?:ed)?[ -]?ups? with|intro|introduc\w+|e-?mail(?:ed)?|circle back|reach(?:ed)? out|in passing|mention\w*"
        r"|quoted|ask|should call|note from|name of",
    ),
    Family(
        r"advis\w*|advice|counsel\w*|consult(?:s|ed|ants?)?|consulting (?:for|to|with)",
        r"board|mentor\w*|guid(?:es|ed|ance)|coach\w*|sounding",
        PEOPLE, FIRMS, lasts=True,
    ),
    Family(r"mentor\w*|mentees?|prot[eé]g[eé]s?|coach\w*", r"guid(?:es|ed|ance)|under .{0,20}wing", PEOPLE, PEOPLE),
    Family(
        r"(?:the |its |their |a |our )?boards?(?! meeting)|board (?:seat|member|members|director)|directors?",
        r"chairs?|chair(?:s|man|woman|ed)|seat|members?|elected|governance",
        PEOPLE, FIRMS, lasts=True,
    ),
    Family(
        r"buy(?! from)|bought(?! from)|acqui(?:re|res|red|rer|ring|sition|sitions)|purchased?|merge[dr]?"
        r"|takeover|takes? over|took (?:\w+ ){0,3}over",
        r"belongs? to|owned|owns|sold|deal|absorbed|subsidiary|(?:unit|arm|division) of|swallowed|sale|exit",
        PEOPLE | FIRMS, FIRMS,
    ),
    Family(
        r"customers?|clients?|pays?|paid|paying|subscri\w+|licen[cs]\w+|(?:buys?|bought) from",
        r"uses?|using|runs? .{0,30}on|sold|signed|contract|bought|buys|rolled out|relies|accounts?",
        PEOPLE | FIRMS, FIRMS, lasts=True,
    ),
    Family(
        r"partner(?:s|ed|ship|ships)(?! at\b)|partner with|alliance|collaborat\w+",
        r"integrat\w+|together|jointly",
        PEOPLE | FIRMS, FIRMS,
    ),
    Family(r"compet\w+|rivals?", r"against|versus|alternative|head-to-head", FIRMS, FIRMS),
    Family(
        r"coin(?:s|ed|ing)?|credit(?:s|ed)?|came up with|come up with|introduc(?:e|es|ed)|inventor|invent(?:ed|s)?|originat\w+",
        r"author|term|phrase|idea|wrote|essay|first|popularised|popularized|framework|named",
        PEOPLE, frozenset({IDEA}),
    ),
    Family(
        r"practi[cs]\w+|appl(?:y|ies|ied)|examples?|adopt\w*|embrac\w+|swears by|exemplif\w+|embod\w+|illustrat\w+",
        r"uses?|lines of|case|run along|follows?|lives|model|instance",
        PEOPLE | FIRMS, frozenset({IDEA}),
    ),
    Family(r"decid\w*|decision|approv\w+|agreed?|choos\w+|chosen?|settled", r"signed off", PEOPLE, ANY),
    Family(r"block\w*|depend\w*|waits?|waiting|stuck|prerequisite", r"needs", ANY, ANY),
    Family(r"replac\w+|supersed\w+|successor|deprecat\w+|obsolete|retir\w+", r"instead|in place of", ANY, ANY),
    Family(r"review\w*|audit\w*|inspect\w*", r"approved?|checked", PEOPLE, ANY),
    Family(r"owns?|owners?|maintain\w*|responsible|in charge", r"runs|looks after", PEOPLE, ANY, lasts=True),
    Family(r"(?:writ(?:e|es|ing|ten)|wrote)(?! (?:\w+ ){0,2}che(?:ck|que)s?)|author\w*|draft\w*", r"essay|post", PEOPLE, ANY),
    Family(r"reports?(?: to)?|boss|managers?", r"manages|led by|under", PEOPLE, PEOPLE, lasts=True),
    Family(r"meets?|met|knows?|introduc\w+|friends?", r"coffee|dinner|lunch|talked", PEOPLE, ANY),
)  # fmt: skip
WORK, ATTEND = 0, 3

_KINDS = {
    PERSON: "person people contact contacts member members human humans staff user users who angel angels individual individuals"
    " everyone everybody anyone",
    ORGANISATION: "company companies startup startups firm firms business businesses organisation organisations organization"
    " organizations fund funds corporation corporations",
    MEETING: "meeting meetings event events call calls session sessions",
    IDEA: "concept concepts idea ideas topic topics",
}
KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}

LEFT = (
    r"\bformer(?:ly)?\b|\bex-|\bleft\b|\bleaving\b|\bdepart\w+|\bstepped (?:down|away)|\bmoved on\b|\bno longer\b"
    r"|\balum\w*|\bresigned\b|\bquit\b|\blet go\b|\blaid off\b|\bfired\b|\bpreviously\b|\bused to\b"
)
STAYED = r"(?:\bnever|\bnot|n['’]t)(?: \w+)? (?:left|leave|leaving|moved on|quit|departed|resigned)\b"
"""Says that something goes on, in words that would say it is over, or denied."""
OVER = (
    r"\bonce\b|\bbefore (?:that|this)\b|\bearlier\b|\bprior\b|\bwas (?:an?|the|its|their|head|chief|vp|c[teofm]o)\b"
    r"|(?<!has )(?<!have )\bworked (?:at|for|as|with)\b|\btime at\b"
    r"|\bspent (?:\w+ ){1,3}(?:years|months)\b|\bserved (?:as|at)\b|\bhad been\b|\buntil\b|\bthrough \d{4}\b"
    r"|\bstint\b|\btenure\b|\bpast\b|\bcut (?:his|her|their) teeth\b"
)
DENIED = (
    r"\bdeclin\w+|\brefus\w+|\breject\w+|\bpass(?:ed)? (?:on|over)\b|\band passed\b|\bturned (?:it |them )?down\b"
    r"|\bnot\b(?! only|\W*$)|n['’]t\b|\bnever\b"
    r"|\bapolog\w+|\babsent\b|\bmissed\b|\bregrets\b|\bunable\b|\bunlike\b|\binstead of\b|\brather than\b"
    r"|\b(?:decid|argu|vot|rul|advis)ed against\b|\bskip\w*|\balmost\b|\bnearly\b"
    r"|\bconsidered\b|\bwalked away\b|\bfell through\b|\bcancel\w*|\babandon\w*|\bdropped\b"
    r"|\b(?:plann|hop|tri|want)ed to\b|\brumou?r\w*"
    r"|\b(?:no|without) (?:\w+ )?(?:money|capital|funding|investors?|advis[oe]rs?|board|customers?)\b"
)
