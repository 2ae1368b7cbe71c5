"""Listing handoffs, telling their story, following the journal."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from oracle.app.delivery import listed
from oracle.app.delivery import story as stories
from oracle.app.delivery.deliver import Delivery
from oracle.app.journal import events, follow
from oracle.domain.delivery import handoffs as domain
from oracle.domain.delivery.receipts import ReceiptKind, new_receipt, receipt_name, render_receipt
from oracle.errors import Conflict, DiskFailure, NoProfile, NotFound, TaskAlreadyQueued, UsageError
from oracle.store import journal
from oracle.wake.outcomes import Busy
from tests.app.squad import Recorder, Squad
from tests.growth import grows_linearly


def test_listing_shows_age_and_whose_turn_it_is(squad: Squad):
    squad.ask("Q-1")
    squad.ask("Q-2")
    squad.deliver("Q-2")
    found = {item.handoff.task_id: item.as_json() for item in squad.open(seconds=4 * 86400).handoffs().items}
    assert (found["Q-1"]["state"], found["Q-1"]["next"], found["Q-1"]["stale"]) == ("open", "memory", True)
    assert (found["Q-2"]["state"], found["Q-2"]["next"]) == ("consumed", "planner")
    assert int(str(found["Q-1"]["age_seconds"])) >= 4 * 86400
    assert not [item for item in squad.oracle.handoffs().items if item.is_stale]


def test_listing_is_by_project_and_state(squad: Squad, tmp_path: Path):
    other = Squad(tmp_path, project="other")
    squad.ask("Q-1")
    other.ask("Q-2")
    assert {item.project for item in squad.oracle.handoffs().items} == {"demo", "other"}
    assert [item.handoff.task_id for item in squad.oracle.handoffs(project="other").items] == ["Q-2"]
    assert squad.oracle.handoffs(state="acked").items == ()
    with pytest.raises(UsageError, match="state"):
        squad.oracle.handoffs(state="x")
    with pytest.raises(NoProfile):
        squad.oracle.handoffs(project="nowhere")


def test_bad_files_hide_nothing(squad: Squad, tmp_path: Path):
    squad.ask("Q-1")
    (squad.folder / "Q-2__planner__memory.json").write_text('{"half', encoding="utf-8")
    (squad.folder / "odd.json").write_text("{}", encoding="utf-8")
    Path(Squad(tmp_path, project="broken").profile).write_text("x =", encoding="utf-8")
    found = squad.oracle.handoffs()
    assert [item.handoff.task_id for item in found.items] == ["Q-1", "Q-2"]
    assert len(found.problems) == 3


@pytest.mark.parametrize(
    ("raw", "told"), [(b"seats = 3\n", "lacks"), (b"x =", "can't be read"), (b"\xff\xfe", "is not UTF-8 text")]
)
def test_a_damaged_profile_is_named_wherever_it_hides_handoffs(squad: Squad, raw: bytes, told: str):
    squad.ask("Q-1")
    Path(squad.profile).write_bytes(raw)
    with pytest.raises(NotFound, match=told) as caught:
        stories.tell(squad.oracle, "Q-1")
    assert "codec" not in str(caught.value)
    assert caught.value.hint
    assert [told in problem for problem in squad.oracle.handoffs().problems] == [True]
    found = [check for check in squad.oracle.doctor() if check.name == "profiles"]
    assert [(check.ok, told in check.detail) for check in found] == [(False, True)]


def test_handoffs_of_a_deleted_profile_are_named_wherever_they_would_be_listed(squad: Squad, tmp_path: Path):
    Squad(tmp_path, project="idle")
    squad.ask("Q-1")
    Path(squad.profile).unlink()
    told, way_out = "The project demo has no profile", "oracle project init demo"
    with pytest.raises(NotFound, match=told) as caught:
        stories.tell(squad.oracle, "Q-1")
    assert way_out in caught.value.hint
    (problem,) = squad.oracle.handoffs().problems
    assert problem.startswith("The handoffs of demo on disk can't be read.")
    assert told in problem
    assert way_out in problem
    (check,) = (one for one in squad.oracle.doctor() if one.name == "receipts")
    assert (check.ok, check.severity, way_out in check.fix) == (False, "warning", True)
    assert check.detail.startswith(f"{squad.folder}: ")


def test_a_task_tree_without_receipts_or_that_another_profile_names_lacks_no_profile(squad: Squad, tmp_path: Path):
    squad.ask("Q-1")
    Path(squad.tasks.parent, "idle", "patrol", "handoffs").mkdir(parents=True)
    profile = Path(squad.profile)
    profile.rename(profile.with_name("other-profile-dynamic.toml"))
    assert squad.oracle.handoffs().problems == ()
    assert all(one.ok for one in squad.oracle.doctor() if one.name == "receipts")


def test_story_is_told_from_the_files(squad: Squad):
    squad.ask("Q-1")
    squad.recorder.away = {"planner"}
    squad.deliver()
    story = squad.oracle.handoff("Q-1")
    assert [chapter.receipt.kind for chapter in story.chapters] == [ReceiptKind.DISPATCH, ReceiptKind.COMPLETION]
    assert story.response_path.endswith("responses/Q-1.json")
    assert "planner" in story.wake_ups[0]
    assert [event["event"] for event in story.events] == ["dispatch", "wake-up", "delivery", "wake-up"]
    assert json.loads(json.dumps(story.as_json()))["handoffs"][0]["state"] == "unnotified"
    with pytest.raises(NotFound):
        squad.oracle.handoff("Q-10")


def test_a_story_has_the_answer_and_the_command_of_the_next_step(squad: Squad):
    def command_of(task_id: str) -> str:
        return squad.oracle.handoff(task_id).listed[0].command

    def command() -> str:
        return command_of("Q-1")

    squad.ask("Q-1")
    deliver = "oracle deliver --project demo --task-id Q-1 --to planner --response-file FILE"
    assert (squad.oracle.handoff("Q-1").answer, command()) == ("", deliver)
    squad.recorder.away = {"planner"}
    squad.deliver(answer="Backoff.\nAt most five times.")
    ack = "oracle ack Q-1 --project demo --from memory --to planner"
    assert (squad.oracle.handoff("Q-1").answer, command()) == ("Backoff.\nAt most five times.", ack)
    squad.recorder.away = set()
    squad.oracle.resume()
    assert command() == ack
    with pytest.raises(Conflict):
        squad.deliver(answer="None.")
    (aside,) = (squad.path / "responses").glob("Q-1.conflict-*.json")
    assert command() == "oracle handoffs show Q-1 --project demo"
    current = squad.path / "responses/Q-1.json"
    assert [one.command for one in squad.oracle.handoff("Q-1").listed[0].choices] == [
        f"{deliver.removesuffix('FILE')}{path} --supersede" for path in (current, aside)
    ]
    squad.deliver(answer="None.", supersedes=True)
    squad.ack("Q-1", source="memory")
    assert command() == ""
    squad.ask("T-1", target="builder")
    assert command_of("T-1").endswith("--target planner --task-id T-1 --summary '…' --user-summary '…'")
    squad.ask("T-2", target="reviewer", user_summary="It works.")
    assert command_of("T-2").endswith("--target planner --task-id T-2 --verdict '…' --summary '…'")


@pytest.mark.parametrize("seats", [("memory", "planner"), ("memory-1", "planner")])
@pytest.mark.parametrize("kept", range(3))
def test_a_conflict_names_each_answer_and_a_command_that_settles_on_it(
    tmp_path: Path, seats: tuple[str, str], kept: int
):
    squad = Squad(tmp_path, seats=seats)
    squad.ask("Q-1", target=seats[0])
    claims = {"claims": [{"statement": "So it is.", "evidence": [{"path": "nowhere.md", "quote": "x"}]}]}
    squad.deliver(source=seats[0], response=claims)
    for answer in ("C.", "D."):
        with pytest.raises(Conflict, match="kept aside as") as caught:
            squad.deliver(answer=answer, source=seats[0])
    assert "oracle handoffs show Q-1" in caught.value.hint
    (listed,) = squad.oracle.handoff("Q-1").listed
    told = "\n".join(stories.lines_of(squad.oracle.handoff("Q-1")))
    chosen = listed.choices[kept]
    answer = json.loads(Path(chosen.path).read_bytes())["answer"]
    assert (len(listed.choices), told.count("--supersede\n") >= 3) == (3, True)
    for _ in range(2):  # once to take it, once to end what is left of the conflict
        words = dict(zip(chosen.command.split()[2:-1:2], chosen.command.split()[3:-1:2], strict=True))
        assert words.get("--from", "memory") == seats[0]
        path = Path(words["--response-file"])
        response = json.loads((path if path.exists() else squad.path / "responses/Q-1.json").read_bytes())
        squad.oracle.deliver(
            Delivery("demo", words["--task-id"], words["--to"], response, source=seats[0], supersedes=True)
        )
    assert (squad.response()["answer"], squad.states()) == (answer, {"Q-1": "consumed"})


def test_an_acknowledged_conflict_says_that_it_still_waits(squad: Squad):
    squad.ask("Q-1")
    squad.deliver()
    with pytest.raises(Conflict):
        squad.deliver(answer="C.")
    squad.warnings.clear()
    squad.ack("Q-1", source="memory")
    assert len(squad.warnings) == 1
    assert "oracle handoffs show Q-1 --project demo" in squad.warnings[0]
    (listed,) = squad.oracle.handoff("Q-1").listed
    assert (listed.handoff.state.step.value, "is acknowledged" in listed.action) == ("conflict", True)
    squad.deliver(answer="C.", supersedes=True)
    squad.warnings.clear()
    squad.ack("Q-1", source="memory")
    assert (squad.warnings, squad.states()) == ([], {"Q-1": "acked"})


def test_a_wake_up_without_a_session_says_what_helps_and_how_often_it_was_tried(squad: Squad):
    squad.recorder.away = {"memory", "planner"}
    squad.ask("Q-1")
    for tries in (1, 2):
        (listed,) = squad.oracle.handoffs().items
        told = (
            f"memory was not woken in {tries} {'try' if tries == 1 else 'tries'}: no session of this name is running."
        )
        assert listed.action.startswith(f"{told} Start it in the tmux session demo-memory and")
        assert (listed.handoff.next_seat(), listed.command.split()[1]) == ("memory", "deliver")
        squad.oracle.resume()
    squad.deliver()
    (listed,) = squad.oracle.handoffs().items
    assert (listed.handoff.state.step.value, listed.handoff.next_seat()) == ("unnotified", "planner")
    assert listed.action.endswith("or read the answer and acknowledge it: `oracle ack`.")
    squad.ack("Q-1", source="memory")
    assert squad.states() == {"Q-1": "acked"}


def test_a_seat_that_is_busy_is_woken_by_a_resume(squad: Squad):
    class Working(Recorder):
        def wake(self, names, text, *, seat="", patience=0.0):
            return Busy(names[0], "it works")

        wake_again = wake

    squad.recorder = squad.oracle.waker = Working(squad.recorder.path)
    squad.ask("Q-1")
    (listed,) = squad.oracle.handoffs().items
    assert (listed.handoff.state.step.value, listed.command) == ("unnotified", "oracle resume")


def test_a_story_says_of_each_claim_where_it_leads_and_how_it_stood(squad: Squad):
    squad.ask("Q-1")
    (squad.path / "note.md").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (squad.path / "machine").mkdir()
    (squad.path / "machine/net.json").write_text('{"host": "a"}', encoding="utf-8")

    def claim(**evidence: object) -> dict[str, object]:
        return {"statement": "So\nit is.", "evidence": [evidence]}

    made = [
        claim(path="note.md", quote="two\nthree", lines="2-3") | {"handle": "f1"},
        claim(path="note.md", quote="three", lines=1),
        claim(path="note.md", quote="four"),
        claim(file="machine/net.json", path="$.host", expected_value="b"),
        {"statement": "x" * 100},
    ]
    squad.deliver(response={"claims": made})
    told = squad.oracle.handoff("Q-1").claims
    assert [(one.handle, one.places, one.verdict) for one in told] == [
        ("f1", ("note.md:2-3",), "verified"),
        ("2", ("note.md:3",), "moved"),
        ("3", ("note.md",), "mismatch"),
        ("4", ("machine/net.json $.host",), "mismatch"),
        ("5", (), "missing"),
    ]
    assert (told[0].excerpt, len(told[4].excerpt), bool(told[2].reasons)) == ("So it is.", 82, True)


@pytest.mark.parametrize("claims", ["x", [1, None], [{"evidence": "x"}], [{"evidence": [{"path": 5, "lines": {}}]}]])
def test_claims_of_another_shape_hide_no_story(squad: Squad, claims: object):
    squad.ask("Q-1")
    squad.deliver()
    path = squad.path / "responses/Q-1.json"
    path.write_text(json.dumps({"answer": "B.", "claims": claims, "claim_results": claims}), encoding="utf-8")
    story = squad.oracle.handoff("Q-1")
    assert story.answer == "B."
    assert all(one.places == () for one in story.claims)


def test_a_wake_up_that_is_owed_no_more_waits_no_more(squad: Squad):
    squad.recorder.away = {"memory"}
    squad.ask("Q-1")
    assert len(squad.oracle.handoff("Q-1").wake_ups) == 1
    (left,) = squad.oracle.resume().left
    assert left.startswith(
        "Q-1 of demo, planner to memory, “Who decided?”: memory was not woken (no session of this name is running);"
    )
    squad.deliver()
    assert squad.oracle.handoff("Q-1").wake_ups == ()


def test_story_of_a_task_of_two_projects_asks_which(squad: Squad, tmp_path: Path):
    other = Squad(tmp_path, project="other")
    squad.ask("Q-1")
    other.ask("Q-1")
    with pytest.raises(UsageError, match="2 projects"):
        squad.oracle.handoff("Q-1")
    assert squad.oracle.handoff("Q-1", "other").project == "other"


def leave_open_beside_an_answer(squad: Squad, tmp_path: Path) -> Squad:
    """Ask another project under an id that is answered in the first one, as tools do that look at one project alone."""
    squad.ask(kind="query")
    squad.deliver()
    other = Squad(tmp_path, project="two")
    name = receipt_name("Q-1", "planner", "memory")
    fields = {"objective": "Who rules?", "task_kind": "query", "reply_to": "planner"}
    other.folder.mkdir(parents=True)
    (other.folder / "Q-1__planner__memory.json").write_bytes(
        render_receipt(new_receipt(ReceiptKind.DISPATCH, name, fields))
    )
    return other


def test_a_question_whose_id_is_answered_elsewhere_is_advised_a_command_that_closes_it(squad: Squad, tmp_path: Path):
    other = leave_open_beside_an_answer(squad, tmp_path)
    (item,) = other.oracle.handoffs(project="two").items
    words = shlex.split(item.command)
    assert words[:3] == ["oracle", "compat", "complete_handoff"]
    with pytest.raises(Conflict, match="Q-1 belongs to project demo") as caught:
        other.deliver()
    assert f"--profile {other.profile} --source memory --task-id Q-1" in caught.value.hint
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from oracle.cli.main import run; run()",
            *(word.replace("…", "Zoe rules.") for word in words[1:]),
        ],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "ORACLE_ROOT": str(other.path)},
    )
    assert run.returncode == 0, run.stderr
    assert other.receipts() == {"Q-1__memory__planner.json", "Q-1__planner__memory.json.consumed"}
    assert squad.response()["answer"] == "B."


def test_a_question_under_the_id_of_one_that_waits_in_another_project_is_refused(squad: Squad, tmp_path: Path):
    squad.ask(kind="query")
    other = Squad(tmp_path, project="two")
    with pytest.raises(Conflict, match="Project demo has asked memory under the task id Q-1"):
        other.ask(kind="query")
    assert other.receipts() == set()
    other.ask("Q-2", kind="query")
    assert other.deliver("Q-2").is_new
    assert squad.deliver().is_new
    assert other.ask("T1", target="builder")  # a task that is no question to memory needs no response
    assert squad.ask("T1", target="builder")


def test_ids_that_differ_by_case_alone_are_refused_in_a_sentence(squad: Squad):
    squad.ask("Q-2", kind="query")
    for target in ("memory", "builder"):
        with pytest.raises(TaskAlreadyQueued, match="q-2 differs from Q-2 by case alone"):
            squad.ask("q-2", target=target)
    assert squad.receipts() == {"Q-2__planner__memory.json"}
    squad.deliver("Q-2")
    with pytest.raises(TaskAlreadyQueued, match="by case alone"):
        squad.ask("q-2")


def test_handoffs_are_listed_in_a_time_that_grows_with_their_number(tmp_path: Path):
    def team_with(numbers: range) -> Squad:
        made = Squad(tmp_path / str(len(numbers)))
        made.folder.mkdir(parents=True)
        for number in numbers:
            name = receipt_name(f"Q-{number}", "planner", "memory")
            receipt = new_receipt(ReceiptKind.DISPATCH, name, {"assigned_at": "2026-04-27T18:30:00+00:00"})
            (made.folder / name.file_name).write_bytes(render_receipt(receipt))
        assert len(made.oracle.handoffs().items) == len(numbers)
        return made

    few, many = range(200), range(1000)
    teams = {len(numbers): team_with(numbers) for numbers in (few, many)}
    assert grows_linearly(lambda numbers: teams[len(numbers)].oracle.handoffs(), few, to=many)


# The journal ----------------------------------------------------------------------------------------------------------


def put(squad: Squad, number: int, project: str = "demo") -> None:
    journal.append(squad.oracle.root, "test", "2026-04-27T18:30:00Z", {"task_id": f"T{number}", "project": project})


def test_events_are_filtered_and_limited(squad: Squad):
    for number in range(5):
        put(squad, number)
    put(squad, 9, "other")
    assert [event["task_id"] for event in events(squad.oracle, project="demo", limit=2)] == ["T3", "T4"]
    assert [event["task_id"] for event in events(squad.oracle, task="T2")] == ["T2"]
    assert len(events(squad.oracle)) == 6


def test_following_yields_each_event_once_and_whole_lines_alone(squad: Squad):
    put(squad, 1)
    put(squad, 2)
    stream = follow(squad.oracle, project="demo", limit=1)
    assert next(stream)["task_id"] == "T2"
    put(squad, 3)
    put(squad, 4, "other")
    with (squad.path / "events.log").open("ab") as log:
        log.write(b'not json\n{"event": "test", "project": "demo", ')
    put_rest = b'"task_id": "T5"}\n'
    assert next(stream)["task_id"] == "T3"
    with (squad.path / "events.log").open("ab") as log:
        log.write(put_rest)
    assert next(stream)["task_id"] == "T5"


def test_following_bears_a_journal_that_was_replaced(squad: Squad):
    for number in range(3):
        put(squad, number)
    stream = follow(squad.oracle, limit=1)
    next(stream)
    (squad.path / "events.log").unlink()
    put(squad, 7)
    assert [event["task_id"] for event in itertools.islice(stream, 1)] == ["T7"]


@pytest.mark.parametrize("suffix", ["", ".consumed", ".claim", ".superseded-0123456789ab"])
def test_a_pipe_among_the_receipts_is_named_and_never_waited_for(squad: Squad, suffix: str):
    squad.ask("Q-2")
    pipe = squad.folder / f"F-4__planner__memory.json{suffix}"
    os.mkfifo(pipe)
    problems = squad.oracle.handoffs("", "").problems
    assert ([f"{pipe} can't be read: it is not a regular file."] if suffix in ("", ".consumed") else []) == list(
        problems
    )
    assert squad.states()["Q-2"] == "open"
    told = [text for one in squad.oracle.handoff("F-4", "").chapters for text in one.receipt.problems]
    assert bool(told) is (suffix != ".claim")
    squad.oracle.resume()
    assert squad.deliver("F-4").is_new
    assert squad.receipt("F-4__memory__planner.json")["unsolicited"] is True
    assert pipe.is_fifo() or suffix == ".claim"


def test_a_pipe_in_the_place_of_an_answer_is_a_sentence(squad: Squad):
    squad.ask()
    os.mkfifo(squad.folder / "Q-1__memory__planner.json")
    with pytest.raises(DiskFailure, match="not a regular file"):
        squad.deliver()


@pytest.mark.parametrize("change", [{"status": ["done"]}, {"task_id": 7}, {"reply_to": {}}], ids=repr)
@pytest.mark.parametrize("has_completion", [True, False])
def test_a_malformed_receipt_keeps_resume_from_nothing_else(
    squad: Squad, change: dict[str, object], has_completion: bool
) -> None:
    """Both handoffs lost their last step: the one that can be finished is, the other is left as it is."""
    for task_id in ("Q-1", "Q-2"):
        squad.ask(task_id)
        squad.deliver(task_id)
        name = squad.folder / f"{task_id}__planner__memory.json"
        (squad.folder / f"{name.name}.consumed").rename(name)
        if not has_completion:
            (squad.folder / f"{task_id}__memory__planner.json").unlink()
    bad = squad.folder / "Q-1__planner__memory.json"
    bad.write_text(json.dumps(squad.receipt(bad.name) | change), encoding="utf-8")
    before = bad.read_bytes()
    done = squad.oracle.resume().done
    assert any("Q-2" in line for line in done)
    assert bad.read_bytes() == before
    assert f"{bad.name}.consumed" not in squad.receipts()
    assert squad.states()["Q-2"] in ("consumed", "unacknowledged")


def test_the_state_of_a_handoff_is_worked_out_once_for_a_list(squad: Squad, monkeypatch: pytest.MonkeyPatch):
    for number in range(3):
        squad.ask(f"Q-{number}")
    worked_out = []
    state = domain.state
    monkeypatch.setattr(domain, "state", lambda pieces: worked_out.append(pieces) or state(pieces))
    found = squad.oracle.handoffs()
    told = [item.as_json() for item in found.items], listed.rows(found.items, 80), listed.captions(found.items)
    assert len(told[0]) == len(worked_out) == 3


def test_an_acknowledged_completion_is_told_once_and_both_files_are_named(squad: Squad):
    squad.ask("Q-1")
    squad.deliver(summary="Take B.")
    squad.ack("Q-1", source="memory")
    story = squad.oracle.handoff("Q-1")
    told = stories.lines_of(story)
    assert (sum("summary: Take B." in line for line in told), len(story.chapters), len(story.receipts)) == (1, 3, 2)
    assert [chapter.path for chapter in story.chapters if not any(chapter.path in line for line in told)] == []
