"""What prose says of a relation: pages of a small world that name each other with it, without it, in the past, and in vain."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.search.ranking.pages import RecordPage
from oracle.app.search.ranking.sentences import Names, spoken_of

PAGES = {
    "people/ann-reed-1": (
        "Ann Reed started [Harbor](../companies/harbor-20.md) in 2016. She has been its chief executive ever since."
    ),
    "people/ann-cole-2": (
        "Ann Cole is a designer at [[companies/harbor-20|Harbor]]. She turned down a job at [[companies/tide-21]] "
        "twice."
    ),
    "people/bo-reed-3": (
        "Before that, Bo was head of sales at [Harbor](companies/harbor-20); he left in 2021. Today he works for "
        "[Tide](companies/tide-21) as a data scientist."
    ),
    "people/bo-cole-4": (
        "Bo Cole holds a seat on the board of [Harbor](companies/harbor-20.md). He wrote an early check into "
        "[Tide](companies/tide-21.md)."
    ),
    "people/cy-lund-5": (
        "Cy Lund was approached about advising [[companies/harbor-20]] and declined. Cy mentors the founders of "
        "[[companies/tide-21]]."
    ),
    "people/di-lund-6": "Di Lund keeps bees, and often cites [[companies/harbor-20]] as a cautionary tale.",
    "companies/harbor-20": (
        "Harbor was acquired by [Northwind](companies/northwind-22) in 2023. [Loom Fund](companies/loom-fund-23) led "
        "the seed round; [Quay Fund](companies/quay-fund-24) looked at it and passed.\n\n## Advisors\n\n- [Di "
        "Lund](people/di-lund-6)\n"
    ),
    "companies/tide-21": (
        "Its customers include [Harbor](companies/harbor-20). Tide is a customer of "
        "[Northwind](companies/northwind-22)."
    ),
    "companies/northwind-22": "Northwind bought two companies in a row and says little about either.",
    "companies/loom-fund-23": "Loom Fund took a meeting with [Tide](companies/tide-21) but did not invest.",
    "companies/quay-fund-24": "Quay Fund holds a position in [Tide](companies/tide-21) since the Series A.",
    "meetings/harbor-review-30": (
        "[Ann Cole](people/ann-cole-2) walked through the numbers. Regrets: [Ann Reed](people/ann-reed-1). An email "
        "from [Bo Reed](people/bo-reed-3) was read out. Around the table sat [Cy Lund](people/cy-lund-5) and [Di "
        "Lund](people/di-lund-6)."
    ),
    "meetings/board-meeting-harbor-31": (
        "Present: [[people/ann-reed-1]], [[people/bo-cole-4]].\n\n[[people/cy-lund-5]] was invited but did not come."
    ),
    "concepts/quiet-growth-40": (
        "[Di Lund](people/di-lund-6) coined the phrase. [Tide](companies/tide-21) puts it into practice."
    ),
}
ASKED = {
    "Who works at Harbor?": "ann-reed ann-cole",
    "Harbor employees": "ann-reed ann-cole",
    "Who used to work at Harbor?": "bo-reed",
    "Where does Bo Reed work?": "tide",
    "Who employs Ann Cole?": "harbor",
    "Who founded Harbor?": "ann-reed",
    "Who invested in Harbor?": "loom-fund",
    "Which funds or angels backed Tide?": "quay-fund bo-cole",
    "What did Quay Fund invest in?": "tide",
    "Who advises Harbor?": "di-lund",
    "Who does Cy Lund advise?": "tide",
    "Who sits on the board of Harbor?": "bo-cole",
    "Who bought Harbor?": "northwind",
    "Who are the customers of Tide?": "harbor",
    "Who are the customers of Northwind?": "tide",
    "Who was at the Harbor Review?": "ann-cole cy-lund di-lund",
    "What meetings did Ann Reed attend?": "board-meeting-harbor",
    "Which concept did Di Lund coin?": "quiet-growth",
    "Does Tide have advisors, and who are they?": "cy-lund",
}


def lay_out(root: Path, pattern: str) -> dict[str, str]:
    """Write the pages; return what each is called by the last part of its slug."""
    called = {}
    for path, text in PAGES.items():
        kind, _, name = path.partition("/")
        short = name.rpartition("-")[0]
        target = root / "projects" / pattern.format(kind=kind, name=name)
        target.parent.mkdir(parents=True, exist_ok=True)
        title = short.replace("-", " ").title()
        target.write_text(f"---\ntitle: {title}\nkind: decision\n---\n\n# {title}\n\n{text}\n", encoding="utf-8")
        called[target.stem] = short
    return called


@pytest.mark.parametrize(
    "pattern", ["{kind}/builder/{name}.md", "world/builder/{kind}--{name}.md", "world/{kind}/{name}.md"]
)
def test_those_come_first_of_whom_the_pages_say_it(root: Path, pattern: str) -> None:
    called = lay_out(root, pattern)
    with Oracle.open(str(root)) as oracle:
        first = {}
        for question, answers in ASKED.items():
            found = dict.fromkeys(called[hit.record.slug.rpartition("/")[2]] for hit in oracle.search(question))
            first[question] = set(list(found)[: len(answers.split())])
    assert first == {question: set(answers.split()) for question, answers in ASKED.items()}


PLAIN = {
    "people/eva-holm": "Eva Holm joined Orchard in 2020. She took [[people/finn-lund]] under her wing.",
    "people/finn-lund": "Finn Lund is a mentor to Gus Ahl. Earlier he was at [[companies/orchard]].",
    "people/gus-ahl": "Gus Ahl reads a lot.\n\n## See also\n\n- [[meetings/orchard-review]]\n- [[companies/orchard]]\n",
    "people/hal-aas": "Hal Aas keeps a diary.",
    "companies/orchard": "Its angels are Hal Aas and [[people/gus-ahl]].",
    "companies/pine-fund": "[[companies/orchard]] is one of its portfolio companies. It led the [[deals/quince-seed]].",
    "companies/quince": "The round was filled by [[companies/pine-fund]].",
    "deals/quince-seed": "Led by [[companies/pine-fund]], for [[companies/quince]].",
    "meetings/orchard-review": "In the room: [[people/finn-lund]].",
}


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Who works at Orchard?", "eva-holm"),
        ("Which angels invested in Orchard?", "gus-ahl hal-aas"),
        ("Who mentors Gus Ahl?", "finn-lund"),
        ("Who does Finn Lund mentor?", "gus-ahl"),
        ("Who attended the Orchard Review?", "finn-lund"),
        ("What has Pine Fund invested in?", "orchard quince"),
    ],
)
def test_names_without_links_count_and_lists_beside_the_text_say_nothing(
    root: Path, question: str, answers: str
) -> None:
    for path, text in PLAIN.items():
        target = root / f"projects/brain/{path}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        title = target.stem.replace("-", " ").title()
        target.write_text(f"---\ntitle: {title}\n---\n\n# {title}\n\n{text}\n", encoding="utf-8")
    wanted = answers.split()
    with Oracle.open(str(root)) as oracle:
        found = list(dict.fromkeys(hit.record.slug.rpartition("/")[2] for hit in oracle.search(question)))
    assert sorted(found[: len(wanted)]) == sorted(wanted)


def test_sentences_that_name_a_record_are_found_by_link_and_by_name_and_not_all_of_them_are_weighed() -> None:
    text = "[[people/ann-reed|Ann]] joined. She left. It rained.\n\nEva Holm saw Ann Reed. They talked.\n"
    spoken = [
        (sentence.text, at)
        for sentence, at in spoken_of(RecordPage(text, "Diary"), Names.of("Ann Reed", "people/ann-reed"))
    ]
    assert spoken == [("\x01 joined.", 0), ("She left.", -1), ("Eva Holm saw Ann Reed.", 13), ("They talked.", -1)]
    long = RecordPage("Ann Reed was there.\n\n" * 1000, "Diary")
    assert 10 < len(list(spoken_of(long, Names.of("Ann Reed", "people/ann-reed")))) < 500


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("谁投资了星火科技？", "王小明"),
        ("谁在星火科技工作？", "李雷"),
        ("王小明投资了哪些公司？", "星火科技"),
        ("谁投资了 Orchard？", "李雷"),
    ],
)
def test_names_that_stand_between_no_blanks_are_names(root: Path, question: str, answer: str) -> None:
    pages = {
        "people/王小明": "他投资了 [星火科技](../companies/星火科技.md)。",
        "people/李雷": "李雷在 [星火科技](../companies/星火科技.md) 工作。\n\n他投资了 [[companies/Orchard]]。",
        "companies/星火科技": "星火科技的产品很受欢迎，投资人很多，员工也很多，大家都在这里工作。",
        "companies/Orchard": "Orchard 很小。",
    }
    for path, text in pages.items():
        target = root / f"projects/brain/{path}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"---\ntitle: {target.stem}\n---\n\n# {target.stem}\n\n{text}\n", encoding="utf-8")
    with Oracle.open(str(root)) as oracle:
        assert oracle.search(question)[0].record.title == answer
