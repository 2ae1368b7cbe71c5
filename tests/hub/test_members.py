"""The owner of a hub: make it once, upgrade it one program at a time, and refuse programs that are too old."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest

from oracle.domain.hub.rows import Membership
from oracle.errors import HubFailed, NewerVersion
from oracle.hub import connection as connections
from oracle.hub import exchange, members
from oracle.hub.connection import SCHEMA, connect
from tests.hub.machines import row
from tests.hub.sites import Site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.machines import Team


def test_making_a_hub_again_changes_nothing(team: Team) -> None:
    one = team.join("one")
    one.send(row("shared/plan/a.md"))
    assert members.init(team.owner, team.name) == SCHEMA
    assert members.init(team.owner, "second") == SCHEMA
    assert len(one.receive_all()) == 1


def test_two_programs_that_make_a_hub_at_once(database: str) -> None:
    def make(number: int) -> int:
        with connect(database) as opened:
            return members.init(opened, f"team-{number}")

    with ThreadPoolExecutor() as pool:
        assert sorted(pool.map(make, range(4))) == [0, SCHEMA, SCHEMA, SCHEMA]
    with connect(database) as opened:
        assert opened.rows("SELECT count(*) FROM oracle_hub.team") == [(4,)]


NEXT = (
    "SELECT pg_sleep(0.3); UPDATE oracle_hub.meta SET version = version + 1; CREATE TABLE oracle_hub.next (team text);"
)


def test_two_programs_that_upgrade_a_hub_at_once(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = connections.sql
    texts = {f"schema-{SCHEMA + 1}": NEXT}
    monkeypatch.setattr(members, "sql", lambda name: texts.get(name) or plain(name))
    monkeypatch.setattr(members, "SCHEMA", SCHEMA + 1)
    monkeypatch.setattr(connections, "SCHEMA", SCHEMA + 1)

    def upgrade(_: int) -> int:
        with connect(team.dsn) as opened:
            return members.init(opened, team.name)

    with ThreadPoolExecutor() as pool:
        assert sorted(pool.map(upgrade, range(3))) == [SCHEMA, SCHEMA + 1, SCHEMA + 1]


@pytest.mark.parametrize("oldest", [SCHEMA, SCHEMA + 1])
def test_an_older_program_writes_nothing_once_the_schema_needs_a_newer_one(team: Team, oldest: int) -> None:
    one = team.join("one")
    team.owner.rows("UPDATE oracle_hub.meta SET version = %s, oldest = %s", (SCHEMA + 1, oldest))
    before = team.owner.rows("SELECT * FROM oracle_hub.machine ORDER BY name")
    calls = [
        lambda: exchange.open_team(one.membership).close(),
        lambda: exchange.join(one.membership).close(),
        lambda: members.init(team.owner, "second"),
        lambda: members.invite(team.owner, team.name, "two"),
    ]
    for call in calls:
        if oldest > SCHEMA:
            with pytest.raises(NewerVersion, match="knows"):
                call()
            assert team.owner.rows("SELECT * FROM oracle_hub.machine ORDER BY name") == before
        else:
            call()


def test_a_hub_that_is_upgraded_while_a_machine_is_connected(team: Team, tmp_path: Path) -> None:
    one = Site(tmp_path / "one", "one", team.join("one"))
    one.write("shared/plan/a.md", "A")
    team.owner.rows("UPDATE oracle_hub.meta SET version = version + 1, oldest = version + 1")
    team.owner.rows("UPDATE oracle_hub.machine SET seen_at = '2000-01-01'")
    before = team.owner.rows("SELECT * FROM oracle_hub.machine"), team.owner.rows("SELECT * FROM oracle_hub.home")
    with pytest.raises(NewerVersion, match="knows"):
        one.sync()
    assert before == (
        team.owner.rows("SELECT * FROM oracle_hub.machine"),
        team.owner.rows("SELECT * FROM oracle_hub.home"),
    )
    assert team.owner.rows("SELECT count(*) FROM oracle_hub.file") == [(0,)]


def test_a_newer_program_asks_for_the_upgrade(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    one = team.join("one")
    monkeypatch.setattr(connections, "SCHEMA", SCHEMA + 1)
    with pytest.raises(HubFailed, match="needs"):
        exchange.open_team(one.membership)


def test_a_database_without_a_hub(database: str) -> None:
    with pytest.raises(HubFailed, match="no hub"):
        exchange.open_team(Membership("harbor", database, name="one"))


def test_the_printed_sql_is_the_same_as_what_runs(team: Team, database: str) -> None:
    name = "printed'; DROP ROLE x --"
    with psycopg.connect(team.dsn, autocommit=True) as owner:
        owner.execute("DROP SCHEMA oracle_hub CASCADE")
        owner.execute(members.schema_text("harbor"))
        owner.execute(members.invitation_text(owner.info.dbname, "harbor", "one"))
        role = members.role_of(owner.info.dbname, "harbor", "one")
    assert "'printed''; DROP ROLE x --'" in members.schema_text(name)
    where = f"{database.rpartition(' user=')[0]} user={role}"
    with exchange.join(Membership("harbor", where, name="one")) as joined:
        assert joined.push([row("shared/plan/a.md")]) == []


@pytest.mark.parametrize("name", ["laptop", "笔记本", "a" * 128, "Ä" * 60])
def test_roles_have_short_names_that_tell_databases_apart(name: str) -> None:
    roles = {members.role_of(database, team, name) for database in ("one", "two") for team in ("a", "b")}
    assert len(roles) == 4
    assert all(len(role.encode()) <= 63 for role in roles)


def test_an_invitation_again_gives_a_new_password(team: Team) -> None:
    one = team.join("one")
    first, second = members.invite(team.owner, team.name, "one"), members.invite(team.owner, team.name, "one")
    assert first.role == second.role
    assert first.password != second.password
    assert team.reconnect(one.membership).machine == one.machine


def test_a_hub_from_a_backup_of_another_server_is_read_whole(team: Team) -> None:
    one, two = team.join("one"), team.join("two")
    one.send(row("shared/plan/a.md"))
    two.receive_all()
    team.owner.rows("UPDATE oracle_hub.file SET xid8 = '9999999999'")  # transactions of a server that ran for longer
    one.send(row("shared/plan/b.md"))
    assert [got.path for got in two.receive_all()] == ["shared/plan/b.md"]
    members.init(team.owner, team.name, is_restored=True)
    assert [got.path for got in two.receive_all()] == ["shared/plan/a.md", "shared/plan/b.md"]
    assert team.owner.rows("SELECT count(*) FROM oracle_hub.file_history") == [(0,)]
