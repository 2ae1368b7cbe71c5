"""Daemons of two machines on one hub: what happens on one is soon so on the other, with no command run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.store.hub import ledger as ledgers
from oracle.store.root import hub as memberships
from tests.daemon.running import ASKED, Served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.hub.machines import Team

NEW = "projects/demo/decision/new.md"


def home_of_memory(site: Served) -> str:
    view = ledgers.load_team(site.root)
    home = view.home_of("demo", "memory") if view else None
    return home.machine if home else ""


@pytest.fixture
def served(team: Team, tmp_path: Path) -> Iterator[list[Served]]:
    """Give the daemons of two machines, the second of which is the home of memory."""
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made.append(Served(tmp_path / name))
        joined = team.join(name)
        memberships.save(made[-1].root, joined.membership)
        joined.take_home("demo", "memory", take=True)
        made[-1].start()
        for site in made:  # each machine takes the seats without a home at its first sync
            site.until(lambda site=site, home=joined.machine: home_of_memory(site) == home, "it knows the homes")
    yield made
    for one in made:
        one.close()


def test_what_changes_on_one_machine_is_soon_on_the_other(served: list[Served]) -> None:
    one, two = served
    one.put(NEW, "# First title\n")
    two.until(lambda: two.knows(NEW), "a new file is known there")
    began = time.monotonic()
    one.put(NEW, "# Second title\n")
    two.until(lambda: two.text_of(NEW) == "Second title", "an edit is known there")
    assert time.monotonic() - began < 5
    (Path(one.root.path) / NEW).unlink()
    two.until(lambda: not two.knows(NEW), "a removal is known there")


def test_a_question_on_one_machine_is_answered_on_the_other(served: list[Served]) -> None:
    one, two = served
    one.squad.ask("Q-1", objective=ASKED, kind="query")
    one.until(lambda: one.state() in ("consumed", "unnotified"), "the answer arrived")
    one.until(one.woken, "the planner was woken")
    assert one.squad.response("Q-1")["answer"]
    assert [seat for seat, _ in one.woken()] == ["planner"]
    assert two.woken() == []
