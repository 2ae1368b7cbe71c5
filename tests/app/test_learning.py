"""Experiences that are proposed from finished tasks: from failure and success, without a word about people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oracle.app.experiences import learn
from oracle.app.records.listing import list_records
from oracle.errors import NotFound, UsageError
from tests.app.squad import Squad

OBJECTIVE = "Make the webhooks retry twice. The queue loses them when the vendor is down."
TRUTHS = {"commit": "abcdef1", "branch": "main"}


def order(squad: Squad, target: str, **more: Any) -> None:
    squad.ask("T-1", "planner", target, objective=more.pop("objective", OBJECTIVE), title="Retry webhooks", **more)


def done(squad: Squad, source: str, summary: str, **more: Any) -> None:
    squad.complete("T-1", source, "planner", summary=summary, user_summary="Done.", **more)


def test_a_task_that_passed_at_once_teaches_its_approach(squad: Squad) -> None:
    order(squad, "builder")
    done(squad, "builder", "Retry in the worker, with a fake clock.\n- Keep the order of events.")
    found = learn.learn(squad.oracle, "T-1")
    assert found.project == "demo"
    assert found.experience.title == "Retry webhooks"
    assert found.experience.situation == OBJECTIVE
    assert found.experience.approach == "- Retry in the worker, with a fake clock.\n- Keep the order of events."
    assert "passed at the first attempt" in found.experience.reflect


def test_a_task_that_was_sent_back_teaches_what_was_wrong(squad: Squad) -> None:
    order(squad, "builder")
    done(squad, "builder", "Retry in the worker.")
    order(squad, "reviewer", objective="Review it.")
    done(squad, "reviewer", "The clock is real. The builder forgot the tests.", verdict="CHANGES_REQUESTED")
    found = learn.learn(squad.oracle, "T-1")
    reflect = found.experience.reflect
    assert "Sent back (CHANGES_REQUESTED): The clock is real." in reflect
    assert "builder" not in found.experience.body
    assert "passed after 1 attempt sent back" in reflect


@pytest.mark.parametrize(
    "sentence",
    [
        "The builder was careless.",
        "@reviewer disagreed.",
        "Planner changed its mind.",
        "builder-1 did it.",
        "Koder asked twice.",
    ],
)
def test_a_sentence_that_names_a_seat_is_left_out(tmp_path: Path, sentence: str) -> None:
    squad = Squad(tmp_path, seats=("memory", "planner", "builder", "builder-1", "reviewer"))
    order(squad, "builder")
    done(squad, "builder", f"Retry in the worker. {sentence} Keep the order.")
    assert learn.learn(squad.oracle, "T-1").experience.approach == "- Retry in the worker.\n- Keep the order."


def test_a_proposal_is_kept_as_a_person_changed_it_until_it_is_accepted(squad: Squad) -> None:
    order(squad, "builder")
    done(squad, "builder", "Retry in the worker.")
    first = learn.learn(squad.oracle, "T-1")
    text = Path(first.path).read_text("utf-8")
    Path(first.path).write_text(text.replace("# Retry webhooks", "# Retry the webhooks in the worker"), "utf-8")
    again = learn.learn(squad.oracle, "T-1")
    assert (again.is_new, again.experience.title) == (False, "Retry the webhooks in the worker")
    assert [one.task_id for one in learn.proposals(squad.oracle)] == ["T-1"]
    assert list_records(squad.oracle, {"kind": "experience"}) == []
    written = learn.accept(squad.oracle, "T-1")
    [record] = list_records(squad.oracle, {"kind": "experience"})
    assert (record.slug, record.title, record.task_id) == (written.slug, "Retry the webhooks in the worker", "T-1")
    assert learn.proposals(squad.oracle) == []
    assert not Path(first.path).exists()
    assert learn.learn(squad.oracle, "T-1").known == (written.slug,)


def test_an_unfinished_or_unknown_task_teaches_nothing(squad: Squad) -> None:
    with pytest.raises(NotFound, match="No receipt names the task T-1"):
        learn.learn(squad.oracle, "T-1")
    order(squad, "builder")
    with pytest.raises(UsageError, match="is not finished"):
        learn.learn(squad.oracle, "T-1")
    done(squad, "builder", "Retry in the worker.")
    order(squad, "reviewer", objective="Review it.")
    with pytest.raises(UsageError, match="is not finished"):
        learn.learn(squad.oracle, "T-1")
    assert learn.proposals(squad.oracle) == []


def test_a_secret_in_a_receipt_is_not_repeated(squad: Squad) -> None:
    order(squad, "builder")
    done(squad, "builder", "Retry in the worker.")
    name = "T-1__builder__planner.json"
    path = squad.folder / name
    path.write_text(path.read_text("utf-8").replace("in the worker", "with ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2), "utf-8")
    text = Path(learn.learn(squad.oracle, "T-1").path).read_text("utf-8")
    assert "ghp_" not in text
    assert "[REDACTED:" in text


def test_a_question_teaches_its_answer(squad: Squad) -> None:
    squad.ask("Q-1", objective="Which clock do the retry tests take?")
    squad.deliver("Q-1", "The fake clock of tests/clock.py.")
    assert learn.learn(squad.oracle, "Q-1").experience.approach == "- The fake clock of tests/clock.py."
