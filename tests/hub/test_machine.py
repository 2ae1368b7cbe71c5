"""Three machines and their hub in any order of work and mishaps: when all is quiet they hold the same, and nothing is lost.

The hub is one in memory, and a real one. With HUB_EXAMPLES=500 the machines live so many lives in place of a few.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from oracle.app.hubs.check import check, move_home
from oracle.domain.hub.paths import FileKind, parse
from oracle.errors import OracleError
from tests.hub.pretend import NetworkDown
from tests.hub.sites import Site
from tests.hub.worlds import Pretended, Real
from tests.store.crash import run_and_die

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hub.cluster import Cluster

DAY = 86_400.0

SITES = st.sampled_from("abc")
SEATS = ("builder", "reviewer")
OWN = "projects/demo/decision/{site}-{number}.md"
SEATED = "projects/demo/{seat}/{number}.md"
SHARED = "shared/{number}.md"


class Team(RuleBasedStateMachine):
    """Each text is written once. `must` holds those that some machine must still have, by (path, machine)."""

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="oracle-hub-"))
        self.world = make()
        self.texts = 0
        self.is_quiet = False
        """Whether the machines were found to agree at the end of this life."""
        self.asked: dict[str, str] = {}
        """The machine on which each question was asked, by task id."""
        self.sent: set[str] = set()
        self.must: dict[tuple[str, str], str] = {}
        self.synced: dict[tuple[str, str], str] = {}

    @initialize(clocks=st.tuples(*[st.sampled_from((0.0, DAY, -DAY))] * 3))
    def begin(self, clocks: tuple[float, ...]) -> None:
        self.sites = {name: Site(self.folder / name, name, self.world.join(name)) for name in "abc"}
        for (name, site), seconds in zip(self.sites.items(), clocks, strict=True):
            site.squad.oracle = site.squad.open(seconds)
            with self.world.visiting(name):
                site.sync()
        with self.world.visiting("b"):
            self.sites["b"].hub.take_home("demo", "memory", take=True)

    def teardown(self) -> None:
        try:
            if hasattr(self, "sites"):
                self.be_quiet()
        finally:
            self.world.close()
            shutil.rmtree(self.folder)

    # -- work ------------------------------------------------------------------------------------------------------

    def write(self, name: str, path: str) -> None:
        self.texts += 1
        text = f"text {self.texts}\n"
        new = f"{path}.new"
        self.sites[name].write(new, text)  # a file of its own, as of an editor: the clock may say that it is a day old
        (self.sites[name].path / new).rename(self.sites[name].path / path)
        self.must[path, name] = text

    @rule(name=SITES, number=st.integers(1, 3))
    def write_record(self, name: str, number: int) -> None:
        self.write(name, OWN.format(site=name, number=number))

    @rule(name=SITES, number=st.integers(1, 2))
    def write_under_one_name(self, name: str, number: int) -> None:
        path = SHARED.format(number=number)
        if self.sites[name].read(path) is None or (path, name) in self.must:
            self.write(name, path)

    @rule(name=SITES, seat=st.sampled_from(SEATS), number=st.integers(1, 2))
    def write_as_seat(self, name: str, seat: str, number: int) -> None:
        """Write as a seat where it runs, or still believes that it does."""
        from oracle.app.delivery.homes import machine_of

        site = self.sites[name]
        if machine_of(site.squad.oracle, "demo", seat) is None:
            path = SEATED.format(seat=seat, number=number)
            if self.world.home_of(seat) == name:
                for key in [key for key in self.must if key[0] == path]:
                    del self.must[key]
            self.write(name, path)

    @rule(name=SITES, number=st.integers(1, 3))
    def remove_record(self, name: str, number: int) -> None:
        path = OWN.format(site=name, number=number)
        if self.sites[name].read(path) is not None:
            (self.sites[name].path / path).unlink()
            self.must.pop((path, name), None)

    @rule(name=st.sampled_from("ac"))
    def ask(self, name: str) -> None:
        self.texts += 1
        task_id = f"Q-{self.texts}"
        with suppress(OracleError):  # the planner runs elsewhere
            self.sites[name].squad.ask(task_id)
            if self.world.home_of("planner") == name:
                self.asked[task_id] = name

    @rule(name=SITES)
    def answer(self, name: str) -> None:
        site = self.sites[name]
        for task_id, state in site.squad.states().items():
            if state in ("open", "unnotified", "claimed"):
                with suppress(OracleError):  # memory runs elsewhere
                    site.squad.deliver(task_id, f"By {name}.")
                return

    # -- mishaps ---------------------------------------------------------------------------------------------------

    @rule(name=SITES)
    def sync(self, name: str) -> None:
        with self.world.visiting(name) as may:
            if may:
                self.sites[name].sync(confirms=True)
                self.synced |= {key: text for key, text in self.must.items() if key[1] == name}
                self.sent |= {task_id for task_id, place in self.asked.items() if place == name}

    @rule(name=SITES, at=st.integers(1, 6), is_done_first=st.booleans())
    def lose_the_network(self, name: str, at: int, is_done_first: bool) -> None:
        site = self.sites[name]
        with self.world.visiting(name) as may:
            site.hub.calls_left, site.hub.is_done_first = at, is_done_first
            with suppress(NetworkDown):
                if may:
                    site.sync(confirms=True)
            site.hub.calls_left = -1

    @precondition(lambda self: self.world.is_real)
    @rule(name=SITES, at=st.integers(0, 60))
    def die(self, name: str, at: int) -> None:
        """Die at a step of a sync: another process begins it, and SIGKILL ends that."""
        site = self.sites[name]

        def sync_there() -> None:
            with self.world.open(name) as hub:
                site.hub = hub
                site.sync(confirms=True)

        with self.world.visiting(name) as may:
            if may:
                run_and_die(sync_there, at)

    @rule(name=SITES, seat=st.sampled_from((*SEATS, "memory", "planner")))
    def move(self, name: str, seat: str) -> None:
        site = self.sites[name]
        with self.world.visiting(name) as may:
            if may:
                move_home(site.squad.oracle, site.hub, "demo", seat, takes=True)
                site.sync(confirms=True)

    @rule(name=SITES)
    def forget_the_ledger(self, name: str) -> None:
        shutil.rmtree(self.sites[name].path / "_state" / "hub", ignore_errors=True)

    @rule(name=SITES)
    def back_up(self, name: str) -> None:
        backup = self.folder / f"{name}.backup"
        shutil.rmtree(backup, ignore_errors=True)
        shutil.copytree(self.sites[name].squad.home, backup)

    @precondition(lambda self: any(self.folder.glob("*.backup")))
    @rule(name=SITES)
    def restore(self, name: str) -> None:
        """Go back to a backup. What was written since and not sent is lost with the machine."""
        backup = self.folder / f"{name}.backup"
        if backup.exists():
            home = self.sites[name].squad.home
            shutil.rmtree(home)
            shutil.copytree(backup, home)
            self.must = {key: text for key, text in self.must.items() if key[1] != name or self.synced.get(key) == text}
            self.asked = {key: place for key, place in self.asked.items() if place != name or key in self.sent}

    @rule()
    def restore_the_hub(self) -> None:
        """Lose what the hub got last. The machines have it."""
        self.world.restore()

    @precondition(lambda self: self.world.is_real)
    @rule()
    def renew_the_hub(self) -> None:
        self.world.renew()

    @precondition(lambda self: self.world.is_real)
    @rule()
    def back_up_the_hub(self) -> None:
        self.world.back_up()

    @precondition(lambda self: self.world.is_real)
    @rule(name=SITES, what=st.sampled_from(("hub", "program", "everything", "everything")))
    def upgrade(self, name: str, what: str) -> None:
        """Have a machine, the hub or all run the next program."""
        if what != "program":
            self.world.upgrade_hub()
        if what != "hub":
            self.world.upgrade_program(*(name if what == "program" else ""))

    # -- quiet -----------------------------------------------------------------------------------------------------

    def be_quiet(self) -> None:
        self.world.make_whole()
        for _ in range(4):
            self.everywhere(lambda site: site.sync(confirms=True))
        for _ in range(2):
            self.everywhere(lambda site: check(site.squad.oracle, site.hub, site.membership, fixes=True))
            self.everywhere(lambda site: site.sync(confirms=True))
        left = self.everywhere(lambda site: check(site.squad.oracle, site.hub, site.membership).differences)
        assert left == [()] * 3
        sites = list(self.sites.values())
        one, *others = [self.lasting(site) for site in sites]
        assert others == [one, one]
        said = {file.read_text() for site in sites for file in site.path.rglob("*.md*") if "_state" not in file.parts}
        assert set(self.must.values()) <= said
        for task_id, name in self.asked.items():
            receipt = f"tasks/demo/patrol/handoffs/{task_id}__planner__memory.json"
            # A question that was not sent before the planner was moved by force is kept aside where it was asked.
            assert receipt in one or list(self.sites[name].squad.home.rglob(f"{receipt}.superseded-*"))
        self.is_quiet = True

    def everywhere(self, work: Callable[[Site], Any]) -> list[Any]:
        done = []
        for name, site in self.sites.items():
            with self.world.visiting(name) as may:
                assert may
                done.append(work(site))
        return done

    def lasting(self, site: Site) -> dict[str, str]:
        files = ((parse(path), sha256) for path, sha256 in site.shared().items())
        return {file.path: sha256 for file, sha256 in files if file and file.kind <= FileKind.RECEIPT}


def lives_of(make: Callable[[], Any], few: int) -> list[Team]:
    """Return teams that lived, each through up to 20 steps, with a hub of their own."""
    lived: list[Team] = []

    def begin() -> Team:
        lived.append(Team(make))
        return lived[-1]

    lives = settings(max_examples=int(os.environ.get("HUB_EXAMPLES", few)), stateful_step_count=20)
    run_state_machine_as_test(begin, settings=lives)
    return lived


def test_machines_of_a_hub_in_memory() -> None:
    lived = lives_of(Pretended, 8)
    assert [team.is_quiet for team in lived] == [True] * len(lived)
    assert any(team.must for team in lived), "nobody wrote anything"


@pytest.mark.slow
def test_machines_of_a_real_hub(cluster: Cluster) -> None:
    database = cluster.create_database()
    lived = lives_of(lambda: Real(database), 4)
    assert [team.is_quiet for team in lived] == [True] * len(lived)
    assert any(team.must for team in lived), "nobody wrote anything"
