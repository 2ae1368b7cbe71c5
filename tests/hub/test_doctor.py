"""The doctor and `oracle handoffs` in a team of machines: each fault is named with its way out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from oracle.app.doctor import examine
from oracle.app.hubs import membership
from oracle.app.hubs.check import AGAIN, DAILY, check
from oracle.app.hubs.following import Follower
from oracle.domain.hub.rows import TeamMachine
from oracle.domain.values import replace
from oracle.errors import HubUnreachable
from oracle.store.hub import checked as checks
from oracle.store.hub import ledger as ledgers
from tests.hub.sites import Site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.machines import Team

PATH = "projects/demo/decision/x.md"


@pytest.fixture
def sites(tmp_path: Path, team: Team) -> list[Site]:
    made = [Site(tmp_path / name, name, team.join(name)) for name in "ab"]
    for site in made:
        site.squad.oracle.init()
        site.sync()
    return made


def found(site: Site) -> list[tuple[str, str]]:
    """Return what the doctor says of the hub, each with its way out."""
    return [(str(one.detail), one.fix) for one in examine(site.squad.oracle) if one.name == "hub" and one.fix]


def test_a_sound_team_has_no_fault(sites: list[Site]) -> None:
    assert [found(site) for site in sites] == [[], []]
    assert [one.ok for one in examine(sites[0].squad.oracle) if one.name == "hub"] == [True]


def test_files_that_need_a_person_are_named_with_their_way_out(sites: list[Site]) -> None:
    a, b = sites
    a.write("machine/privacy.md", "- BLOCK: Bluebird\n")
    a.write("shared/secret.md", "Bluebird")
    a.write(PATH, "of a")
    b.write("shared/one.md", "of b")
    a.write("shared/one.md", "of a")
    for site in (a, b, a, b):
        site.sync()
    b.write(PATH, "edited")
    said = [found(site) for site in sites]
    assert any("shared/secret.md stays here: guard: privacy.md:1" in what for what, _ in said[0])
    assert (
        f"{PATH} was changed here, but another machine owns it.",
        "Keep it under another name: oracle hub check --fix",
    ) in said[1]
    assert any("shared/one.md.kept-" in what and "rename or remove" in way for what, way in said[1])


def test_a_hub_that_does_not_answer_is_named(sites: list[Site], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise HubUnreachable("The hub can't be reached: gone.", hint="Work goes on.")

    monkeypatch.setattr(membership, "status", refuse)
    assert found(sites[0]) == [("The hub can't be reached: gone.", "Work goes on.")]


def test_what_the_daily_comparison_found_is_named_until_another_finds_it_mended(sites: list[Site], team: Team) -> None:
    a, b = sites
    a.write(PATH, "of a")
    for site in (a, b):
        site.sync()
    team.owner.rows("DELETE FROM oracle_hub.file WHERE path = %s", (PATH,))  # what no program does
    follower = Follower(b.squad.oracle)
    follower.sync()
    assert follower.check() == 1
    assert follower.check() == 0  # it is not due again
    said = f"{PATH} was not as at the hub when all files were compared: not at the hub, owned by another machine."
    assert found(b) == [(said, "Send or fetch it: oracle hub check --fix")]
    b.squad.oracle.clock.seconds += AGAIN + 1  # type: ignore[attr-defined]
    check(a.squad.oracle, a.hub, a.membership, fixes=True)
    follower.sync()
    assert follower.check() == 0
    assert found(b) == []
    follower.close()


@pytest.mark.parametrize(("passed", "is_due"), [(0, False), (DAILY - 60, False), (DAILY + 60, True), (-60, True)])
def test_all_files_are_compared_once_a_day(sites: list[Site], passed: float, is_due: bool) -> None:
    a, _ = sites
    context = a.squad.oracle
    check(context, a.hub, a.membership)
    context.clock.seconds += passed  # type: ignore[attr-defined]
    follower = Follower(context)
    follower.sync()
    before = checks.load(context.root).at
    follower.check()
    assert (checks.load(context.root).at != before) is is_due
    follower.close()


@pytest.mark.parametrize("hours", [48, -48])
def test_a_clock_that_is_wrong_is_named(sites: list[Site], hours: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        then = time.time_ns
        patch.setattr(time, "time_ns", lambda: then() + hours * 3600 * 10**9)
        assert any("The clock of this machine differs" in what for what, _ in found(sites[0]))


@pytest.mark.parametrize(
    ("unseen", "state", "command"),
    [(3.0, "open on b", ""), (300.0, "open on b, away", "oracle hub home memory --project demo")],
)
def test_a_handoff_names_the_machine_of_its_next_seat(
    sites: list[Site], unseen: float, state: str, command: str
) -> None:
    a, b = sites
    b.hub.take_home("demo", "memory", take=True)
    a.sync()
    a.squad.ask("Q-1")
    a.sync()
    b.sync()
    view = ledgers.load_team(a.squad.oracle.root)
    assert view is not None
    machines = (TeamMachine(b.hub.machine, "b", unseen=unseen),)
    ledgers.save_team(a.squad.oracle.root, replace(view, machines=machines))
    (item,) = a.squad.oracle.handoffs().items
    assert (item.state_shown, item.command, item.as_json()["machine"]) == (state, command, "b")
    (there,) = b.squad.oracle.handoffs().items
    assert "machine" not in there.as_json()
