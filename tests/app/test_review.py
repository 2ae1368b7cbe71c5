"""What people should decide: near-duplicates, decisions on one topic, records whose subject was retired. Nothing is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.api import Oracle
from oracle.app.records.review import review
from oracle.app.records.write import write_all
from oracle.domain.records.drafts import Draft
from oracle.errors import NotInFederation

BUILDER, REVIEWER = "projects/arena/builder", "projects/arena/reviewer"
CLAIM = "Webhooks are retried five times with exponential backoff before they are parked in the dead letter queue."
SAME = "We retry webhooks five times, backing off exponentially, before parking them in the dead letter queue."


def put(root: Path, name: str, text: str) -> None:
    path = root / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def decision(title: str, body: str, ts: str = "2026-01-02", **fields: str) -> str:
    more = "".join(f"{key}: {text}\n" for key, text in fields.items())
    return f"---\nkind: decision\ntitle: {title}\nts: {ts}T00:00:00Z\n{more}---\n{body}\n"


def found(root: Path, project: str = "") -> list[tuple[str, str, str]]:
    with Oracle.open(str(root)) as oracle:
        remarks = review(oracle, project)
    return [(item.sort.value, *(end.slug.rpartition("/")[2] for end in (item.record, item.other))) for item in remarks]


@pytest.mark.parametrize("place", [BUILDER, REVIEWER, "projects/zoo/planner"])
def test_one_claim_in_other_words(root: Path, place: str) -> None:
    put(root, f"{BUILDER}/a", decision("Retries", CLAIM, ts="2026-01-01"))
    put(root, f"{place}/b", f"# How hooks are delivered\n\n{SAME}\n")
    put(root, f"{BUILDER}/c", "# Lunch\n\nSoup and bread, five days a week, before the queue gets long.\n")
    assert found(root) == [("near-duplicate", "b", "a")]


WORDS = [f"w{number:03}x" for number in range(200)]


@pytest.mark.parametrize(
    ("size", "common", "is_duplicate"),
    [(20, 0.5, False), (20, 0.6, False), (20, 0.75, True), (100, 0.5, False), (100, 0.75, False), (100, 0.9, True)],
)
def test_common_words_alone_are_no_duplicate(root: Path, size: int, common: float, is_duplicate: bool) -> None:
    shared = int(
        2 * size * common / (1 + common)
    )  # of two texts of `size` words, so that `common` is their Jaccard index
    one, other = WORDS[:size], WORDS[size - shared : 2 * size - shared]
    put(root, f"{BUILDER}/a", decision("First", " ".join(one), ts="2026-01-01"))
    put(root, f"{REVIEWER}/b", f"---\ntitle: Second\n---\n{' '.join(other)}\n")
    assert found(root) == ([("near-duplicate", "b", "a")] if is_duplicate else [])


def test_in_chinese(root: Path) -> None:
    put(root, f"{BUILDER}/a", decision("写锁", "整个根目录只有一把写锁，由持有者写明进程号。", ts="2026-01-01"))
    put(root, f"{REVIEWER}/b", decision("锁", "根目录只有一把写锁，持有者写明进程号。"))
    put(root, f"{REVIEWER}/c", decision("午饭", "今天中午吃面条，明天吃饺子。"))
    assert found(root) == [("near-duplicate", "b", "a")]


RELATIONS = ("supersedes", "contradicts", "extends", "supports", "derived_from", "retires")


@pytest.mark.parametrize("relation", RELATIONS)
def test_records_that_say_how_they_stand_are_settled(root: Path, relation: str) -> None:
    put(root, f"{BUILDER}/a", decision("Retry webhooks", CLAIM, ts="2026-01-01"))
    put(root, f"{BUILDER}/b", decision("Retry webhooks", SAME, **{relation: f"{BUILDER}/a"}))
    assert found(root) == []


def test_decisions_on_one_topic(root: Path) -> None:
    put(root, f"{BUILDER}/a", decision("Choose the queue for webhooks", "RabbitMQ, since we run it.", ts="2026-01-01"))
    put(root, f"{REVIEWER}/b", decision("Choose the webhooks queue", "Postgres will do."))
    put(root, f"{REVIEWER}/c", decision("Choose the queue for webhooks", "Kafka.", ts="2026-01-03", project="zoo"))
    put(root, f"{REVIEWER}/d", "---\nkind: finding\ntitle: The queue for webhooks\n---\nIt is slow.\n")
    assert found(root) == [("one-topic", "b", "a")]


def test_likeness_is_what_was_measured(root: Path) -> None:
    put(root, f"{BUILDER}/a", decision("Choose the queue", "RabbitMQ, since we run it.", ts="2026-01-01"))
    put(root, f"{REVIEWER}/b", decision("Choose the queue", "Postgres will do."))
    put(root, f"{REVIEWER}/on", f"---\nts: 2026-01-02T00:00:00Z\nextends: {BUILDER}/old\n---\nIt holds.\n")
    put(root, f"{BUILDER}/old", decision("Lunch", "Soup.", ts="2026-01-01"))
    put(root, f"{BUILDER}/new", decision("Dinner", "Bread.", ts="2026-01-05", supersedes=f"{BUILDER}/old"))
    with Oracle.open(str(root)) as oracle:
        remarks = [remark.as_json() for remark in review(oracle)]
    assert [(item["kind"], item["likeness"]) for item in remarks] == [("one-topic", 1.0), ("retired-subject", None)]


def test_a_subject_that_was_retired_afterwards(root: Path) -> None:
    put(root, f"{BUILDER}/subject", decision("Retry five times", CLAIM, ts="2026-01-01"))
    put(
        root,
        f"{REVIEWER}/on",
        f"---\nts: 2026-01-02T00:00:00Z\nextends: {BUILDER}/subject\n---\nIt holds for mail too.\n",
    )
    put(
        root,
        f"{REVIEWER}/about",
        "---\nts: 2026-01-02T00:00:00Z\n---\n# Retry five times, measured\n\nSee [[subject]].\n",
    )
    put(root, f"{REVIEWER}/aside", "---\nts: 2026-01-02T00:00:00Z\n---\n# Lunch\n\nAs [[subject]] says.\n")
    put(root, f"{REVIEWER}/later", f"---\nts: 2026-01-09T00:00:00Z\nsupports: {BUILDER}/subject\n---\nStill right.\n")
    assert found(root) == []
    put(
        root,
        f"{BUILDER}/newer",
        decision("Never retry", "The provider does it.", ts="2026-01-05", supersedes=f"{BUILDER}/subject"),
    )
    assert found(root) == [("retired-subject", "about", "subject"), ("retired-subject", "on", "subject")]


def test_of_one_project(root: Path) -> None:
    put(root, f"{BUILDER}/a", decision("A", CLAIM, ts="2026-01-01"))
    put(root, "projects/zoo/planner/b", decision("B", SAME))
    put(root, "projects/moon/planner/x", "x")
    assert found(root, "arena") == found(root, "zoo") == [("near-duplicate", "b", "a")]
    assert found(root, "moon") == []
    with pytest.raises(NotInFederation):
        found(root, "nowhere")


def test_a_write_tells_and_refuses_nothing(root: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        first = oracle.write(Draft("decision", "arena", "Retry webhooks", body=CLAIM))
        assert first.warnings == ()
        second = oracle.write(Draft("decision", "arena", "Hooks", body=SAME))
        assert [line for line in second.warnings if "nearly the same" in line and first.slug in line]
        settled = oracle.write(
            Draft("decision", "arena", "Hooks again", body=SAME, supersedes=(first.slug, second.slug))
        )
        assert settled.warnings == ()
        assert Path(second.path).exists()


def test_many_records_are_compared_without_all_pairs(root: Path) -> None:
    """Words that everybody uses find nobody; the pair that shares rare ones is found among them."""
    with Oracle.open(str(root)) as oracle:
        drafts = [
            Draft("task", "arena", f"Step {number}", body=f"Do the usual thing {number * 7919}.")
            for number in range(200)
        ]
        write_all(
            oracle,
            [*drafts, Draft("decision", "arena", "Retries", body=CLAIM), Draft("plan", "zoo", "Hooks", body=SAME)],
        )
        pairs = {(item.other.title, item.record.title) for item in review(oracle)}
    assert ("Retries", "Hooks") in pairs or ("Hooks", "Retries") in pairs
