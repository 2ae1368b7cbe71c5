"""The entities that a question names, and which texts name them."""

from __future__ import annotations

import pytest

from oracle.domain.links.entity_query import EntityQuery, entities_in, without
from oracle.domain.links.links import Patterns

UUID = "550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What do we know about SHOP-12?", [("taskid", "SHOP-12")]),
        ("is shop-12 done", [("taskid", "shop-12")]),
        ("GH#12 and #13", [("taskid", "GH#12"), ("taskid", "#13")]),
        ("What did commit fec9c39 do?", [("commit", "fec9c39")]),
        ("What does 58a9daf do?", [("commit", "58a9daf")]),
        ("提交58a9daf做了什么", [("commit", "58a9daf")]),
        ("commit 1234567", [("commit", "1234567")]),
        ("How does `src/app.py` start?", [("file", "src/app.py")]),
        ("[KEY: pay retry] is what?", [("key", "pay retry")]),
        ("Why a PaymentEngine?", [("component", "PaymentEngine")]),
        (f"Who is {UUID}?", [("uuid", UUID)]),
        ("SHOP-12 in src/app.py", [("taskid", "SHOP-12"), ("file", "src/app.py")]),
        ("UTF-8, 1.20, k8s, 3f9a and 20240101: defaced?", []),
        ("Which retry policy did we choose?", []),
    ],
)
def test_what_a_question_names(text: str, found: list[tuple[str, str]]) -> None:
    assert [(asked.space, asked.text) for asked in entities_in(text)] == found


def test_what_may_as_well_be_words_is_not_sure() -> None:
    assert [asked.is_sure for asked in entities_in("SHOP-12 or shop-13")] == [True, False]


def test_the_patterns_of_a_project_say_what_is_a_task() -> None:
    patterns = Patterns(task_prefixes=frozenset({"SHOP"}))
    assert [asked.text for asked in entities_in("SHOP-1 and FOO-2 and foo-3", patterns)] == ["SHOP-1"]


@pytest.mark.parametrize(
    ("asked", "text", "stands"),
    [
        (EntityQuery("SHOP-1", "taskid"), "See SHOP-1.", True),
        (EntityQuery("shop-1", "taskid"), "See SHOP-1.", True),
        (EntityQuery("SHOP-1", "taskid"), "See SHOP-12, XSHOP-1 and SHOP-1-a.", False),
        (EntityQuery("fec9c39", "commit"), "fec9c39aa11bb22 it was", True),
        (EntityQuery("fec9c39aa11", "commit"), "fec9c39 it was", True),
        (EntityQuery("fec9c39aa11", "commit"), "fec9c39bb it was", False),
        (EntityQuery("app.py", "file"), "in src/app.py", True),
        (EntityQuery("app.py", "file"), "in src/myapp.py and app.pyc", False),
        (EntityQuery("#12", "taskid"), "see #12", True),
        (EntityQuery("#12", "taskid"), "see #123", False),
        (EntityQuery("重试", "key"), "见 [KEY: 重试]。", True),
    ],
)
def test_which_texts_name_it(asked: EntityQuery, text: str, *, stands: bool) -> None:
    assert asked.is_named_in(text) is stands


def test_a_commit_is_known_by_every_shorter_hash() -> None:
    asked = EntityQuery("FEC9C39AA", "commit")
    assert asked.targets == tuple(f"entity:commit:{name}" for name in ("fec9c39aa", "FEC9C39AA", "fec9c39", "fec9c39a"))
    assert asked.beginning == "entity:commit:fec9c39aa"


def test_what_is_left_of_a_question() -> None:
    text = "Why did SHOP-1 follow SHOP-12?"
    assert without(text, entities_in(text)).split() == ["Why", "did", "follow", "?"]
