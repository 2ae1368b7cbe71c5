"""Machines that lose their power at random while two ask and a third answers: everything is answered, exactly once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hub.fleet import Fleet

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.cluster import Cluster


@pytest.mark.slow
def test_what_is_asked_is_answered_once_although_machines_die(cluster: Cluster, tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, cluster, number=4, pause=1.0)
    try:
        fleet.run(6.0)
        fleet.settle(60.0)
        assert list(fleet.faults()) == []
        assert sum(machine.deaths for machine in fleet.machines) > 4
    finally:
        fleet.close()
