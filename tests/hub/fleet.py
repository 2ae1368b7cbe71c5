"""Three machines with daemons, two of which ask while the third answers, and each of which may be killed at any moment.

    python -m tests.hub.fleet ask|answer HOME SEAT NUMBER PAUSE

is somebody at work on a machine: a planner who asks NUMBER questions and tasks, or memory's seat, which does the tasks. Killed and
started again, they go on. The daemon of the third machine answers the questions, from its records.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from oracle.api import Oracle
from oracle.app.delivery import handoffs as all_handoffs
from oracle.app.delivery.deliver import Delivery
from oracle.app.delivery.order import QUERY, TASK, Order
from oracle.app.hubs import membership
from oracle.app.hubs.check import check
from oracle.app.hubs.sync import sync
from oracle.errors import OracleError
from oracle.store.root import hub as memberships
from tests.app.squad import Recorder, Squad
from tests.daemon.running import ASKED, CHECKOUT, KNOWN
from tests.hub.machines import Team

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.hub.cluster import Cluster

SEATS = {"one": "planner", "two": "builder", "three": "memory"}
"""The seat that runs on each machine."""
ASKERS = ("one", "two")


def task_ids(seat: str, number: int) -> list[str]:
    """Return what a seat asks: questions that the records answer, and tasks."""
    return [f"{'QT'[at % 2]}-{seat}-{at}" for at in range(number)]


class Machine:
    """A home with a Root, a daemon and somebody at work."""

    def __init__(self, folder: Path, name: str, number: int, pause: float) -> None:
        folder.mkdir()
        self.folder, self.name, self.seat = folder, name, SEATS[name]
        self.squad = Squad(folder)
        self.squad.oracle.init()
        self.deaths = 0
        self.processes: list[subprocess.Popen[bytes]] = []
        role = "ask" if name in ASKERS else "answer"
        root = str(self.squad.path)
        self._programs = (
            ["-m", "tests.daemon.boxed", root, str(folder), "real"],
            ["-m", "tests.hub.fleet", role, root, self.seat, str(number), str(pause)],
        )

    def start(self) -> None:
        environ = {**os.environ, "HOME": str(self.squad.home), "ORACLE_SEAT": self.seat}
        with (self.folder / "said.txt").open("ab") as said:
            for program in self._programs:
                words = [sys.executable, *program]
                self.processes.append(subprocess.Popen(words, env=environ, stdout=said, stderr=said, cwd=CHECKOUT))

    def kill(self) -> None:
        """Lose the machine's power."""
        for process in self.processes:
            process.send_signal(signal.SIGKILL)
        for process in self.processes:
            process.wait()
        self.processes.clear()
        self.deaths += 1

    def asked(self, number: int) -> list[str]:
        return task_ids(self.seat, number) if self.name in ASKERS else []


class Fleet:
    """The machines and their hub. `number` is how many tasks and questions each asker has."""

    def __init__(self, folder: Path, cluster: Cluster, *, number: int, pause: float) -> None:
        self.number = number
        self.team = Team(cluster.create_database())
        self.machines = [Machine(folder / name, name, number, pause) for name in SEATS]
        for machine in self.machines:
            joined = self.team.join(machine.name)
            memberships.save(machine.squad.oracle.root, joined.membership)
            joined.take_home("demo", machine.seat, take=True)
        place = self.machines[-1].squad.path / "projects/demo/decision/retry.md"
        place.parent.mkdir(parents=True)
        place.write_text(KNOWN, encoding="utf-8")

    def run(self, seconds: float, *, seed: int | None = None) -> None:
        """Let all work, and lose the power of one after another at random."""
        chance = random.Random(seed)
        for machine in self.machines:
            machine.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(chance.uniform(1.0, 4.0))
            machine = chance.choice(self.machines)
            machine.kill()
            time.sleep(chance.uniform(0.0, 1.5))
            machine.start()

    def settle(self, seconds: float) -> float:
        """Wait until everything is answered where it was asked; return for how long, `seconds` at most."""
        began = time.monotonic()
        while time.monotonic() < began + seconds and any(self.unanswered()):
            time.sleep(0.5)
        return time.monotonic() - began

    def unanswered(self) -> Iterator[str]:
        """Yield what is not answered, or not ended, on the machine that asked."""
        for machine in self.machines:
            names = machine.squad.receipts()
            for task in machine.asked(self.number):
                dispatch, answer = f"{task}__{machine.seat}__memory.json", f"{task}__memory__{machine.seat}.json"
                if not {f"{dispatch}.consumed", answer} <= names or f"{task}.json" not in machine.squad.responses():
                    yield f"{task} of {machine.name}"

    def faults(self) -> Iterator[str]:
        """End all, sync, and yield what does not hold: each task answered once, everywhere the same, and its asker woken."""
        for machine in self.machines:
            machine.kill()
        yield from (f"not answered: {task}" for task in self.unanswered())
        for _ in range(3):
            for machine in self.machines:
                with membership.open_hub(machine.squad.oracle) as hub:
                    sync(machine.squad.oracle, hub, hub.membership)
        for machine in self.machines:
            with membership.open_hub(machine.squad.oracle) as hub:
                for difference in check(machine.squad.oracle, hub, hub.membership).differences:
                    yield f"{machine.name}: {difference.path} {difference.what}"
            aside = [
                path for mark in (".kept-", ".conflict-", ".superseded-") for path in machine.folder.rglob(f"*{mark}*")
            ]
            yield from (f"{machine.name}: two of one, {path.name}" for path in aside)
            woken = [task for seat, task in machine.squad.recorder.woken() if seat == machine.seat]
            yield from (
                f"{machine.name} was not woken for {task}" for task in machine.asked(self.number) if task not in woken
            )
        for task in [task for machine in self.machines for task in machine.asked(self.number)]:
            said = {(machine.squad.path / f"responses/{task}.json").read_bytes() for machine in self.machines}
            if len(said) != 1:
                yield f"{task}: {len(said)} answers"

    def close(self) -> None:
        for machine in self.machines:
            machine.kill()
        self.team.close()


def ask(oracle: Oracle, seat: str, number: int, pause: float) -> None:
    """Ask one after another, each once: a receipt says what was asked before a death."""
    known = {item.handoff.task_id for item in all_handoffs.list_all(oracle).items}
    for task in task_ids(seat, number):
        if task not in known:
            kind, what = (QUERY, ASKED) if task.startswith("Q") else (TASK, "Look after the tides.")
            oracle.dispatch(Order("demo", task, seat, "memory", what, kind=kind))
            time.sleep(random.uniform(0.5, 1.5) * pause)


def answer(oracle: Oracle) -> None:
    """Do the tasks that wait for memory, for ever."""
    while True:
        for item in all_handoffs.list_all(oracle).items:
            one = item.handoff
            if one.task_id.startswith("T") and one.state.step.value in ("open", "unnotified", "claimed"):
                oracle.deliver(
                    Delivery("demo", one.task_id, one.task_id.split("-")[1], {"answer": f"{one.task_id} is done."})
                )
        time.sleep(0.2)


def main(role: str, root: str, seat: str, number: str, pause: str) -> None:
    """Work until a signal ends it. A refusal is said and work goes on."""
    home = Path(root).parents[2]
    with Oracle.open(root, waker=Recorder(home / "woken.log")) as oracle:
        while True:
            try:
                ask(oracle, seat, int(number), float(pause)) if role == "ask" else answer(oracle)
            except OracleError as error:
                sys.stdout.write(f"{role}: {error}\n")
                sys.stdout.flush()
            time.sleep(0.5)


if __name__ == "__main__":
    main(*sys.argv[1:])
