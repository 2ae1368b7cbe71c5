"""Experiences on a Root: written as records, recalled by the gate and the score, and never among memories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.experiences.add import add
from oracle.app.experiences.recall import explain, recall
from oracle.app.memories import keep, packets
from oracle.app.records.retire import retire
from oracle.app.search import search as searching
from oracle.app.search.search import search
from oracle.domain.experiences.experience import Experience
from oracle.domain.names import SHARED
from oracle.domain.records.memories import Given
from oracle.domain.records.packets import Request
from oracle.domain.values import replace
from oracle.errors import SecretFound, UsageError
from tests.laws.ledger import assert_like_rebuilt

RETRIES = Experience(
    "Webhook retries need a fake clock",
    "When the retry logic of the webhooks or its tests change.",
    "- Inject the clock.\n- Run tests/test_retry.py twice.",
    "Avoid sleeping in a test.\nCheck that no test takes a second.",
)
BACKUP = Experience(
    "迁移数据库前先备份", "把数据库从 MySQL 迁移到 Postgres 时。", "先导出备份，再分批迁移。", "避免在一个事务里迁移。"
)
PROMPT = "Fix the failing webhook retry test in src/webhooks/retry.py"


@pytest.fixture
def oracle(root: Path) -> Iterator[Oracle]:
    with Oracle.open(str(root)) as opened:
        yield opened


def switch_on(oracle: Oracle, **more: float) -> None:
    lines = [f"{name} = {value}" for name, value in more.items()]
    Path(oracle.root.join("config.toml")).write_text("\n".join(["[experience]", "enabled = true", *lines]), "utf-8")


def titles(oracle: Oracle, prompt: str, **more: object) -> list[str]:
    return [item.title for item in recall(oracle, prompt, **more)]  # type: ignore[arg-type]


def test_an_experience_is_a_record_of_memory_s_that_is_recalled_for_its_task(oracle: Oracle) -> None:
    written = add(oracle, RETRIES, "shop", task_id="SHOP-7")
    switch_on(oracle)
    [item] = recall(oracle, PROMPT, project="shop")
    assert (item.slug, item.seat, item.status, item.title) == (written.slug, "memory", "open", RETRIES.title)
    assert item.text == RETRIES.rendered()
    assert Path(oracle.root.join(item.path)) == Path(written.path)
    assert item.path.startswith("projects/shop/experience/")
    assert item.lines == (1, len(Path(written.path).read_text("utf-8").splitlines()))
    assert 0.35 <= item.score <= 1
    assert_like_rebuilt(oracle)


def test_nothing_is_recalled_unless_it_is_switched_on_and_the_gate_opens(oracle: Oracle) -> None:
    add(oracle, RETRIES, "shop")
    assert titles(oracle, PROMPT) == []
    switch_on(oracle)
    question = "What is a webhook retry test?"
    assert titles(oracle, PROMPT) == [RETRIES.title]
    assert titles(oracle, question) == []
    assert titles(oracle, question, is_cron=True) == [RETRIES.title]


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        (PROMPT, [RETRIES.title]),
        ("请把订单数据库从 MySQL 迁移到 Postgres", [BACKUP.title]),
        ("Fix the flaky test of the login form in login_test.py", []),
        ("Refactor the config loader into its own module", []),
        (f"{PROMPT}\n\n" + "\n".join(f"  frame {number} of the interpreter" for number in range(60)), [RETRIES.title]),
    ],
)
def test_what_has_too_little_in_common_is_below_the_threshold(oracle: Oracle, prompt: str, wanted: list[str]) -> None:
    for experience in (RETRIES, BACKUP):
        add(oracle, experience, "shop")
    for number in range(12):
        keep.remember(oracle, Given("summary", f"Note {number}", f"The team met for the {number}th time."))
    switch_on(oracle)
    assert titles(oracle, prompt) == wanted


def test_a_project_s_prompt_recalls_its_own_and_shared_experiences(oracle: Oracle) -> None:
    for project in ("shop", "other", SHARED):
        add(oracle, Experience(f"{RETRIES.title} in {project}", RETRIES.situation, f"- For {project}."), project)
    switch_on(oracle, limit=9)
    named = [title.rpartition(" ")[2] for title in titles(oracle, PROMPT, project="shop")]
    assert sorted(named) == [SHARED, "shop"]
    assert len(titles(oracle, PROMPT)) == 3
    assert len(titles(oracle, PROMPT, project="unheard-of")) == 1


def test_the_same_lesson_is_recalled_once_and_no_more_than_the_limit(oracle: Oracle) -> None:
    for number in range(5):
        add(oracle, Experience(f"{RETRIES.title} {number}", RETRIES.situation, RETRIES.approach), "shop")
    switch_on(oracle)
    assert titles(oracle, PROMPT) == [f"{RETRIES.title} 4"]
    for number in range(5):
        add(oracle, Experience(f"{RETRIES.title}, {number}", RETRIES.situation, f"Way {number}."), "shop")
    assert len(titles(oracle, PROMPT)) == 3
    switch_on(oracle, limit=2)
    assert len(titles(oracle, PROMPT)) == 2
    switch_on(oracle, threshold=1)
    assert titles(oracle, PROMPT) == []
    found = explain(oracle, PROMPT)
    assert (found.verdict.recalls, len(found.recalled), len(found.below)) == (True, 0, 3)


def test_a_retired_or_superseded_experience_is_recalled_no_more(oracle: Oracle) -> None:
    first = add(oracle, RETRIES, "shop")
    switch_on(oracle)
    newer = Experience("Webhook retries take the clock of the app", RETRIES.situation, "Ask the app for its clock.")
    second = add(oracle, newer, "shop", supersedes=(first.slug,))
    assert titles(oracle, PROMPT) == [newer.title]
    retire(oracle, second.slug, "The app has no clock.")
    assert titles(oracle, PROMPT) == []


def test_an_experience_of_a_seat_s_own_folder_counts_too(oracle: Oracle) -> None:
    folder = Path(oracle.root.join("projects/shop/builder/lessons"))
    folder.mkdir(parents=True)
    text = f"---\nkind: Experience\ntitle: Ours\n---\n{RETRIES.body}\n"
    (folder / "ours.md").write_text(text, encoding="utf-8")
    switch_on(oracle)
    assert [(item.seat, item.title) for item in recall(oracle, PROMPT, project="shop")] == [("builder", "Ours")]


def test_a_search_finds_experiences_and_no_packet_or_list_of_memories_holds_one(oracle: Oracle) -> None:
    written = add(oracle, RETRIES, SHARED, task_id="SHOP-7")
    keep.remember(oracle, Given("procedure", "Retries of webhooks", "Retry a webhook twice.", task_id="SHOP-7"))
    assert written.slug in [hit.record.slug for hit in search(oracle, "webhook retry clock")]
    for role in ("planner", "executor", "critic", "responder"):
        routed = packets.route(oracle, Request("Fix the webhook retry clock", role, task_id="SHOP-7"))
        assert written.slug not in [choice.memory.id for choice in routed.packet.selected]
    assert written.slug not in [seen.memory.id for seen in keep.list_memories(oracle)]


def test_a_secret_in_an_experience_is_refused(oracle: Oracle) -> None:
    with pytest.raises(SecretFound):
        add(oracle, Experience("T", "S", "Use ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2), "shop")


@pytest.mark.parametrize(
    "settings",
    ["experience = 3", "[experience]\nenabled = 1", "[experience]\nlimit = 0", "[experience]\nlimit = 2.5",
     "[experience]\nthreshold = 2", "[experience]\nthreshold = true", "[experience]\nmore = 1"],
)  # fmt: skip
def test_settings_that_mean_nothing_are_refused_and_doctor_names_them(oracle: Oracle, settings: str) -> None:
    oracle.init()
    Path(oracle.root.join("config.toml")).write_text(settings, encoding="utf-8")
    with pytest.raises(UsageError, match="experience"):
        recall(oracle, PROMPT)
    assert any("experience" in check.detail for check in oracle.doctor() if check.name == "settings")


@pytest.mark.parametrize(
    ("nearness", "loads_models", "is_recalled"),
    [(5.0, True, True), (3.5, True, True), (2.0, True, False), (5.0, False, False)],
)
def test_nearness_in_meaning_recalls_without_a_word_in_common(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch, nearness: float, loads_models: bool, is_recalled: bool
) -> None:
    add(oracle, RETRIES, "shop")
    add(oracle, BACKUP, "shop")
    switch_on(oracle)
    near = [replace(hit, nearness=nearness) for hit in search(oracle, "fake clock", {"kind": "experience"})]
    monkeypatch.setattr(searching, "has_meaning", lambda _: True)
    monkeypatch.setattr(searching, "search", lambda *_, **__: near)
    oracle.loads_models = loads_models
    found = titles(oracle, "Debug the flaky callbacks of payment.py", project="shop")
    assert found == ([RETRIES.title] if is_recalled else [])
