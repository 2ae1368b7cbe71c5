"""Connections: libpq's ways to name a hub and to sign in, and one sentence for each failure."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.errors import HubRefused, HubUnreachable, UsageError
from oracle.hub.connection import check_dsn, connect
from tests.hub.cluster import ADMIN_PASSWORD

if TYPE_CHECKING:
    from tests.hub.cluster import Cluster


@pytest.mark.parametrize(
    "dsn",
    [
        "host=localhost password=x",
        "postgresql://user:secret@localhost/hub",
        "postgres://localhost/hub?password=x",
        "host=localhost sslpassword=x",
    ],
)
def test_a_password_in_the_connection_string_is_refused(dsn: str) -> None:
    with pytest.raises(UsageError, match="holds a password") as refused:
        connect(dsn)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("dsn", ["host", "postgresql://[", "nothing=1", "host='"])
def test_a_malformed_connection_string_is_refused(dsn: str) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        check_dsn(dsn)


@pytest.mark.parametrize(
    "dsn",
    [
        "host=192.0.2.1",
        "host=192.0.2.1 sslmode=require",
        "host=192.0.2.1 sslmode=verify-ca",
        "host=localhost,192.0.2.1",
        "host=localhost hostaddr=192.0.2.1",
        "postgresql://192.0.2.1/hub",
        "service=far",
    ],
)
def test_a_connection_that_nobody_verifies_is_refused(dsn: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = home / "services"
    service.write_text("[far]\nhost=192.0.2.1\ndbname=hub\n")
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    with pytest.raises(UsageError, match=r"192\.0\.2\.1"):
        connect(dsn)


def test_the_environment_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "192.0.2.1")
    with pytest.raises(UsageError, match="not be verified"):
        connect("dbname=hub")


def test_verified_or_allowed_connections_are_tried(cluster: Cluster) -> None:
    port = cluster.port
    for dsn in (
        f"host=127.0.0.1 port={port} sslmode=verify-full sslrootcert=/nowhere",
        f"host=127.0.0.1 port={port + 1}",
    ):
        with pytest.raises(HubUnreachable):
            connect(dsn)


def test_the_password_comes_from_the_password_file(
    cluster: Cluster, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = cluster.create_database().rpartition("=")[2]
    where = f"host=127.0.0.1 port={cluster.port} dbname={name} user={name}"
    with pytest.raises(HubRefused, match="password"):
        connect(where)
    pgpass = home / "pgpass"
    pgpass.write_text(f"127.0.0.1:{cluster.port}:{name}:{name}:{ADMIN_PASSWORD}\n")
    pgpass.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(pgpass))
    with connect(where) as opened:
        assert opened.rows("SELECT 1") == [(1,)]
    (home / "services").write_text(f"[hub]\nhost=127.0.0.1\nport={cluster.port}\ndbname={name}\nuser={name}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(home / "services"))
    with connect("service=hub") as opened:
        assert (opened.role, opened.database) == (name, name)


def test_a_wrong_password_is_one_sentence(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    name = cluster.create_database().rpartition("=")[2]
    monkeypatch.setenv("PGPASSWORD", "wrong")
    with pytest.raises(HubRefused, match="authentication failed") as refused:
        connect(f"host=127.0.0.1 port={cluster.port} dbname={name} user={name}")
    assert "\n" not in str(refused.value)


def test_a_superuser_is_refused(cluster: Cluster, database: str) -> None:
    name = database.rpartition("=")[2]
    with pytest.raises(HubRefused, match="superuser"):
        connect(cluster.dsn(name))
    cluster.run(f"ALTER ROLE {name} BYPASSRLS")
    with pytest.raises(HubRefused, match="superuser"):
        connect(database)


def test_the_first_host_that_can_be_written_is_taken(cluster: Cluster, database: str) -> None:
    hosts = database.replace(f"host={cluster.host}", f"host=/nowhere,{cluster.host}")
    with connect(hosts) as opened:
        assert opened.host == cluster.host
    cluster.run(f"ALTER DATABASE {database.rpartition('=')[2]} SET default_transaction_read_only = on")
    with pytest.raises(HubUnreachable):
        connect(hosts)


@pytest.mark.parametrize("ending", ["terminate", "stop"])
def test_a_connection_that_is_cut_is_one_sentence(cluster: Cluster, database: str, ending: str) -> None:
    with connect(database) as opened:
        if ending == "terminate":
            pid = opened.rows("SELECT pg_backend_pid()")[0][0]
            cluster.run(f"SELECT pg_terminate_backend({pid})")
        else:
            cluster.stop(mode="immediate")
            cluster.start()
        with pytest.raises(HubUnreachable) as lost:
            opened.rows("SELECT 1")
        assert "\n" not in str(lost.value)


def test_without_the_extra_one_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    importing = builtins.__import__

    def without(name: str, *args: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "psycopg":
            raise ModuleNotFoundError(name=name)
        return importing(name, *args, **named)

    for name in [name for name in sys.modules if name.partition(".")[0] == "psycopg"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match="psycopg") as missing:
        connect("service=hub")
    assert "memory-oracle[hub]" in missing.value.hint
