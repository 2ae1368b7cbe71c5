"""One cluster for the tests of a process, and a fresh database for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hub.cluster import Cluster, missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.hub.machines import Team as TeamOfTest


@pytest.fixture(scope="session")
def cluster(world: object) -> Iterator[Cluster]:
    """Give a running cluster; skip where PostgreSQL is absent."""
    if why := missing():
        pytest.skip(why)
    made = Cluster()
    yield made
    made.close()


@pytest.fixture
def database(cluster: Cluster) -> str:
    """Give the connection string of the owner of a fresh database."""
    return cluster.create_database()


@pytest.fixture
def team(database: str) -> Iterator[TeamOfTest]:
    """Give a hub with one team, and let machines join it."""
    from tests.hub.machines import Team

    made = Team(database)
    yield made
    made.close()
