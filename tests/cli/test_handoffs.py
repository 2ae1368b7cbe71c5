"""`oracle handoffs` in real panes: one line for each handoff, with its state, its age and the next step, in any width."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from oracle.app.delivery.listed import NARROW
from oracle.domain.layout import cut, squeeze
from tests.app.squad import Squad
from tests.wake.stage import Stage, until

CHECKOUT = Path(__file__).resolve().parents[2]
START = "import sys; from oracle.cli.main import run; sys.exit(run())"
LONG = "Q-20261129T022938-a1b2c3"
CAPTIONS = {
    "en": ["Wait for an answer, the longest first", "Answered, not closed yet", "Closed, the last one first"],
    "zh": ["等待答复，等得最久的在前", "已答复，尚未了结", "已了结，最近的在前"],
}
WORDS = {
    "en": ("answer", "read", "oracle resume", "decide", "none"),
    "zh": ("答复", "阅读", "oracle resume", "决定", "无"),
}


@pytest.fixture
def team(tmp_path: Path) -> Squad:
    """Return a team with a handoff in most states, one of them with a long id."""
    squad = Squad(tmp_path)
    squad.oracle.init()
    squad.ask(LONG, notifies=False)
    for task in ("Q-1", "Q-2", "Q-3"):
        squad.ask(task, notifies=False)
        squad.deliver(task, notifies=task == "Q-2")
    squad.ack("Q-3", "memory", "planner")
    squad.ask("Q-4", notifies=False)
    (squad.folder / "Q-4__planner__memory.json").rename(squad.folder / "Q-4__planner__memory.json.consumed")
    squad.ask("T-一二三四五六七八九十", target="builder", kind="task", notifies=False)
    return squad


def shown(team: Squad, stage: Stage, columns: int, *words: str) -> list[str]:
    """Return the lines that a command prints in a real pane."""
    command = [sys.executable, "-c", START, *words, "--memory-dir", str(team.path)]
    done = stage.folder / "done"
    environ = f"PYTHONPATH={CHECKOUT} ORACLE_TMUX_SOCKET=none HOME={shlex.quote(str(team.home))}"
    line = f"env -u COLUMNS -u LINES {environ} {shlex.join(command)}; touch {shlex.quote(str(done))}; sleep 600"
    pane = stage.session("look", line, size=(columns, 40))
    until(done.exists, "it is printed")
    return [line for line in stage.shows(pane).splitlines() if line.strip()]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("command", ["handoffs", "watch --once"])
@pytest.mark.parametrize("columns", [40, 50, 60, 72, 80])
def test_the_seat_that_acts_next_is_seen_in_any_width(
    team: Squad, tmp_path: Path, stage: Stage, columns: int, command: str, language: str
):
    other = Squad(tmp_path, seats=("memory", "planner", "builder-12"), project="storefront-arena")
    other.ask("REBUILD-THE-INDEX-OF-THE-SHOP", target="builder-12", kind="task", notifies=False)
    lines = shown(team, stage, columns, *command.split(), "--lang", language)
    assert max(map(cell_len, lines)) <= columns
    rows = [line for line in lines if line.startswith(("Q-", "T-", "REBU"))]
    read, answer = {"en": ("read: ", "answer: "), "zh": ("阅读：", "答复：")}[language]
    steps = (f"{answer}memory", f"{answer}builder ", f"{answer}builder-12", f"{read}planner")
    assert [sum(step in f"{row} " for row in rows) for step in steps] == [2, 1, 1, 2], lines


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_each_handoff_is_one_line_of_a_real_pane(team: Squad, stage: Stage, columns: int, language: str):
    lines = shown(team, stage, columns, "handoffs", "--lang", language)
    head, rule, *rows = lines
    assert rule == "─" * columns
    questions = [row for row in rows if row.startswith("  ")]
    rows = [row for row in rows if row.startswith(("Q-", "T-"))]
    assert (len(rows), len(questions)) == (6, 6 if columns < NARROW else 0), lines
    assert max(map(cell_len, lines)) <= columns
    assert all(any(word in row for word in (*WORDS[language], "…")) for row in rows), lines
    assert all("Who de" in row for row in (questions or rows)), lines
    assert [line for line in lines if line in CAPTIONS[language]] == CAPTIONS[language]
    if columns >= 80:
        assert any(LONG in row for row in rows)
        assert sum(WORDS[language][0] in row for row in rows) >= 3, lines
    assert head.split()


def test_a_pipe_and_json_have_everything(team: Squad, capsys: pytest.CaptureFixture[str]):
    from oracle.cli.main import run

    assert run(["handoffs", "--memory-dir", str(team.path)]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert {len(row) for row in rows} == {10}
    assert {row[-1] for row in rows} == {"Who decided?"}
    assert run(["handoffs", "--json", "--memory-dir", str(team.path)]) == 0
    assert {item["task_id"] for item in json.loads(capsys.readouterr().out)["handoffs"]} == {row[1] for row in rows}


@pytest.mark.parametrize(
    ("text", "width", "keeps_end", "short"),
    [
        ("planner", 7, False, "planner"),
        ("planner", 5, False, "plan…"),
        (LONG, 11, True, "Q-2026…1b2c3"[:6] + "…b2c3"),
        ("一二三四五", 6, False, "一二…"),
        ("一二三四五", 7, True, "一二…五"),
        ("ab", 1, True, "…"),
    ],
)
def test_a_text_is_cut_to_its_columns(text: str, width: int, keeps_end: bool, short: str):
    assert cut(text, width, keeps_end=keeps_end) == short
    assert cell_len(short) <= width


def test_the_widest_columns_become_narrower():
    assert squeeze({0: 24, 1: 8, 3: 14}, 40) == {0: 18, 1: 8, 3: 14}
    assert squeeze({0: 5, 1: 5}, 40) == {0: 5, 1: 5}
    assert squeeze({0: 24, 1: 8, 3: 40}, 60, prose=3) == {0: 24, 1: 8, 3: 28}
    assert squeeze({0: 24, 1: 8, 3: 40}, 40, prose=3) == {0: 22, 1: 8, 3: 10}
    assert sum(squeeze({0: 90, 1: 90, 2: 90}, 2).values()) == 3
    assert squeeze({0: 24, 1: 9, 2: 18}, 36, kept=2) == {0: 9, 1: 9, 2: 18}
    assert squeeze({0: 24, 1: 9, 2: 60}, 36, kept=2) == {0: 4, 1: 4, 2: 28}
    assert squeeze({2: 60}, 36, kept=2) == {2: 36}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["ack", "Q1"], "Did you mean Q-1?"),
        (["ack", "Q1", "--project", "demo"], "Did you mean Q-1?"),
        (["handoffs", "show", "q-2"], "Did you mean Q-2?"),
        (["ack", "Q-9"], "See what there is with"),  # a task of another number is another task
        (["handoffs", "shwo"], "Did you mean `oracle handoffs show`?"),
        (["handoffs", "shwo", "Q-1"], "Did you mean `oracle handoffs show`?"),
        (["project", "show", "dmeo"], "Did you mean demo?"),
        (["log", "--project", "dmeo"], "no event matches: Did you mean demo?"),
        (["log", "--project", "other"], "no event matches\n"),
        (["log", "--task", "q-2"], "no event matches: Did you mean Q-2?"),
        (["log", "--task", "Q-99"], "no event matches\n"),
    ],
)
def test_a_slip_is_met_with_what_may_be_meant(
    team: Squad, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
):
    from oracle.cli.main import run

    run([*words, "--memory-dir", str(team.path)])
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("others", [("A-2", "R-2"), ("W-2", "Z-2"), ("y2",)])
@pytest.mark.parametrize(
    "words",
    [
        ("handoffs", "show", "y-2"),
        ("ack", "y-2"),
        ("ack", "y-2", "--project", "demo"),
        ("log", "--task", "y-2"),
        ("ack", "check", "y-2", "--project", "demo"),
        ("team", "task", "update-status", "y-2", "1", "done", "--project", "demo"),
        (
            "deliver",
            "--project",
            "demo",
            "--task-id",
            "y-2",
            "--to",
            "planner",
            "--response-inline",
            '{"answer": "A."}',
        ),
    ],
)
def test_a_task_in_other_case_is_offered_before_any_other(
    team: Squad, words: tuple[str, ...], others: tuple[str, ...], capsys: pytest.CaptureFixture[str]
):
    from oracle.cli.main import run

    for task in (*others, "Y-2"):
        team.ask(task)
        run(["team", "task", "create", task, "--project", "demo", "--memory-dir", str(team.path)])
    capsys.readouterr()
    assert run([*words, "--memory-dir", str(team.path)]) in (0, 1, 2, 4)
    assert "id you mean Y-2" in "".join(capsys.readouterr())


@pytest.mark.parametrize("words", [["show"], ["backlinks"], ["show", "--links"]])
@pytest.mark.parametrize("typed", ["q-2", "Q-2", "entity:taskid:q-2"])
def test_a_name_that_is_a_tasks_but_for_its_case_leads_to_the_task(
    team: Squad, words: list[str], typed: str, capsys: pytest.CaptureFixture[str]
):
    from oracle.cli.main import run

    assert run([*words, typed, "--memory-dir", str(team.path)]) == 4
    assert "hint: It is the id of a task: `oracle handoffs show Q-2`." in capsys.readouterr().err


def test_the_right_id_of_another_seats_task_is_not_to_be_corrected(team: Squad, capsys: pytest.CaptureFixture[str]):
    from oracle.cli.main import run

    words = ["deliver", "--project", "demo", "--task-id", "T-一二三四五六七八九十", "--to", "planner"]
    run([*words, "--response-inline", '{"answer": "Yes."}', "--memory-dir", str(team.path)])
    said = capsys.readouterr().err
    assert "builder answers what it was asked: `oracle compat complete_handoff" in said
    assert "Correct the id" not in said
