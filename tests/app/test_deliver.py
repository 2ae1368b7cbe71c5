"""An answer arrives exactly once, whatever dies in between."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from oracle.app.answers.answer import answer as answer_now
from oracle.app.delivery import deliver
from oracle.app.delivery.deliver import Delivered, Delivery
from oracle.app.delivery.team import open_team
from oracle.app.sources import registry
from oracle.compat import complete_handoff
from oracle.errors import (
    ClaimsFailed,
    Conflict,
    HandoffFailed,
    InvalidName,
    MistypedTask,
    NoProfile,
    NotAsked,
    OtherAsker,
    OwnershipError,
    UsageError,
)
from oracle.store.disk import steps
from tests.app.squad import Squad
from tests.store.crash import left_by_crashes, run_at_once
from tests.store.test_steps import forced_folders

DONE = {"Q-1__memory__planner.json", "Q-1__planner__memory.json.consumed"}


def test_answer_leaves_response_receipt_and_consumed_dispatch_and_wakes_the_asker(squad: Squad):
    squad.ask()
    done = squad.deliver()
    assert isinstance(done, Delivered)
    assert done.is_new
    assert squad.receipts() == DONE
    response = squad.response()
    assert (response["answer"], response["confidence"], response["all_verified"]) == ("B.", "unverified", None)
    assert squad.recorder.woken() == [("memory", "Q-1"), ("planner", "Q-1")]
    receipt = squad.receipt("Q-1__memory__planner.json")
    assert receipt["notified_at"]
    assert receipt["response_digest"]
    assert "unsolicited" not in receipt
    assert squad.states() == {"Q-1": "consumed"}
    assert squad.inbox().waiting == ()
    assert squad.events() == ["dispatch", "wake-up", "delivery", "wake-up"]
    assert "## [completed] Q-1" in squad.text("memory/TODO.md")
    assert squad.text("memory/DELIVERY.md").startswith("task_id: Q-1\nowner: memory\ntarget: planner\n")
    assert "memory ack Q-1 test_policy=N/A" in squad.text("STATUS.md")
    assert "| completed |" in squad.text("TASKS.md")


def test_a_delivery_forces_each_folder_to_disk_once(squad: Squad, monkeypatch: pytest.MonkeyPatch):
    squad.ask(notifies=False)
    forced = forced_folders(monkeypatch)
    squad.deliver(notifies=False)
    inbox = squad.oracle.root.inbox
    assert forced.pop(0) == inbox, "the intent lasts before anything else begins"
    assert len(forced) == len(set(forced)) > 2
    assert inbox not in forced, "an intent that comes back is found to be done"


@pytest.mark.parametrize("source", ["builder", "reviewer", "qa", "planner"])
def test_a_seat_that_is_not_memorys_writes_no_response(squad: Squad, source: str):
    before = squad.snapshot()
    with pytest.raises(OwnershipError, match=f"{source} writes no responses") as refused:
        squad.deliver(source=source, target="operator")
    assert squad.snapshot() == before
    assert (
        f"complete_handoff --profile {squad.oracle.root.profile_file('demo')} --source {source} " in refused.value.hint
    )
    assert "--task-id Q-1 " in refused.value.hint


def test_who_answers_for_a_seat_that_was_asked_is_told_how_that_seat_answers(squad: Squad):
    squad.ask(target="builder")
    with pytest.raises(NotAsked, match="did not ask memory under the task id Q-1") as refused:
        squad.deliver(needs_question=True)
    assert "planner asked builder this." in refused.value.hint
    command = re.search(r"`oracle compat (complete_handoff .*) --summary TEXT`", refused.value.hint)
    assert command
    words = [*shlex.split(command[1])[1:], "--summary", "It is done.", "--no-notify"]
    assert complete_handoff.main([*words, "--memory-dir", squad.oracle.root.path]) == 0
    assert squad.states() == {"Q-1": "consumed"}


def test_a_seat_that_the_profile_calls_memory_answers(squad: Squad):
    profile = Path(squad.oracle.root.profile_file("demo"))
    text = profile.read_text(encoding="utf-8")
    profile.write_text(text.replace('"reviewer" = "reviewer"', '"reviewer" = "memory"'), encoding="utf-8")
    squad.ask(target="reviewer")
    assert squad.deliver(source="reviewer").is_new
    assert squad.responses() == {"Q-1.json"}


def test_wake_up_carries_no_content(squad: Squad):
    squad.ask(objective="a question of note")
    squad.deliver(answer="an answer of note", summary="a summary of note")
    assert not [line for line in squad.recorder.lines() if "of note" in line]


def test_same_answer_again_changes_nothing_and_wakes_nobody(squad: Squad):
    squad.ask()
    squad.deliver()
    before, woken = squad.snapshot(), squad.recorder.woken()
    for more in (
        {},
        {"summary": "other words"},
        {"verdict": "APPROVED"},
        {"response": {"claims": []}},
        {"supersedes": True},
    ):
        assert not squad.deliver(**more).is_new
    assert squad.snapshot() == before
    assert squad.recorder.woken() == woken


def test_another_answer_is_kept_aside(squad: Squad):
    squad.ask()
    squad.deliver()
    with pytest.raises(Conflict):
        squad.deliver(answer="C.")
    assert squad.response()["answer"] == "B."
    (aside,) = squad.responses() - {"Q-1.json"}
    assert aside.startswith("Q-1.conflict-")
    assert squad.states() == {"Q-1": "conflict"}
    assert "conflict" in squad.events()
    assert squad.inbox().waiting == ()
    assert squad.recorder.woken()[-1] == ("planner", "Q-1")


def test_supersede_replaces_and_keeps_the_old(squad: Squad):
    squad.ask()
    squad.deliver()
    squad.ack("Q-1", "memory")
    assert squad.deliver(answer="C.", supersedes=True).is_new
    assert squad.response()["answer"] == "C."
    (aside,) = squad.responses() - {"Q-1.json"}
    assert json.loads((squad.path / "responses" / aside).read_bytes())["answer"] == "B."
    assert len([name for name in squad.receipts() if ".superseded-" in name]) >= 1
    assert squad.states() == {"Q-1": "consumed"}
    assert [seat for seat, _ in squad.recorder.woken()] == ["memory", "planner", "planner"]


def test_answer_goes_to_whom_the_dispatch_names(squad: Squad):
    squad.ask(reply_to="reviewer")
    squad.deliver(target="reviewer")
    assert squad.receipts() == {"Q-1__memory__reviewer.json", "Q-1__planner__memory.json.consumed"}


def test_one_answer_to_two_seats(squad: Squad):
    squad.ask()
    squad.deliver()
    assert squad.deliver(target="reviewer").is_new
    assert squad.receipt("Q-1__memory__reviewer.json")["unsolicited"] is True


def test_only_the_exact_task_is_consumed(squad: Squad):
    for task in ("Q-1", "Q-1__sub", "Q-10", "Q-1.a"):
        squad.ask(task)
    squad.deliver("Q-1")
    assert {name for name in squad.receipts() if name.endswith(".consumed")} == {"Q-1__planner__memory.json.consumed"}
    assert squad.text("memory/TODO.md").count("[completed]") == 1


@pytest.mark.parametrize("task", ["../Q", "a/b", "", "Q-1.conflict-0123456789ab", "x" * 200])
def test_names_meet_the_validator_before_a_path(squad: Squad, task: str):
    with pytest.raises(InvalidName):
        squad.deliver(task)
    with pytest.raises(UsageError):
        squad.deliver("Q-1", target="../planner")
    assert squad.responses() == set()


def test_strangers_and_projects_without_a_profile_are_refused(squad: Squad):
    with pytest.raises(UsageError, match="no seat"):
        squad.deliver(target="stranger")
    squad.project = "other"
    with pytest.raises(NoProfile) as caught:
        squad.deliver()
    assert "oracle project init" in caught.value.hint


def test_nothing_is_kept_of_a_secret_in_the_journal(squad: Squad):
    squad.ask()
    token = "ghp_" + "A1b2C3d4" * 5
    squad.deliver(answer=token, secrets="allow")
    assert token not in (squad.path / "events.log").read_text(encoding="utf-8")


# Claims ---------------------------------------------------------------------------------------------------------------


def claim(path: str, quote: str, **more: object) -> dict[str, object]:
    return {"statement": "so it is", "evidence": [{"path": path, "quote": quote, **more}]}


def test_claims_are_looked_up_on_disk(squad: Squad):
    squad.ask()
    (squad.path / "note.md").write_text("one\ntwo  three\nfour\n", encoding="utf-8")
    repo = Path(open_team(squad.oracle, "demo").profile.repo_root)
    repo.mkdir()
    (repo / "a.py").write_text("x = 1\n", encoding="utf-8")
    (squad.path / "machine").mkdir()
    (squad.path / "machine" / "net.json").write_text('{"a": [{"b": 1}]}', encoding="utf-8")
    made = [
        claim("note.md", "two three", lines=2),
        claim("note.md", "four", lines=1),
        claim("note.md", "five"),
        claim("gone.md", "x"),
        claim("a.py", "x = 1"),
        {"statement": "value", "evidence": [{"file": "net", "path": "$.a[0].b", "expected_value": 1}]},
    ]
    done = squad.deliver(response={"claims": made})
    response = squad.response()
    verdicts = [item["verdict"] for item in response["claim_results"]]
    assert verdicts == ["verified", "moved", "mismatch", "missing", "verified", "verified"]
    assert response["claim_results"][1]["evidence"][0]["lines"] == [3, 3]
    assert len(response["claim_results"][0]["evidence"][0]["sha256"]) == 64
    assert response["all_verified"] is False
    assert done.all_verified is False
    assert response["confidence"] == "medium"


def test_an_answer_from_a_source_is_verified_in_its_text_without_credentials(squad: Squad, tmp_path: Path):
    text = "The mill closes at six.\n\nIts key is " + "gh" + "p_" + "q7Rk2Zp9Lx4V" * 3 + " since May.\n"
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "mill.md").write_text(text, encoding="utf-8")
    (tmp_path / "secret.md").write_text("hidden", encoding="utf-8")
    (notes / "link.md").symlink_to(tmp_path / "secret.md")
    registry.add(squad.oracle, "folder", str(notes), project="demo")
    squad.ask()
    reply = answer_now(squad.oracle, "When does the mill close?", project="demo").as_json()
    [made] = reply["claims"]
    assert "[REDACTED:github-token]" in made["evidence"][0]["quote"]
    assert squad.deliver(response=reply, answer=reply["answer"], is_strict=True).all_verified
    made = [claim(f"sources/demo/notes/{name}.md", "hidden") for name in ("mill", "gone", "link", "../secret")]
    squad.deliver("Q-2", response={"claims": made})
    verdicts = [item["verdict"] for item in squad.response("Q-2")["claim_results"]]
    assert verdicts == ["mismatch", "missing", "missing", "missing"]


def test_claims_never_lead_out_of_root_and_repository(squad: Squad, tmp_path: Path):
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden", encoding="utf-8")
    (squad.path / "link.md").symlink_to(secret)
    made = [claim(path, "hidden") for path in (str(secret), "../../../secret.txt", "link.md")]
    squad.deliver(response={"claims": made})
    assert {item["verdict"] for item in squad.response()["claim_results"]} == {"missing"}


def test_strict_delivery_with_a_failing_claim_writes_nothing(squad: Squad):
    squad.ask()
    before = squad.snapshot()
    with pytest.raises(ClaimsFailed) as caught:
        squad.deliver(response={"claims": [claim("gone.md", "x")]}, is_strict=True)
    assert caught.value.exit_code == 6
    assert squad.snapshot() == before
    assert squad.inbox().waiting == ()
    assert squad.deliver(response={"claims": []}, is_strict=True).is_new


@pytest.mark.parametrize("claims", ["x", [1], [{"statement": "s", "evidence": [{"path": "a"}]}], [{"evidence": []}]])
def test_malformed_claims_are_refused_before_anything_is_written(squad: Squad, claims: object):
    squad.ask()
    before = squad.snapshot()
    with pytest.raises(UsageError):
        squad.deliver(response={"claims": claims})
    assert squad.snapshot() == before


# Whatever dies in between ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0, 2])
def test_delivery_killed_at_any_step_is_finished_by_the_next_command(tmp_path: Path, offset: int):
    commands = ("resume", "handoffs", "deliver", "ask")
    squad = Squad(tmp_path / "team")
    squad.ask(notifies=False)
    squad.oracle.close()
    for number in left_by_crashes(tmp_path / "team", tmp_path / "copies", squad.deliver):
        command = commands[(number + offset) % 4]
        after = squad.oracle = squad.open()
        if command == "resume":
            after.resume()
        elif command == "handoffs":
            after.handoffs()
        elif command == "deliver":
            squad.deliver()
        else:
            squad.ask("Q-2", notifies=False)
        if squad.responses() or command == "deliver":
            assert squad.responses() == {"Q-1.json"}, number
            assert squad.receipts() - {"Q-2__planner__memory.json"} == DONE, number
            assert squad.response()["answer"] == "B."
            assert "## [completed] Q-1" in squad.text("memory/TODO.md")
            assert squad.text("memory/DELIVERY.md")
        else:
            assert "Q-1__planner__memory.json" in squad.receipts(), number
        assert len(squad.recorder.woken()) <= 1, number
        squad.oracle = squad.open(seconds=600)  # the lease of a wake-up that was taken is over
        squad.deliver()
        squad.oracle.resume()
        assert squad.recorder.woken() == [("planner", "Q-1")], number
        assert squad.receipt("Q-1__memory__planner.json")["notified_at"]
        assert (squad.inbox().waiting, squad.inbox().taken) == ((), ()), number
        squad.oracle.close()
    assert number > 30


def test_twenty_at_once_deliver_once(squad: Squad):
    squad.ask(notifies=False)

    def deliver(_: int) -> int:
        squad.oracle = squad.open()
        return 1 if squad.deliver().is_new else 0

    assert sorted(run_at_once(20, deliver)) == [0] * 19 + [1]
    assert squad.receipts() == DONE
    assert squad.responses() == {"Q-1.json"}
    assert squad.recorder.woken() == [("planner", "Q-1")]
    assert squad.inbox().waiting == ()


def test_twenty_different_answers_at_once_lose_none(squad: Squad):
    squad.ask(notifies=False)

    def deliver(number: int) -> int:
        squad.oracle = squad.open()
        try:
            return 1 if squad.deliver(answer=f"answer {number}").is_new else 0
        except Conflict:
            return 6

    assert sorted(run_at_once(20, deliver)) == [1] + [6] * 19
    texts = {json.loads((squad.path / "responses" / name).read_bytes())["answer"] for name in squad.responses()}
    assert texts == {f"answer {number}" for number in range(20)}
    assert squad.receipts() == DONE


def test_receipt_that_cannot_be_written_is_exit_3_and_finished_later(squad: Squad, monkeypatch: pytest.MonkeyPatch):
    squad.ask(notifies=False)
    from oracle.errors import DiskFailure

    plain = steps.create_once

    def refuse(path: str, data: bytes) -> bool:
        if path.startswith(str(squad.folder)):
            raise DiskFailure(f"{path} could not be written: the disk is full.")
        return plain(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(steps, "create_once", refuse)
        with pytest.raises(HandoffFailed) as caught:
            squad.deliver()
    assert caught.value.exit_code == 3
    assert squad.responses() == {"Q-1.json"}
    squad.oracle.resume()
    assert squad.receipts() == DONE
    assert squad.recorder.woken() == [("planner", "Q-1")]


def test_wake_up_that_fails_is_a_warning_and_is_sent_once_the_seat_is_back(squad: Squad):
    squad.ask(notifies=False)
    squad.recorder.away = {"planner"}
    assert squad.deliver().is_new
    assert any("planner was not woken" in line for line in squad.warnings)
    assert squad.states() == {"Q-1": "unnotified"}
    for hour in range(30):  # away for long: it is never given up
        squad.open(seconds=3600.0 * hour).handoffs()
    assert squad.inbox().poisoned == ()
    squad.recorder.away = set()
    squad.open(seconds=3600 * 40).handoffs()
    assert squad.recorder.woken() == [("planner", "Q-1")]
    assert squad.states() == {"Q-1": "consumed"}
    assert squad.events().count("wake-up") == 2


def test_wake_up_is_dropped_when_the_reader_acknowledged_meanwhile(squad: Squad):
    squad.ask(notifies=False)
    squad.recorder.away = {"planner"}
    squad.deliver()
    squad.ack("Q-1", "memory")
    squad.recorder.away = set()
    squad.oracle.resume()
    assert squad.recorder.woken() == []
    assert squad.inbox().waiting == ()


def test_no_notify_wakes_nobody_also_later(squad: Squad):
    squad.ask(notifies=False)
    squad.deliver(notifies=False)
    squad.deliver()
    squad.oracle.resume()
    assert squad.recorder.woken() == []


def test_answer_whose_intent_was_lost_is_finished_from_the_response(squad: Squad):
    from oracle.store.delivery import responses

    squad.ask(notifies=False)
    responses.put(squad.oracle.root, "Q-1", {"answer": "B.", "claims": [], "sources": [], "confidence": "unverified"})
    assert squad.states() == {"Q-1": "answered"}
    assert squad.oracle.resume().done
    assert squad.receipts() == DONE
    assert not squad.deliver().is_new


@pytest.mark.parametrize("is_acknowledged", [False, True])
def test_a_response_written_for_another_reader_completes_no_other_question(squad: Squad, *, is_acknowledged: bool):
    squad.ask(source="builder")
    squad.deliver(target="builder")
    if is_acknowledged:
        squad.ack("Q-1", "memory", "builder")
    squad.ask(source="planner", objective="May we delete it?")  # as older tools did
    before = squad.snapshot()
    squad.oracle.resume()
    assert squad.snapshot() == before
    states = {item.handoff.asker: item.handoff.state.step.value for item in squad.oracle.handoffs().items}
    assert states["planner"] == "open"


@pytest.mark.parametrize("moment", ["", "2026-04-27T18:30:00+00:00"])
def test_a_response_that_was_there_before_the_question_does_not_complete_it(squad: Squad, moment: str):
    from oracle.store.delivery import responses

    stored = responses.put(squad.oracle.root, "Q-1", {"answer": "B.", "delivered_at": moment})
    os.utime(stored.path, (1_700_000_000, 1_700_000_000) if not moment else None)
    squad.ask()
    squad.oracle.resume()
    assert squad.receipts() == {"Q-1__planner__memory.json"}
    assert squad.states() == {"Q-1": "open"}


def test_response_of_a_task_of_two_projects_is_finished_for_none(squad: Squad, tmp_path: Path):
    from oracle.store.delivery import responses

    squad.ask(notifies=False)
    Squad(tmp_path, project="other").ask(notifies=False)
    responses.put(squad.oracle.root, "Q-1", {"answer": "B."})
    squad.oracle.resume()
    assert squad.receipts() == {"Q-1__planner__memory.json"}


def test_intent_is_finished_once_its_process_is_dead_and_left_alone_before(squad: Squad):
    from oracle.store.delivery import entries, inbox

    squad.ask(notifies=False)
    team, work, _ = deliver.prepare(squad.oracle, Delivery("demo", "Q-1", "planner", {"answer": "B."}))
    entry = inbox.begin(squad.oracle.root, "delivery", *deliver.intent_of(team, work), squad.oracle.now_seconds())
    assert entry is not None
    path = squad.path / "_state" / "inbox" / entry.file_name
    content = json.loads(path.read_bytes())
    for pid, is_done in ((os.getppid(), False), (2**22 + 1, True)):  # above the greatest pid
        content["fields"]["owner"].update(pid=pid, since=entries.started_at(pid))
        path.write_text(json.dumps(content), encoding="utf-8")
        squad.oracle.handoffs()
        assert (squad.receipts() == DONE) is is_done
    assert squad.response()["answer"] == "B."
    assert (squad.inbox().waiting, squad.inbox().taken) == ((), ())


@pytest.mark.parametrize("step", ["take", "defer"])
def test_a_disk_that_refuses_the_wake_up_is_no_failure_of_the_delivery(
    squad: Squad, monkeypatch: pytest.MonkeyPatch, step: str
):
    from oracle.errors import DiskFailure
    from oracle.store.delivery import inbox

    def refuse(*_: object, **__: object) -> None:
        raise DiskFailure("The inbox could not be written: the disk is full.")

    squad.ask(notifies=False)
    squad.recorder.away.add("planner")
    with monkeypatch.context() as patch:
        patch.setattr(inbox, step, refuse)
        assert squad.deliver().is_new
    assert any("the disk is full" in line for line in squad.warnings)
    squad.recorder.away.clear()
    squad.open(seconds=inbox.LEASE + 5).resume()
    assert squad.recorder.woken() == [("planner", "Q-1")]


@pytest.mark.parametrize("dies", [True, False])
def test_what_another_process_took_is_finished_at_once_or_named(squad: Squad, *, dies: bool):
    from oracle.store.delivery import inbox

    squad.recorder.away.add("planner")
    squad.ask(notifies=False)
    squad.deliver()
    squad.recorder.away.clear()
    (entry,) = squad.inbox().waiting
    if dies:
        run_at_once(1, lambda _: int(inbox.take(squad.oracle.root, entry, squad.oracle.now_seconds())))
    else:
        assert inbox.take(squad.oracle.root, entry, squad.oracle.now_seconds())
    found = squad.oracle.resume()
    if dies:
        assert (len(found.done), found.left) == (1, ())
        assert squad.recorder.woken() == [("planner", "Q-1")]
    else:
        assert found.done == ()
        (said,) = found.left
        assert f"Q-1 of demo, memory to planner: process {os.getpid()} on " in said


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"kind": "completion"}', b'{"kind": 7, "x": null}', b""])
def test_foreign_receipts_are_read_or_reported(squad: Squad, content: bytes):
    squad.ask(notifies=False)
    (squad.folder / "Q-1__memory__planner.json").write_bytes(content)
    (squad.folder / "Q-9__memory__planner.json").write_bytes(content)
    assert squad.oracle.handoffs().items
    squad.oracle.handoff("Q-9")
    squad.verify("Q-9", "memory", "planner")
    try:
        squad.deliver()
    except Conflict:
        assert content.startswith(b'{"kind"')
    assert squad.responses() == {"Q-1.json"}
    squad.oracle.resume()


def test_receipt_of_another_tool_for_the_same_answer_is_the_delivery(squad: Squad):
    from oracle.store.delivery import responses

    squad.ask(notifies=False)
    responses.put(squad.oracle.root, "Q-1", {"answer": "B.", "claims": [], "sources": [], "confidence": "unverified"})
    foreign = {"kind": "completion", "task_id": "Q-1", "source": "memory", "target": "planner", "summary": "theirs"}
    (squad.folder / "Q-1__memory__planner.json").write_text(json.dumps(foreign), encoding="utf-8")
    assert not squad.deliver().is_new
    assert squad.receipt("Q-1__memory__planner.json") == foreign


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_no_json_is_refused(squad: Squad, number: float):
    squad.ask()
    before = squad.snapshot()
    with pytest.raises(UsageError, match="NaN"):
        squad.deliver(answer=[number])
    assert squad.snapshot() == before


@pytest.mark.parametrize("more", [{}, {"supersedes": True}])
@pytest.mark.parametrize("old", [False, True])
def test_an_id_belongs_to_the_project_that_answered_it(
    squad: Squad, tmp_path: Path, more: dict[str, Any], *, old: bool
):
    squad.ask()
    squad.deliver()
    assert squad.response()["project"] == "demo"
    if old:
        path = squad.path / "responses" / "Q-1.json"
        path.write_text(json.dumps({key: item for key, item in squad.response().items() if key != "project"}))
    other = Squad(tmp_path, project="two")
    before = squad.snapshot()
    for answer in ("B.", "C."):
        with pytest.raises(Conflict, match="The task id Q-1 belongs to project demo"):
            other.deliver(answer=answer, **more)
    with pytest.raises(Conflict, match="belongs to project demo"):
        other.ask()
    assert squad.snapshot() == before
    assert squad.states() == {"Q-1": "consumed"}
    assert not squad.deliver().is_new
    assert other.deliver("Q-2").is_new


def test_an_old_response_that_nobody_s_receipt_tells_of_is_taken(squad: Squad):
    (squad.path / "responses").mkdir(exist_ok=True)
    (squad.path / "responses" / "Q-1.json").write_text('{"answer": "A."}')
    squad.ask()
    assert squad.deliver(supersedes=True).is_new


def test_the_standing_answer_again_with_supersede_settles_the_conflict_for_it(squad: Squad):
    squad.ask()
    squad.deliver()
    with pytest.raises(Conflict, match="kept aside"):
        squad.deliver(answer="C.")
    done = squad.deliver(supersedes=True)
    assert (done.is_new, done.settled) == (False, 1)
    assert squad.states() == {"Q-1": "consumed"}
    (aside,) = squad.responses() - {"Q-1.json"}
    assert aside.startswith("Q-1.superseded-")
    with pytest.raises(Conflict, match="superseded before"):
        squad.deliver(answer="C.")
    assert squad.states() == {"Q-1": "consumed"}
    assert squad.responses() == {"Q-1.json", aside}
    assert squad.response()["answer"] == "B."
    assert squad.deliver(answer="C.", supersedes=True).is_new


def test_a_conflict_shows_before_a_wake_up_that_waits(squad: Squad):
    squad.ask()
    squad.recorder.away.add("planner")
    squad.deliver()
    assert squad.states() == {"Q-1": "unnotified"}
    with pytest.raises(Conflict):
        squad.deliver(answer="C.")
    assert squad.states() == {"Q-1": "conflict"}


def test_what_nobody_asked_for_is_delivered_with_a_warning(squad: Squad):
    squad.ask()
    squad.warnings.clear()
    assert squad.deliver("TYPO").is_new
    (warning,) = squad.warnings
    assert "planner did not ask memory under the task id TYPO" in warning
    assert "These wait for memory: Q-1 of planner." in warning
    squad.warnings.clear()
    assert not squad.deliver("TYPO").is_new
    assert squad.deliver().is_new
    assert squad.warnings == []


@pytest.mark.parametrize("more", [{}, {"supersedes": True}, {"is_strict": True}])
@pytest.mark.parametrize("reply_to", ["", "reviewer"])
def test_an_answer_for_a_seat_that_did_not_ask_is_refused_while_another_waits(
    squad: Squad, reply_to: str, more: dict[str, Any]
):
    squad.ask(reply_to=reply_to)
    before = squad.snapshot()
    with pytest.raises(OtherAsker, match="planner asked memory under the task id Q-1, not builder") as caught:
        squad.deliver(target="builder", **more)
    assert caught.value.hint == f"Deliver it to {reply_to or 'planner'}."
    squad.oracle.resume()
    assert squad.snapshot() == before
    assert squad.deliver(target=reply_to or "planner").is_new
    assert squad.deliver(target="builder").is_new


def test_a_delivery_that_was_made_before_the_question_may_come_again(squad: Squad):
    squad.deliver(target="builder")
    squad.ask()  # as older tools did
    assert not squad.deliver(target="builder").is_new
    squad.oracle.resume()
    assert "Q-1__planner__memory.json" in squad.receipts()


@pytest.mark.parametrize("answer", ["", " \n\t", "\u200b", None, {}, []])
def test_blank_answer_consumes_no_question(squad: Squad, answer: object):
    squad.ask()
    before = squad.snapshot()
    with pytest.raises(UsageError, match="holds no answer"):
        squad.deliver(answer=answer)
    assert squad.snapshot() == before
    assert squad.states() == {"Q-1": "open"}
    assert squad.deliver().is_new


def test_response_of_an_older_tool_without_an_answer_is_delivered(squad: Squad):
    squad.ask()
    assert squad.oracle.deliver(Delivery("demo", "Q-1", "planner", {"result": "B."})).is_new
    assert squad.response()["result"] == "B."


@pytest.mark.parametrize(
    ("waiting", "typed"),
    [
        ("Retry-17", "retry-17"),
        ("Retry-17", "RETRY-17"),
        ("Retry-17", "Retry-1"),
        ("Retry-17", "Retr"),
        ("Retry-17", "17"),
        ("Retry-17", "Rety-17"),
        ("Retry-17", "Rettry-17"),
        ("Retry-17", "Rerty-17"),
        ("Retry-17", "Retry-71"),
        ("Retry-17", "Retry.17"),
        ("Q-7", "q-7"),
        ("重试-17", "重式-17"),
    ],
)
@pytest.mark.parametrize("reply_to", ["", "reviewer"])
def test_an_answer_to_a_mistyped_task_is_refused_with_the_one_that_waits(
    squad: Squad, waiting: str, typed: str, reply_to: str
):
    squad.ask(waiting, reply_to=reply_to)
    before = squad.snapshot()
    for more in ({}, {"supersedes": True}, {"target": "reviewer"}):
        with pytest.raises(
            MistypedTask, match=f"did you mean {waiting}, which {reply_to or 'planner'} waits for"
        ) as caught:
            squad.deliver(typed, **more)
        assert "--unsolicited" in caught.value.hint
    assert squad.snapshot() == before
    assert squad.inbox().waiting == ()
    assert squad.deliver(typed, is_unsolicited=True).is_new
    assert not squad.deliver(typed).is_new  # it was confirmed
    assert squad.states()[waiting] == "open"


@pytest.mark.parametrize("typed", ["Retry-18-b", "Delay-17", "Q-17", "Retry-170-1", "Retry-17.2"])
def test_an_answer_to_another_task_that_nobody_asked_is_delivered(squad: Squad, typed: str):
    squad.ask("Retry-17")
    assert squad.deliver(typed).is_new


def test_a_task_that_no_longer_waits_or_that_waits_for_another_seat_is_not_meant(squad: Squad):
    squad.ask("Retry-17")
    squad.deliver("Retry-17")
    squad.ask("Delay-17", target="reviewer")
    assert squad.deliver("retry-17").is_new
    assert squad.deliver("delay-17").is_new


@pytest.mark.parametrize("response", [{"answr": "B."}, {"text": "B."}, {"claim": [], "answer": "B."}])
def test_a_response_with_a_mistyped_key_consumes_no_question(squad: Squad, response: dict[str, object]):
    squad.ask()
    before = squad.snapshot()
    with pytest.raises(UsageError, match="did you mean"):
        squad.oracle.deliver(Delivery("demo", "Q-1", "planner", response))
    assert squad.snapshot() == before


def test_a_delivery_that_needs_a_question_is_refused_until_it_is_confirmed(squad: Squad):
    squad.ask("Q-17", source="reviewer")
    squad.ask("Q-20")
    before = squad.snapshot()
    with pytest.raises(NotAsked, match="planner did not ask memory under the task id Delay-3"):
        squad.deliver("Delay-3", needs_question=True)
    assert squad.snapshot() == before
    squad.deliver("Q-20", needs_question=True)
    with pytest.raises(NotAsked) as caught:
        squad.deliver("Q-20", target="builder", needs_question=True)
    assert caught.value.hint.startswith("These wait for memory: Q-17 of reviewer.")
    assert squad.deliver("Q-20", target="builder", needs_question=True, is_unsolicited=True).is_new
    assert not squad.deliver("Q-20", target="builder", needs_question=True).is_new  # it was confirmed
    assert squad.warnings == []


def test_an_unsolicited_delivery_says_what_waits_and_whose_it_is(squad: Squad):
    for number in range(7):
        squad.ask(f"Q-{number}", source="reviewer" if number == 6 else "planner")
    assert squad.deliver("Delay-3").is_new
    (warning,) = squad.warnings
    assert warning.startswith(
        "planner did not ask memory under the task id Delay-3, so this was delivered unsolicited."
    )
    assert "Q-6 of reviewer and 2 more." in warning
