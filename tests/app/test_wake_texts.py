"""What is typed into a pane is made of names that passed the validator, places and fixed words, since a shell may stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import oracle.app
from oracle.app.decisions.handover import resolve, send
from oracle.app.delivery import unmerged_commit
from oracle.app.delivery.team import open_team
from oracle.app.queries import attend
from oracle.app.queries.attend import Terms
from oracle.app.teamwork.workflow import create_task, update_step
from oracle.domain.delivery.receipts import ReceiptKind, new_receipt, receipt_name
from oracle.domain.delivery.workflows import WorkflowStep
from tests.app.test_decisions import ID, payload

if TYPE_CHECKING:
    from tests.app.squad import Squad

EVIL = "x; touch ~/evil | `evil` $(evil) && evil > evil 'evil' \"evil\" \\evil !evil #evil *"
PLAIN = re.compile(r"[\w ./:,=?+-]+")
"""Letters, digits and signs that mean nothing to a shell; a lone `?` stands for a commit that is none."""


def ask_and_answer(squad: Squad) -> None:
    squad.ask("Q-1", kind="query", objective=EVIL, title=EVIL, user_summary=EVIL)
    attend.attend_to(squad.oracle, attend.open_questions(squad.oracle, "demo")[0], Terms())
    squad.deliver("Q-1", EVIL, summary=EVIL, title=EVIL, verdict=EVIL, commit=EVIL)


def dispatch_and_complete(squad: Squad) -> None:
    squad.ask("T-1", target="builder", objective=EVIL, title=EVIL, user_summary=EVIL)
    words = dict.fromkeys(
        ("title", "summary", "verdict", "commit", "branch", "test_policy", "user_summary", "next_action", "status"),
        EVIL,
    )
    squad.complete("T-1", is_any_branch=True, **words)


def pass_outside_of_the_main_line(squad: Squad) -> None:
    team = open_team(squad.oracle, "demo")
    name = receipt_name("T-2", "builder", "planner")
    for number, commit in enumerate((EVIL, "abc1234")):
        receipt = new_receipt(
            ReceiptKind.COMPLETION, name, {"builder_commit": commit, "summary": EVIL, "number": number}
        )
        unmerged_commit.enqueue(squad.oracle, team, receipt, "memory")
    squad.oracle.resume()


def change_a_step(squad: Squad) -> None:
    step = WorkflowStep(1, "build", owner_role="builder", notify_on_done=("planner", EVIL))
    create_task(squad.oracle, "demo", "T-3", steps=(step,))
    path = squad.tasks / "T-3/workflow.md"
    path.write_text(path.read_text(encoding="utf-8").replace("1: build", f"1: {EVIL}"), encoding="utf-8")
    for status in ("in_progress", "done"):
        update_step(squad.oracle, "demo", "T-3", "1", status=status)


def decide(squad: Squad) -> None:
    options = [{"id": "A", "label": EVIL[:80], "impact": EVIL}, {"id": "B", "label": "no", "impact": ""}]
    send(squad.oracle, payload(context=EVIL, options=options, from_seat="demo-planner"))
    resolve(squad.oracle, "demo", ID, choice="A", by=EVIL, reason=EVIL)


@pytest.mark.parametrize(
    ("play", "least"),
    [
        (ask_and_answer, 3),
        (dispatch_and_complete, 2),
        (pass_outside_of_the_main_line, 2),
        (change_a_step, 1),
        (decide, 2),
    ],
)
def test_a_wake_up_holds_nothing_that_a_shell_would_act_on(squad: Squad, play: Any, least: int):
    play(squad)
    texts = [line.partition("\t")[2] for line in squad.recorder.lines()]
    assert len(texts) >= least
    for text in texts:
        assert PLAIN.fullmatch(text), text
        said = re.sub(r"/\S+", "", text)  # the name of a record may hold words of its title
        assert ("touch" in said, "evil" in said) == (False, False)


def test_word_of_a_question_and_of_an_answer_ends_with_the_command_to_read_on(squad: Squad):
    squad.ask("Q-1", kind="query")
    squad.deliver("Q-1")
    texts = [line.partition("\t")[2] for line in squad.recorder.lines()]
    assert [text.partition(". To read on: ")[2] for text in texts] == ["oracle handoffs show Q-1 --project demo"] * 2


def test_every_place_that_wakes_a_seat_is_played_here():
    folder = Path(str(oracle.app.__file__)).parent
    callers = {
        path.name
        for path in folder.rglob("*.py")
        if re.search(r"(wakeups|unmerged_commit)\.enqueue\w*\(", path.read_text(encoding="utf-8"))
    }
    free = {"panes.py"}
    """`notify_seat --message` sends what its caller says."""
    played = {"attend.py", "deliver.py", "dispatch.py", "handover.py", "unmerged_commit.py", "workflow.py"}
    assert callers == played | free
