"""A machine with a valid role that speaks SQL itself: the database refuses what is not its own."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.domain.hub.paths import parse
from oracle.domain.hub.rows import MAX_FILE, Refused
from oracle.errors import HubRefused
from oracle.hub import members
from tests.hub.machines import Team, row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.hub.cluster import Cluster
    from tests.hub.machines import JoinedMachine

PLAN = "projects/harbor/planner/plan.md"
RECORD = "projects/harbor/decision/a.md"
PUSH = "SELECT path, reason FROM oracle_hub.push(%s, %s::text[], %s::bigint[], %s::text[], %b::bytea[])"


@pytest.fixture(scope="module")
def shared(cluster: Cluster) -> Iterator[Team]:
    """Give a team that tests share, because none of them changes it."""
    made = Team(cluster.create_database())
    yield made
    made.close()


@pytest.fixture(scope="module")
def good(shared: Team) -> JoinedMachine:
    """Give a machine that is the home of the planner, with a plan and a record."""
    machine = shared.join("good")
    machine.take_home("harbor", "planner")
    assert machine.send(row(PLAN, b"plan", epoch=1), row(RECORD, b"record")) == []
    return machine


@pytest.fixture(scope="module")
def evil(shared: Team, good: JoinedMachine) -> Iterator[psycopg.Connection[Any]]:
    """Give a bare connection with the role of another machine."""
    with bare(shared.join("evil")) as connection:
        yield connection


def bare(machine: JoinedMachine) -> psycopg.Connection[Any]:
    return psycopg.connect(machine.membership.dsn, autocommit=True)


def push(connection: psycopg.Connection[Any], team: str, path: str, content: bytes | None, epoch: int = 0) -> list[Any]:
    digest = "" if content is None else hashlib.sha256(content).hexdigest()
    return connection.execute(PUSH, (team, [path], [epoch], [digest], [content])).fetchall()


@pytest.mark.parametrize(
    "path",
    [
        "../outside.md",
        "projects/../machine/secret.md",
        "projects/harbor/../../etc/x.md",
        "/etc/passwd.md",
        "projects//decision/a.md",
        "projects/harbor/decision/",
        "projects/harbor/decision/.hidden.md",
        "projects/harbor/.git/a.md",
        "projects/.harbor/decision/a.md",
        "projects/harbor/decision/a.md\n",
        "projects/harbor/decision/a\u202e.md",
        "projects/harbor/decision/a\x1b.md",
        "projects/har bor/decision/a.md",
        "projects/harbor/dev_env.json",
        "projects/harbor/_index/MEMORY.md",
        "projects/harbor/decision/_state/a.md",
        "projects/harbor/decision/a.sh",
        "projects/harbor/decision/link-patterns.toml",
        "link-patterns.toml",
        "machine/privacy.md",
        "machine/network.json",
        "_state/hub.json",
        "_links/a.json",
        "_backlinks/a.json",
        "events.log",
        "config/sources.json",
        "profiles/harbor-profile-dynamic.toml",
        "tasks/harbor/planner/TODO.md",
        "tasks/harbor/patrol/handoffs/notes.json",
        "tasks/harbor/patrol/handoffs/a__b__c.json.superseded-1",
        "responses/deep/Q-1.json",
        "responses/Q-1.md",
        "a.md",
        "",
        "shared/" + "x" * 1100 + ".md",
        "shared/" + "x" * 300 + ".md",
    ],
)
def test_a_path_that_is_not_of_a_file_to_share(shared: Team, evil: psycopg.Connection[Any], path: str) -> None:
    assert push(evil, shared.name, path, b"x") == [(path, "path")]


@pytest.mark.parametrize(
    ("path", "epoch", "reason"),
    [(PLAN, 0, "home"), (PLAN, 1, "home"), (PLAN, 2, "home"), (RECORD, 0, "owner"), (RECORD, 1, "epoch")],
)
@pytest.mark.parametrize("content", [b"forged", b"plan", b"record", None])
def test_what_another_machine_owns(
    shared: Team,
    good: JoinedMachine,
    evil: psycopg.Connection[Any],
    path: str,
    epoch: int,
    reason: str,
    content: bytes | None,
) -> None:
    before = good.listing(path.rpartition("/")[0])
    assert push(evil, shared.name, path, content, epoch) == [(path, reason)]
    assert good.listing(path.rpartition("/")[0]) == before


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Q-1__planner__memory.json", "home"),
        ("Q__1__planner__memory.json", "home"),
        ("Q-1___planner__memory.json", "home"),
        ("Q-1__memory__planner.json", ""),
        ("Q-1__memory__planner.json.acked", "home"),
        ("Q-1__memory__planner.json.claim", "home"),
        ("Q-1__planner__memory.json.consumed", "home"),
        ("Q-1__planner__memory.json.claim", ""),
    ],
)
def test_receipts_in_the_name_of_another_seat(
    shared: Team, evil: psycopg.Connection[Any], name: str, reason: str
) -> None:
    path = f"tasks/harbor/patrol/handoffs/{name}"
    assert push(evil, shared.name, path, b"{}") == ([(path, reason)] if reason else [])


def test_an_epoch_that_is_over(team: Team) -> None:
    good, other = team.join("good"), team.join("other")
    good.take_home("harbor", "planner")
    other.take_home("harbor", "planner", take=True)
    assert good.send(row(PLAN, b"from the dead", epoch=1)) == [Refused(PLAN, "home")]
    good.take_home("harbor", "planner", take=True)
    assert good.send(row(PLAN, b"from the dead", epoch=1)) == [Refused(PLAN, "epoch")]
    assert good.send(row(PLAN, b"now", epoch=3)) == []


@pytest.mark.parametrize("size", [MAX_FILE + 1, 2 * MAX_FILE])
def test_a_huge_file(shared: Team, evil: psycopg.Connection[Any], size: int) -> None:
    assert push(evil, shared.name, "shared/plan/x.md", b"x" * size) == [("shared/plan/x.md", "size")]


@pytest.mark.parametrize(
    "digest", ["", "x", hashlib.sha256(b"y").hexdigest(), hashlib.sha256(b"x").hexdigest().upper()]
)
def test_a_digest_of_other_content(shared: Team, evil: psycopg.Connection[Any], digest: str) -> None:
    found = evil.execute(PUSH, (shared.name, ["shared/plan/x.md"], [0], [digest], [b"x"])).fetchall()
    assert found == [("shared/plan/x.md", "digest")]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO oracle_hub.file VALUES ('harbor-team', 'shared/a.md', gen_random_uuid(), 0, '', 0, NULL, now(), true, '1')",
        "UPDATE oracle_hub.file SET owner = gen_random_uuid()",
        "DELETE FROM oracle_hub.file",
        "TRUNCATE oracle_hub.file",
        "DELETE FROM oracle_hub.file_history",
        "UPDATE oracle_hub.home SET epoch = 9",
        "INSERT INTO oracle_hub.machine (team, name, role) VALUES ('harbor-team', 'forged', 'x')",
        "UPDATE oracle_hub.machine SET role = session_user",
        "UPDATE oracle_hub.meta SET oldest = 99",
        "INSERT INTO oracle_hub.team VALUES ('other')",
        "SELECT * FROM oracle_hub.file_0",
        "ALTER TABLE oracle_hub.file DISABLE ROW LEVEL SECURITY",
        "DROP SCHEMA oracle_hub CASCADE",
        "CREATE TABLE oracle_hub.own ()",
        "CREATE FUNCTION oracle_hub.own() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "SELECT oracle_hub.keep_history()",
        "SELECT oracle_hub.push('other-team', '{}', '{}', '{}', '{}')",
        "SELECT oracle_hub.take_home('other-team', 'harbor', 'planner', true)",
        "SELECT oracle_hub.leave('other-team')",
        "SELECT oracle_hub.join('harbor-team', 'good', '')",
        "SELECT oracle_hub.join('other-team', 'evil', '')",
        "SELECT oracle_hub.grant_rights('public')",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION postgres",
        "CREATE ROLE forged",
    ],
)
def test_a_statement_of_its_own(shared: Team, evil: psycopg.Connection[Any], statement: str) -> None:
    members.init(shared.owner, "other-team")
    with pytest.raises(psycopg.Error) as refused:
        evil.execute(statement)
    assert refused.value.sqlstate in ("42501", "0A000")


def test_other_teams_are_not_seen(shared: Team, evil: psycopg.Connection[Any]) -> None:
    other = Team(shared.dsn, "other-team")
    stranger = other.join("stranger")
    stranger.take_home("harbor", "planner")
    stranger.send(row(RECORD))
    stranger.send(row(RECORD, b"2"))
    other.close()
    for table in ("file", "file_history", "home", "machine", "team"):
        found = evil.execute(f"SELECT DISTINCT team FROM oracle_hub.{table}").fetchall()
        assert found in ([], [(shared.name,)]), table
    assert stranger.machine not in str(evil.execute("SELECT id FROM oracle_hub.machine").fetchall())


def test_who_left_sees_and_writes_nothing(team: Team) -> None:
    with bare(team.join("evil")) as evil:
        evil.execute("SELECT oracle_hub.leave(%s)", (team.name,))
        assert evil.execute("SELECT count(*) FROM oracle_hub.machine").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            push(evil, team.name, "shared/plan/x.md", b"x")


def test_a_role_without_an_invitation(team: Team) -> None:
    from oracle.domain.hub.rows import Membership
    from oracle.hub import exchange

    team.owner.rows("CREATE ROLE passer_by LOGIN")
    try:
        where = f"{team.dsn.rpartition(' user=')[0]} user=passer_by"
        with pytest.raises(HubRefused):
            exchange.join(Membership(team.name, where, name="evil"))
    finally:
        team.owner.rows("DROP ROLE passer_by")


# The rules of the database and of the programs ------------------------------------------------------------------------

WORDS = st.sampled_from(
    """projects shared learnings responses tasks patrol handoffs harbor planner builder-1 memory memory-2 reviewer planner-x
    decision a.md b.json .md link-patterns.toml component-patterns.toml x.toml _state _index
    dev_env.json Q-1__planner__memory.json Q__2__builder-1__planner.json.claim
    Q___planner__memory.json.consumed Q__memory__planner_.json Q-1__memory__planner.json.acked
    Q__x__y.json.superseded-1 ä.md
    .. . é-1 x..y a_ m~1""".split()
)


@settings(max_examples=300)
@given(st.lists(WORDS, min_size=1, max_size=6).map("/".join))
def test_the_database_takes_what_the_programs_take_and_for_the_same_seat(shared: Team, path: str) -> None:
    file = parse(path)
    takes, seat = shared.owner.rows(
        "SELECT oracle_hub.is_path(%(path)s), CASE WHEN oracle_hub.is_path(%(path)s) THEN oracle_hub.seat_of(%(path)s) END",
        {"path": path},
    )[0]
    if file is not None:
        assert (takes, seat) == (True, file.seat)
