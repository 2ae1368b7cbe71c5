"""A question that names an entity is answered from records that hold it, and from no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.api import Oracle

SHOP = "projects/shop"
RECORDS = {
    f"{SHOP}/decision/retry-policy": "---\nkind: decision\ntask_id: SHOP-12\nts: 2026-03-01T10:00:00Z\n---\n"
    "# Payment calls retry with backoff\n\nPayment calls retry five times with exponential backoff.\n",
    f"{SHOP}/builder/log": "---\nts: 2026-03-02T10:00:00Z\n---\n# Worklog\n\n"
    "Commit ebb59fc renames the payment client.\n\nCommit fec9c39 adds a breaker in src/pay/breaker.py.\n\n"
    "SHOP-12 was opened by Ann.\n",
    f"{SHOP}/builder/images": "---\nts: 2026-03-03T10:00:00Z\n---\n# Image resizing\n\n"
    "Image calls retry twice. See SHOP-13 and SHOP-123.\n",
    f"{SHOP}/builder/base": "---\nts: 2026-03-04T10:00:00Z\n---\n# Base image\n\nIt is pinned by "
    "58a9daf0aa11bb22cc33dd44ee55ff6677889900 for [KEY: base image] and the ImageEngine.\n\nVersion 1.2 of k8s runs it.\n",
    f"{SHOP}/builder/both": "---\nts: 2026-01-01T10:00:00Z\n---\n# Meeting\n\nAnn tied SHOP-12 to SHOP-13.\n",
    f"{SHOP}/builder/old": "---\nts: 2026-01-02T10:00:00Z\n---\n# Sessions\n\nSHOP-50 keeps sessions for an hour.\n",
    f"{SHOP}/builder/new": "---\nts: 2026-02-02T10:00:00Z\nsupersedes: old\n---\n# Sessions\n\nThey last a day.\n",
}
TOPICS = ("lunch", "paper", "plants", "photos", "permits", "coffee", "badges", "chairs")


@pytest.fixture
def oracle(root: Path) -> Oracle:
    records = {
        **RECORDS,
        **{f"{SHOP}/builder/n{at}": f"# On {topic}\n\nMore {topic}.\n" for at, topic in enumerate(TOPICS)},
    }
    for name, text in records.items():
        path = root / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Oracle.open(str(root))


def quoted(oracle: Oracle, question: str, **more: str) -> list[tuple[str, str]]:
    """Return (name, last line) of every claim."""
    claims = oracle.answer(question, **more).claims
    return [(item.record.slug.rpartition("/")[2], item.quote.text.split("\n")[-1]) for item in claims]


POLICY = ("retry-policy", "Payment calls retry five times with exponential backoff.")
OPENED = ("log", "SHOP-12 was opened by Ann.")
TIED = ("both", "Ann tied SHOP-12 to SHOP-13.")
BREAKER = ("log", "Commit fec9c39 adds a breaker in src/pay/breaker.py.")


@pytest.mark.parametrize(
    "question", ["What do we know about SHOP-12?", "SHOP-12", "shop-12 status?", "SHOP-12 是什么任务？"]
)
def test_little_more_than_an_entity_gets_the_passages_that_name_it(oracle: Oracle, question: str) -> None:
    assert quoted(oracle, question) == [POLICY, OPENED, TIED]


@pytest.mark.parametrize(
    "question",
    [
        "SHOP-12 retries",
        "Tell me what we know about the retries of SHOP-12",
        "How many times do payment calls retry in SHOP-12?",
    ],
)
def test_what_is_asked_of_an_entity_is_looked_for_in_its_records(oracle: Oracle, question: str) -> None:
    found = quoted(oracle, question)
    assert found[0] == POLICY
    assert "images" not in [name for name, _ in found]


@pytest.mark.parametrize(
    "question",
    [
        "What did commit fec9c39 do?",
        "fec9c39aabb",
        "What does src/pay/breaker.py do?",
        "提交 fec9c39 改了什么",
        "breaker.py",
    ],
)
def test_a_record_on_several_commits_is_quoted_where_it_names_the_one(oracle: Oracle, question: str) -> None:
    assert quoted(oracle, question) == [BREAKER]


@pytest.mark.parametrize("question", ["What does commit 58a9daf do?", "58A9DAF", "[KEY: base image]", "ImageEngine?"])
def test_other_entities(oracle: Oracle, question: str) -> None:
    assert [name for name, _ in quoted(oracle, question)] == ["base"]


def test_records_that_hold_all_come_first(oracle: Oracle) -> None:
    assert [name for name, _ in quoted(oracle, "SHOP-12 and SHOP-13")] == ["both", "retry-policy", "images", "log"]


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("How many times do payment calls retry in SHOP-999?", "SHOP-999"),
        ("How does src/nosuch.py retry payment calls?", "src/nosuch.py"),
        ("What does commit 58a9dae do?", "58a9dae"),
        ("Payment calls retry after 550e8400-e29b-41d4-a716-446655440000?", "550e8400-e29b-41d4-a716-446655440000"),
        ("Which calls retry in SHOP-12 and SHOP-1?", "SHOP-1"),
        ("What runs on k8s version 1.20?", "1.20"),
        ("What runs on k8s 3f9a?", "3f9a"),
    ],
)
def test_an_entity_that_no_record_holds_is_said(oracle: Oracle, question: str, unknown: str) -> None:
    reply = oracle.answer(question)
    assert (reply.status, reply.unknown, reply.claims) == ("not_in_memory_db", (unknown,), ())
    assert f"no record names {unknown} (" in reply.reason


def test_a_version_is_known_with_its_letter_and_without(oracle: Oracle) -> None:
    for question in ("What runs on k8s version 1.2?", "What runs on k8s v1.2?"):
        assert [name for name, _ in quoted(oracle, question)] == ["base"]


def test_what_the_records_of_an_entity_do_not_say_is_not_answered_by_others(oracle: Oracle) -> None:
    assert oracle.answer("Which backoff follows exponential payment failures in SHOP-13?").status == "candidates"
    names = [name for name, _ in quoted(oracle, "How do payment calls retry with exponential backoff in SHOP-13?")]
    assert set(names) <= {"images", "both"}


def test_what_is_nearest_is_what_the_records_of_an_entity_say(oracle: Oracle) -> None:
    reply = oracle.answer("Which penguins swim in SHOP-13?")
    assert reply.status == "candidates"
    assert {item.record.slug for item in reply.claims} == {f"{SHOP}/builder/images", f"{SHOP}/builder/both"}


def test_an_entity_is_looked_for_in_the_project_and_seat_asked(oracle: Oracle) -> None:
    assert oracle.answer("What of SHOP-13?", seat="memory").unknown == ("SHOP-13",)
    assert quoted(oracle, "What of SHOP-12?", seat="memory") == [POLICY]


def test_what_stands_in_the_place_of_a_record_that_held_it_is_quoted(oracle: Oracle) -> None:
    reply = oracle.answer("What is SHOP-50?")
    assert [item.record.slug for item in reply.replaced] == [f"{SHOP}/builder/old"]
    assert [item.record.slug for item in reply.claims] == [f"{SHOP}/builder/new"]


def test_a_record_is_held_by_its_own_file(oracle: Oracle) -> None:
    assert [name for name, _ in quoted(oracle, "What does retry-policy.md say?")] == ["retry-policy"]


def test_a_search_puts_them_first_too(oracle: Oracle) -> None:
    slugs = [hit.record.slug.rpartition("/")[2] for hit in oracle.search("SHOP-13 payment calls retry backoff")]
    assert set(slugs[:2]) == {"both", "images"}
    assert "retry-policy" in slugs[2:]


def test_a_question_of_function_words_has_nothing_to_look_for(oracle: Oracle) -> None:
    for question in ("the", "what is it?", "???"):
        reply = oracle.answer(question)
        assert (reply.status, reply.claims, reply.nearest) == ("not_in_memory_db", (), ())
        assert reply.reason == "the question has no word to look for"


@pytest.mark.parametrize(
    ("question", "status", "names"),
    [
        ("What was decided on SHOP-12?", "answered", ["retry-policy"]),
        ("SHOP-12 决定了什么？", "answered", ["retry-policy"]),
        ("What decisions are there about SHOP-12?", "answered", ["retry-policy"]),
        ("What was planned for SHOP-13?", "candidates", ["both", "images"]),
    ],
)
def test_a_kind_in_the_question_keeps_the_records_of_that_kind(
    oracle: Oracle, question: str, status: str, names: list[str]
) -> None:
    reply = oracle.answer(question)
    assert reply.status == status
    assert sorted(item.record.slug.rpartition("/")[2] for item in reply.claims) == sorted(names)


def test_a_note_that_retires_a_record_is_no_certain_answer(oracle: Oracle) -> None:
    oracle.retire(f"{SHOP}/builder/images", "Zephyr does it.")
    assert oracle.answer("Why was Zephyr taken?").confidence < 0.99
