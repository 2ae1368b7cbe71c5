"""Two seats of the real client: one asks, the other's Stop hook delivers, the first is woken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.api import Oracle
from oracle.app.delivery.order import QUERY, Order
from tests.e2e import client as real
from tests.e2e.client import Client
from tests.hook.seat import Seat
from tests.wake.stage import Stage, until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.claude_code,
    pytest.mark.skipif(bool(real.why_missing()), reason=real.why_missing() or "everything is there"),
]

MARKER = "[DELIVER:seat=planner task_id={} project=install]"


class Team:
    """A planner and a memory seat of the project `install`, in panes of one private server."""

    def __init__(self, folder: Path, stage: Stage) -> None:
        self.folder, self.stage = folder, stage
        self.seat = Seat(folder)
        self.oracle = Oracle.open(self.seat.root.path)
        self.clients: list[Client] = []

    def start(self, seat: str, *turns: str) -> Client:
        made = Client(self.folder / seat, [{"text": turn} for turn in turns])
        made.extra = {"AGENT_HOME": str(self.seat.home)}
        made.install_hook()
        made.pane = made.start(self.stage, f"install-{seat}")
        self.clients.append(made)
        return made

    def ask(self, task_id: str, question: str = "Who decided?") -> Any:
        order = Order("install", task_id, "planner", "memory", question, kind=QUERY)
        return self.oracle.dispatch(order)

    def receipt(self, task_id: str) -> dict[str, Any]:
        path = self.seat.folder / f"{task_id}__memory__planner.json"
        content: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {}
        return content

    def close(self) -> None:
        for client in self.clients:
            client.close()


@pytest.fixture
def team(tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    """Give a team without clients; they are ended afterwards."""
    monkeypatch.setenv("ORACLE_TMUX_SOCKET", stage.socket)
    made = Team(tmp_path, stage)
    yield made
    made.close()


def woken_with(planner: Client) -> list[str]:
    """Return the wake-ups that the planner was told as prompts, each once."""
    said = planner.prompts()[-1] if planner.prompts() else []
    return [text for text in said if "Q-1" in text]


def test_question_is_answered_and_the_asker_is_woken(team: Team):
    planner = team.start("planner", "I look.")
    memory = team.start("memory", f"Option B, decided on Monday.\n{MARKER.format('Q-1')}", "Nothing more.")
    team.ask("Q-1")
    until(lambda: memory.has_been_told("Q-1"), "memory was woken")
    until(lambda: woken_with(planner), "the planner was woken")
    assert team.seat.answers() == {"Q-1": "Option B, decided on Monday."}
    assert {"Q-1__memory__planner.json", "Q-1__planner__memory.json.consumed"} <= team.seat.receipts()
    until(lambda: team.receipt("Q-1")["notified_at"], "memory's hook noted the wake-up that it sent")
    until(lambda: team.seat.inbox() == [], "memory's hook owes nothing any more")
    (text,) = woken_with(planner)
    assert "Option B" not in text


def test_memory_in_copy_mode_answers_while_its_reply_quotes_old_markers(team: Team):
    planner = team.start("planner", "I look.")
    quote = f"Earlier I wrote `{MARKER.format('Q-0')}`.\n> {MARKER.format('Q-0')}\n"
    memory = team.start("memory", f"{quote}Option C. {MARKER.format('Q-1')}")
    team.seat.dispatch("Q-0")
    team.stage.tmux("copy-mode", "-u", "-t", memory.pane)
    team.ask("Q-1")
    until(lambda: woken_with(planner), "the planner was woken")
    assert set(team.seat.answers()) == {"Q-1"}
    assert "Q-0__planner__memory.json" in team.seat.receipts()


def test_wake_up_waits_for_a_planner_that_is_gone(team: Team):
    memory = team.start("memory", f"Option D. {MARKER.format('Q-1')}", "Nothing more.")
    team.ask("Q-1")
    until(lambda: memory.has_been_told("Q-1"), "memory was woken")
    until(lambda: team.receipt("Q-1"), "the answer was delivered")
    until(lambda: [name for name in team.seat.inbox() if name.startswith("wake-")], "the wake-up waits")
    assert not team.receipt("Q-1").get("notified_at")
    planner = team.start("planner", "I look.")

    def is_noted() -> bool:
        team.oracle.resume()
        return bool(team.receipt("Q-1")["notified_at"])

    until(is_noted, "the wake-up was sent")
    until(lambda: woken_with(planner), "the planner was woken")
    assert team.seat.inbox() == []
