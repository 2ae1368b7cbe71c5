"""Codex and Gemini as seats: they are woken, their hooks deliver, and they call the tools of `oracle mcp`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from oracle.cli.main import run
from oracle.wake.outcomes import Stranded, Woken
from oracle.wake.tmux import TmuxWaker
from tests.e2e.model_endpoint import scripted
from tests.e2e.npm_clients import Client, Codex, Gemini
from tests.hook.seat import Seat
from tests.mcp.clients import put
from tests.wake.stage import PATIENCE, Stage, until

ANSWER = "Option B. [DELIVER:seat=planner,task_id=T-1,project=install]"


def needing(made: type[Client]) -> object:
    return pytest.param(
        made, id=made.tool, marks=pytest.mark.skipif(bool(made.why_missing()), reason=made.why_missing())
    )


each_client = pytest.mark.parametrize("made", [needing(Codex), needing(Gemini)])


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    """Give a seat with an open question."""
    folder = tmp_path / "disk"
    folder.mkdir()
    seat = Seat(folder)
    seat.dispatch("T-1")
    return seat


@each_client
def test_marker_at_the_end_of_a_turn_delivers(made: type[Client], seat: Seat, tmp_path: Path):
    client = made(tmp_path)
    client.install_hook(seat.root.path)
    client.trust()
    assert "Option B." in client.ask("Who decided?", {"text": ANSWER})
    assert [line["what"] for line in seat.log()] == ["delivered"]
    assert seat.answers() == {"T-1": "Option B."}
    assert {"T-1__memory__planner.json", "T-1__planner__memory.json.consumed"} <= seat.receipts()


@each_client
def test_strict_hook_lets_the_agent_correct_its_marker(made: type[Client], seat: Seat, tmp_path: Path):
    client = made(tmp_path)
    client.install_hook(seat.root.path, "--strict")
    client.trust()
    client.ask("Who decided?", {"text": ANSWER.replace("planner", "stranger")}, {"text": ANSWER})
    assert "has no such seat. Correct the marker" in json.dumps(client.requests[1])
    assert seat.answers()["T-1"].endswith("Option B.")


@each_client
def test_seat_in_a_pane_is_woken_and_delivers(made: type[Client], seat: Seat, stage: Stage, tmp_path: Path):
    client = made(tmp_path)
    client.install_hook(seat.root.path)
    client.trust()
    text = "T-1 waits for you: read the question; 请回答。"
    with (
        scripted([{"text": ANSWER}] * 3) as endpoint,  # Codex also asks for the title of the session
        client.started(stage, "install-memory", endpoint) as pane,
    ):
        waker = TmuxWaker(stage.socket)
        outcome = waker.wake(["install-memory"], text, patience=PATIENCE)
        if isinstance(outcome, Stranded):  # a client that has just started may show a text late
            outcome = waker.wake_again(["install-memory"], text, patience=PATIENCE)
        assert outcome == Woken("install-memory", pane)
        until(lambda: "T-1__planner__memory.json.consumed" in seat.receipts(), "the question is consumed")
    assert seat.answers() == {"T-1": "Option B."}
    assert json.dumps(endpoint.requests[0], ensure_ascii=False).count(text) == 1


@pytest.mark.parametrize("made", [needing(Codex)])
def test_codex_runs_no_hook_that_nobody_accepted(made: type[Client], seat: Seat, tmp_path: Path):
    client = made(tmp_path)
    client.install_hook(seat.root.path)
    client.ask("Who decided?", {"text": ANSWER})
    assert (seat.log(), seat.answers()) == ([], {})


@each_client
@pytest.mark.parametrize("named", ["by the environment", "by the configuration"])
def test_tool_is_called_with_the_printed_configuration(
    made: type[Client], named: str, root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    """The Root reaches the server either way, and what the tool returns reaches the model."""
    put(root, "projects/shop/planner/retry.md", "The upload retries five times.\n")
    client = made(tmp_path)
    given = ["--memory-dir", str(root)] if named == "by the configuration" else []
    client.extra = {} if given else {"ORACLE_ROOT": str(root)}
    assert run(["mcp", "--print-config", client.tool, "--seat", "builder", "--project", "shop", *given]) == 0
    client.configure(capfd.readouterr().out)
    client.trust()
    client.ask("How often?", {"tool": "search", "input": {"query": "upload"}}, {"text": "Five times."})
    (result,) = client.results()
    assert "The upload retries five times." in result
    assert f"coding agents, at {root}. You are its seat builder of the project shop." in json.dumps(client.requests[0])


@pytest.mark.parametrize("made", [needing(Codex)])
def test_codex_does_not_start_without_the_server(made: type[Client], tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    client = made(tmp_path)
    assert run(["mcp", "--print-config", "codex"]) == 0
    client.configure(re.sub("command = .*", 'command = "false"', capfd.readouterr().out))
    with pytest.raises(AssertionError, match="oracle"):
        client.ask("How often?", {"text": "Five times."})


NOTE = "Uploads to the archive are retried twice, thirty seconds apart."
QUESTION = "How often are uploads to the archive retried?"


@each_client
def test_context_reaches_the_request_of_the_model(made: type[Client], seat: Seat, tmp_path: Path):
    """The record of a prompt comes with it, fenced, once; the brief of the seat begins the session."""
    put(Path(seat.root.path), "projects/install/decision/retry.md", f"# Retry of uploads\n\n{NOTE}\n")
    client = made(tmp_path)
    client.extra = {"ORACLE_PROJECT": "install"}
    client.install_hook(seat.root.path, "--events", "stop,prompt,start")
    client.trust()
    client.ask(QUESTION, {"text": "Twice."})
    sent = json.dumps(client.requests[0], ensure_ascii=False)
    assert "oracle-context date=" in sent
    assert sent.count(NOTE) == 1
    assert "projects/install/decision/retry.md:3-3" in sent
    assert "T-1, asked by planner of memory" in sent
