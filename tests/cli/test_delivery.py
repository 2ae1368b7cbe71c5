"""Commands of delivery that a transcript can't show: those that go on, and those that wake real panes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oracle.app.journal import details_of, told
from oracle.cli.application import command as application
from oracle.cli.application import walk
from oracle.domain.records.drafts import Draft
from oracle.mcp.tools import BY_NAME
from oracle.store import journal
from oracle.store.root.layout import Root
from tests.app.squad import Squad
from tests.cli.transcript import call
from tests.forked import run_python
from tests.mcp.clients import call as mcp_call
from tests.wake.stage import Stage

CHECKOUT = Path(__file__).resolve().parents[2]
START = "import sys; from oracle.cli.main import run; sys.exit(run())"


@pytest.fixture
def squad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Squad:
    monkeypatch.setenv("ORACLE_TMUX_SOCKET", str(tmp_path / "no-server"))
    return Squad(tmp_path)


def command(*words: str) -> list[str]:
    return [sys.executable, "-c", START, *words]


def environ(root: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "ORACLE_ROOT": str(root), "PYTHONPATH": str(CHECKOUT), **more}


def oracle(root: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    done = run_python(["-c", START, *words], env=environ(root, **more))
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("as_json", [False, True])
def test_log_follows_until_it_is_interrupted(root: Path, *, as_json: bool):
    home = Root(str(root))
    journal.append(home, "one", "2026-04-27T18:30:00Z", {"task_id": "T1"})
    words = ("log", "--follow", "--task", "T1", *(["--json"] if as_json else []))
    with subprocess.Popen(command(*words), env=environ(root), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        seen = [process.stdout.readline()]
        journal.append(home, "other", "2026-04-27T18:30:01Z", {"task_id": "T2"})
        journal.append(home, "two", "2026-04-27T18:30:02Z", {"task_id": "T1"})
        seen.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 130
    if as_json:
        assert [json.loads(line)["event"] for line in seen] == ["one", "two"]
    else:
        assert seen == ["2026-04-27T18:30:00Z\tone\t\tT1\t\n", "2026-04-27T18:30:02Z\ttwo\t\tT1\t\n"]


@pytest.mark.parametrize(
    ("event", "details"),
    [
        ({"seat": "builder", "notifies": False, "tries": 3}, "seat=builder notifies=false tries=3"),
        ({"scanners": ["credentials", "git"], "failed": []}, "scanners=credentials,git failed=[]"),
        ({"reason": "already delivered"}, 'reason="already delivered"'),
        ({"names": ["a b", "c"]}, 'names=["a b", "c"]'),
        ({"names": ["a,b", "c"]}, 'names=["a,b", "c"]'),
        ({"said": 'he "did"', "nothing": "", "kept": {"a": None}}, 'said="he \\"did\\"" kept={"a": null}'),
        ({"title": "多少"}, "title=多少"),
    ],
)
def test_details_of_an_event_can_be_told_apart(event: dict[str, object], details: str):
    assert details_of({"ts": "2026-04-27T18:30:00Z", "event": "one", **event}) == details


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"lineage": "unknown", "notifies": False, "source": "memory", "target": "a"}, "memory to a; nobody was woken"),
        ({"lineage": "divergent", "notifies": True, "source": "b"}, "the repository's head lacks the commit; source=b"),
        ({"lineage": ["x"], "notifies": "no", "seat": "b"}, "lineage=x notifies=no seat=b"),
        ({"lineage": "in-lineage"}, "the repository's head has the commit"),
        ({"lineage": "unknown", "notifies": True}, ""),
    ],
)
def test_people_read_an_event_in_words(event: dict[str, object], sentence: str):
    assert told({"ts": "2026-04-27T18:30:00Z", "event": "one", "project": "demo", **event}) == sentence


DELIVERED = (
    "deliver",
    "--project",
    "demo",
    "--task-id",
    "Q-1",
    "--to",
    "planner",
    "--response-inline",
    '{"answer": "B."}',
)


def test_question_and_answer_wake_their_panes(root: Path, stage: Stage):
    memory, planner = stage.box("demo-memory"), stage.box("demo-planner")
    socket = {"ORACLE_TMUX_SOCKET": stage.socket}
    oracle(root, "project", "init", "demo", "--seats", "memory,planner")
    asked = oracle(root, "ask", "--project", "demo", "--from", "planner", "--task-id", "Q-1", "Who?", **socket)
    assert asked.stdout == "Q-1\n"
    assert "woke memory in demo-memory" in asked.stderr
    done = oracle(root, *DELIVERED, "--json", **socket)
    assert json.loads(done.stdout)["wake_up"] == {"result": "sent", "seat": "planner", "detail": "demo-planner"}
    assert oracle(root, *DELIVERED, **socket).stdout == "already delivered Q-1 to planner\n"
    assert [len(prompts.read()) for prompts in (memory, planner)] == [1, 1]
    assert str(root / "responses" / "Q-1.json") in planner.read()[0]


def test_planner_that_comes_back_is_woken_by_any_command(root: Path, stage: Stage):
    socket = {"ORACLE_TMUX_SOCKET": stage.socket}
    oracle(root, "project", "init", "demo", "--seats", "memory,planner")
    done = oracle(root, *DELIVERED, "--unsolicited", **socket)
    assert done.returncode == 0
    assert (
        "warning: planner was not woken: no tmux server is running; the wake-up waits, nothing is lost" in done.stderr
    )
    assert "unnotified" in oracle(root, "handoffs", **socket).stdout
    planner = stage.box("demo-planner")
    resumed = oracle(root, "resume", "--json", **socket)
    assert json.loads(resumed.stdout)["left"] == []
    assert len(planner.read()) == 1
    assert "consumed" in oracle(root, "handoffs", "--json", **socket).stdout


def test_an_answer_is_acknowledged_by_its_task_alone_unless_several_wait(squad: Squad, monkeypatch: pytest.MonkeyPatch):
    def ack(*words: str) -> tuple[int, str]:
        code, out, err = call(["ack", *words], monkeypatch)
        return code, out + err

    monkeypatch.setenv("ORACLE_ROOT", str(squad.path))
    squad.ask("Q-1")
    assert ack("Q-1")[0] == 4  # nobody has answered
    squad.deliver()
    squad.complete("Q-1", "builder", "planner")
    code, said = ack("Q-1")
    assert (code, "2 answers to Q-1 wait" in said) == (2, True)
    assert "--project demo --from memory --to planner" in said
    assert ack("Q-1", "--from", "builder")[0] == 0
    assert ack("Q-1") == (0, squad.receipt("Q-1__memory__planner.json")["consumed_ack"] + "\n")
    monkeypatch.setenv("ORACLE_SEAT", "reviewer")
    assert ack("Q-1")[0] == 4  # no answer went to this seat
    assert ack("Q-1", "--to", "planner")[0] == 2
    assert ack("Q-1", "--to", "planner", "--from", "memory")[0] == 0
    assert ack("Q-9")[0] == 4


@pytest.mark.parametrize("command", ["show", "graph", "backlinks"])
def test_a_name_that_only_a_task_has_leads_to_its_story(squad: Squad, command: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ORACLE_ROOT", str(squad.path))
    squad.oracle.write(Draft("decision", "demo", "Which queue", body="NATS."))
    squad.ask("Q-1")
    for name in ("Q-1", "entity:taskid:Q-1"):
        code, _, said = call([command, name], monkeypatch)
        assert (code, "`oracle handoffs show Q-1`" in said) == (4, True)
    assert "handoffs show" not in call([command, "Q-2"], monkeypatch)[2]
    if command in BY_NAME:
        argument = BY_NAME[command].required[0]
        assert "handoffs" in mcp_call(squad.path, command, **{argument: "Q-1"}).text


def test_root_that_cannot_be_written_is_still_listed(root: Path):
    oracle(root, "project", "init", "demo", "--seats", "memory,planner")
    oracle(root, "ask", "--project", "demo", "--from", "planner", "--no-notify", "Who?")
    for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
        folder.chmod(0o500)
    try:
        assert oracle(root, "handoffs").returncode == 0
    finally:
        for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
            folder.chmod(0o700)


COMMANDS = dict(walk(application(), hidden=True))


@pytest.mark.parametrize("former", ["--target builder", "--target=builder"])
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("ask", "Why? --project demo --from planner"),
        ("deliver", "--project demo --task-id Q-1 --response-inline {}"),
        ("ack check", "T-1 --project demo"),
    ],
)
def test_former_spellings_are_taken_and_not_shown(path: str, words: str, former: str):
    here = COMMANDS[path]
    parsed = here.make_context(path, [*words.split(), *former.split()]).params
    assert parsed == here.make_context(path, [*words.split(), "--to", "builder"]).params
    assert parsed["target"] == "builder"
    assert "--target" not in here.get_help(here.make_context(path, [], resilient_parsing=True))


@pytest.mark.parametrize("former", ["--seat memory-2", "--seat=memory-2"])
def test_the_seat_that_answers_may_be_named_as_before(former: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ORACLE_SEAT", "memory-3")
    here, words = COMMANDS["deliver"], "--project demo --task-id Q-1 --to planner".split()
    seats = [
        here.make_context("", [*words, *more.split()]).params["source"] for more in (former, "--from memory-2", "")
    ]
    assert seats == ["memory-2", "memory-2", "memory-3"]


def test_every_way_between_seats_is_from_and_to():
    params = [param for one in COMMANDS.values() for param in one.params if param.metavar == "SEAT"]
    ends = {option for param in params for option in param.opts}
    assert {"--from", "--to"} < ends
    assert not ends & {"--target", "--source"}


@pytest.mark.parametrize(
    "seats", ["planner", "planner,builder-1", "memory-2,planner", " planner , reviewer ", "planner,memory"]
)
def test_a_new_project_can_be_asked_and_answers(root: Path, seats: str):
    made = oracle(root, "project", "init", "demo", "--seats", seats, "--json")
    assert json.loads(made.stdout)["seats"].count("memory") == 1
    asked = oracle(root, "ask", "--project", "demo", "--from", "planner", "--task-id", "Q-1", "--no-notify", "Who?")
    assert asked.stdout == "Q-1\n", asked.stderr
    assert oracle(root, *DELIVERED, "--no-notify").stdout == "delivered Q-1 to planner\n"


@pytest.mark.parametrize(("seats", "is_told"), [("planner", True), ("memory,planner", False)])
def test_init_says_that_it_added_memory(root: Path, seats: str, *, is_told: bool):
    made = oracle(root, "project", "init", "demo", "--seats", seats)
    assert ("note: memory was added to the seats" in made.stderr) is is_told


def test_the_home_folder_in_the_repository_of_a_new_project_is_written_out(root: Path, tmp_path: Path):
    words = ("project", "init", "demo", "--seats", "planner", "--repo=~/src/demo", "--json")  # no shell changes that ~
    made = oracle(root, *words, HOME=str(tmp_path))
    assert f'repo_root = "{tmp_path}/src/demo"' in Path(json.loads(made.stdout)["profile"]).read_text(encoding="utf-8")
