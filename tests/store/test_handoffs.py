"""Try receipts on a real disk: many processes at once, a kill at every file operation, files of other tools."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from oracle.domain.delivery.handoffs import HandoffStep, Piece
from oracle.domain.delivery.receipts import ReceiptKind, ReceiptName, digest_of_round, new_receipt, receipt_name
from oracle.errors import Conflict, HandoffFailed, NewerVersion, NotFound, TaskAlreadyQueued
from oracle.store.delivery import handoffs, leases
from oracle.store.delivery.handoff_list import Around, list_handoffs, tell_story
from oracle.store.delivery.handoffs import Outcome
from oracle.store.delivery.leases import Held, Lease
from oracle.store.disk import files
from tests.growth import grows_linearly
from tests.store.crash import each_crash, run_at_once

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
NAME = ReceiptName("T1", "planner", "memory")
BACK = NAME.answered_by()
DISPATCH = new_receipt(
    ReceiptKind.DISPATCH, NAME, {"title": "Who decided?", "assigned_at": "2026-05-01T10:00:00+00:00"}
)
ANSWER = new_receipt(
    ReceiptKind.COMPLETION, BACK, {"summary": "Option B.", "delivered_at": "2026-05-01T11:00:00+00:00"}
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tasks/install/patrol/handoffs"


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))


def deliver(folder: str) -> None:
    """Do what is left of a hand-over, by looking."""
    with contextlib.suppress(TaskAlreadyQueued):
        handoffs.publish(folder, DISPATCH)
    leases.claim(folder, NAME, holder="me", now=NOW)
    handoffs.complete(folder, ANSWER)
    handoffs.consume(folder, NAME)


def only(folder: Path, **around: object) -> tuple[HandoffStep, frozenset[Piece]]:
    (found,) = list_handoffs(str(folder), now=NOW, around=Around(**around)).handoffs  # type: ignore[arg-type]
    return found.state.step, found.pieces


# The life of a handoff ------------------------------------------------------------------------------------------------


def test_a_handoff_goes_from_dispatch_to_acknowledgement(folder: Path) -> None:
    place = str(folder)
    assert list_handoffs(place, now=NOW).handoffs == ()
    assert handoffs.publish(place, DISPATCH) is Outcome.CREATED
    assert only(folder)[0] is HandoffStep.OPEN
    lease = leases.claim(place, NAME, holder="me", now=NOW)
    assert lease == Lease(NAME, "me", NOW + leases.LEASE)
    assert only(folder)[0] is HandoffStep.CLAIMED
    assert only(folder, responses=["T1"])[0] is HandoffStep.ANSWERED
    assert handoffs.complete(place, ANSWER) is Outcome.CREATED
    assert only(folder, responses=["T1"])[0] is HandoffStep.DELIVERED
    assert handoffs.consume(place, NAME) is True
    assert only(folder, responses=["T1"], pending=[("T1", "planner")])[0] is HandoffStep.UNNOTIFIED
    assert handoffs.amend(place, BACK, {"notified_at": "2026-05-01T11:00:01+00:00"})
    assert only(folder, pending=[("T1", "planner")])[0] is HandoffStep.CONSUMED
    assert handoffs.acknowledge(place, BACK, {"consumed_at": "2026-05-01T11:05:00+00:00"}) is Outcome.CREATED
    assert handoffs.acknowledge(place, BACK, {"consumed_at": "later"}) is Outcome.ALREADY
    assert only(folder)[0] is HandoffStep.ACKED
    assert names(folder) == [
        "T1__memory__planner.json",
        "T1__memory__planner.json.consumed",
        "T1__planner__memory.json.consumed",
    ]
    receipt = handoffs.read(place, BACK)
    assert receipt is not None
    assert receipt.text("consumed_at") == "2026-05-01T11:05:00+00:00"
    story = tell_story(place, "T1")
    assert [(chapter.suffix, chapter.receipt.kind) for chapter in story].count((".consumed", ReceiptKind.DISPATCH)) == 1
    assert len(story) == 3


def test_the_same_again_changes_nothing_and_other_content_is_refused(folder: Path) -> None:
    place = str(folder)
    handoffs.publish(place, DISPATCH)
    assert handoffs.publish(place, DISPATCH.with_fields({"assigned_at": "later"})) is Outcome.ALREADY
    with pytest.raises(TaskAlreadyQueued, match=r"has T1 already: .* @ 2026-05-01T10:00:00"):
        handoffs.publish(place, DISPATCH.with_fields({"title": "Other"}))
    handoffs.complete(place, ANSWER)
    assert handoffs.complete(place, ANSWER.with_fields({"delivered_at": "2026-05-02"})) is Outcome.ALREADY
    with pytest.raises(Conflict, match="another completion"):
        handoffs.complete(place, ANSWER.with_fields({"summary": "Option C."}))
    handoffs.consume(place, NAME)
    with pytest.raises(TaskAlreadyQueued, match="consumed"):
        handoffs.publish(place, DISPATCH)
    assert handoffs.consume(place, NAME) is False
    receipt = handoffs.read(place, BACK)
    assert receipt == ANSWER
    assert not (folder / NAME.file_name).exists()


def test_a_completion_never_lands_on_a_dispatch_of_the_other_direction(folder: Path) -> None:
    handoffs.publish(str(folder), new_receipt(ReceiptKind.DISPATCH, BACK, {}))
    with pytest.raises(Conflict, match="another dispatch"):
        handoffs.complete(str(folder), ANSWER)


def test_superseding_keeps_the_old_answer_and_ends_its_acknowledgement(folder: Path) -> None:
    place = str(folder)
    handoffs.complete(place, ANSWER)
    handoffs.acknowledge(place, BACK, {"consumed_at": "2026-05-01T11:05:00+00:00"})
    rework = ANSWER.with_fields({"summary": "Option C.", "builder_commit": "def5678"})
    assert handoffs.supersede(place, rework) is Outcome.CREATED
    assert handoffs.supersede(place, rework) is Outcome.ALREADY
    assert handoffs.read(place, BACK) == rework
    assert Piece.ACKED not in only(folder)[1]
    (kept,) = folder.glob("*.superseded-*")
    assert json.loads(kept.read_bytes())["summary"] == "Option B."


def test_only_the_exact_task_is_consumed(folder: Path) -> None:
    others = [receipt_name(task, "planner", "memory") for task in ("T10", "T1__sub", "T1-foo", "T1.1")]
    for name in (NAME, *others):
        handoffs.publish(str(folder), new_receipt(ReceiptKind.DISPATCH, name, {}))
    assert handoffs.consume(str(folder), NAME)
    assert names(folder) == sorted([NAME.file_name + ".consumed", *(name.file_name for name in others)])


def test_what_is_consumed_after_it_was_listed_is_read_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handoffs.publish(str(folder), new_receipt(ReceiptKind.DISPATCH, NAME, {"objective": "x"}))
    listed = handoffs.names_of(str(folder), "T1")
    handoffs.consume(str(folder), NAME)
    monkeypatch.setattr(handoffs, "names_of", lambda *_: listed)
    found = list(handoffs.receipts_of(str(folder), "T1"))
    assert [(receipt.name, suffix) for receipt, suffix in found] == [(NAME, ".consumed")]


def test_a_later_note_never_brings_a_consumed_dispatch_back(folder: Path) -> None:
    place = str(folder)
    handoffs.publish(place, DISPATCH)

    def act(number: int) -> int:
        if number % 2:
            handoffs.consume(place, NAME)
        else:
            assert handoffs.amend(place, NAME, {f"note_{number}": "x"})
        return 0

    assert run_at_once(8, act) == [0] * 8
    assert names(folder) == [NAME.file_name + ".consumed"]
    consumed = handoffs.read(place, NAME, ".consumed")
    assert consumed is not None
    assert {f"note_{number}" for number in range(0, 8, 2)} <= set(consumed.fields)
    assert not handoffs.amend(place, BACK, {"notified_at": "y"})


def test_an_acknowledgement_needs_a_completion(folder: Path) -> None:
    with pytest.raises(NotFound, match="no completion receipt"):
        handoffs.acknowledge(str(folder), BACK, {})


def test_a_newer_receipt_is_read_and_left_alone(folder: Path) -> None:
    folder.mkdir(parents=True)
    raw = json.dumps({**DISPATCH.fields, "schema_version": 99, "from_the_future": 1})
    (folder / NAME.file_name).write_text(raw)
    with pytest.raises(NewerVersion, match="newer program"):
        handoffs.amend(str(folder), NAME, {"notified_at": "x"})
    assert (folder / NAME.file_name).read_text() == raw


# Claims ---------------------------------------------------------------------------------------------------------------


def test_a_claim_holds_until_its_lease_is_over(folder: Path) -> None:
    place = str(folder)
    assert leases.claim(place, NAME, holder="a", now=NOW) is None
    handoffs.publish(place, DISPATCH)
    assert leases.claim(place, NAME, holder="a", now=NOW) == Lease(NAME, "a", NOW + leases.LEASE)
    assert leases.claim(place, NAME, holder="b", now=NOW) == Held(NAME, "a", NOW + leases.LEASE)
    renewed = leases.claim(place, NAME, holder="a", now=NOW + timedelta(minutes=5))
    assert renewed == Lease(NAME, "a", NOW + timedelta(minutes=15))
    taken = leases.claim(place, NAME, holder="b", now=NOW + timedelta(minutes=16))
    assert isinstance(taken, Lease)
    assert (type(taken), taken.holder) == (Lease, "b")
    assert renewed is not None
    leases.release(place, renewed)
    assert leases.read(place, NAME) == taken
    leases.release(place, taken)
    assert leases.read(place, NAME) is None
    (folder / (NAME.file_name + ".claim")).write_bytes(b'{"lease_')
    assert only(folder)[0] is HandoffStep.CLAIM_EXPIRED
    assert leases.claim(place, NAME, holder="c", now=NOW) == Lease(NAME, "c", NOW + leases.LEASE)
    handoffs.consume(place, NAME)
    assert names(folder) == [NAME.file_name + ".consumed"]


def test_one_of_many_takes_over_a_lease_that_is_over(folder: Path) -> None:
    handoffs.publish(str(folder), DISPATCH)
    leases.claim(str(folder), NAME, holder="dead", now=NOW - timedelta(hours=1))

    def take(number: int) -> int:
        return int(type(leases.claim(str(folder), NAME, holder=f"p{number}", now=NOW)) is Held)

    assert sorted(run_at_once(12, take)) == [0] + [1] * 11


# Many at once, and death ----------------------------------------------------------------------------------------------


def test_of_twenty_equal_deliveries_one_writes_and_nineteen_see_it(folder: Path) -> None:
    handoffs.publish(str(folder), DISPATCH)

    def act(number: int) -> int:
        outcome = handoffs.complete(str(folder), ANSWER.with_fields({"delivered_at": f"2026-05-{number + 1:02}"}))
        handoffs.consume(str(folder), NAME)
        return int(outcome is Outcome.ALREADY)

    assert sorted(run_at_once(20, act)) == [0] + [1] * 19
    assert names(folder) == ["T1__memory__planner.json", "T1__planner__memory.json.consumed"]


def test_of_twenty_different_answers_one_stands(folder: Path) -> None:
    def act(number: int) -> int:
        try:
            handoffs.complete(str(folder), ANSWER.with_fields({"summary": f"{number}"}))
        except Conflict:
            return 1
        return 0

    assert sorted(run_at_once(20, act)) == [0] + [1] * 19


def test_of_twenty_equal_dispatches_one_writes_even_while_it_is_consumed(folder: Path) -> None:
    def act(number: int) -> int:
        if number == 0:
            while not handoffs.consume(str(folder), NAME):
                pass
            return 2
        try:
            return int(handoffs.publish(str(folder), DISPATCH) is Outcome.ALREADY)
        except TaskAlreadyQueued:
            return 1

    assert sorted(run_at_once(20, act)) == [0] + [1] * 18 + [2]
    assert names(folder) == [NAME.file_name + ".consumed"]


def test_death_at_any_file_operation_leaves_nothing_half_done_for_good(tmp_path: Path) -> None:
    whole = ["T1__memory__planner.json", "T1__planner__memory.json.consumed"]
    deaths = 0
    for at in each_crash(lambda at: deliver(f"{tmp_path}/{at}")):
        place = tmp_path / str(at)
        deaths += 1
        if place.exists():
            for found in list_handoffs(str(place), now=NOW).handoffs:
                assert found.problems == ()
            assert all((place / name).read_bytes().endswith(b"}\n") for name in names(place))
        deliver(str(place))
        assert names(place) == whole
        assert handoffs.read(str(place), BACK) == ANSWER
        assert handoffs.read(str(place), NAME, ".consumed") == DISPATCH
    assert deaths > 30


def test_death_while_a_dispatch_is_consumed_leaves_no_claim_beside_it(tmp_path: Path) -> None:
    for at in range(40):
        handoffs.publish(f"{tmp_path}/{at}", DISPATCH)
        leases.claim(f"{tmp_path}/{at}", NAME, holder="me", now=NOW)
    for at in each_crash(lambda at: handoffs.consume(f"{tmp_path}/{at}", NAME)):
        left = names(tmp_path / str(at))
        assert f"{NAME.file_name}.consumed" not in left or f"{NAME.file_name}.claim" not in left, at


def test_death_in_the_middle_of_an_acknowledgement_or_a_replacement(tmp_path: Path) -> None:
    rework = ANSWER.with_fields({"summary": "Option C."})

    def act(at: int) -> None:
        handoffs.supersede(f"{tmp_path}/{at}", rework)
        handoffs.acknowledge(f"{tmp_path}/{at}", BACK, {"consumed_at": "2026-05-01T12:00:00Z"})

    for at in range(200):
        handoffs.complete(f"{tmp_path}/{at}", ANSWER)
    for at in each_crash(act):
        standing = handoffs.read(f"{tmp_path}/{at}", BACK)
        assert standing is not None
        assert standing.text("summary") in ("Option B.", "Option C.")
        act(at)
        assert len(names(tmp_path / str(at))) == 3
        acked = handoffs.read(f"{tmp_path}/{at}", BACK, ".consumed")
        assert acked is not None
        assert acked.text("summary") == "Option C."


def test_a_disk_that_refuses_is_a_failed_handoff(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(HandoffFailed, match="disk is full") as caught:
        handoffs.publish(str(folder), DISPATCH)
    monkeypatch.undo()
    assert caught.value.exit_code == 3
    assert names(folder) == []


# Files of other tools -------------------------------------------------------------------------------------------------


def write(folder: Path, name: str, content: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / name).write_bytes(raw)


def test_foreign_receipts_are_read_or_reported(folder: Path) -> None:
    write(folder, "A__planner__builder.json", {"kind": "dispatch", "task_id": "A", "unknown": 1})
    write(folder, "A__builder__planner.json", {"kind": "completion", "verdict": "APPROVED"})
    write(folder, "B__planner__memory.json", b'{"kind": "dispa')
    write(folder, "C__builder__planner.json.consumed", {"kind": "completion"})
    write(folder, "D__planner__memory.json", {"kind": "notice", "message": "hi"})
    write(folder, "E__planner__memory.json", {"kind": "dispatch"})
    write(folder, "E__memory__planner.json", b"")
    write(folder, "F__x.json", {})
    write(folder, "notes.md", b"x")
    (folder / "audit").mkdir()
    (folder / "G__planner__memory.json").symlink_to("nowhere")
    (folder / "H__planner__memory.json").mkdir()
    found = list_handoffs(str(folder), now=NOW)
    told = {(item.task_id, item.asker, item.answerer): (item.state.step, len(item.problems)) for item in found.handoffs}
    assert told == {
        ("A", "planner", "builder"): (HandoffStep.DELIVERED, 0),
        ("B", "planner", "memory"): (HandoffStep.OPEN, 1),
        ("C", "planner", "builder"): (HandoffStep.ACKED, 0),
        ("D", "planner", "memory"): (HandoffStep.OPEN, 0),
        ("E", "planner", "memory"): (HandoffStep.OPEN, 1),
    }
    assert len(found.problems) == 2
    assert any("F__x.json" in sentence for sentence in found.problems)


def test_a_half_written_completion_is_kept_aside_and_answered_anew(folder: Path) -> None:
    write(folder, BACK.file_name, b'{"kind": "comple')
    assert handoffs.complete(str(folder), ANSWER) is Outcome.CREATED
    assert handoffs.read(str(folder), BACK) == ANSWER
    (kept,) = folder.glob("*.superseded-*")
    assert kept.read_bytes() == b'{"kind": "comple'


def test_an_answer_to_an_earlier_round_is_not_taken_for_the_new_one(folder: Path) -> None:
    write(folder, NAME.file_name + ".consumed", {**DISPATCH.fields, "title": "old"})
    write(folder, BACK.file_name, dict(ANSWER.fields))
    write(folder, NAME.file_name, {**DISPATCH.fields, "assigned_at": "2026-05-01T11:30:00+00:00"})
    steps = {item.state.step for item in list_handoffs(str(folder), now=NOW).handoffs}
    assert steps == {HandoffStep.OPEN, HandoffStep.CONSUMED}
    assert handoffs.consume(str(folder), NAME)
    assert len(list(folder.glob("*.superseded-*"))) == 1
    consumed = handoffs.read(str(folder), NAME, ".consumed")
    assert consumed is not None
    assert consumed.text("title") == "Who decided?"


@pytest.mark.parametrize("suffix", ["", ".consumed"])
@pytest.mark.parametrize("keeps_digest", [True, False])
@pytest.mark.parametrize("delivered", ["2026-05-01T10:00:00Z", "2026-05-01T09:59:57Z", "2026-04-30T10:00:00+08:00", ""])
def test_an_answer_goes_with_its_dispatch_whatever_the_clocks_said(
    folder: Path, delivered: str, suffix: str, *, keeps_digest: bool
) -> None:
    digest = {"dispatch_digest": digest_of_round(DISPATCH)} if keeps_digest else {}
    write(folder, NAME.file_name + suffix, dict(DISPATCH.fields))
    write(folder, BACK.file_name, {**ANSWER.fields, **digest, "delivered_at": delivered})
    assert only(folder)[0] is (HandoffStep.CONSUMED if suffix else HandoffStep.DELIVERED)


@pytest.mark.parametrize("delivered", ["2026-05-01T10:00:00Z", "2026-05-02T10:00:00Z"])
@pytest.mark.parametrize("sign", ["digest", "queue"])
def test_a_second_dispatch_is_open_whatever_the_clocks_said(folder: Path, sign: str, delivered: str) -> None:
    digest = {"dispatch_digest": digest_of_round(DISPATCH)} if sign == "digest" else {}
    write(folder, BACK.file_name, {**ANSWER.fields, **digest, "delivered_at": delivered})
    write(folder, NAME.file_name, {**DISPATCH.fields, "assigned_at": "2026-05-01T11:30:00+00:00"})
    around = Around(is_queued=lambda task, seat: sign == "queue" and (task, seat) == ("T1", "memory"))
    steps = {item.state.step for item in list_handoffs(str(folder), now=NOW, around=around).handoffs}
    assert steps == {HandoffStep.OPEN, HandoffStep.CONSUMED}


def test_an_answer_goes_with_the_dispatch_whose_seat_wanted_it(folder: Path) -> None:
    for asker, reply_to in (("planner", "reviewer"), ("builder", "")):
        name = ReceiptName("T1", asker, "memory")
        handoffs.publish(str(folder), new_receipt(ReceiptKind.DISPATCH, name, {"reply_to": reply_to}))
    handoffs.complete(str(folder), new_receipt(ReceiptKind.COMPLETION, receipt_name("T1", "memory", "reviewer"), {}))
    handoffs.complete(str(folder), new_receipt(ReceiptKind.COMPLETION, receipt_name("T1", "memory", "patrol"), {}))
    found = list_handoffs(str(folder), now=NOW).handoffs
    told = {item.asker: (item.state.step, item.state.unsolicited) for item in found}
    assert told == {
        "reviewer": (HandoffStep.DELIVERED, False),
        "builder": (HandoffStep.OPEN, False),
        "patrol": (HandoffStep.CONSUMED, True),
    }


def test_a_response_belongs_to_the_seat_of_memory_alone(folder: Path) -> None:
    handoffs.publish(str(folder), new_receipt(ReceiptKind.DISPATCH, ReceiptName("T1", "planner", "builder"), {}))
    assert only(folder, responses=["T1"])[0] is HandoffStep.OPEN
    assert only(folder, responses=["T1"], memory_seats=["builder"])[0] is HandoffStep.ANSWERED


def test_handoffs_are_listed_in_a_time_that_grows_with_their_number(folder: Path) -> None:
    def fill(numbers: range) -> None:
        place = folder / str(len(numbers))
        place.mkdir(parents=True)
        for number in numbers:
            name = ReceiptName(f"Q-{number}", "planner", "memory")
            write(place, name.file_name + ".consumed", {**DISPATCH.fields, "task_id": name.task_id})
            write(place, name.answered_by().file_name, {**ANSWER.fields, "task_id": name.task_id})

    def look(numbers: range) -> None:
        around = Around(responses={f"Q-{number}" for number in numbers})
        found = list_handoffs(str(folder / str(len(numbers))), now=NOW, around=around).handoffs
        assert len(found) == len(numbers)
        assert {item.state.step for item in found} == {HandoffStep.CONSUMED}

    few, many = range(200), range(1000)
    fill(few)
    fill(many)
    assert grows_linearly(look, few, to=many)


@pytest.mark.parametrize(
    "change", [{"task_id": 7}, {"status": ["done"]}, {"response_path": {}}, {"source": None}], ids=repr
)
@pytest.mark.parametrize("step", ["consume", "acknowledge", "amend"])
def test_a_malformed_receipt_is_neither_used_nor_changed(folder: Path, change: dict[str, object], step: str) -> None:
    name = receipt_name("T-9", "memory", "planner")
    raw = json.dumps(
        {"kind": "completion", "task_id": "T-9", "source": "memory", "target": "planner"} | change
    ).encode()
    path = folder / name.file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    found = handoffs.read(str(folder), name)
    assert found is not None
    assert (found.kind, len(found.problems)) == (ReceiptKind.UNKNOWN, 1)
    with pytest.raises(HandoffFailed, match=next(iter(change))):
        handoffs.consume(str(folder), name) if step == "consume" else getattr(handoffs, step)(
            str(folder), name, {"a": "b"}
        )
    assert path.read_bytes() == raw
    assert [one.name for one in folder.iterdir() if not one.name.startswith(".")] == [name.file_name]
