"""A question finds records in the other language by words alone: English and Chinese."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.search.ranking import translations
from oracle.app.search.ranking.query import parse_query
from oracle.domain import tables

TABLE = Path(tables.__file__).parent / "data/translations.txt"
BUILDER = "projects/arena/builder"
ENGLISH = {
    "delete": "# Old branches\n\nWe delete the database of a branch once it is merged.",
    "lunch": "# Lunch\n\nWe ordered noodles.",
    "price": "# Offers\n\nThe price is fixed for a year.",
}
CHINESE = {"cert": "# 证书\n\n证书每年更换一次。", "lunch": "# 午饭\n\n我们订了面条。"}


@pytest.fixture
def oracle(root: Path) -> Oracle:
    oracle = Oracle.open(str(root))
    oracle.loads_models = False
    return oracle


def write(root: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        path = root / f"{BUILDER}/{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("texts", "question", "name"),
    [
        (ENGLISH, "什么时候删除数据库？", "delete"),
        (ENGLISH, "价格会变吗", "price"),
        (CHINESE, "How long is a certificate used?", "cert"),
    ],
)
def test_a_question_finds_a_record_in_the_other_language(
    root: Path, oracle: Oracle, texts: dict[str, str], question: str, name: str
) -> None:
    write(root, texts)
    first, *_ = oracle.search(question, fresh=True)
    assert first.record.slug == f"{BUILDER}/{name}"
    assert dict(first.parts)["translation"] > 0
    assert (first.coverage, first.translated > 0.2) == (0.0, True)


def test_what_is_found_in_the_other_language_is_a_candidate(root: Path, oracle: Oracle) -> None:
    write(root, ENGLISH)
    reply = oracle.answer("什么时候删除数据库？", fresh=True)
    assert (reply.status, reply.claims[0].record.slug) == ("candidates", f"{BUILDER}/delete")


def test_a_passage_that_holds_a_word_itself_gets_nothing_for_its_translation(root: Path, oracle: Oracle) -> None:
    others = {f"note-{number}": "# 笔记\n\n我们订了水果。" for number in range(20)}
    write(root, {**CHINESE, **others, "both": "# Both\n\nA certificate, 证书."})
    hits = {hit.record.slug.rpartition("/")[2]: hit for hit in oracle.search("certificate", fresh=True)}
    assert {name: "translation" in dict(hit.parts) for name, hit in hits.items()} == {"both": False, "cert": True}


def test_a_root_of_one_language_reads_no_table(root: Path, oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, ENGLISH)
    monkeypatch.setattr(translations, "_lines", lambda: pytest.fail("the table was read"))
    assert oracle.search("delete a database", fresh=True)


def test_the_longest_word_is_translated_and_knows_its_terms() -> None:
    query = parse_query("数据库在哪里")
    (database,) = [one for one in translations.translate(query) if one.tokens == ("database",)]
    assert {query.terms[number].tokens[0] for number in database.of} == {"数据", "据库", "数", "据", "库"}


def test_the_table_is_sorted_small_and_well_formed() -> None:
    lines = TABLE.read_text("utf-8").splitlines()
    assert lines == sorted(lines)
    assert TABLE.stat().st_size < 1 << 20
    wrong = [
        line
        for line in lines
        if not re.fullmatch(r"[a-z]+( [\u4e00-\u9fff]{2,4}\d)+|[\u4e00-\u9fff]{2,4}( [a-z]+\d)+", line)
    ]
    assert not wrong
