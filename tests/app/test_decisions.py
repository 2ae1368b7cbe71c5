"""Decisions of people: what a payload may say, how it is handed over, what becomes of the answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.app.decisions import payload as decision_payloads
from oracle.app.decisions.handover import resolve, send
from oracle.app.overview.status import status
from oracle.app.records.listing import list_problems
from oracle.errors import (
    CompletionRefused,
    Conflict,
    InvalidRecord,
    NotFound,
    SecretFound,
    TaskAlreadyQueued,
    UsageError,
)

if TYPE_CHECKING:
    from tests.app.squad import Squad

ID = "6f36a869-8ec8-4c85-99ff-295260d45468"


def payload(**changes: Any) -> bytes:
    whole = {
        "decision_id": ID,
        "created_at": "2026-04-27T18:30:00Z",
        "from_seat": "demo-memory",
        "severity": "HIGH",
        "category": "merge",
        "issue_id": "#12",
        "context": "The branch touches the billing tables. Merge it today?",
        "options": [
            {"id": "A", "label": "merge today", "impact": "a freeze of one hour"},
            {"id": "B", "label": "wait for the audit", "impact": "a week"},
        ],
        "default_if_timeout": "B",
        "timeout_minutes": 60,
        **changes,
    }
    return json.dumps({key: item for key, item in whole.items() if item != "absent"}).encode()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("decision_id", "not-a-uuid"),
        ("created_at", "yesterday"),
        ("created_at", "2026-04-27"),
        ("created_at", "2026-04-27T18:30:00"),
        ("created_at", "2026-13-45T18:30:00Z"),
        ("from_seat", "install-memory\n"),
        ("from_seat", "stranger"),
        ("to_seat", "demo-memory"),
        ("severity", ["HIGH"]),
        ("severity", "high"),
        ("category", "other"),
        ("issue_id", "12"),
        ("issue_id", "#12\n"),
        ("context", ""),
        ("context", "   "),
        ("context", 5),
        ("context", "x" * 501),
        ("options", []),
        ("options", [{"id": "A", "label": "x", "impact": ""}, {"id": "A", "label": "y", "impact": ""}]),
        ("options", [{"id": "G", "label": "x", "impact": ""}]),
        ("options", [{"id": "A", "label": "x" * 81, "impact": ""}]),
        ("options", [{"id": "A", "label": "x", "impact": "", "cost": 1}]),
        ("default_if_timeout", "C"),
        ("timeout_minutes", True),
        ("timeout_minutes", 0),
        ("timeout_minutes", 1441),
        ("supporting_docs", None),
        ("supporting_docs", [5]),
        ("chosen_option_id", "F"),
        ("decided_by", 5),
        ("decided_at", "2026-04-26T18:30:00Z"),
        ("colour", "red"),
        *(
            (name, "absent")
            for name in ("decision_id", "created_at", "options", "default_if_timeout", "timeout_minutes")
        ),
    ],
)
def test_payload_that_fails_is_named_and_never_sent(squad: Squad, field: str, value: object):
    before = squad.snapshot()
    with pytest.raises(InvalidRecord) as caught:
        send(squad.oracle, payload(**{field: value}))
    assert field in caught.value.sentence
    assert "Nothing was sent" in caught.value.sentence
    assert (squad.recorder.lines(), squad.snapshot()) == ([], before)


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_payload_is_refused(raw: bytes):
    with pytest.raises(InvalidRecord):
        decision_payloads.validate(raw)


@pytest.mark.parametrize("default", ["A", "B", "wait", "abort"])
def test_every_default_that_is_allowed_passes(default: str):
    assert decision_payloads.validate(payload(default_if_timeout=default)).labels == {
        "A": "merge today",
        "B": "wait for the audit",
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(json.loads(payload()))), JSON)
def test_whatever_stands_in_a_field_the_payload_passes_or_is_refused(field: str, value: object):
    raw = payload(**{field: value})
    try:
        found = decision_payloads.validate(raw)
    except (InvalidRecord, SecretFound):
        return
    assert found.fields == json.loads(raw)


def test_payload_with_a_secret_is_not_sent(squad: Squad):
    secret = "q7Rk2Zp9Lx4V" + "m8Nw3Tb6"
    with pytest.raises(SecretFound) as caught:
        send(squad.oracle, payload(context=f"Rotate API_KEY={secret}?"))
    assert secret not in caught.value.sentence
    assert squad.receipts() == set()


def test_question_leaves_a_receipt_and_wakes_the_front_seat(squad: Squad):
    sent = send(squad.oracle, payload())
    assert squad.receipts() == {f"{ID}__memory__koder.json"}
    receipt = squad.receipt(f"{ID}__memory__koder.json")
    assert receipt["kind"] == "dispatch"
    assert receipt["decision_payload"]["options"][0]["label"] == "merge today"
    assert receipt["notified_at"]
    [line] = squad.recorder.lines()
    assert line.startswith(f"koder\tDECISION_PAYLOAD {ID} from memory to koder, HIGH: Read ")
    assert "Choose one of A, B, abort. Without a choice within 60 min B holds." in line
    assert line.endswith(f"oracle team decision resolve {ID} --project demo.")
    assert sent.receipt_path in line
    assert squad.states() == {ID: "open"}


def test_same_question_twice_is_one_and_another_of_its_id_is_refused(squad: Squad):
    send(squad.oracle, payload())
    assert not send(squad.oracle, payload()).is_new
    assert len(squad.recorder.lines()) == 1
    with pytest.raises(TaskAlreadyQueued):
        send(squad.oracle, payload(context="Another question?"))


def test_question_that_wakes_nobody_waits(squad: Squad):
    squad.recorder.away.add("koder")
    assert send(squad.oracle, payload()).wake_up.result == "waits"
    assert squad.states() == {ID: "unnotified"}


def test_question_whose_wake_up_was_never_owed_is_told_by_the_same_call(squad: Squad):
    send(squad.oracle, payload(), notifies=False)
    assert squad.recorder.lines() == []
    again = send(squad.oracle, payload())
    assert (again.is_new, again.wake_up.result) == (False, "sent")
    assert send(squad.oracle, payload()).wake_up.result == ""


def test_another_seat_than_memory_is_told_once(squad: Squad):
    send(squad.oracle, payload(from_seat="demo-planner"), notifies=False)
    for _ in range(2):
        resolve(squad.oracle, "demo", ID, choice="A")
    assert [seat for seat, _ in squad.recorder.woken()] == ["planner"]
    assert squad.states() == {ID: "consumed"}


def test_choice_becomes_a_record(squad: Squad):
    send(squad.oracle, payload())
    done = resolve(squad.oracle, "demo", ID, choice="A", by="Ada", reason="The audit passed.")
    text = squad.oracle.show(done.record.split("memory/", 1)[1]).text
    assert (done.choice, done.label, done.by, done.is_new) == ("A", "merge today", "Ada", True)
    for words in ("Ada decided for A (merge today)", "The audit passed.", "decision_type: choice", 'task_id: "#12"'):
        assert words in text
    assert squad.states() == {ID: "acked"}


def test_context_that_begins_like_frontmatter_is_recorded(squad: Squad):
    send(squad.oracle, payload(context="---\nid: x\n---\nMerge it?"))
    done = resolve(squad.oracle, "demo", ID, choice="A", by="Ada")
    assert "---\nid: x\n---\nMerge it?" in squad.oracle.show(done.record.split("memory/", 1)[1]).text
    assert not list_problems(squad.oracle)


def test_deciding_twice_changes_nothing_and_deciding_otherwise_is_a_conflict(squad: Squad):
    send(squad.oracle, payload())
    first = resolve(squad.oracle, "demo", ID, choice="A")
    again = resolve(squad.oracle, "demo", ID, choice="A")
    assert (again.record, again.is_new) == (first.record, False)
    with pytest.raises(Conflict):
        resolve(squad.oracle, "demo", ID, choice="B")
    assert len(squad.oracle.records({"project": "demo", "kind": "decision"})) == 1


@pytest.mark.parametrize(("default", "choice", "states"), [("B", "B", "acked"), ("abort", "abort", "acked")])
def test_default_holds_once_its_time_has_come(squad: Squad, default: str, choice: str, states: str):
    send(squad.oracle, payload(default_if_timeout=default))
    done = resolve(squad.oracle, "demo", ID)
    assert (done.choice, done.by) == (choice, "timeout")
    assert squad.states() == {ID: states}


def test_default_does_not_hold_before(squad: Squad):
    send(squad.oracle, payload(created_at="2999-01-01T00:00:00Z"))
    with pytest.raises(UsageError, match="People may still answer until 2999"):
        resolve(squad.oracle, "demo", ID)


def test_default_of_waiting_decides_nothing(squad: Squad):
    send(squad.oracle, payload(default_if_timeout="wait"))
    assert resolve(squad.oracle, "demo", ID).choice == ""
    assert squad.states() == {ID: "open"}


@pytest.mark.parametrize(
    ("words", "error"),
    [(("demo", ID.replace("6", "7")), NotFound), (("demo", "../x"), NotFound), (("demo", ID), UsageError)],
)
def test_what_can_not_be_resolved(squad: Squad, words: tuple[str, str], error: type[Exception]):
    send(squad.oracle, payload())
    with pytest.raises(error):
        resolve(squad.oracle, *words, choice="D")


def test_what_nobody_decided_in_time_is_named_and_settled_by_nothing(squad: Squad):
    later = ID.replace("6", "7")
    send(squad.oracle, payload())
    send(squad.oracle, payload(decision_id=later, created_at="2999-01-01T00:00:00Z"))
    squad.folder.joinpath(f"{ID.replace('6', '8')}__memory__koder.json").write_text(
        '{"decision_payload": {"created_at": 5}}'
    )
    due = {"decision_id": ID, "project": "demo", "due_at": "2026-04-27T19:30:00.000000Z", "default": "B"}
    squad.open(3600).resume()
    assert status(squad.oracle)["overdue_decisions"] == [due]
    (found,) = [check for check in squad.oracle.doctor() if check.name == "decisions"]
    assert (found.ok, found.severity) == (False, "warning")
    assert found.detail == f"{ID} of demo: nobody decided before 2026-04-27T19:30:00.000000Z; its default is B"
    assert found.fix == f"oracle team decision resolve {ID} --project demo"
    assert squad.states()[ID] == squad.states()[later] == "open"
    resolve(squad.oracle, "demo", ID)
    assert status(squad.oracle)["overdue_decisions"] == []


@pytest.mark.parametrize("asker", ["demo-memory", "demo-planner"])
def test_next_step_of_a_question_settles_it_and_names_its_choices(squad: Squad, asker: str):
    send(squad.oracle, payload(from_seat=asker))
    (item,) = squad.oracle.handoffs().items
    assert item.command == f"oracle team decision resolve {ID} --project demo --choose 'A|B|abort'"
    assert "oracle team decision resolve" in item.handoff.state.action


@pytest.mark.parametrize("is_settled", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        lambda squad: squad.complete(ID, "koder", "memory", summary="done"),
        lambda squad: squad.complete(ID, "koder", summary="done"),
        lambda squad: squad.complete(ID, "builder", "planner"),
        lambda squad: squad.deliver(ID, target="koder"),
        lambda squad: squad.deliver(ID, target="memory", source="koder"),
    ],
)
def test_question_to_people_is_settled_and_never_answered_otherwise(squad: Squad, answer: Any, *, is_settled: bool):
    send(squad.oracle, payload())
    if is_settled:
        resolve(squad.oracle, "demo", ID, choice="A")
    before = squad.snapshot()
    with pytest.raises(CompletionRefused, match="nothing was handed over") as caught:
        answer(squad)
    assert f"oracle team decision resolve {ID} --project demo --choose" in caught.value.hint
    assert squad.snapshot() == before
    assert resolve(squad.oracle, "demo", ID, choice="A").choice == "A"


def test_question_whose_options_were_mangled_by_hand_is_still_listed(squad: Squad):
    send(squad.oracle, payload())
    path = squad.folder / f"{ID}__memory__koder.json"
    receipt = json.loads(path.read_bytes())
    receipt["decision_payload"]["options"] = [5, {"id": "A"}, {"id": "B", "label": "wait"}]
    path.write_text(json.dumps(receipt))
    (item,) = squad.oracle.handoffs().items
    assert item.command.endswith("--choose 'B|abort'")


@pytest.mark.parametrize(
    "change",
    [{"timeout_minutes": 10**30}, {"timeout_minutes": "60"}, {"created_at": 5}, {"context": ["x"]}, {"severity": {}}],
    ids=repr,
)
def test_question_that_was_mangled_by_hand_is_named_and_never_settled(squad: Squad, change: dict[str, object]):
    send(squad.oracle, payload())
    path = squad.folder / f"{ID}__memory__koder.json"
    receipt = json.loads(path.read_bytes())
    receipt["decision_payload"] |= change
    path.write_text(json.dumps(receipt), encoding="utf-8")
    before = path.read_bytes()
    (problem,) = squad.oracle.handoffs().problems
    assert f"decision_payload.{next(iter(change))} " in problem
    assert status(squad.oracle)["overdue_decisions"] == []
    assert all(check.ok for check in squad.oracle.doctor() if check.name == "decisions")
    squad.oracle.resume()
    with pytest.raises(NotFound):
        resolve(squad.oracle, "demo", ID, choice="A")
    assert path.read_bytes() == before


@pytest.mark.parametrize(("default", "after"), [("wait", "the question stays open"), ("abort", "abort holds")])
def test_wake_up_says_what_happens_without_a_choice(squad: Squad, default: str, after: str):
    send(squad.oracle, payload(default_if_timeout=default))
    [line] = squad.recorder.lines()
    assert f"Choose one of A, B, abort. Without a choice within 60 min {after}." in line
