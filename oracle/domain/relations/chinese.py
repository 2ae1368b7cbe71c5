"""How Chinese asks for what has to do with something, and how it says that it is over or denied. Pure, no names.

No blanks keep one word from the next, so that these patterns, unlike those of other languages, have no limits of words.
"""

from __future__ import annotations

from oracle.domain.compiling import compiled

PERSON, ORGANISATION, MEETING, IDEA = "person", "organisation", "meeting", "idea"
_KINDS = {
    PERSON: "人物|人员|人|联系人|同事|员工|成员|投资人|创始人|顾问|嘉宾",
    ORGANISATION: "公司|企业|机构|基金|厂商|单位|客户",
    MEETING: "会议|会|活动|场会",
    IDEA: "概念|理念|想法",
}
KIND_OF_FOLDER = {word: kind for kind, words in _KINDS.items() for word in words.split("|") if len(word) > 1}
ASKS = "谁|哪|什么(?:公司|企业|产品|会议|项目|服务|职务)"
_STATED = (
    "(?:哪(?:些|家|个|位|场|次|几[家个位场次])?|什么)"
    "(公司|企业|机构|基金|厂商|单位|会议|会(?!议)|活动|人(?!的)|员工|概念)"
)
"""What kind of thing is asked for: `哪些公司`."""
DOER = "创始人|投资人|投资方|投资者|顾问|员工|成员|参会人|参会者|客户|用户|董事|负责人|开发者|作者|股东|对手|合作伙伴"
_ASKING = (
    "谁|哪(?:些|里|儿|一?[家个位场次款种]|几[家个位场次])?|什么|多少|几[家个位]|有没有|[有在的是被由过了吗呢都和与又请问]"
    "|曾经?|担任|现在|目前|如今|当前|公司|企业|会议|人员|名字|列出|告诉我"
)
"""What a question is asked with, and what says nothing of a relation."""
LEFT = "离开|离职|卸任|辞去|辞职|退出|不再|曾|前任|前员工|此前|以前|跳槽|停用|停止|交出"
ASKS_PAST = "曾|以前|过去|前员工|离开|离职|前任"
STAYED = "(?:没有|从未|未曾|不曾)离开"
OVER = r"之前|当年|一度|年至\d+年|实习"
DENIED = (
    "没|未(?!来)|不(?![久仅错同断少到但过止大再曾])|拒绝|婉拒|谢绝|推辞|放弃|错过|缺席|请假|取消|并非|落选|无缘|传闻"
)
TAKEN_BACK = r"^\W*(?:但|却|可|最后|最终|后来|结果).{0,6}?(?:没|未|不|拒绝|放弃|婉拒)"
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田"
    "任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文"
)


def stated_kinds(text: str) -> frozenset[str]:
    """Return the kinds of things that a question asks for by their names."""
    found = compiled(_STATED).search(text)
    return frozenset(kind for kind, words in _KINDS.items() if found and compiled(words).fullmatch(found[1]))


def without_asking(text: str) -> str:
    """Return a question without what it is asked with, which no blanks keep from the words of a relation."""
    return text if text.isascii() else compiled(_ASKING).sub(" ", text)


def is_person_name(title: str) -> bool:
    """Tell whether a title is a surname and one or two characters more."""
    return compiled(f"(?:[{_SURNAMES}]|欧阳|司马|上官|诸葛)[\u4e00-\u9fff]{{1,2}}").fullmatch(title) is not None
