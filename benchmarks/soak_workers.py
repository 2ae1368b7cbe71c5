"""The workers of the soak, each a process of its own that writes down what was acknowledged to it, a line of JSON each.

What a line says: `record` a slug that was written; `files` what a seat left under a name; `asked` a question, `task` a task to
memory, `delivered` the answer to one; `lag` the seconds from a rename to the row in the index, `at` when; `error` a refusal.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))

from oracle.api import Oracle  # noqa: E402
from oracle.domain.records.drafts import Draft  # noqa: E402
from oracle.errors import NotFound, OracleError  # noqa: E402

PROJECT = "soak"
PACE = {"write": 0.25, "edit": 0.1, "query": 1.0, "read": 0.1, "probe": 0.5}
"""Seconds that a worker of a kind rests between two steps, on average."""

WORKERS = (
    *(("write", n) for n in range(4)),
    *(("edit", n) for n in range(4)),
    ("query", 0),
    ("query", 1),
    *(("read", n) for n in range(4)),
    ("probe", 0),
)
PROBED, LOST = 0.01, 60.0
"""Seconds between two looks into the index for a file that was renamed, and after which it is given up."""

START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from oracle.cli.main import run; sys.exit(run())"
_WORDS = (
    "cache queue lock index retry timeout deploy rollback schema parser token vector shard lease clock quorum".split()
)
Said = dict[str, object]
Tell = Callable[[Mapping[str, object]], None]
IsOver = Callable[[], bool]


def root_of(home: Path) -> Path:
    """Return the Root under a home."""
    return home / ".agents" / "memory"


def text_of(chance: random.Random) -> str:
    """Return a paragraph with links."""
    words = " ".join(chance.choices(_WORDS, k=20))
    return f"{words} SOAK-{chance.randrange(50)} src/{chance.choice(_WORDS)}.py [[note-{chance.randrange(40)}]]\n"


# Through the library, and as an editor --------------------------------------------------------------------------------


def write(number: int, home: Path, chance: random.Random) -> Iterator[Said]:
    """Write records as Memory does."""
    with Oracle.open(str(root_of(home))) as oracle:
        while True:
            title = f"{chance.choice(_WORDS)} {number} {chance.randrange(10**6)}"
            yield {"record": oracle.write(Draft("decision", PROJECT, title, body=text_of(chance))).slug}


def edit(number: int, home: Path, chance: random.Random) -> Iterator[Said]:
    """Create, edit in place, rename and delete files of a seat; the last word on each name counts."""
    folder = root_of(home) / f"projects/{PROJECT}/builder-{number + 1}"
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        path, step = folder / f"note-{chance.randrange(40)}.md", chance.random()
        text = f"# Note {chance.randrange(10**6)}\n\n{text_of(chance)}"
        if step < 0.5 or not path.exists():
            put(path, text)
            yield {"files": {str(path): text}}
        elif step < 0.7:
            path.write_text(text)
            yield {"files": {str(path): text}}
        elif step < 0.85:
            path.unlink()
            yield {"files": {str(path): None}}
        else:
            other = folder / f"note-{chance.randrange(40)}.md"
            text = path.read_text()
            path.rename(other)
            yield {"files": {str(path): None, str(other): text}}


def put(path: Path, text: str) -> float:
    """Put a file under its name by a rename; return when that was asked for, by the monotonic clock."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text)
    moment = time.monotonic()
    new.rename(path)
    return moment


def read(_: int, home: Path, chance: random.Random) -> Iterator[Said]:
    """Search, list and follow links."""
    with Oracle.open(str(root_of(home))) as oracle:
        while True:
            try:
                oracle.search(" ".join(chance.choices(_WORDS, k=2)))
                oracle.backlinks(f"entity:taskid:SOAK-{chance.randrange(50)}")
                oracle.records({"project": PROJECT}, limit=20, newest_first=True)
            except NotFound:
                pass
            yield {}


def probe(_: int, home: Path, chance: random.Random) -> Iterator[Said]:
    """Rename a file of a seat into place, ask the index alone until it knows it, and remove the file again."""
    root = root_of(home)
    folder = root / f"projects/{PROJECT}/prober"
    folder.mkdir(parents=True, exist_ok=True)
    database = f"file:{root / '_state' / 'oracle.db'}?mode=ro"
    while True:
        path = folder / f"p-{time.monotonic_ns()}.md"
        began = put(path, f"# Probe\n\n{text_of(chance)}")
        while not is_known(database, f"projects/{PROJECT}/prober/{path.name}") and time.monotonic() < began + LOST:
            time.sleep(PROBED)
        yield {"lag": time.monotonic() - began, "at": time.time()}
        path.unlink()


def is_known(database: str, name: str) -> bool:
    """Tell whether a query of the index, which brings nothing up to date itself, finds a record."""
    try:
        with sqlite3.connect(database, uri=True) as connection:
            return connection.execute("SELECT 1 FROM record WHERE path = ?", (name,)).fetchone() is not None
    except sqlite3.Error:
        return False


STEPS = {"write": write, "edit": edit, "read": read, "probe": probe}


def go_on(kind: str, number: int, home: Path, tell: Tell, is_over: IsOver) -> None:
    """Do steps of a kind until it is over; after an error begin anew."""
    chance = random.Random(f"{kind}{number}")
    steps = STEPS[kind](number, home, chance)
    while not is_over():
        try:
            tell(next(steps))
        except OracleError as error:
            tell({"error": error.code, "message": error.sentence})
            steps = STEPS[kind](number, home, chance)
        time.sleep(PACE[kind] * 2 * chance.random())


# Over MCP -------------------------------------------------------------------------------------------------------------


class Querier:
    """Two servers of MCP, one of the planner and one of memory, spoken to by the SDK's own client."""

    def __init__(self, number: int, home: Path, tell: Tell) -> None:
        self.number, self.home, self.tell = number, home, tell
        self.chance = random.Random(f"query{number}")
        self.count = 0

    async def go_on(self, is_over: IsOver) -> None:
        """Ask, dispatch, deliver and look around until it is over."""
        import mcp

        async with mcp.Client(self.server("planner")) as planner, mcp.Client(self.server("memory")) as memory:
            while not is_over():
                self.count += 1
                step = self.chance.choice((self.ask, self.ask, self.hand_over, self.look))
                await step(planner, memory)
                await asyncio.sleep(PACE["query"] * 2 * self.chance.random())

    def server(self, seat: str) -> Any:  # noqa: ANN401
        """Return how a server is started that speaks for a seat."""
        from mcp.client.stdio import StdioServerParameters

        words = ["-c", START, str(CHECKOUT), "mcp", "--memory-dir", str(root_of(self.home)), "--seat", seat]
        return StdioServerParameters(command=sys.executable, args=[*words, "--project", PROJECT], env=dict(os.environ))

    async def call(self, client: Any, tool: str, **given: object) -> bool:  # noqa: ANN401
        """Call a tool; tell whether it was done, and write down a refusal that is more than not to know."""
        result = await client.call_tool(tool, given)
        if result.is_error:
            error = (result.structured_content or {}).get("error", {})
            if error.get("code") != "not_in_memory_db":
                self.tell({"error": error.get("code", "none"), "message": f"{tool}: {error.get('message')}"})
        return not result.is_error

    def name(self) -> str:
        """Return an id that no other task has."""
        return f"Q-{self.number}-{os.getpid()}-{self.count}"

    async def ask(self, planner: Any, _: Any) -> None:  # noqa: ANN401
        """Dispatch a question to memory: one that the disk answers, or one that nobody does."""
        is_known = self.chance.random() < 0.5
        known, unknown = "Which retry policy did we choose for webhooks?", f"What of zeppelin {self.chance.random()}?"
        if await self.call(
            planner, "dispatch", target="memory", objective=known if is_known else unknown, task_id=self.name()
        ):
            self.tell({"asked": self.name()})

    async def hand_over(self, planner: Any, memory: Any) -> None:  # noqa: ANN401
        """Dispatch a task to memory, and deliver its answer as memory."""
        name, text = self.name(), f"Answer {self.chance.random()}."
        if await self.call(planner, "dispatch", target="memory", objective="Look at it.", task_id=name, kind="task"):
            self.tell({"task": name})
            if await self.call(memory, "deliver", task_id=name, target="planner", response={"answer": text}):
                self.tell({"delivered": name, "answer": text})

    async def look(self, planner: Any, memory: Any) -> None:  # noqa: ANN401
        """Search, ask and list."""
        await self.call(planner, "search", query=" ".join(self.chance.choices(_WORDS, k=2)))
        await self.call(memory, "ask", question="Which retry policy did we choose for webhooks?")
        await self.call(planner, "handoffs", state="open")


def main() -> None:
    """Work until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=[*STEPS, "query"])
    parser.add_argument("number", type=int)
    parser.add_argument("--home", type=Path, required=True)
    given = parser.parse_args()
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    with (given.home / f"{given.kind}-{given.number}.acknowledged").open("a", buffering=1) as log:
        tell = partial(write_down, log)
        if given.kind == "query":
            asyncio.run(Querier(given.number, given.home, tell).go_on(lambda: bool(ended)))
        else:
            go_on(given.kind, given.number, given.home, tell, lambda: bool(ended))


def write_down(log: Any, said: Mapping[str, object]) -> None:  # noqa: ANN401
    """Keep what was acknowledged, before anything else is done."""
    if said:
        log.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
