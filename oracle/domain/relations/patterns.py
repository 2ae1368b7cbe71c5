"""How people say that one thing has to do with another: words of some relations, of their end, of their denial. Pure, no names.

The families say how teams speak of work, money, meetings, decisions and reviews; each is a pattern over small letters.
"""

from __future__ import annotations

from oracle.domain.relations import chinese
from oracle.domain.relations.chinese import IDEA, MEETING, ORGANISATION, PERSON
from oracle.domain.values import value

ANY = frozenset[str]()
PEOPLE, FIRMS, MEETINGS = frozenset({PERSON}), frozenset({ORGANISATION}), frozenset({MEETING})


@value
class Family:
    """How a relation is said, as patterns: by `plain` words or by `weak` ones, which say other things too.

    `doers` and `things` are the kinds of what may stand at its two ends; `lasts` says that it can be over; where `other` words
    stand, the clause is of another relation. `wide`, `wide_weak` and `wide_other` are the same in Chinese, without limits of words.
    """

    plain: str
    weak: str
    doers: frozenset[str]
    things: frozenset[str]
    lasts: bool = False
    other: str = ""
    wide: str = ""
    wide_weak: str = ""
    wide_other: str = ""


FAMILIES = (
    Family(
        r"work(?:s|ed|ing|er|ers)?|employ\w*|join(?:s|ed|ing)?|hir(?:e|es|ed|ing)|staff(?:er|ers)?|engineer|designer|colleagues?"
        r"|scientist|appoint\w*|officer|treasurer|secretary"
        r"|ceo|cto|cfo|coo|cmo|vp|chief|head of|manager|president|analyst|associate|principal"
        r"|(?:company|employer|affiliation)(?=\W*:)|(?:an?|general|managing|founding|senior|venture) partner|partners? at"
        r"|director of (?:engineering|product|sales|marketing|design|research)",
        r"lead|leads|leading|led|runs?|running|heads|role|team|manages|position|partner|operations|sales|founders?"
        r"|co-?found(?:er|ers|ed)|at the helm|serves?|oversees|builds|operates|responsible|owns|job|salary|here|handles|post of",
        PEOPLE, FIRMS, lasts=True, other=r"boards?|an? director|advis\w+|counsel\w*|mentor\w*|angel|met|interview\w*",
        wide=r"工作|任职|就职|供职|上班|员工|职员|入职|加入|聘|担任|现任|出任|任命|团队|成员|同事|总监|经理|主管|工程师|设计师|首席|总裁"
        r"|效力|雇|研究员|专员|主任|秘书|会计师|分析师|教授|分管",
        wide_weak=r"负责|带着|带领|主持|小组|做|在职|团队|进了", wide_other=r"顾问|董事|投资|领投|股东|创始|创办|创立|(?:拜)?访",
    ),
    Family(
        r"invest\w*|back(?:s|ed|er|ers|ing)|put .{0,40}into|funded|funding|seed|series [a-f]|angels?|portfolio|che(?:ck|que)s?"
        r"|stakes?|money|dollars|wired|cap table|financ\w+|shareholders?|owns? (?:a|parts?|some|pieces)\b.*",
        r"back|funds?|committed|position|participated|rounds?|raised?|raising|capital|bet|term sheet"
        r"|(?:led|leads?)(?! (?:by )?\x01)"
        r"|sponsor\w*|grants?|pays for",
        PEOPLE | FIRMS, FIRMS, other=r"boards?|advis\w+|shares?|in common",
        wide=r"投资|领投|跟投|参投|融资|股份|股东|入股|注资|天使轮|种子轮|[A-F]轮|投[了过给的中]|第一笔钱",
        wide_weak=r"投|出资|持有|支持|轮|资金|笔钱", wide_other=r"顾问|董事",
    ),
    Family(
        r"(?:co-?)?(?:founded|founders?|founding)|found(?! (?:at|in|on|out|that)\b)"
        r"|start(?:s|ed|ing)?(?! (?:at|as)\b)|launch(?:es|ed)?|creat(?:ed|e|or)|establish(?:ed)?",
        r"builds?|built|began|begin|sets? (?:\w+ ){0,2}up|incorporat(?:es?|ed)|brainchild|behind|first version|idea|beginning",
        PEOPLE, FIRMS, other=r"mentor\w*|advis\w+|invest\w*|backed|the founders",
        wide=r"创办|创立|创建|创始|成立|开办|始创|白手起家|发起", wide_weak=r"起家|建立|第一版", wide_other=r"顾问|投资|领投",
    ),
    Family(
        r"attend\w*|participa\w*|present|join(?:s|ed)?|in the room|t(?:ook|akes?|aking) part|was at|were at|was there|on the call"
        r"|sat|came to|went to|go to|dial\w+|showed up|spoke|around the table",
        r"met|presented|facilitated|hosted|chaired|minutes",
        PEOPLE, MEETINGS,
        other=r"follow(?:ed)?[ -]?ups? with|intro|introduc\w+|e-?mail(?:ed)?|circle back|reach(?:ed)? out|in passing|mention\w*"
        r"|quoted|ask|should call|note from|name of|(?:is|are) to (?:get|write|be|receive|send)|will (?:get|receive)",
        wide=r"参加|出席|参会|与会|到场|到会|列席|签到|现场|线上|参与|在座|在场",
        wide_weak=r"主持|主讲|发言|记录|介绍|演示|赶来|赴",
        wide_other=r"提到|提及|意见|转告|抄送|纪要发|下次",
    ),
    Family(
        r"advis\w*|advice|counsel\w*|consult(?:s|ed|ants?)?|consulting (?:for|to|with)",
        r"board|mentor\w*|guid(?:es|ed|ance)|coach\w*|sounding",
        PEOPLE, FIRMS, lasts=True,
        wide=r"顾问|咨询|参谋", wide_weak=r"出谋划策|指点|把关|请教",
    ),
    Family(r"mentor\w*|mentees?|prot[eé]g[eé]s?|coach\w*", r"guid(?:es|ed|ance)|under .{0,20}wing", PEOPLE, PEOPLE,
           wide=r"导师|师从|徒弟|指导|学生", wide_weak=r"带过|教"),
    Family(
        r"(?:the |its |their |a |our )?boards?(?! meeting)|board (?:seat|member|members|director)|directors?",
        r"chairs?|chair(?:s|man|woman|ed)|seat|members?|elected|governance",
        PEOPLE, FIRMS, lasts=True,
        wide=r"董事(?!会)|董事会(?:成员|席位)|董事长", wide_weak=r"席位",
    ),
    Family(
        r"buy(?! from)|bought(?! from)|acqui(?:re|res|red|rer|ring|sition|sitions)|purchased?|merge[dr]?"
        r"|takeover|takes? over|took (?:\w+ ){0,3}over",
        r"belong(?:s|ed)? to|owned|owns|sold|deal|absorbed|subsidiary|(?:unit|arm|division) of|swallowed|sale|exit",
        PEOPLE | FIRMS, FIRMS,
        wide=r"收购|并购|买下|买入|吞并|接手", wide_weak=r"子公司|旗下|归入|易主|控股",
    ),
    Family(
        r"customers?|clients?|pays?|paid|paying|subscri\w+|licen[cs]\w+|(?:buys?|bought) from"
        r"|uses?|used(?! to\b)|using|users?",
        r"runs? .{0,40}on|sold|signed|contract|bought|buys|rolled out|rel(?:y|ies|ied) on|accounts?|adopt\w*|built on",
        PEOPLE | FIRMS, FIRMS, lasts=True,
        wide=r"客户|采购|订阅|付费|使用|在用|用上|用了|用户", wide_weak=r"用着|用的|试用|签约|合同",
    ),
    Family(
        r"partner(?:s|ed|ship|ships)(?! at\b)|partner with|alliance|collaborat\w+",
        r"integrat\w+|together|jointly",
        PEOPLE | FIRMS, FIRMS,
        wide=r"合作|合伙|结盟|联手", wide_weak=r"一起|共同",
    ),
    Family(
        r"suppl(?:y|ies|ied|iers?)|vendors?|deliver\w*|provid(?:es?|ed|ers?)",
        r"comes? from|ships|sells to", FIRMS, FIRMS, lasts=True,
        wide=r"供应|供货|供给", wide_weak=r"提供|来自",
    ),
    Family(r"compet\w+|rivals?", r"against|versus|alternative|head-to-head", FIRMS, FIRMS,
           wide=r"竞争|对手|竞品", wide_weak=r"替代"),
    Family(
        r"coin(?:s|ed|ing)?|credit(?:s|ed)?|came up with|come up with|introduc(?:e|es|ed)|inventor|invent(?:ed|s)?|originat\w+",
        r"author|term|phrase|idea|wrote|essay|first|popularised|popularized|framework|named",
        PEOPLE, frozenset({IDEA}), wide=r"提出|首创|发明|得名|命名",
    ),
    Family(
        r"practi[cs]\w+|appl(?:y|ies|ied)|examples?|adopt\w*|embrac\w+|swears by|exemplif\w+|embod\w+|illustrat\w+",
        r"uses?|used(?! to\b)|lines of|case|run along|follows?|lives|model|instance",
        PEOPLE | FIRMS, frozenset({IDEA}),
    ),
    Family(r"decid\w*|decision|approv\w+|agreed?|choos\w+|chosen?|settled", r"signed off", PEOPLE, ANY,
           wide=r"决定|拍板|批准|选定|敲定", wide_weak=r"同意|选"),
    Family(
        r"block\w*|waits?|waiting|stuck|stall\w*|h[eo]ld(?:s|ing)? (?:\w+ )?up|prerequisite", r"needs", ANY, ANY,
        wide=r"阻塞|卡住|卡在|等待|阻碍|拖住|挡住|堵住", wide_weak=r"等|前提",
    ),
    Family(
        r"depend\w*|rel(?:y|ies|ied) on|(?:(?:is|are) )?built on(?: top of)?|builds? on|requires?",
        r"needs|calls|reads|without|used by|uses",
        ANY, ANY, lasts=True, wide=r"依赖|取决于|离不开", wide_weak=r"调用|需要|基于",
    ),
    Family(
        r"replac\w+|supersed\w+|successor|deprecat\w+|obsolete|retir\w+",
        r"instead|(?:in )?(?:the )?place of|tak\w+ over|took over",
        ANY, ANY, wide=r"取代|替代|替换|换成|继任|接替|淘汰|下线", wide_weak=r"代替|改用",
    ),
    Family(
        r"caus(?:e|es|ed|ing)|trigger(?:s|ed)?|at the root|to blame|culprit",
        r"(?:began|started) (?:in|with)|led to|broke|because", ANY, ANY,
        wide=r"导致|引起|引发|造成|起因|根因|原因|触发", wide_weak=r"由于|源于|出在",
    ),
    Family(
        r"affect\w*|hit|impact\w*|offline|suffer\w*|victims?", r"lost|notic\w+|complain\w*|outages?|during|down",
        ANY, PEOPLE | FIRMS, wide=r"影响|波及|中断|受损|遭遇", wide_weak=r"投诉|丢失",
    ),
    Family(
        r"fix(?:es|ed|ing)?|resolv\w+|solv\w+|repair\w*", r"roll(?:s|ed)? .{0,30}back|patch\w*|ended|closed", PEOPLE, ANY,
        wide=r"修复|解决|修好|排除|回滚", wide_weak=r"补丁|恢复",
    ),
    Family(r"on[- ]call|pager|page[ds]?|on duty", r"woken|rota|rotation|wakes?", PEOPLE, ANY, lasts=True,
           wide=r"值班|待命|轮值", wide_weak=r"叫醒"),
    Family(
        r"command\w*|(?:led|leads?|ran|runs?|headed) the (?:response|call|incident|effort)"
        r"|(?:response|call|incident|effort) was (?:led|run)|in charge|t(?:ook|akes?) charge|principal investigator",
        r"led|leads?|leading|heads?|headed|response|ran", PEOPLE, ANY, wide=r"指挥", wide_weak=r"牵头|主持",
    ),
    Family(r"review\w*|audit\w*|inspect\w*|sign(?:s|ed)? (?:\w+ )?off|sign-?offs?", r"approv\w+|checked", PEOPLE, ANY,
           wide=r"评审(?!会)|审核|审阅|审查|复核|签字", wide_weak=r"看过|把关|通过"),
    Family(
        r"owns?|owned|owners?|ownership|responsible|in charge|belong(?:s|ed)? to|looks? after|looking after",
        r"maintain\w*|runs|whose|took over|takes over|taken over|baby|responsibility", PEOPLE, ANY, lasts=True,
        wide=r"负责|主导|归.{1,12}管|产品经理|接管|掌管|主管", wide_weak=r"维护|设计|管理|带",
    ),
    Family(r"maintain\w*|merges", r"owns?|owners?|responsible|in charge|looks? after", PEOPLE, ANY, lasts=True,
           wide=r"维护", wide_weak=r"负责|合并"),
    Family(
        r"(?:writ(?:e|es|ing|ten)|wrote)(?! (?:\w+ ){0,2}che(?:ck|que)s?)|author\w*"
        r"|(?<!the )drafts?|draft(?:ed|ing)|propos(?:e|es|ed)",
        r"essay|post|proposal", PEOPLE, ANY, wide=r"撰写|起草|写的|写了|作者|执笔|提议", wide_weak=r"写|文章",
    ),
    Family(
        r"mak(?:es|ers?)|made by|develop(?:s|ed|ers?)|manufactur\w*|products?",
        r"builds?|built|launch\w*|ships|vendor", PEOPLE | FIRMS, ANY,
        wide=r"开发|推出|研发|出品|产品|打造|研制", wide_weak=r"起家|旗下|做|发布",
        wide_other=r"客户|采购|使用|在用|评测|试用|负责|经理|设计师|相似|类似",
    ),
    Family(r"reports?(?: to)?|boss|managers?", r"manages|led by|under", PEOPLE, PEOPLE, lasts=True,
           wide=r"上司|汇报|直属|下属"),
    Family(r"meets?|met|knows?|introduc\w+|friends?", r"coffee|dinner|lunch|talked", PEOPLE, ANY,
           wide=r"认识|朋友|见面|室友|同学", wide_weak=r"下棋|聊"),
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
_SEATS = {ORGANISATION: "customer customers client clients vendor vendors supplier suppliers competitor competitors"}
"""Words that say what kind a record is of where they name its folder, and that ask for no kind."""
KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
KIND_OF_FOLDER = {
    **{word: kind for kind, words in _SEATS.items() for word in words.split()},
    **chinese.KIND_OF_FOLDER,
    **KIND_OF,
}

LEFT = (
    r"\bformer(?:ly)?\b|\bex-|\bleft\b|\bleaving\b|\bdepart\w+|\bstepped (?:down|away)|\bmoved on\b|\bno longer\b"
    r"|\balum\w*|\bresigned\b|\bquit\b|\blet go\b|\blaid off\b|\bfired\b|\bpreviously\b|\bused to\b"
    r"|\bany ?more\b|\bstopp?(?:s|ed)? \w+ing\b|\bhanded .{1,30}\bover\b|\bgave up\b"
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
    r"|\b(?:plann|hop|tri|want)ed to\b|\bwould (?:like|love) to\b|\brumou?r\w*"
    r"|\b(?:no|without) (?:\w+ )?(?:money|capital|funding|investors?|advis[oe]rs?|board|customers?)\b"
    r"|\bsaid no\b|\bwrong(?:ly)?\b"
)
TAKEN_BACK = (
    r"^\W*(?:but|and|yet|though) (?:\w+ ){0,2}?(?:never (?:did|came|went)|did not|didn['’]t|said no|declined|could not"
    r"|couldn['’]t)\b"
)
"""How a clause begins that takes back what the one before says."""
