"""The cluster of the tests: run by an ordinary user, with databases that share nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tests.hub.cluster import ADMIN_PASSWORD

if TYPE_CHECKING:
    from tests.hub.cluster import Cluster


def test_the_server_belongs_to_an_ordinary_user(cluster: Cluster) -> None:
    assert (Path(cluster.data) / "postmaster.pid").stat().st_uid != 0


def test_each_database_is_fresh_and_its_owner_no_superuser(cluster: Cluster) -> None:
    first, second = cluster.create_database(), cluster.create_database()
    with psycopg.connect(first) as one, psycopg.connect(second) as two:
        one.execute("CREATE TABLE seen ()")
        assert two.execute("SELECT to_regclass('seen')").fetchone() == (None,)
        assert two.execute("SELECT current_setting('is_superuser')").fetchone() == ("off",)


def test_the_loopback_address_asks_for_a_password(cluster: Cluster) -> None:
    name = cluster.create_database().rpartition("=")[2]
    where = f"host=127.0.0.1 port={cluster.port} dbname={name} user={name}"
    with psycopg.connect(where, password=ADMIN_PASSWORD) as opened:
        assert opened.execute("SELECT 1").fetchone() == (1,)
