"""Start, watch and end daemons of a test."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oracle.app.delivery import handoffs
from oracle.store.daemon import log
from oracle.store.daemon import state as store
from tests.app.squad import Squad
from tests.daemon import boxed
from tests.forked import Forked
from tests.wake.stage import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Callable

CHECKOUT = Path(__file__).resolve().parents[2]
KNOWN = (
    "---\ntitle: Retry policy\nkind: decision\n---\n# Retry policy\n\n"
    "We chose exponential backoff with at most five tries for webhooks.\n"
)
ASKED = "How many tries with exponential backoff for webhooks?"
UNKNOWN = "What is the flux ratio of zeppelins over Zanzibar?"


class Served:
    """A team whose Root is served by a process of its own."""

    pace = "quick"
    """Of the daemon: `quick`, or `real` intervals."""

    def __init__(self, folder: Path) -> None:
        self.squad = Squad(folder)
        self.squad.oracle.init()
        self.root = self.squad.oracle.root
        self.faults = folder / "faults"
        self.faults.mkdir()
        self.said = folder / "said.txt"
        self.processes: list[Forked] = []
        self.put("projects/demo/builder/retry.md", KNOWN)

    # -- the process -----------------------------------------------------------------------------------------------

    def start(self, *, waits: bool = True, enter: Callable[[], None] = lambda: None) -> Forked:
        """Start the daemon. `enter` is called in its process first."""

        def serve() -> None:
            enter()
            boxed.main(self.root.path, str(self.faults), self.pace)

        with self.said.open("ab") as stream, Path(os.devnull).open("rb") as nothing:
            process = Forked(
                serve,
                streams=[nothing.fileno(), stream.fileno(), stream.fileno()],
                cwd=CHECKOUT,
            )
        self.processes.append(process)
        if waits:
            self.until(lambda: self.status().get("pid") == process.pid and self.status().get("watching"), "it serves")
        return process

    def stop(self) -> int:
        process = self.processes[-1]
        process.send_signal(signal.SIGTERM)
        return process.wait(PATIENCE)

    def kill(self) -> None:
        self.processes[-1].kill()
        self.processes[-1].wait(PATIENCE)

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait(PATIENCE)

    # -- what it did -----------------------------------------------------------------------------------------------

    def until(self, is_met: Callable[[], object], what: str) -> None:
        try:
            until(is_met, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; it said: {self.said.read_text()[-2000:]} {self.lines()[-5:]}") from None

    def status(self) -> dict[str, Any]:
        return store.read_status(self.root)

    def lines(self) -> list[dict[str, Any]]:
        return list(log.read(self.root))

    def said_of(self, *words: str) -> list[str]:
        """Return the messages of the log in which all of these words stand."""
        messages = [str(line["message"]) for line in self.lines()]
        return [message for message in messages if all(word in message for word in words)]

    def until_said(self, *words: str) -> None:
        self.until(lambda: self.said_of(*words), f"the log says {words}")

    def knows(self, name: str) -> bool:
        """Tell whether the index of the daemon holds a record; nobody else brings it up to date."""
        return self._title(name) is not None

    def text_of(self, name: str) -> str:
        return self._title(name) or ""

    def _title(self, name: str) -> str | None:
        import sqlite3

        try:
            with sqlite3.connect(f"file:{self.root.database}?mode=ro", uri=True) as connection:
                row = connection.execute("SELECT title FROM record WHERE path = ?", (name,)).fetchone()
        except sqlite3.Error:
            return None
        return None if row is None else str(row[0])

    # -- what others do --------------------------------------------------------------------------------------------

    def put(self, name: str, text: str) -> Path:
        """Put a file under its name as a seat does: whole, by a rename."""
        path = Path(self.root.path) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.new")
        new.write_text(text, encoding="utf-8")
        new.rename(path)
        return path

    def fault(self, name: str, content: str = "") -> None:
        new = self.faults / f".{name}"
        new.write_text(content, encoding="ascii")
        new.rename(self.faults / name)

    def heal(self, name: str) -> None:
        (self.faults / name).unlink()

    def ask(self, task_id: str, question: str, *, notifies: bool = False) -> str:
        """Ask memory; return what became of the wake-up."""
        asked = self.squad.ask(task_id, objective=question, kind="query", notifies=notifies)
        return str(asked.wake_up.result)

    def is_answered(self, task_id: str) -> bool:
        return f"{task_id}__memory__planner.json" in self.squad.receipts()

    def state(self) -> str:
        """Return the state of the only handoff; unlike `oracle handoffs` this sends and finishes nothing itself."""
        listed = handoffs.list_all(self.squad.open()).items
        assert len(listed) <= 1
        return listed[0].handoff.state.step.value if listed else ""  # none in the moment of its rename

    def woken(self) -> list[tuple[str, str]]:
        """Return (seat, text) of each wake-up."""
        path = self.faults / "woken.log"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [(seat, text) for seat, text in (line.split("\t") for line in lines)]

    def tried(self) -> list[int]:
        """Return, for each wake-up that found its seat busy, how many questions had an answer by then."""
        path = self.faults / "tried.log"
        return [int(line) for line in path.read_text(encoding="ascii").splitlines()] if path.exists() else []

    def response(self, task_id: str) -> dict[str, Any]:
        return json.loads((Path(self.root.responses) / f"{task_id}.json").read_bytes())

    def open_files(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.processes[-1].pid}/fd").iterdir())

    def cpu_seconds(self) -> float:
        words = Path(f"/proc/{self.processes[-1].pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
