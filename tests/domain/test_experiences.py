"""Experiences: what is read from a record, how it is rendered, and which prompts the gate lets pass."""

from __future__ import annotations

import time
from typing import Any

import pytest

from oracle.domain.experiences import experience as rules
from oracle.domain.experiences import gate
from oracle.domain.experiences.experience import Experience
from oracle.domain.injection import prompts
from oracle.errors import UsageError

# The record -----------------------------------------------------------------------------------------------------------

BODIES = {
    "its own headings": "## Situation\n\nRetries change.\n\n## Approach\n\n- Fake the clock.\n\n## Reflect\n\nAvoid sleep.",
    "any level, any case": "# SITUATION:\nRetries change.\n### **Approach**\n- Fake the clock.\n#### reflection\nAvoid sleep.",
    "Chinese": "## 情境\n\nRetries change.\n\n## 做法\n\n- Fake the clock.\n\n## 反思\n\nAvoid sleep.",
    "headings below": "## Situation\n\n### Where\n\nRetries change.\n\n## Approach\n- Fake the clock.\n## Reflect\nAvoid sleep.",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_parts_are_read_from_their_headings(body: str) -> None:
    found = rules.read("Retries", body)
    assert (found.situation, found.approach, found.reflect) == ("Retries change.", "- Fake the clock.", "Avoid sleep.")
    assert found.summary == ""


def test_what_is_written_is_read_back_and_a_heading_in_a_fence_is_none() -> None:
    given = Experience("T", "When it is.", "- Do it.\n\n```\n## Reflect\n```", "Check it.")
    assert rules.read("T", given.body) == given


FALLBACKS = [
    (Experience("T", "S", "A", "R"), {"Trigger": "S", "Do": "A", "Avoid": "R", "Scope": "S", "Check": "R"}),
    (Experience("T", "", "A", "R"), {"Trigger": "T", "Do": "A", "Avoid": "R", "Scope": "T", "Check": "R"}),
    (
        Experience("T", "S", "", "R", "Words."),
        {"Trigger": "S", "Do": "Words.", "Avoid": "R", "Scope": "S", "Check": "R"},
    ),
    (Experience("T", "S", "", "R"), {"Trigger": "S", "Do": "T", "Avoid": "R", "Scope": "S", "Check": "R"}),
    (
        Experience("T", "S", "A", ""),
        {"Trigger": "S", "Do": "A", "Avoid": "No pitfall is recorded.", "Scope": "S", "Check": "A"},
    ),
    (
        Experience("T", "S", "A", "- Avoid B.\n- Check C.\n- 检查 D"),
        {"Trigger": "S", "Do": "A", "Avoid": "Avoid B.", "Scope": "S", "Check": "Check C.\n- 检查 D"},
    ),
    (
        Experience("T", "S", "", "Check C."),
        {"Trigger": "S", "Do": "T", "Avoid": "Check C.", "Scope": "S", "Check": "Check C."},
    ),
]


@pytest.mark.parametrize(("given", "parts"), FALLBACKS)
def test_no_part_is_empty(given: Experience, parts: dict[str, str]) -> None:
    assert given.rendered() == "\n".join(f"{name}:\n- {text}" for name, text in parts.items())


def test_a_text_without_headings_is_a_summary() -> None:
    found = rules.read("T", "One.\n\nTwo.")
    assert found == Experience("T", summary="One.\n\nTwo.")
    assert "Do:\n- One.\n- Two.\n" in found.rendered()


def test_a_long_part_is_cut_to_a_few_short_lines() -> None:
    parts = Experience("T", "x" * 2000, "\n".join(f"- {number}" for number in range(50)), "R").rendered().split("\n")
    assert max(map(len, parts)) <= 302
    assert parts[parts.index("Do:") + 1 : parts.index("Avoid:")] == [f"- {number}" for number in range(5)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Experience(" ", "S", "A"), "title is empty"),
        (Experience("T", " ", "A"), "situation is missing"),
        (Experience("T", "S", "", " "), "approach and the reflection are missing"),
    ],
)
def test_an_experience_that_says_too_little_is_not_written(given: Experience, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rules.draft(given, "shop")


LESSONS = [
    ({"worked": ["a"], "failed": ["b"]}, Experience("G", "G", "- a", "- b")),
    ({"worked": ["a"], "lessons": ["b", "b"], "next_time": ["c"]}, Experience("G", "G", "- a", "- b\n- c")),
    ({"failed": ["b"], "next_time": ["c"]}, Experience("G", "G", "- c", "- b")),
    ({"worked": ["a"]}, None),
    ({"failed": ["b"], "lessons": ["c"]}, None),
    ({"worked": [" "], "failed": ["b"]}, None),
]


@pytest.mark.parametrize(("fields", "wanted"), LESSONS)
def test_a_reflection_holds_an_experience_if_it_says_what_to_do_and_what_was_learned(fields, wanted) -> None:
    given = dict.fromkeys(("worked", "failed", "lessons", "next_time"), ()) | fields
    assert rules.from_lesson("G", **given) == wanted


# The gate -------------------------------------------------------------------------------------------------------------

ALL = {"side_effect": 3, "execution": 2, "failure": 2, "object": 2, "experience": 1, "chat": -3, "knowledge": -2}
PARTS = [
    ("Deploy it on Monday morning", {"side_effect"}),
    ("Migrating to the new vendor", {"side_effect"}),
    ("请在周一之前把它迁移过去好吗", {"side_effect"}),
    ("Please debug this before lunch", {"execution"}),
    ("把那个东西重构得更清楚一些吧", {"execution"}),
    ("It crashed again this morning", {"failure"}),
    ("昨天晚上又崩溃了一次真奇怪啊", {"failure"}),
    ("The one in src/shop/cart.py is mine", {"object"}),
    ("那个接口是我上周和大家商量过的", {"object"}),
    ("Any lessons for the two of us", {"experience"}),
    ("这次大家有什么经验可以分享一下", {"experience"}),
    ("Translate the letter into German", {"chat"}),
    ("请翻译下面这一段德语给我看看吧", {"chat"}),
    ("Good morning, my dear friend", {"chat"}),
    ("What is the capital of France?", {"knowledge"}),
    ("什么是光合作用？它有什么意义呢", {"knowledge"}),
    ("Fix the error that `retry()` gives", {"execution", "failure", "object"}),
    ("修复登录接口的报错，上次也踩坑了", {"execution", "failure", "object", "experience"}),
]


@pytest.mark.cases("gate")
def test_prompts_that_ask_for_work_recall_and_others_do_not(case: dict[str, Any]) -> None:
    """The prompts were written from the rules alone, in both languages."""
    assert gate.judge(case["prompt"]).recalls == case["recall"]


@pytest.mark.parametrize(("prompt", "parts"), PARTS)
def test_each_part_gives_its_points_once(prompt: str, parts: set[str]) -> None:
    found = gate.judge(prompt)
    assert {part.name: part.points for part in found.parts} == {name: ALL[name] for name in parts}
    assert found.score == sum(ALL[name] for name in parts)
    assert found.recalls == (found.score >= 3)
    assert found.reason == "score"


ACTIONS = [
    ("Test the parser with three files", True),
    ("We looked at the test results today", False),
    ("Release version two to everybody", True),
    ("Where are the release notes of May?", False),
    ("Explain how to deploy a web shop", False),
    ("How do I deploy a web shop myself?", True),
    ("Don't delete anything of it today", False),
    ("不要删除任何东西，谢谢你的好意", False),
    ("Without changing it, tell me more", False),
    ("解释一下怎么部署一个网上商店吧", False),
]


@pytest.mark.parametrize(("prompt", "acts"), ACTIONS)
def test_a_verb_counts_where_it_asks_for_an_action(prompt: str, acts: bool) -> None:
    names = {part.name for part in gate.judge(prompt).parts}
    assert bool(names & {"side_effect", "execution"}) == acts


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("Fix a.py now", "score"),
        ("Fix a.py ok", "short"),
        ("   Fix a.py ok     ", "short"),
        ("修复登录接口的报错吧呀", "short"),
        ('Fix a.py and b.py\n<oracle-context date="2026">', "envelope"),
        ("Fix a.py <ORACLE-CONTEXT>", "envelope"),
        ("<task-notification>fix the failing test</task-notification>", "system"),
        ("Fix a.py and b.py <system-reminder>x</system-reminder>", "system"),
        ("This session is being continued from a previous conversation: fix a.py", "system"),
    ],
)
@pytest.mark.parametrize("is_cron", [False, True])
def test_what_is_short_or_not_a_person_s_recalls_nothing(prompt: str, reason: str, is_cron: bool) -> None:
    found = gate.judge(prompt, is_cron=is_cron)
    assert found.reason == ("cron" if is_cron and reason == "score" else reason)
    assert found.recalls == (reason == "score")


@pytest.mark.parametrize(
    ("session", "is_cron"),
    [("agent:cron:7", True), ("a:cron:b", True), ("cron", False), ("", False), ("x:cron", False)],
)
def test_a_scheduled_session_is_known_by_its_id_and_always_recalls(session: str, is_cron: bool) -> None:
    assert prompts.is_cron(session, {}) == is_cron
    assert gate.judge("What is the capital of France?", is_cron=prompts.is_cron(session, {})).recalls == is_cron


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a/",
        "a.",
        "a-",
        "a_",
        "aA",
        "`a",
        "hi ",
        "so ",
        "write a b ",
        "give me ",
        "请",
        "把",
        "<system ",
        "\n",
        " x",
    ],
)
def test_the_gate_takes_time_in_proportion_to_the_text_at_most(piece: str) -> None:
    gate.judge("Fix the failing test in src/shop/cart.py 修复")
    start = time.process_time()
    gate.judge(piece * 20_000)
    assert time.process_time() - start < 0.5
