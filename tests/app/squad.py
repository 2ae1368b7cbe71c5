"""A team on disk without panes: a home with a Root and a profile, and a waker that writes down whom it woke."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oracle.api import Oracle
from oracle.app import journal
from oracle.app.delivery.acknowledge import acknowledge
from oracle.app.delivery.acknowledge import verify as verify_
from oracle.app.delivery.complete import Completion
from oracle.app.delivery.deliver import Delivery
from oracle.app.delivery.order import Order
from oracle.app.delivery.team import init_profile
from oracle.store.delivery import inbox
from oracle.wake.outcomes import NoSession, Outcome, Woken
from oracle.wake.tmux import check_text

if TYPE_CHECKING:
    from collections.abc import Sequence

SEATS = ("memory", "planner", "builder", "reviewer")
DERIVED = ("_state", "_links", "_backlinks")


class Recorder:
    """Wake by appending to a file, which outlives the process; a text that stands there is not typed again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.away: set[str] = set()

    def wake(self, names: Sequence[str], text: str, *, seat: str = "", patience: float = 0) -> Outcome:
        check_text(text)
        if seat in self.away:
            return NoSession(tuple(names), "no session of this name is running")
        with self.path.open("a", encoding="utf-8") as log:
            log.write(f"{seat}\t{text}\n")
        return Woken(names[0], "%0")

    def wake_again(self, names: Sequence[str], text: str, *, seat: str = "", patience: float = 0) -> Outcome:
        if any(line == f"{seat}\t{text}" for line in self.lines()):
            return Woken(names[0], "%0")
        return self.wake(names, text, seat=seat, patience=patience)

    def lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []

    def woken(self) -> list[tuple[str, str]]:
        """Return (seat, task id) of each wake-up, in order."""
        return [(line.split("\t")[0], line.split("\t")[1].split(" ")[0]) for line in self.lines()]


class Later:
    """A clock that is ahead by some seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def now_ns(self) -> int:
        import time

        return time.time_ns() + int(self.seconds * 1e9)


class Squad:
    """The project `demo` in a home of its own."""

    def __init__(self, folder: Path, *, seats: Sequence[str] = SEATS, project: str = "demo") -> None:
        self.home = folder / "home"
        self.path = self.home / ".agents" / "memory"
        self.path.mkdir(parents=True, exist_ok=True)
        self.project = project
        self.recorder = Recorder(folder / "woken.log")
        self.warnings: list[str] = []
        self.oracle = self.open()
        self.profile = init_profile(self.oracle, project, seats, repo_root=str(folder / "repo"))
        self.tasks = self.home / ".agents" / "tasks" / project
        self.folder = self.tasks / "patrol" / "handoffs"

    def open(self, seconds: float = 0) -> Oracle:
        """Open the Root as another process would, that many seconds later."""
        return Oracle.open(str(self.path), waker=self.recorder, warn=self.warnings.append, clock=Later(seconds))

    def ask(self, task_id: str = "Q-1", source: str = "planner", target: str = "memory", **more: Any) -> Any:
        order = Order(self.project, task_id, source, target, more.pop("objective", "Who decided?"), **more)
        return self.oracle.dispatch(order)

    def deliver(self, task_id: str = "Q-1", answer: object = "B.", target: str = "planner", **more: Any) -> Any:
        response = {"answer": answer, **more.pop("response", {})}
        return self.oracle.deliver(Delivery(self.project, task_id, target, response, **more))

    def complete(self, task_id: str = "T1", source: str = "builder", target: str = "", **more: Any) -> Any:
        return self.oracle.complete(Completion(self.project, task_id, source, target, **more))

    def ack(self, task_id: str = "T1", source: str = "builder", target: str = "planner") -> Any:
        return acknowledge(self.oracle, self.project, task_id, source=source, target=target)

    def verify(self, task_id: str, source: str, target: str) -> dict[str, Any]:
        return verify_(self.oracle, self.project, task_id, source=source, target=target)

    def receipts(self) -> set[str]:
        names = {path.name for path in self.folder.glob("*.json*")} if self.folder.exists() else set()
        return {name for name in names if not name.endswith(".lock")}

    def receipt(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.folder / name).read_bytes())
        return content

    def response(self, task_id: str = "Q-1") -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.path / "responses" / f"{task_id}.json").read_bytes())
        return content

    def responses(self) -> set[str]:
        names = (path.name for path in (self.path / "responses").glob("*.json"))
        return {name for name in names if not name.startswith(".")}

    def inbox(self) -> inbox.Inbox:
        import time

        return inbox.read(self.oracle.root, time.time())

    def states(self) -> dict[str, str]:
        return {item.handoff.task_id: item.handoff.state.step.value for item in self.oracle.handoffs().items}

    def text(self, name: str) -> str:
        path = self.tasks / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def events(self) -> list[str]:
        return [str(event["event"]) for event in journal.events(self.oracle)]

    def snapshot(self) -> dict[str, bytes]:
        """Return every file of the home but what is derived, locks and the journal."""
        found = {}
        for path in sorted(self.home.rglob("*")):
            name = path.relative_to(self.home).as_posix()
            if (
                path.is_file()
                and not name.endswith((".lock", "events.log"))
                and not any(f"/{one}/" in name for one in DERIVED)
            ):
                found[name] = path.read_bytes()
        return found
