"""Which dispatch a marker means when it is answered, was consumed without an answer, or has its id in two projects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.app.context import Context
from oracle.app.delivery import deliver, handoffs, story
from oracle.domain.delivery.receipts import ReceiptKind, new_receipt, receipt_name
from oracle.errors import OtherAsker
from oracle.store.delivery import handoffs as receipts
from oracle.store.root import profile, projects
from tests.hook.seat import SEATS, SESSION, Seat

NO_TASK = "[DELIVER:seat=planner]"
TASK = "[DELIVER:seat=planner task_id=T-1]"
WHOLE = "[DELIVER:seat=planner task_id=T-1 project=install]"


def asked(seat: Seat, text: str) -> dict[str, str]:
    """Return what names a transcript in which a user said this."""
    path = seat.workspace / "t.jsonl"
    said = {"type": "user", "uuid": "u", "message": {"role": "user", "content": text}}
    path.write_text(json.dumps(said) + "\n", encoding="utf-8")
    return {"transcript_path": str(path)}


def states(seat: Seat) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the state and the next step of each handoff, by project and task."""
    found = handoffs.list_all(Context.open(seat.root.path)).items
    return {
        (one.project, one.handoff.task_id): (one.handoff.state.step.value, str(one.handoff.next_step)) for one in found
    }


def consume(folder: Path, task_id: str = "T-1", *, is_completed: bool = False) -> None:
    """Put a dispatch on disk that another tool consumed without a response, with or without a completion."""
    name = receipt_name(task_id, "planner", "memory")
    receipts.publish(str(folder), new_receipt(ReceiptKind.DISPATCH, name, {"objective": "Which option?"}))
    if is_completed:
        receipts.complete(str(folder), new_receipt(ReceiptKind.COMPLETION, name.answered_by(), {}))
    receipts.consume(str(folder), name)


# A marker without a task ----------------------------------------------------------------------------------------------


def test_message_that_comes_again_is_known_as_delivered(seat: Seat):
    """Two hooks may be installed for one client; a strict one must not make the agent correct a good marker."""
    seat.dispatch("T-1")
    seat.run(seat.payload(f"Option B. {NO_TASK}"))
    done = seat.run(seat.payload(f"Option B. {NO_TASK}"), "--strict")
    assert done.stderr == b"deliver_skipped: already_delivered\n"
    assert list(json.loads(done.stdout)) == ["systemMessage"]
    assert (seat.answers(), seat.conflicts()) == ({"T-1": "Option B."}, [])


def test_message_that_comes_again_answers_no_question_that_came_meanwhile(seat: Seat):
    seat.dispatch("T-1")
    seat.run(seat.payload(f"Option B. {NO_TASK}"))
    seat.dispatch("T-2")
    done = seat.run(seat.payload(f"Option B. {NO_TASK}"))
    assert done.stderr == b"deliver_skipped: ambiguous_task\n"
    assert "the answer to T-1 already; a marker that names T-2" in json.loads(done.stdout)["systemMessage"]
    assert seat.answers() == {"T-1": "Option B."}


@pytest.mark.parametrize(
    ("first", "then", "said", "answered"),
    [
        (10, 20, "Done.", True),
        (20, 10, "Done.", True),
        (10, 10, "Done.", False),
        (10, 20, "Not done.", False),
        (10, None, "Done.", False),
        (None, 20, "Done.", False),
    ],
    ids=[
        "said again",
        "the clock went back",
        "same event again",
        "entry of another message",
        "no moment",
        "none before",
    ],
)
def test_same_words_of_a_new_turn_answer_the_next_question(
    seat: Seat, tmp_path: Path, first: int | None, then: int | None, said: str, answered: bool
):
    path = tmp_path / "turns.jsonl"

    def stop(text: str, second: int | None) -> None:
        entry: dict[str, object] = {
            "type": "assistant",
            "sessionId": SESSION,
            "message": {"content": f"{text} {NO_TASK}"},
        }
        if second is not None:
            entry["timestamp"] = f"2031-01-01T10:00:{second}.123Z"
        path.write_text(json.dumps(entry) + "\n", encoding="utf-8")
        seat.run(seat.payload(f"Done. {NO_TASK}", transcript_path=str(path)))

    seat.dispatch("T-1")
    stop("Done.", first)
    seat.dispatch("T-2")
    for _ in range(2):  # the same event twice is the same answer
        stop(said, then)
    assert seat.answers() == {"T-1": "Done."} | ({"T-2": "Done."} if answered else {})
    assert seat.conflicts() == []


@pytest.mark.parametrize("by", ["marker", "transcript", "another text"])
def test_same_words_answer_another_question_that_is_named(seat: Seat, by: str):
    seat.dispatch("T-1")
    seat.run(seat.payload(f"Option B. {NO_TASK}"))
    seat.dispatch("T-2")
    marker = "[DELIVER:seat=planner task_id=T-2]" if by == "marker" else NO_TASK
    more = asked(seat, "task_id: T-2") if by == "transcript" else {}
    text = "Option C." if by == "another text" else "Option B."
    seat.run(seat.payload(f"{text} {marker}", **more))
    assert seat.answers() == {"T-1": "Option B.", "T-2": text}


def test_other_answer_without_a_task_is_told_how_it_is_kept(seat: Seat):
    seat.dispatch("T-1", delivered="first")
    done = seat.run(seat.payload(f"second {NO_TASK}", **asked(seat, "task_id: T-1")))
    assert "a marker that names it keeps another answer aside" in json.loads(done.stdout)["systemMessage"]
    seat.run(seat.payload(f"second {TASK}"))
    assert (seat.answers(), seat.conflicts()) == ({"T-1": "first"}, ["second"])


# Consumed without a response ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("marker", [NO_TASK, TASK, WHOLE])
def test_dispatch_that_was_consumed_without_an_answer_is_answered(seat: Seat, marker: str):
    consume(seat.folder)
    assert states(seat) == {("install", "T-1"): ("consumed-unanswered", "answer: memory")}
    more = asked(seat, "task_id: T-1") if marker == NO_TASK else {}
    assert seat.run(seat.payload(f"Option B. {marker}", **more)).stderr == b""
    assert seat.answers() == {"T-1": "Option B."}
    assert states(seat)["install", "T-1"][1] == "read: planner"
    again = seat.run(seat.payload(f"Option B. {WHOLE}"))
    assert again.stderr == b"deliver_skipped: already_delivered\n"


def test_dispatch_that_was_consumed_without_an_answer_is_taken_by_no_marker_that_does_not_name_it(seat: Seat):
    consume(seat.folder)
    assert seat.run(seat.payload(f"x {NO_TASK}")).stderr == b"deliver_skipped: missing_task_id\n"
    seat.dispatch("T-2")
    seat.run(seat.payload(f"x {NO_TASK}"))
    assert seat.answers() == {"T-2": "x"}


@pytest.mark.parametrize("attributes", ["task_id=T-1", "task_id=T-1 project=install"])
def test_answer_to_a_dispatch_that_was_consumed_without_one_goes_to_its_asker_alone(seat: Seat, attributes: str):
    consume(seat.folder)
    done = seat.run(seat.payload(f"Option B. [DELIVER:seat=reviewer {attributes}]"))
    assert (done.stderr, seat.answers()) == (b"deliver_skipped: other_asker\n", {})
    context = Context.open(seat.root.path)
    with pytest.raises(OtherAsker):
        deliver.deliver(context, deliver.Delivery("install", "T-1", "reviewer", {"answer": "Option B."}))
    assert states(seat) == {("install", "T-1"): ("consumed-unanswered", "answer: memory")}


@pytest.mark.parametrize(("text", "is_same"), [("Option B.", True), ("Option C.", False)])
def test_answer_that_is_gone_from_the_disk_is_delivered_again(seat: Seat, text: str, is_same: bool):
    """The same text is put back; another one is a new answer, with a receipt and a wake-up of its own."""
    seat.dispatch("T-1")
    seat.run(seat.payload(f"Option B. {WHOLE}"))
    receipt = seat.folder / "T-1__memory__planner.json"
    before = receipt.read_bytes()
    Path(seat.root.responses, "T-1.json").unlink()
    assert seat.run(seat.payload(f"{text} {TASK}")).stderr == b""
    assert (seat.answers(), seat.conflicts()) == ({"T-1": text}, [])
    assert (receipt.read_bytes() == before) is is_same
    assert len([name for name in seat.receipts() if ".superseded-" in name]) == (0 if is_same else 1)


# One id in two projects -----------------------------------------------------------------------------------------------


@pytest.fixture
def arena(seat: Seat) -> Path:
    """Return the handoff folder of a second project with the same seats."""
    projects.init_profile(seat.root, "arena", SEATS)
    return Path(profile.load(seat.root, "arena", {}).handoff_dir)


def ask(folder: Path) -> None:
    name = receipt_name("T-1", "planner", "memory")
    receipts.publish(str(folder), new_receipt(ReceiptKind.DISPATCH, name, {"objective": "And here?"}))


@pytest.mark.parametrize("marker", [NO_TASK, TASK])
def test_marker_that_fits_two_projects_is_told_both(seat: Seat, arena: Path, marker: str):
    seat.dispatch("T-1")
    ask(arena)
    done = seat.run(seat.payload(f"x {marker}"))
    assert done.stderr == b"deliver_skipped: ambiguous_task\n"
    named = "task_id=T-1 project=arena, task_id=T-1 project=install"
    assert named in json.loads(done.stdout)["systemMessage"]
    assert seat.answers() == {}


@pytest.mark.parametrize("older", [False, True])
def test_answer_of_one_project_answers_no_question_of_the_other(seat: Seat, arena: Path, older: bool):
    """An older tool names no project in its response: then a receipt of memory says whose it is."""
    seat.dispatch("T-1", delivered="first" if older else None)
    ask(arena)
    if not older:
        seat.run(seat.payload(f"first {WHOLE}"))
    assert states(seat)["arena", "T-1"] == ("open", "answer: memory")
    with Context.open(seat.root.path) as context:
        told = {project: story.tell(context, "T-1", project=project).answer for project in ("install", "arena")}
    assert told == {"install": "first", "arena": ""}
    for marker in (TASK, "[DELIVER:seat=planner task_id=T-1 project=arena]"):
        done = seat.run(seat.payload(f"second {marker}"))
        assert done.stderr == b"deliver_skipped: conflict\n"
        assert "T-1 belongs to project install" in json.loads(done.stdout)["systemMessage"]
    assert (seat.answers(), seat.conflicts()) == ({"T-1": "first"}, [])
    seat.run(seat.payload(f"second {WHOLE}"))
    assert seat.conflicts() == ["second"]
    assert {key: state for key, (state, _) in states(seat).items()} == {
        ("install", "T-1"): "conflict",
        ("arena", "T-1"): "open",
    }


@pytest.mark.parametrize(("text", "code"), [("first", "already_delivered"), ("second", "ambiguous_task")])
def test_other_answer_to_an_id_that_is_answered_in_two_projects_is_not_dropped(
    seat: Seat, arena: Path, text: str, code: str
):
    seat.dispatch("T-1", delivered="first")
    consume(arena, is_completed=True)
    assert seat.run(seat.payload(f"{text} {TASK}")).stderr == f"deliver_skipped: {code}\n".encode()
    assert seat.conflicts() == []


def test_task_at_hand_that_is_answered_in_one_project_and_open_in_the_other_is_ambiguous(seat: Seat, arena: Path):
    seat.dispatch("T-1", delivered="first")
    ask(arena)
    done = seat.run(seat.payload(f"second {NO_TASK}", **asked(seat, "task_id: T-1")))
    assert done.stderr == b"deliver_skipped: ambiguous_task\n"
    assert (seat.answers(), seat.conflicts()) == ({"T-1": "first"}, [])
