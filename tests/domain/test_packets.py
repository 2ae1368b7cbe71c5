"""Packets as pure values: what roles read, caps, blocks, edges, order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.records.attention import BLOCKS, READS, Candidate, Edge, rank
from oracle.domain.records.memories import KINDS, SCOPES, Memory
from oracle.domain.records.packets import CAPS, MOST_SELECTED, SECTIONS, Request, compose
from oracle.domain.values import replace
from oracle.errors import UsageError


def memory(name: str, kind: str = "summary", **more) -> Memory:
    return Memory(name, kind, name, f"what {name} says", is_stated=True, **more)


def candidate(name: str, kind: str = "summary", *, relevance: float = 0.5, **more) -> Candidate:
    return Candidate(memory(name, kind, **more), relevance)


def selected(role: str, candidates: list[Candidate], *edges: Edge, **more) -> list[str]:
    packet = compose(Request("goal", role, **more), candidates, edges)
    return [choice.memory.id for choice in packet.selected]


OF_EACH = [candidate(kind, kind) for kind in KINDS]


@pytest.mark.parametrize(
    ("role", "reads"),
    [
        ("planner", ["preference", "procedure", "summary"]),
        ("executor", ["preference", "procedure", "episode", "reflection"]),
        ("critic", ["reflection", "preference", "summary"]),
        ("responder", ["preference", "summary", "procedure"]),
    ],
)
def test_a_role_reads_its_types_the_most_wanted_first(role: str, reads: list[str]):
    levelled = [replace(one, memory=replace(one.memory, level=2)) for one in OF_EACH]
    assert selected(role, levelled) == reads


@pytest.mark.parametrize("role", READS)
def test_a_memory_for_one_role_reaches_it_whatever_its_type(role: str):
    for kind in KINDS:
        assert selected(role, [candidate("x", kind, role_scope=role)]) == ["x"]
        other = [candidate("x", kind, role_scope=name) for name in READS if name != role]
        assert bool(selected(role, other)) == (kind in READS[role])


@pytest.mark.parametrize(
    ("kind", "section"),
    [
        ("preference", "hard_constraints"),
        ("procedure", "procedures_to_follow"),
        ("reflection", "pitfalls_to_avoid"),
        ("summary", "relevant_facts"),
        ("episode", "relevant_facts"),
    ],
)
def test_a_type_has_its_section(kind: str, section: str):
    role = next(role for role, reads in READS.items() if kind in reads)
    packet = compose(Request("goal", role), [candidate("x", kind)])
    assert {name: [item.text for item in items] for name, items in packet.sections.items() if items} == {
        section: ["what x says"]
    }


@pytest.mark.parametrize(
    ("section", "cap"),
    [
        ("hard_constraints", 4),
        ("relevant_facts", 3),
        ("procedures_to_follow", 3),
        ("pitfalls_to_avoid", 3),
        ("open_questions", 5),
    ],
)
def test_a_section_is_filled_to_its_cap(section: str, cap: int):
    candidates = [candidate(f"{kind}{number}", kind) for kind in KINDS for number in range(9)]
    own = dict.fromkeys(("constraints", "failures", "questions"), tuple("abcdefghi"))
    sizes = []
    for role in READS:
        for given_more in ({}, own):
            for chosen in (candidates, [one for one in candidates if SECTIONS[one.memory.type] == section]):
                packet = compose(Request("goal", role, **given_more), chosen)
                sizes.append(len(packet.sections[section]))
    assert max(sizes) == cap


def test_the_callers_words_come_first_and_leave_a_place():
    rules = [candidate(f"rule{number}", "preference") for number in range(3)]
    packet = compose(Request("goal", "executor", constraints=("a", "a", " b\n c ", "d", "e", "f")), rules)
    assert [item.text for item in packet.sections["hard_constraints"]] == ["a", "b c", "d", "what rule0 says"]
    said = compose(Request("goal", "executor", constraints=("what rule0 says",)), rules[:1])
    assert [item.id for item in said.sections["hard_constraints"]] == ["rule0"]


def test_a_durable_rule_is_kept_beside_anything_that_fits_better():
    fitting = [candidate(f"p{number}", "procedure", relevance=1.0, importance=1.0) for number in range(9)]
    rule = candidate("rule", "preference", relevance=0.0)
    assert "rule" in selected("executor", [*fitting, rule])
    assert "rule" not in selected("executor", [*fitting, replace(rule, memory=replace(rule.memory, level=2))])


def test_what_does_not_fit_is_left_out_once_something_does():
    noise = [candidate(f"n{number}", "procedure", relevance=0.0) for number in range(4)]
    assert selected("planner", noise) == ["n0", "n1", "n2"]
    assert selected("planner", [*noise, candidate("hit", relevance=1.0)]) == ["hit"]


@pytest.mark.parametrize("kind", ["preference", "procedure", "summary"])
def test_a_record_that_is_no_stated_memory_has_to_fit(kind: str):
    plain = [Candidate(Memory(f"r{number}", kind, "t", "s"), number / 10) for number in range(3)]
    assert selected("planner", plain) == ["r2"]
    assert selected("planner", plain[:2]) == []
    assert selected("planner", [Candidate(plain[0].memory, 0.0, in_task=True)]) == ["r0"]
    assert selected("planner", [replace(plain[0], memory=replace(plain[0].memory, level=1))]) == ["r0"]


# Blocks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "in_task", "in_session", "block"),
    [
        (0, True, True, "task_scoped"),
        (3, True, False, "task_scoped"),
        (3, False, True, "session_scoped"),
        (3, False, False, "durable_global"),
        (2, False, False, "durable_global"),
        (1, False, False, "recent_fallback"),
        (0, False, False, "recent_fallback"),
    ],
)
def test_a_memory_is_in_one_block(level: int, block: str, *, in_task: bool, in_session: bool):
    one = Candidate(memory("x", level=level), 0.5, in_task, in_session)
    assert one.block == block
    packet = compose(Request("goal", "planner"), [one])
    assert packet.blocks == (block,)
    assert packet.as_json()["debug"]["selected_blocks"] == [block]


def test_recent_notes_wait_until_the_rest_is_too_little_or_fits_less():
    durable = [candidate(f"d{number}", relevance=0.6) for number in range(3)]
    note = candidate("note", relevance=0.5, level=1)
    assert "note" not in selected("planner", [*durable, note])
    assert "note" in selected("planner", [*durable[:2], note])
    assert selected("planner", [*durable, replace(note, relevance=0.9)])[0] == "note"


def test_memories_are_taken_from_chosen_blocks_alone():
    task = [Candidate(memory(f"t{number}", importance=1.0), 1.0, in_task=True) for number in range(3)]
    far = candidate("far", relevance=0.0, level=2, importance=0.0, confidence=0.0)
    packet = compose(Request("goal", "planner", task_id="T-1"), [*task, far])
    assert packet.blocks == ("task_scoped",)
    assert set(packet.block_scores) == {"task_scoped", "durable_global"}


# Edges ----------------------------------------------------------------------------------------------------------------


def order(candidates: list[Candidate], *edges: tuple[str, str, str]) -> list[str]:
    return [choice.memory.id for choice in rank("planner", candidates, [Edge(*edge) for edge in edges])]


@pytest.mark.parametrize(
    ("gap", "supporters", "wins"),
    [(0.0, 0, False), (0.1, 1, True), (0.15, 1, True), (0.2, 1, False), (0.25, 2, True), (0.9, 9, False)],
)
def test_support_decides_what_is_close_and_nothing_else(gap: float, supporters: int, *, wins: bool):
    pair = [candidate("a", relevance=1.0), candidate("b", relevance=1.0 - gap)]
    edges = [(f"s{number}", "supports", "b") for number in range(supporters)]
    assert (order(pair, *edges)[0] == "b") == wins


def test_a_contradiction_lowers_its_target_alone():
    old = candidate("old", relevance=1.0, importance=1.0, ts="2026-01-01")
    new = candidate("new", relevance=0.3, ts="2026-02-01")
    before = {choice.memory.id: choice.score for choice in rank("planner", [old, new])}
    after = {
        choice.memory.id: choice.score for choice in rank("planner", [old, new], [Edge("new", "contradicts", "old")])
    }
    assert before["old"] > before["new"] == after["new"] > after["old"]


@pytest.mark.parametrize(
    "edges", [[("old", "contradicts", "new")], [("new", "contradicts", "new")], [("x", "contradicts", "new")]]
)
def test_the_newer_memory_is_never_lowered(edges: list[tuple[str, str, str]]):
    pair = [candidate("old", ts="2026-01-01"), candidate("new", ts="2026-02-01")]
    assert [choice.score for choice in rank("planner", pair, [Edge(*edge) for edge in edges])] == [
        choice.score for choice in rank("planner", pair)
    ]


def test_a_chain_of_contradictions_is_in_the_order_of_time():
    chain = [candidate(f"m{number}", importance=1 - number / 4, ts=f"2026-01-0{number + 1}") for number in range(4)]
    edges = [(f"m{number + 1}", "contradicts", f"m{number}") for number in range(3)]
    assert order(chain, *edges, ("m0", "contradicts", "m3")) == ["m3", "m2", "m1", "m0"]


def test_a_summary_stands_for_the_history_that_says_the_same():
    words = frozenset(("lock", "held", "writer", "queue"))
    note = Candidate(memory("note", "episode", words=words), 1.0)
    other = Candidate(memory("other", "episode", words=frozenset(("lock", "render"))), 1.0)
    told = Candidate(memory("told", words=words - {"queue"}), 0.9)
    assert set(selected("executor", [note, other, told])) == {"told", "other"}
    assert set(selected("executor", [note, other])) == {"note", "other"}
    assert selected("executor", [other, told]) == ["other"]
    assert selected("planner", [note, told]) == ["told"]


# Whatever it is given -------------------------------------------------------------------------------------------------

SCORE = st.floats(0, 1)
NAME = st.sampled_from("abcdefghijklmnop")
MEMORY = st.builds(
    Memory,
    id=NAME,
    type=st.sampled_from(sorted(KINDS)),
    title=st.text(max_size=5),
    summary=st.text(max_size=5),
    role_scope=st.sampled_from(SCOPES),
    level=st.integers(0, 3),
    importance=SCORE,
    confidence=SCORE,
    success_score=SCORE,
    ts=st.sampled_from(["", "2026-01-01", "2026-02-01"]),
    words=st.frozensets(NAME, max_size=3),
    is_stated=st.booleans(),
)
CANDIDATES = st.lists(
    st.builds(Candidate, MEMORY, SCORE, st.booleans(), st.booleans()), max_size=24, unique_by=lambda one: one.memory.id
)
EDGES = st.lists(st.builds(Edge, NAME, st.sampled_from(["supports", "contradicts"]), NAME), max_size=10)
OWN = st.lists(st.text(max_size=3), max_size=9).map(tuple)


@given(CANDIDATES, EDGES, st.sampled_from(sorted(READS)), OWN, OWN, OWN, st.randoms(use_true_random=False))
def test_caps_hold_no_id_comes_twice_and_no_order_matters(
    candidates: list[Candidate], edges: list[Edge], role: str, rules, failures, questions, chance: random.Random
):
    request = Request("goal", role, constraints=rules, failures=failures, questions=questions)
    packet = compose(request, candidates, edges)
    ids = [choice.memory.id for choice in packet.selected]
    assert len(ids) == len(set(ids)) <= MOST_SELECTED
    assert list(packet.sections) == list(CAPS)
    assert all(len(items) <= CAPS[name] for name, items in packet.sections.items())
    said = [item.id for items in packet.sections.values() for item in items if item.id]
    assert sorted(said) == sorted(ids)
    assert set(packet.blocks) <= set(BLOCKS)
    assert {choice.candidate.block for choice in packet.selected} <= set(packet.blocks)
    if any(one.memory.type == "preference" and one.memory.is_stated and one.memory.level == 3 for one in candidates):
        assert any(choice.memory.type == "preference" for choice in packet.selected)
    shuffled, turned = list(candidates), list(edges)
    chance.shuffle(shuffled)
    chance.shuffle(turned)
    assert compose(request, shuffled, turned).as_json() == packet.as_json()


@pytest.mark.parametrize(
    ("request_", "said"),
    [(Request("", "planner"), "goal"), (Request("x", "boss"), "'boss'"), (Request("x", ""), "role is missing")],
)
def test_a_wrong_request_is_refused(request_: Request, said: str):
    with pytest.raises(UsageError, match=said):
        compose(request_, [])
