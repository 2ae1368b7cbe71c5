"""The words of states: in the language of the reader where people read them, and as they are where programs do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oracle.app.codebase.stale_names import Liveness
from oracle.cli.i18n.translate import set_language
from oracle.cli.main import run
from oracle.domain.delivery.handoffs import HandoffStep
from oracle.domain.delivery.workflows import STATUSES as STEPS
from oracle.domain.names import say_state
from oracle.domain.records.drafts import STATUSES
from oracle.wording import speak, spoken
from tests.app.squad import Squad


@pytest.fixture(autouse=True)
def english_afterwards() -> Iterator[None]:
    """Leave no language behind: later tests speak English."""
    yield
    speak(None)


STATES = sorted(
    {
        *(step.value for step in HandoffStep if step is not HandoffStep.NONE),
        *STATUSES,
        *STEPS,
        *(one.value for one in Liveness),
    }
)


@pytest.fixture
def team(tmp_path: Path) -> Squad:
    squad = Squad(tmp_path)
    squad.oracle.init()
    squad.ask("Q-1", notifies=False)
    squad.deliver("Q-1", notifies=False)
    squad.ask("Q-2", notifies=False)
    squad.deliver("Q-2")
    squad.ack("Q-2", "memory", "planner")
    return squad


@pytest.mark.parametrize("word", STATES)
def test_every_state_has_a_word_in_chinese(word: str):
    set_language("zh")
    try:
        told = spoken(say_state(word))
    finally:
        speak(None)
    assert not told.isascii()
    assert (say_state(word), json.dumps(say_state(word))) == (word, f'"{word}"')


@pytest.mark.parametrize("language", ["zh", "en"])
def test_programs_read_the_words_as_they_are(team: Squad, language: str, capsys: pytest.CaptureFixture[str]):
    words = ["--memory-dir", str(team.path), "--lang", language]
    assert run(["handoffs", *words]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert {row[4] for row in rows} == {"consumed", "acked"}
    assert run(["handoffs", "--json", *words]) == 0
    assert {item["state"] for item in json.loads(capsys.readouterr().out)["handoffs"]} == {"consumed", "acked"}


def test_people_read_them_in_their_language(
    team: Squad, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    words = ["--memory-dir", str(team.path), "--lang", "zh"]
    assert run(["handoffs", "show", "Q-2", *words]) == 0
    story = capsys.readouterr().out
    assert "acked" not in story.splitlines()[1]
    assert "已确认" in story
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["handoffs", *words]) == 0
    drawn = capsys.readouterr().out
    assert "已确认" in drawn
    assert "acked" not in drawn
