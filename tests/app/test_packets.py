"""Packets and memories over a Root: what users of the routing skill are promised, and what else must hold on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oracle.api import Oracle
from oracle.app.memories import keep, packets
from oracle.app.memories.keep import Lesson, inspect, list_memories, reflect, refresh
from oracle.app.memories.packets import Routed
from oracle.app.records.listing import list_problems
from oracle.domain.records.drafts import Draft
from oracle.domain.records.memories import KINDS, Given
from oracle.domain.records.packets import CAPS, MOST_SELECTED, Request
from oracle.errors import InvalidName, NotInFederation, NotInMemory, OwnershipError, SecretFound, UsageError
from oracle.store.delivery import packets as store
from oracle.store.markdown import markdown
from tests.laws.ledger import Clock, assert_like_rebuilt
from tests.laws.recorder import judge, recording

MOMENT = 1_790_000_000_000_000_000
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2


@pytest.fixture
def clock() -> Clock:
    return Clock(frozen_ns=MOMENT)


@pytest.fixture
def oracle(root: Path, clock: Clock) -> Iterator[Oracle]:
    with Oracle.open(str(root), clock=clock) as opened:
        yield opened


def remember(oracle: Oracle, kind: str, title: str, summary: str = "", **more: Any) -> str:
    """Keep a memory a minute after the last one, so that the same words again are a new one; return its id."""
    oracle.clock.advance(61)  # type: ignore[attr-defined]
    return keep.remember(oracle, Given(kind, title, summary or title, **more)).memories[0]


def route(oracle: Oracle, role: str, goal: str, **more: Any) -> Routed:
    return packets.route(oracle, Request(goal, role, **more))


def texts(routed: Routed, section: str) -> list[str]:
    return [item.text for item in routed.packet.sections[section]]


def ids(routed: Routed) -> list[str]:
    return [choice.memory.id for choice in routed.packet.selected]


# What users are promised ----------------------------------------------------------------------------------------------


def test_a_durable_preference_reaches_a_planner_of_another_task(oracle: Oracle) -> None:
    rule = remember(oracle, "preference", "Small commits", "Always commit in small steps.", task_id="T-1")
    routed = route(oracle, "planner", "Migrate the invoices to the new schema", task_id="T-2")
    assert texts(routed, "hard_constraints") == ["Always commit in small steps."]
    assert ids(routed) == [rule]
    assert routed.packet.blocks == ("durable_global",)


def test_an_executor_keeps_the_rule_and_the_procedure(oracle: Oracle) -> None:
    remember(oracle, "preference", "No force push", "Never force-push to main.")
    remember(oracle, "procedure", "Release", "How to release", details={"steps": ["run the tests", "tag"]})
    for number in range(12):
        remember(oracle, "episode", f"Release {number} of billing", f"Released billing {number}", task_id="T-1")
    routed = route(oracle, "executor", "Release billing", task_id="T-1")
    assert texts(routed, "hard_constraints") == ["Never force-push to main."]
    assert texts(routed, "procedures_to_follow") == ["How to release. Steps: 1. run the tests 2. tag"]
    assert texts(routed, "relevant_facts")


def test_steps_that_worked_become_a_procedure_for_the_next_task(oracle: Oracle) -> None:
    kept = reflect(
        oracle,
        Lesson(
            "Migrate the ledger", "done", ("dump first", "migrate in batches"), ("one transaction",), task_id="ARENA-1"
        ),
    )
    reflection, procedure = kept.memories
    assert inspect(oracle, procedure).edges == (("derived_from", reflection),)
    assert kept.edges == (f"{procedure} derived_from {reflection}",)
    planner = route(oracle, "planner", "Migrate the accounts", task_id="ARENA-2")
    assert "1. dump first 2. migrate in batches" in texts(planner, "procedures_to_follow")[0]
    critic = route(oracle, "critic", "Migrate the accounts", task_id="ARENA-2")
    assert texts(critic, "pitfalls_to_avoid") == [
        "Failed: one transaction. Outcome: done. Worked: dump first; migrate in batches."
    ]


def test_a_replaced_memory_is_inactive_linked_forward_and_says_why(oracle: Oracle) -> None:
    old = remember(oracle, "preference", "Tabs", "Indent with tabs.")
    before = Path(oracle.root.join(f"{old}.md")).read_bytes()
    kept = keep.remember(
        oracle, Given("preference", "Blanks", "Indent with blanks.", replaces="tabs", reason="The team voted.")
    )
    seen = inspect(oracle, old)
    assert (seen.is_active, seen.replaced_by, seen.retired_reason) == (False, kept.memories[0], "The team voted.")
    assert kept.retired == (old,)
    assert Path(oracle.root.join(f"{old}.md")).read_bytes() == before
    assert texts(route(oracle, "planner", "Indent with tabs"), "hard_constraints") == ["Indent with blanks."]


def test_what_was_replaced_before_is_said_with_what_stands_in_its_place(oracle: Oracle) -> None:
    old = remember(oracle, "preference", "Tabs", "Indent with tabs.")
    first = keep.remember(oracle, Given("preference", "Blanks", "Indent with blanks.", replaces=old))
    second = keep.remember(oracle, Given("preference", "Two blanks", "Indent with two.", replaces=first.memories[0]))
    third = keep.remember(oracle, Given("preference", "Four blanks", "Indent with four.", replaces=old))
    assert [kept.warnings for kept in (first, second)] == [(), ()]
    assert third.warnings[0].startswith(f"{old} was replaced before, by {second.memories[0]}; ")
    assert third.retired == (old,)


def test_a_replacement_by_a_refresh_counts_and_a_retirement_without_one_does_not(oracle: Oracle) -> None:
    old, gone, new = (remember(oracle, "preference", title) for title in ("Tabs", "Spaces", "Blanks"))
    refresh(oracle, [old], replacement=new)
    refresh(oracle, [gone])
    again = keep.remember(oracle, Given("preference", "Four blanks", "Indent with four.", replaces=old))
    assert new in again.warnings[0]
    assert keep.remember(oracle, Given("preference", "Eight", "Indent with eight.", replaces=gone)).warnings == ()


def test_a_newer_memory_ranks_above_the_stronger_one_that_it_contradicts(oracle: Oracle) -> None:
    strong = {"importance": 1.0, "confidence": 1.0, "success_score": 1.0}
    old = remember(oracle, "preference", "Deploy on Friday", "Deploy the shop on Friday evening.", **strong)
    alone = remember(oracle, "preference", "Deploy by hand", "Deploy the shop never.", importance=0.2, confidence=0.2)
    before = {
        choice.memory.id: choice.score
        for choice in route(oracle, "planner", "Deploy the shop on Friday").packet.selected
    }
    assert before[old] > before[alone]
    new = remember(
        oracle, "preference", "No deploy", "Deploy the shop on no day.", importance=0.2, confidence=0.2,
        edges=(("contradicts", old),),
    )  # fmt: skip
    after = {
        choice.memory.id: choice.score
        for choice in route(oracle, "planner", "Deploy the shop on Friday").packet.selected
    }
    assert after[new] > after[old]
    assert after[old] < before[old]
    assert after[new] >= before[alone]


def test_what_contradicts_a_hit_comes_in_though_the_goal_does_not_name_it(oracle: Oracle) -> None:
    old = remember(oracle, "summary", "Queue", "The queue is drained by cron.")
    new = remember(oracle, "summary", "Workers", "Everything runs at once now.", edges=(("contradicts", old),))
    assert ids(route(oracle, "planner", "How is the queue drained by cron?"))[0] == new


def test_of_two_similar_procedures_the_supported_one_wins(oracle: Oracle) -> None:
    weak = remember(oracle, "procedure", "Restore A", "Restore the backup of the ledger with tool A.")
    newer = remember(oracle, "procedure", "Restore B", "Restore the backup of the ledger with tool B.")
    goal = "Restore the backup of the ledger"
    assert ids(route(oracle, "executor", goal))[:2] == [newer, weak]
    remember(oracle, "episode", "It worked", "Done with A twice.", edges=(("supports", weak),))
    assert ids(route(oracle, "executor", goal))[:2] == [weak, newer]


def test_with_dozens_of_memories_every_cap_holds(oracle: Oracle) -> None:
    for number in range(10):
        for kind in KINDS:
            remember(oracle, kind, f"{kind} {number} of the search", f"About the search, {number}.", session_id="S")
    for role in ("planner", "executor", "critic", "responder"):
        more = {
            name: tuple(f"{name} {number}" for number in range(9)) for name in ("constraints", "failures", "questions")
        }
        for given in ({}, more):
            routed = route(oracle, role, "Build the search", session_id="S", **given)
            assert len(ids(routed)) == MOST_SELECTED
            assert {name for name, items in routed.packet.sections.items() if len(items) > CAPS[name]} == set()
            assert any(item.id for item in routed.packet.sections["hard_constraints"])


def test_routing_twice_gives_the_same_packet(oracle: Oracle) -> None:
    for kind in KINDS:
        remember(oracle, kind, f"A {kind} of the search")
    first, second = (route(oracle, "executor", "search").as_json() for _ in range(2))
    assert first == second
    assert [content["packet_id"] for content in packets.kept(oracle, 10)] == [first["packet_id"]]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda oracle: route(oracle, "boss", "x"), "role 'boss' is unknown"),
        (lambda oracle: route(oracle, "global", "x"), "role 'global' is unknown"),
        (lambda oracle: route(oracle, "", "x"), "role is missing"),
        (lambda oracle: route(oracle, "critic", " "), "goal is missing"),
        (lambda oracle: remember(oracle, "opinion", "x"), "memory_type 'opinion' is unknown"),
        (lambda oracle: remember(oracle, "", "x"), "memory_type is missing"),
        (lambda oracle: remember(oracle, "summary", " ", "x"), "title is missing"),
        (lambda oracle: remember(oracle, "summary", "x", " "), "summary is missing"),
        (lambda oracle: remember(oracle, "summary", "x", role_scope="boss"), "role_scope 'boss' is unknown"),
        (lambda oracle: remember(oracle, "summary", "x", level=4), "abstraction_level 4"),
        (lambda oracle: remember(oracle, "summary", "x", importance=1.5), "importance is 1.5"),
        (lambda oracle: remember(oracle, "summary", "x", valid_to="soon"), "valid_to 'soon'"),
        (lambda oracle: remember(oracle, "summary", "x", edges=(("likes", "x"),)), "edge_type 'likes' is unknown"),
        (lambda oracle: remember(oracle, "summary", "x", session_id="a]b"), "session id 'a]b'"),
        (lambda oracle: reflect(oracle, Lesson(" ", "done")), "goal is missing"),
        (lambda oracle: reflect(oracle, Lesson("x")), "nothing to reflect on"),
        (lambda oracle: refresh(oracle, []), "stale_memory_ids is empty"),
    ],
)  # fmt: skip
def test_a_wrong_word_is_said_and_nothing_is_written(oracle: Oracle, root: Path, call: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        call(oracle)
    assert caught.value.hint
    assert list(root.rglob("*.md")) == []


@pytest.mark.parametrize(
    ("goal", "summary"),
    [
        ("怎么修复支付回调的重复通知", "支付回调会重复通知，用幂等键去重。"),
        ("数据库迁移", "数据库迁移分批进行，每批一千行。"),
        ("修复 ARENA-228 的死锁", "ARENA-228 的死锁来自两个写锁。"),
    ],
)
def test_a_goal_in_chinese_is_matched(oracle: Oracle, goal: str, summary: str) -> None:
    for number in range(6):
        remember(oracle, "summary", f"Note {number}", f"Something of no concern, {number}.")
    wanted = remember(oracle, "summary", "记录", summary)
    assert ids(route(oracle, "responder", goal)) == [wanted]


def test_retired_memories_never_appear(oracle: Oracle) -> None:
    stale = [remember(oracle, kind, f"The old {kind} of the cache") for kind in KINDS]
    kept = refresh(oracle, stale, reason="The cache is gone.")
    assert kept.retired == tuple(stale)
    for role in ("planner", "executor", "critic", "responder"):
        assert ids(route(oracle, role, "The old cache")) == []


# Refresh --------------------------------------------------------------------------------------------------------------


def test_refresh_retires_in_favour_of_a_replacement_without_touching_either(oracle: Oracle, root: Path) -> None:
    old, new = remember(oracle, "procedure", "Old way"), remember(oracle, "procedure", "New way")
    before = {path: path.read_bytes() for path in root.glob("shared/*/*.md")}
    kept = refresh(oracle, ["old-way"], replacement="new-way", reason="Measured.")
    assert (kept.retired, kept.replacement, kept.edges) == ((old,), new, (f"{new} contradicts {old}",))
    seen = inspect(oracle, old)
    assert (seen.is_active, seen.replaced_by, seen.retired_reason) == (False, new, "Measured.")
    assert ("contradicts", old) in inspect(oracle, new).edges
    assert inspect(oracle, new).is_active
    assert {path: path.read_bytes() for path in before} == before
    again = refresh(oracle, [old], replacement=new)
    assert (again.memories, again.retired, again.already) == ((), (), (old,))
    assert_like_rebuilt(oracle, oracle.clock)  # type: ignore[arg-type]


def test_refresh_refuses_a_replacement_that_is_none(oracle: Oracle) -> None:
    first, second = remember(oracle, "summary", "First"), remember(oracle, "summary", "Second")
    with pytest.raises(UsageError, match="can't replace itself"):
        refresh(oracle, [first], replacement=first)
    with pytest.raises(NotInMemory):
        refresh(oracle, [first], replacement="nowhere")
    refresh(oracle, [second])
    with pytest.raises(UsageError, match="no longer holds itself"):
        refresh(oracle, [first], replacement=second)
    assert inspect(oracle, first).is_active


def test_the_record_of_a_retirement_is_no_memory(oracle: Oracle) -> None:
    remember(oracle, "preference", "Use the old cache")
    refresh(oracle, ["use-the-old-cache"], reason="The cache is gone.")
    assert [seen.memory.title for seen in list_memories(oracle)] == ["Use the old cache"]
    assert texts(route(oracle, "planner", "Retire the old cache"), "hard_constraints") == []


# What a packet is made of ---------------------------------------------------------------------------------------------


def test_records_of_every_seat_are_read_by_their_kind(oracle: Oracle, root: Path) -> None:
    found = {
        "planner/p.md": ("decision", "hard_constraints", "planner"),
        "reviewer/findings/r.md": ("finding", "pitfalls_to_avoid", "critic"),
        "patrol/test-results/t.md": ("test_result", "relevant_facts", "executor"),
        "builder/b.md": ("finding", "relevant_facts", "planner"),
    }
    for path, (kind, _, _) in found.items():
        file = root / "projects/arena" / path
        file.parent.mkdir(parents=True)
        severity = "severity: HIGH\n" if "reviewer" in path else ""
        file.write_text(
            f"---\nkind: {kind}\ntitle: Of the renderer {kind}\n{severity}---\n\n# Renderer\n\nThe renderer leaks.\n"
        )
    for path, (kind, section, role) in found.items():
        routed = route(oracle, role, "Mend the renderer that leaks", project="arena")
        item = next(item for item in routed.packet.sections[section] if item.id == f"projects/arena/{path[:-3]}")
        assert item.text == f"Of the renderer {kind}: The renderer leaks."


def test_a_project_is_asked_with_what_is_shared_and_no_other(oracle: Oracle) -> None:
    wanted = {
        remember(oracle, "summary", "Lock of arena", "The lock is held."),
        remember(oracle, "summary", "Lock of arena too", "The lock is held by one.", project="arena"),
    }
    remember(oracle, "summary", "Lock elsewhere", "The lock is held by nobody.", project="other")
    assert set(ids(route(oracle, "planner", "lock", project="arena"))) == wanted
    assert len(ids(route(oracle, "planner", "lock"))) == 3
    with pytest.raises(NotInFederation):
        route(oracle, "planner", "nothing of the kind", project="nowhere")
    with pytest.raises(InvalidName):
        route(oracle, "planner", "lock", project="../arena")
    with pytest.raises(InvalidName):
        route(oracle, "planner", "lock", task_id="../x")


def test_what_two_records_say_word_for_word_is_given_once(oracle: Oracle) -> None:
    remember(oracle, "summary", "Lock of arena", "The lock is held.")
    newer = remember(oracle, "summary", "Lock of the arena", "The lock is held.")
    for _ in range(2):
        packet = route(oracle, "planner", "lock").packet
        assert [item.text for item in packet.sections["relevant_facts"]] == ["The lock is held."]
        assert [choice.memory.id for choice in packet.selected] == [newer]


def test_what_is_not_valid_yet_or_no_longer_is_left_out(oracle: Oracle, clock: Clock) -> None:
    remember(oracle, "preference", "Freeze", "No deploys.", valid_from="2030-01-01", valid_to="2030-01-31T12:00:00Z")
    seen = []
    for day in ("2029-12-31", "2030-01-15", "2030-02-01"):
        clock.frozen_ns, clock.offset_ns = int(float(_epoch(day)) * 1e9), 0
        seen.append(bool(ids(route(oracle, "planner", "deploy"))))
    assert seen == [False, True, False]


def _epoch(day: str) -> float:
    from oracle.domain import timestamps

    moment = timestamps.parse(day)
    assert moment is not None
    return moment.timestamp()


def test_notes_of_the_task_and_the_session_come_with_it(oracle: Oracle) -> None:
    raw = {"level": 0}
    task = remember(oracle, "episode", "Deadlock seen", "Two writers waited.", task_id="T-7", **raw)
    session = remember(oracle, "episode", "Asked twice", "The person asked twice.", session_id="agent:main:1", **raw)
    for number in range(30):
        remember(oracle, "episode", f"Unrelated {number}", f"Of no concern {number}.", session_id="other", **raw)
    routed = route(oracle, "executor", "Go on", task_id="T-7", session_id="agent:main:1")
    assert ids(routed)[:2] == [task, session]
    assert routed.packet.blocks[:2] == ("task_scoped", "session_scoped")


def test_without_anything_better_recent_notes_fill_the_packet(oracle: Oracle) -> None:
    notes = [remember(oracle, "episode", f"Note {number}", f"Of step {number}.") for number in range(5)]
    routed = route(oracle, "executor", "Carry on")
    assert routed.packet.blocks == ("recent_fallback",)
    assert ids(routed) == notes[:1:-1]


def test_a_record_that_goes_or_changes_is_read_as_it_is(oracle: Oracle, root: Path) -> None:
    gone, changed = (remember(oracle, "summary", f"{name} of the parser") for name in ("Fact", "Other"))
    route(oracle, "planner", "parser")
    (root / f"{gone}.md").unlink()
    path = root / f"{changed}.md"
    path.write_text(path.read_text().replace("\n\nOther of the parser", "\n\nThe parser is new"))
    assert texts(route(oracle, "planner", "parser"), "relevant_facts") == ["The parser is new"]


# On disk --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "record"), sorted(KINDS.items()))
def test_a_memory_is_a_record_of_its_kind_and_reads_back(oracle: Oracle, root: Path, kind: str, record: str) -> None:
    other = remember(oracle, "summary", "Another")
    given = Given(
        kind, "A title: of 'mine'", "What it\n\nsays", project="arena", author="me", role_scope="critic",
        session_id="agent:main:1", task_id="ARENA-1", level=1, importance=0.9, confidence=0.25, success_score=0.0,
        keywords=("锁", "lock"), tags=("x",), source_refs=("src/app.py:12",), details={"steps": ["a", "b"], "n": "1"},
        valid_from="2020-01-01", valid_to="2100-01-01T10:00:00+02:00",
        edges=(("supports", other), ("similar", "another"), ("derived_from", other)),
    )  # fmt: skip
    slug = keep.remember(oracle, given).memories[0]
    assert slug.startswith(f"projects/arena/{record}/")
    seen = inspect(oracle, slug).as_json()
    assert {name: seen[name] for name in seen if name not in ("path", "recency_ts")} == {
        "id": slug, "memory_type": kind, "abstraction_level": 1, "role_scope": "critic", "project": "arena",
        "session_id": "agent:main:1", "task_id": "ARENA-1", "title": "A title: of 'mine'", "summary": "What it says",
        "details": {"steps": ["a", "b"], "n": "1"}, "keywords": ["锁", "lock"], "tags": ["x"],
        "source_refs": ["src/app.py:12"], "importance": 0.9, "confidence": 0.25, "success_score": 0.0,
        "valid_from_ts": "2020-01-01T00:00:00.000000Z", "valid_to_ts": "2100-01-01T08:00:00.000000Z",
        "is_active": True, "replaced_by_memory_id": None, "retired_reason": None,
        "edges": [
            {"to_memory_id": other, "edge_type": name, "weight": 1.0} for name in ("supports", "derived_from", "similar")
        ],
    }  # fmt: skip
    fields = markdown.parse((root / f"{slug}.md").read_bytes()).fields
    assert (fields["kind"], fields["confidence"], fields["author"]) == (record, "low", "me")
    assert list_problems(oracle) == []


def test_secrets_and_names_are_refused_as_everywhere(oracle: Oracle, root: Path) -> None:
    for more in ({"details": {"env": [SECRET]}}, {"tags": (SECRET,)}, {"session_id": SECRET}):
        with pytest.raises(SecretFound) as caught:
            remember(oracle, "summary", "x", **more)
        assert SECRET not in caught.value.sentence
    with pytest.raises(SecretFound):
        reflect(oracle, Lesson("x", worked=(SECRET,)))
    for more in ({"project": "../x"}, {"task_id": "../x"}):
        with pytest.raises(InvalidName):
            remember(oracle, "summary", "x", **more)
    with pytest.raises(NotInMemory):
        remember(oracle, "summary", "x", replaces="nowhere")
    (root / "shared").mkdir()
    (root / "shared/finding").symlink_to(root)
    with pytest.raises(OwnershipError):
        remember(oracle, "summary", "x")
    assert list(root.rglob("*.md")) == []


def test_a_seats_record_is_replaced_without_being_touched(oracle: Oracle, root: Path) -> None:
    file = root / "projects/arena/builder/old.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nkind: decision\ntitle: Old\n---\n\nSo it was.\n")
    before = file.read_bytes(), file.stat().st_mtime_ns
    with recording() as acts:
        remember(oracle, "preference", "New", replaces="projects/arena/builder/old")
        route(oracle, "planner", "old")
    assert judge(acts, root) == []
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert not inspect(oracle, "projects/arena/builder/old").is_active


def test_a_name_of_several_memories_is_refused_for_a_change(oracle: Oracle) -> None:
    for _ in range(2):
        remember(oracle, "summary", "Twice")
    with pytest.raises(UsageError, match="names 2 records"):
        refresh(oracle, ["twice"])


# Kept packets ---------------------------------------------------------------------------------------------------------


def test_packets_are_kept_the_newest_first_and_not_for_ever(
    oracle: Oracle, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST_KEPT", 3)
    made = []
    for number in range(5):
        made.append(route(oracle, "planner", f"goal {number}").id)
        os.utime(root / f"_state/packets/{made[-1]}.json", ns=(number, number))
    (root / "_state/packets/packet-0123456789abcdef.json").write_text("{")
    assert [content["packet_id"] for content in packets.kept(oracle, 10)] == made[:1:-1]
    assert [content["packet_id"] for content in packets.kept(oracle, 1)] == made[-1:]
    assert (root / "_state/.gitignore").read_text().strip() == "*"


def test_a_packet_that_cannot_be_kept_is_given_with_a_warning(root: Path) -> None:
    said: list[str] = []
    with Oracle.open(str(root), warn=said.append) as oracle:
        oracle.write(Draft("decision", "arena", "One lock"))
        (root / "_state/packets").write_text("in the way")
        assert ids(route(oracle, "planner", "lock"))
    assert [line for line in said if "not kept" in line]
