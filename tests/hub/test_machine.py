"""Three machines and their hub in any order of work and mishaps: when all is quiet they hold the same, and nothing is lost."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from oracle.app.hubs.check import check, move_home
from oracle.domain.hub.paths import FileKind, parse
from oracle.errors import OracleError
from tests.hub.pretend import Connection, NetworkDown, PretendHub
from tests.hub.sites import Site

SITES = st.sampled_from("abc")
SEATS = ("builder", "reviewer")
OWN = "projects/demo/decision/{site}-{number}.md"
SEATED = "projects/demo/{seat}/{number}.md"
SHARED = "shared/{number}.md"


class Mishap(Connection):
    """A connection that fails at a call: before the hub does it, or after, so that the answer is lost."""

    calls_left = -1
    is_done_first = False

    def _call(self) -> None:
        super()._call()
        self.calls_left -= 1
        if self.calls_left == 0 and not self.is_done_first:
            raise NetworkDown

    def push(self, rows: object) -> object:
        refused = super().push(rows)  # type: ignore[arg-type]
        if self.calls_left == 0 and self.is_done_first:
            raise NetworkDown
        return refused


class Team(RuleBasedStateMachine):
    """Each text is written once. `must` holds those that some machine must still have, by (path, machine)."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="oracle-hub-"))
        self.hub = PretendHub()
        self.texts = 0
        self.asked: list[str] = []
        self.must: dict[tuple[str, str], str] = {}
        self.synced: dict[tuple[str, str], str] = {}
        self.backups: dict[str, int] = {}

    @initialize()
    def begin(self) -> None:
        self.sites = {name: Site(self.folder / name, name, Mishap(self.hub, name)) for name in "abc"}
        for name, site in self.sites.items():
            self.hub.connect(name)
            site.sync()
        self.sites["b"].hub.take_home("demo", "memory", take=True)

    def teardown(self) -> None:
        try:
            if hasattr(self, "sites"):
                self.be_quiet()
        finally:
            shutil.rmtree(self.folder)

    # -- work ------------------------------------------------------------------------------------------------------

    def write(self, name: str, path: str) -> None:
        self.texts += 1
        text = f"text {self.texts}\n"
        self.sites[name].write(path, text)
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
            home = self.hub.homes.get(("demo", seat))
            for key in [key for key in self.must if key[0] == path and home and home.machine == name]:
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
        task_id = f"Q-{len(self.asked)}"
        with suppress(OracleError):  # the planner runs elsewhere
            self.sites[name].squad.ask(task_id)
            if self.hub.homes["demo", "planner"].machine == name:
                self.asked.append(task_id)

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
        with suppress(NetworkDown):
            self.sites[name].sync(confirms=True)
            self.synced |= {key: text for key, text in self.must.items() if key[1] == name}

    @rule(name=SITES, at=st.integers(1, 6), is_done_first=st.booleans())
    def lose_the_network(self, name: str, at: int, is_done_first: bool) -> None:
        hub = self.sites[name].hub
        hub.calls_left, hub.is_done_first = at, is_done_first
        with suppress(NetworkDown):
            self.sites[name].sync(confirms=True)
        hub.calls_left = -1

    @rule(name=SITES, seat=st.sampled_from((*SEATS, "memory", "planner")))
    def move(self, name: str, seat: str) -> None:
        site = self.sites[name]
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

    @rule()
    def restore_the_hub(self) -> None:
        """Lose what the hub got last. The machines have it."""
        copy = self.hub.backup()
        for path in sorted(copy.rows)[::3]:
            del copy.rows[path]
        self.hub = copy
        for site in self.sites.values():
            site.hub.hub = copy

    # -- quiet -----------------------------------------------------------------------------------------------------

    def be_quiet(self) -> None:
        sites = list(self.sites.values())
        for _ in range(4):
            for site in sites:
                site.sync(confirms=True)
        for _ in range(2):
            for site in sites:
                check(site.squad.oracle, site.hub, site.membership, fixes=True)
            for site in sites:
                site.sync(confirms=True)
        assert [check(site.squad.oracle, site.hub, site.membership).differences for site in sites] == [()] * 3
        one, *others = [self.lasting(site) for site in sites]
        assert others == [one, one]
        said = {file.read_text() for site in sites for file in site.path.rglob("*.md*") if "_state" not in file.parts}
        assert set(self.must.values()) <= said
        for task_id in self.asked:
            assert [f"tasks/demo/patrol/handoffs/{task_id}__planner__memory.json" in one] == [True]

    def lasting(self, site: Site) -> dict[str, str]:
        files = ((parse(path), sha256) for path, sha256 in site.shared().items())
        return {file.path: sha256 for file, sha256 in files if file and file.kind <= FileKind.RECEIPT}


TestTeam = Team.TestCase
TestTeam.settings = settings(max_examples=8, stateful_step_count=20)
