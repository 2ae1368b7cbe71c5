"""What a search makes of a question, and which passage comes first for which reason."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.api import Oracle
from oracle.app.search.ranking.query import Day, days_in, nearness, parse_query
from oracle.domain.records.drafts import Draft

BUILDER = "projects/arena/builder"


def put(root: Path, name: str, text: str) -> Path:
    path = root / f"{BUILDER}/{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def first(root: Path, query: str) -> str:
    with Oracle.open(str(root)) as oracle:
        hits = oracle.search(query)
        return hits[0].record.slug.rpartition("/")[2] if hits else ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What's Melanie's plan?", "melanie plan"),
        ("is it the", "is it the"),
        ("ARENA-228 retries", "arena-228 retries"),
        ("a second-factor lock", "second factor lock"),
        ("步骤", "步骤"),
        ("为什么节点重启", "节点 点重 重启"),
        ("为什么", "为什 什么"),
        ("谁是王沈", "王沈"),
        ("网关在哪里？", "网关"),
        ("", ""),
    ],
)
def test_the_words_of_a_question(text: str, words: str) -> None:
    assert " ".join("-".join(term.tokens) for term in parse_query(text).terms if term.weight == 1) == words


@given(st.text(max_size=200))
def test_any_text_is_a_question(text: str) -> None:
    for term in parse_query(text).terms:
        assert all(term.tokens)
        assert term.weight > 0


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 8 May, 2023", [Day(2023, 5, 8)]),
        ("May 8th 2023", [Day(2023, 5, 8)]),
        ("in June", [Day(0, 6, 0)]),
        ("you may go in 2022", [Day(2022, 0, 0)]),
        ("2026-04-27T10:00", [Day(2026, 4, 27)]),
        ("2026年4月27日", [Day(2026, 4, 27)]),
        ("99 Marches", []),
    ],
)
def test_dates(text: str, days: list[Day]) -> None:
    assert days_in(text) == days


def test_a_record_of_the_days_after_is_nearly_as_good_as_one_of_the_day() -> None:
    asked = [Day(2023, 5, 8)]
    near = [nearness(asked, [day]) for day in (Day(2023, 5, 8), Day(2023, 5, 10), Day(2023, 5, 30), Day(2022, 5, 8))]
    assert near == sorted(near, reverse=True)
    assert len(set(near)) == 4


def test_an_answer_beside_the_words_is_found(root: Path) -> None:
    put(root, "a", "**Ann:** How often do you swim in the lake?\n\n**Bob:** Three times a week.\n")
    put(root, "b", "A lake is deep.\n")
    with Oracle.open(str(root)) as oracle:
        assert "Three times a week" in oracle.search("how often does Bob swim in the lake")[0].snippet


def test_the_speaker_that_is_named_comes_first(root: Path) -> None:
    filler = "\n\n".join(f"**Cid:** {'word ' * 120}{number}" for number in range(4))
    put(root, "a", f"**Ann:** I swim in the lake.\n\n{filler}\n\n**Bob:** I swim in the lake.\n")
    with Oracle.open(str(root)) as oracle:
        assert oracle.search("where does Bob swim")[0].snippet.endswith("**Bob:** I swim in the lake.")


def test_the_day_that_is_named_comes_first(root: Path) -> None:
    for day in ("2026-03-01", "2026-04-01", "2026-05-01"):
        put(root, day, f"---\nts: {day}\n---\nThe deploy failed.\n")
    assert first(root, "why did the deploy fail on April 1, 2026?") == "2026-04-01"


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("The repository is public.", "which repos"),
        ("It runs in k8s.", "kubernetes"),
        ("Rows are retained for a month.", "retention"),
        ("The database of the app.", "application db"),
        *permutations(
            ("retry policy", "RetryPolicy", "retryPolicy", "retry_policy", "retry-policy", "RETRY_POLICY"), 2
        ),
        *permutations(("http server pool", "HTTPServerPool", "http_server_pool"), 2),
        ("It is in RetryPolicies.", "the retry policy"),
        ("It ended with OutOfMemory.", "what is out of memory"),
        ("It runs in nodejs.", "Node.js"),
        *permutations(("index", "indices", "indexes"), 2),
        *permutations(("matrix", "matrices"), 2),
        *permutations(("criterion", "criteria"), 2),
        *permutations(("analysis", "analyses"), 2),
        *permutations(("schema", "schemata", "schemas"), 2),
        *permutations(("alias", "aliases"), 2),
        *permutations(("child", "children"), 2),
        *permutations(("serialise", "serialize", "serialised", "serializing", "serialization", "serialisations"), 2),
        *permutations(("analysers", "analyzer"), 2),
        *permutations(("the organisations", "an organization"), 2),
        *permutations(("build artefacts", "artifact"), 2),
        *permutations(("grey", "gray"), 2),
    ],
)
def test_a_word_is_found_however_it_is_written(root: Path, said: str, asked: str) -> None:
    put(root, "other", "Nothing of it.\n")
    put(root, "said", f"{said}\n")
    assert first(root, asked) == "said"


def test_what_a_family_finds_is_covered(root: Path) -> None:
    put(root, "a", "The repository is in the barn.\n")
    with Oracle.open(str(root)) as oracle:
        assert oracle.search("repo barn")[0].coverage == pytest.approx(1)


def test_the_best_of_many_passages_is_worth_less(root: Path) -> None:
    put(root, "long", "The needle is here.\n" + "\nhay and straw\n" * 200)
    put(root, "short", "The needle is here.\n")
    with Oracle.open(str(root)) as oracle:
        parts = {hit.record.slug.rpartition("/")[2]: dict(hit.parts) for hit in oracle.search("needle")}
    assert parts["long"]["length"] < 0
    assert "length" not in parts["short"]


def test_several_passages_of_a_record_may_be_hits_and_no_line_twice(root: Path) -> None:
    put(root, "a", "\n\n".join(f"The needle number {number}. {'hay ' * 150}" for number in range(5)))
    with Oracle.open(str(root)) as oracle:
        hits = oracle.search("needle")
    lines = [line for hit in hits for line in range(hit.first_line, hit.last_line + 1)]
    assert len(hits) > 1
    assert len(lines) == len(set(lines))


def test_coverage_is_the_share_of_the_words_that_are_there(root: Path) -> None:
    put(root, "a", "The needle is in the barn.\n")
    with Oracle.open(str(root)) as oracle:
        assert oracle.search("needle barn")[0].coverage == pytest.approx(1)
        assert oracle.search("needle zeppelin airship")[0].coverage < 0.5


def test_what_a_newer_record_contradicts_comes_after_it(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "arena", "Needle size", body="The needle is needle thin. Needle."))
        new = oracle.write(
            Draft("decision", "arena", "Second look", body="The needle is thick, all told.", contradicts=(old.slug,))
        )
        assert [hit.record.slug for hit in oracle.search("needle")] == [new.slug, old.slug]


def test_a_retired_record_that_would_have_won_is_named_and_left_out_when_strict(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        old = oracle.write(Draft("decision", "arena", "Needle", body="needle needle"))
        new = oracle.write(Draft("decision", "arena", "Thread", body="No needle any more.", supersedes=(old.slug,)))
        hits = oracle.search("needle")
        assert [hit.record.slug for hit in hits] == [new.slug, old.slug]
        assert hits[0].instead_of == old.slug
        assert "superseded by" in hits[1].why
        strict = oracle.search("needle", strict=True)
        assert [hit.record.slug for hit in strict] == [new.slug]


def test_what_changed_after_the_look_is_never_quoted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited = put(root, "edited", "The needle is red.\n")
    deleted = put(root, "deleted", "The needle is blue.\n")
    renamed = put(root, "renamed", "The needle is green.\n")
    with Oracle.open(str(root)) as oracle:
        assert len(oracle.search("needle")) == 3
        monkeypatch.setattr(type(oracle.index), "_fresh_connection", lambda index, fresh: index.database.connect())
        edited.write_text("Nothing here.\n", encoding="utf-8")
        deleted.unlink()
        renamed.rename(renamed.with_name("other.md"))
        snippets = [hit.snippet for hit in oracle.search("needle")]
    assert not any("needle" in snippet for snippet in snippets)


ASKED = [
    ("网关在哪里？", "我们的网关部署在上海机房，端口 8443。"),
    ("谁是王沈？", "王沈是平台组的负责人。"),
    ("缓存有什么限制？", "缓存的上限是 512 MB，每个租户限制 64 MB。"),
    ("怎么回滚？", "发布失败时用上一版镜像回滚。"),
    ("备份几点？", "每天凌晨三点备份一次。"),
    ("密码多久换？", "密码每九十天更换一次。"),
    ("端口是多少？", "监听的端口为 9000。"),
    ("限流阈值？", "限流的阈值是每秒二百次请求。"),
    ("什么是灰度？", "灰度发布先放百分之五的流量。"),
    ("数据库选谁", "数据库我们选用了 PostgreSQL。"),
]


def test_short_chinese_questions_are_answered(root: Path) -> None:
    for number in range(20):
        put(root, f"other-{number}", f"# 其他\n\n今天开了第{number}次会，讨论了午饭。\n")
    for number, (_, text) in enumerate(ASKED):
        put(root, f"told-{number}", f"# 记录\n\n{text}\n")
    with Oracle.open(str(root)) as oracle:
        lost = []
        for number, (question, text) in enumerate(ASKED):
            hits = [hit.record.slug for hit in oracle.search(question)]
            quoted = [claim.quote.text for claim in oracle.answer(question).claims]
            if f"{BUILDER}/told-{number}" not in hits[:2] or text not in quoted:
                lost.append((question, hits, quoted))
    assert not lost


@pytest.mark.parametrize(("phrase", "apart"), [("缓存限制", "缓存。限制。存限。"), ("悬浮窗", "悬浮，浮窗，")])
def test_a_chinese_phrase_comes_before_its_pairs(root: Path, phrase: str, apart: str) -> None:
    put(root, "whole", f"# 一\n\n这里说{phrase}，还说了许多别的事情，例如天气、午饭和周末的安排。\n")
    for number in range(3):
        put(root, f"apart-{number}", f"# 二\n\n{apart * 9}\n")
    assert first(root, phrase) == "whole"


@pytest.mark.parametrize(
    ("query", "longer", "apart"),
    [
        ("retry_count", "MAX_RETRY_COUNT", "Retry count"),
        ("Why is retry_count ignored?", "retry_count_max", "retry-count"),
        ("为什么 batch_size 被忽略？", "max_batch_size", "batch size"),
        ("Node.js", "my-Node.js-addon", "Node js"),
        ("Node.js的版本", "Node.js.org", "node js"),
        ("a.b.c", "a.b.c.d", "a b c"),
        ("std::mutex", "std::mutex::lock", "std mutex"),
        ("user/profile", "user/profile/photo", "user profile"),
        ("C++", "C++17", "plan C"),
        ("C#", "C#10", "plan C"),
    ],
)
@pytest.mark.parametrize(
    "text", ["# On {}\n\nIt is so.\n", "# Notes\n\n## On {}\n\nIt is so.\n", "# Notes\n\nOn {}.\n"]
)
def test_a_word_with_a_mark_comes_before_its_parts_and_longer_words(
    root: Path, query: str, longer: str, apart: str, text: str
) -> None:
    word = max(re.findall(r"[!-~]*[_.:/+#][!-~]*", query), key=len)
    for name, said in (("a-longer", longer), ("b-apart", apart), ("c-wanted", word)):
        put(root, name, text.format(said))
    assert first(root, query) == "c-wanted"
