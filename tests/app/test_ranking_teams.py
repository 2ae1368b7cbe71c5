"""Relations between the things of a team, and relations said in Chinese: small worlds whose pages name each other both ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.search.ranking.anchors import find_anchors
from oracle.app.search.ranking.pages import RecordPage
from oracle.app.search.ranking.query import parse_query
from oracle.app.search.ranking.sentences import sentences_of
from oracle.domain.relations import relations
from oracle.domain.relations.patterns import NAMED
from oracle.domain.relations.relations import taken_back

TEAM = {
    "people/ann-reed": (
        "Ann looks after [pay-api](services/pay-api). She was asked to review [Split it](decisions/split-it) but never did."
    ),
    "people/bo-cole": "Bo used to own [pay-api](services/pay-api) until 2020.\n\n## Owns\n\n- [mail-api](services/mail-api)\n",
    "people/cy-lund": "Cy slept through [Lost mail](incidents/lost-mail). Cy signed off on [Split it](decisions/split-it).",
    "services/pay-api": (
        "[mail-api](services/mail-api) depends on it. It needs [log-store](services/log-store) to start.\n\n## On call\n\n"
        "- [Cy Lund](people/cy-lund)\n"
    ),
    "services/mail-api": "It is blocked on [Split it](decisions/split-it). [old-mail](services/old-mail) was replaced by it.",
    "services/log-store": "[pay-api](services/pay-api) has a similar name. It took the place of [old-log](services/old-log).",
    "services/old-mail": "Two people remember it.",
    "services/old-log": "One person remembers it.",
    "decisions/split-it": "Half the team was against it. It was proposed by [Bo Cole](people/bo-cole).",
    "incidents/lost-mail": (
        "[log-store](services/log-store) was not involved. The trouble began in [mail-api](services/mail-api). "
        "[Ann Reed](people/ann-reed) fixed it.\n\n## Affected customers\n\n- [Aldgate Bank](customers/aldgate-bank)\n"
    ),
    "customers/aldgate-bank": "They stopped using [log-store](services/log-store) and pay for [pay-api](services/pay-api).",
}
TEAM_ASKED = {
    "Who is responsible for pay-api?": "ann-reed",
    "What does Bo Cole own?": "mail-api",
    "Who is on call for pay-api?": "cy-lund",
    "Who reviewed Split it?": "cy-lund",
    "Who wrote Split it?": "bo-cole",
    "What does pay-api depend on?": "log-store",
    "What depends on pay-api?": "mail-api",
    "What is mail-api blocked by?": "split-it",
    "What does Split it block?": "mail-api",
    "What replaced old-log?": "log-store",
    "What did mail-api replace?": "old-mail",
    "Which service caused Lost mail?": "mail-api",
    "Who resolved Lost mail?": "ann-reed",
    "Who was affected by Lost mail?": "aldgate-bank",
    "Which customers use pay-api?": "aldgate-bank",
}
CHINESE = {
    "people/lin-siyuan": (
        "林思远",
        "林思远是[青禾科技](companies/qinghe-keji)的算法工程师。他没有投资[青禾能源](companies/qinghe-nengyuan)。",
    ),
    "people/lin-zimo": (
        "林子墨",
        "林子墨曾在[青禾科技](companies/qinghe-keji)工作，2020年离职。林子墨领投了[青禾能源](companies/qinghe-nengyuan)的A轮。",
    ),
    "people/he-wenbo": ("何文博", "何文博喜欢下棋。"),
    "people/he-huimin": ("何慧敏", "何慧敏因病没有参加[青禾科技2024年复盘会](meetings/qinghe-keji-2024)。"),
    "companies/qinghe-keji": (
        "青禾科技",
        "公司由[何文博](people/he-wenbo)于2015年创立。如今它是[青禾能源](companies/qinghe-nengyuan)的全资子公司。",
    ),
    "companies/qinghe-nengyuan": (
        "青禾能源",
        "公司的顾问是[何慧敏](people/he-huimin)。\n\n## 产品\n\n- [飞梭看板](products/feisuo)\n",
    ),
    "products/feisuo": (
        "飞梭看板",
        "[林思远](people/lin-siyuan)写过评测。[青禾科技](companies/qinghe-keji)在用这款产品。",
    ),
    "meetings/qinghe-keji-2024": (
        "青禾科技2024年复盘会",
        "[林子墨](people/lin-zimo)主持了会议。会上提到了[何文博](people/he-wenbo)的意见。",
    ),
}
CHINESE_ASKED = {
    "谁在青禾科技工作？": "lin-siyuan",
    "林思远在哪家公司上班？": "qinghe-keji",
    "谁曾在青禾科技工作？": "lin-zimo",
    "青禾科技的创始人是谁？": "he-wenbo",
    "林子墨投过哪些公司？": "qinghe-nengyuan",
    "谁投资了青禾能源？": "lin-zimo",
    "何慧敏是哪些公司的顾问？": "qinghe-nengyuan",
    "谁收购了青禾科技？": "qinghe-nengyuan",
    "青禾能源收购了哪家公司？": "qinghe-keji",
    "青禾能源有哪些产品？": "feisuo",
    "谁在用飞梭看板？": "qinghe-keji",
    "谁参加了青禾科技2024年复盘会？": "lin-zimo",
    "林子墨出席过哪些会议？": "qinghe-keji-2024",
}


def write(root: Path, path: str, title: str, text: str) -> None:
    target = root / f"projects/brain/{path}.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"# {title}\n\n{text}\n", encoding="utf-8")


def first_of(root: Path, questions: dict[str, str]) -> dict[str, str]:
    with Oracle.open(str(root)) as oracle:
        return {question: oracle.search(question)[0].record.slug.rpartition("/")[2] for question in questions}


def test_what_a_team_asks_of_its_things_is_answered_by_who_and_what_the_pages_say(root: Path) -> None:
    for path, text in TEAM.items():
        name = path.rpartition("/")[2]
        title = (
            name
            if path.startswith("services")
            else name.replace("-", " ").title().replace(" It", " it").replace(" Mail", " mail")
        )
        write(root, path, title, text)
    assert first_of(root, TEAM_ASKED) == TEAM_ASKED


def test_relations_said_in_chinese_are_understood(root: Path) -> None:
    for path, (title, text) in CHINESE.items():
        write(root, path, title, text)
    assert first_of(root, CHINESE_ASKED) == CHINESE_ASKED


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("林子墨投过哪些公司？", ["林子墨"]),
        ("谁参加了青禾科技2024年复盘会？", ["青禾科技2024年复盘会"]),
        ("青禾能源收购了青禾科技吗？", ["青禾科技", "青禾能源"]),
    ],
)
def test_a_name_in_chinese_is_found_where_no_blank_ends_it_and_the_longest_counts(
    root: Path, question: str, named: list[str]
) -> None:
    for path, (title, text) in CHINESE.items():
        write(root, path, title, text)
    with Oracle.open(str(root)) as oracle:
        found = oracle.index.find(lambda connection: find_anchors(connection, parse_query(question), []))
    assert sorted(anchor.title for anchor in found) == named


def test_a_chinese_sentence_ends_without_a_blank() -> None:
    page = RecordPage("甲在[[乙]]工作。他去过[[丙]]；“好。”丁说。", "甲")
    assert [sentence.text.replace(NAMED, "@") for sentence in sentences_of(page).all] == [
        "甲在@工作。",
        "他去过@；",
        "“好。”丁说。",
    ]


@pytest.mark.parametrize(
    ("rest", "denied"),
    [
        (" but never did.", True),
        (" and said no.", True),
        ("，但最后没有去", True),
        (f" but did not join {NAMED}.", False),
        (" and did well.", False),
        ("", False),
    ],
)
def test_what_follows_a_clause_may_take_it_back(rest: str, denied: bool) -> None:
    assert taken_back(rest) is denied


@pytest.mark.parametrize(
    ("heading", "line", "fits"),
    [
        ("reviewed by", f"- {NAMED}", relations.FAMILY),
        ("review", f"{NAMED} brought cake.", 0.4),
        ("review of the pager", f"- {NAMED}", 0.4),
        ("reviewers", f"- {NAMED} declined", 0.05),
        ("评审人", f"- {NAMED}", relations.FAMILY),
        ("places", f"- {NAMED}", 0.0),
    ],
)
def test_a_heading_of_nothing_but_the_relation_speaks_for_the_list_below_it(
    heading: str, line: str, fits: float
) -> None:
    asked = relations.read_relation(f"Who reviewed {NAMED}?", [])
    assert asked.heads(heading, line) == pytest.approx(fits, abs=0.06)
