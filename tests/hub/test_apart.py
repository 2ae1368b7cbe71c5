"""Machines far from their hub, and from one that is cut off: what is written on one is found on the other, sooner or later."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from oracle.app.hubs.following import LATER
from oracle.store.root import hub as memberships
from tests.daemon.running import Served
from tests.hub.machines import Team
from tests.hub.network import Network, join_afar, missing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.hub.cluster import Cluster


@pytest.fixture
def network() -> Iterator[Network]:
    """Give a network of two machines, 150 ms from the hub and back."""
    if why := missing():
        pytest.skip(why)
    made = Network("a", "b", delay_ms=150)
    yield made
    made.close()


@pytest.fixture
def served(
    cluster: Cluster, network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Served]]:
    """Give the two machines, each with a daemon."""
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    cluster.listen(network.address, network.subnet)
    team = Team(cluster.create_database())
    made = {}
    for name in "ab":
        (tmp_path / name).mkdir()
        made[name] = Served(tmp_path / name)
        memberships.save(made[name].root, join_afar(team, cluster, network, name, tmp_path / "pgpass"))
        made[name].start(enter=lambda name=name: network.enter(name))
    yield made
    for one in made.values():
        one.close()
    team.close()


def test_a_far_machine_hears_of_a_change_and_does_not_wait_for_its_turn(served: dict[str, Served]) -> None:
    a, b = served.values()
    a.put("shared/first.md", "# First\n")
    b.until(lambda: b.knows("shared/first.md"), "the first record is known there")
    began = time.monotonic()
    for number in range(5):
        a.put(f"shared/{number}.md", f"# Number {number}\n")
        b.until(lambda number=number: b.knows(f"shared/{number}.md"), "a record is known there")
    assert time.monotonic() - began < LATER


def test_a_machine_that_is_cut_off_goes_on_and_all_arrives_afterwards(
    served: dict[str, Served], network: Network
) -> None:
    a, b = served.values()
    a.put("shared/first.md", "# First\n")
    b.until(lambda: b.knows("shared/first.md"), "the first record is known there")
    network.cut("a")
    for number in range(3):
        for one in (a, b):
            name = f"shared/{number}-{'a' if one is a else 'b'}.md"
            one.put(name, f"# Number {number}\n")
            one.until(lambda one=one, name=name: one.knows(name), "it is known where it was written")
        time.sleep(1)
    assert not any(a.knows(f"shared/{number}-b.md") or b.knows(f"shared/{number}-a.md") for number in range(3))
    network.mend("a")
    for number in range(3):
        a.until(lambda number=number: a.knows(f"shared/{number}-b.md"), "it arrived")
        b.until(lambda number=number: b.knows(f"shared/{number}-a.md"), "it arrived")
