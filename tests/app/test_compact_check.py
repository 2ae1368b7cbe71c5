"""Compacting is recommended only when everything of this turn is on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.app.teamwork.compaction import NOT_YET, RECOMMENDED, check
from oracle.cli.main import run
from oracle.domain.records.drafts import Draft, Evidence
from oracle.errors import UsageError

if TYPE_CHECKING:
    from tests.app.squad import Squad


def test_quiet_turn_is_safe(squad: Squad):
    squad.oracle.init()
    found = check(squad.oracle, "demo")
    assert (found.line, found.missing) == (RECOMMENDED, ())
    assert "compact" in squad.events()


def test_dispatch_by_memory_is_on_disk_by_itself_and_its_result_is_not(squad: Squad):
    squad.ask("T-1", source="memory", target="planner", kind="task")
    assert check(squad.oracle, "demo").line == RECOMMENDED
    squad.complete("T-1", "planner", "memory", verdict="PASS")
    found = check(squad.oracle, "demo")
    assert (found.line, found.missing) == (NOT_YET, ("the delivery of T-1 by planner has no record",))
    squad.oracle.write(Draft("task", "demo", "T-1 is accepted", task_id="T-1"))
    assert check(squad.oracle, "demo").line == RECOMMENDED


def test_what_others_do_is_not_asked_for(squad: Squad):
    squad.ask("T-1", source="planner", target="builder", kind="task")
    squad.complete("T-1", "builder", "planner")
    assert check(squad.oracle, "demo").missing == ()


def test_turn_begins_where_the_last_check_held_or_where_the_caller_says(squad: Squad):
    squad.complete("T-1", "planner", "memory", verdict="PASS")
    assert check(squad.oracle, "demo", since="2999-01-01").missing == ()
    assert check(squad.oracle, "demo", since="2020-01-01").missing != ()
    assert check(squad.open(5), "demo").missing == ()


@pytest.mark.parametrize(
    ("fact", "is_known"),
    [
        ("The cause was an expired certificate of the gateway", True),
        ("网关的证书过期", True),
        ("The customer asked for monthly billing", False),
    ],
)
def test_stated_facts_are_looked_for(squad: Squad, fact: str, is_known: bool):
    bodies = ("The cause was an expired certificate of the gateway.", "根因：网关的证书过期。")
    for number, body in enumerate(bodies):
        squad.oracle.write(
            Draft("finding", "demo", f"Root cause {number}", body=body, evidence=(Evidence("high", "log"),))
        )
    found = check(squad.oracle, "demo", facts=(fact,))
    assert (found.missing == ()) == is_known


def test_time_that_is_none_is_refused(squad: Squad):
    with pytest.raises(UsageError, match="is not a time"):
        check(squad.oracle, "demo", since="soon")


def test_the_recommendation_is_the_line_that_operators_know(squad: Squad, capfd: pytest.CaptureFixture[str]):
    words = ["team", "compact", "--project", "demo", "--memory-dir", str(squad.path)]
    assert run([*words, "--fact", "The customer asked for monthly billing"]) == 1
    assert "/compact —" not in capfd.readouterr().out
    assert run(words) == 0
    assert capfd.readouterr().out == "建议 /compact — 重要记忆已索引,可安全压缩\n"
