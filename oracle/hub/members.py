"""Teams, machines and homes of a hub: make and upgrade it, invite, join and leave."""

from __future__ import annotations

import hashlib

from oracle import __version__
from oracle.domain.hub.rows import Home, Membership, TeamMachine
from oracle.domain.values import replace, value
from oracle.hub.connection import SCHEMA, HubConnection, check_schema, compose, sql

_LOCK = 7_110_120_101
"""The key of the advisory lock under which one program at a time changes the schema."""
_LONGEST_ROLE = 50
"""Bytes of a role's name before its digest; PostgreSQL cuts names to 63."""


# The owner of the hub -------------------------------------------------------------------------------------------------


def schema_text(team: str) -> str:
    """Return the SQL that makes the hub and a team, for an administrator."""
    steps = [sql(f"schema-{number}") for number in range(1, SCHEMA + 1)]
    return "\n".join([*steps, compose(sql("team"), texts={"team": team})])


def init(connection: HubConnection, team: str) -> int:
    """Make or upgrade the hub and add a team; return the version that was there, 0 for none. Another caller waits.

    Raises NewerVersion when the hub needs a newer program.
    """
    with connection.transaction():
        connection.rows("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        before = _version(connection)
        for number in range(before + 1, SCHEMA + 1):
            connection.rows(sql(f"schema-{number}"))
        check_schema(connection)
        if before < SCHEMA:
            connection.rows("SELECT oracle_hub.grant_rights(role) FROM oracle_hub.machine")
        connection.rows(compose(sql("team"), texts={"team": team}))
    return before


def _version(connection: HubConnection) -> int:
    if not connection.rows("SELECT to_regclass('oracle_hub.meta')::text")[0][0]:
        return 0
    return int(connection.rows("SELECT version FROM oracle_hub.meta")[0][0])


@value
class Invitation:
    """A role of the database for one machine, and its password, "" where none was set."""

    role: str
    password: str = ""


def role_of(database: str, team: str, name: str) -> str:
    """Return the name of a machine's role. Roles belong to a whole server, so it tells databases apart."""
    digest = hashlib.sha256(f"{database}/{team}/{name}".encode()).hexdigest()[:8]
    head = f"oracle_{team}_{name}".encode()[:_LONGEST_ROLE].decode("utf-8", "ignore")
    return f"{head}_{digest}"


def invitation_text(database: str, team: str, name: str) -> str:
    """Return the SQL that lets a machine in, for an administrator, who sets a password apart."""
    role = role_of(database, team, name)
    return _role_text("create-role", role) + _admission(database, team, name)


def invite(connection: HubConnection, team: str, name: str) -> Invitation:
    """Make the role of a machine with a new password, or give the role that is there a new one.

    Raises HubRefused for a role that may not create roles.
    """
    import secrets

    role, password = role_of(connection.database, team, name), secrets.token_urlsafe(24)
    with connection.transaction():
        check_schema(connection)
        if not connection.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)):
            connection.rows(_role_text("create-role", role))
        sealed = connection.seal_password(role, password)
        connection.rows(_role_text("set-password", role, sealed))
        connection.rows(_admission(connection.database, team, name))
    return Invitation(role, password)


def _role_text(file: str, role: str, password: str = "") -> str:
    return compose(sql(file), names={"role": role}, texts={"password": password})


def _admission(database: str, team: str, name: str) -> str:
    role = role_of(database, team, name)
    return compose(
        sql("admit"), names={"role_name": role, "database": database}, texts={"team": team, "name": name, "role": role}
    )


# Machines -------------------------------------------------------------------------------------------------------------


def join(connection: HubConnection, member: Membership) -> Membership:
    """Join as the machine that the role was made for, and return the membership with its id. It may be repeated.

    Raises HubRefused without an invitation.
    """
    check_schema(connection)
    found = connection.rows("SELECT oracle_hub.join(%s, %s, %s)::text", (member.team, member.name, __version__))
    return replace(member, machine=found[0][0])


def leave(connection: HubConnection, member: Membership) -> None:
    """Leave the team, and give up every home. The files stay at the hub."""
    connection.rows("SELECT oracle_hub.leave(%s)", (member.team,))


def touch(connection: HubConnection, member: Membership) -> None:
    """Let the team see that this machine is there."""
    connection.rows("SELECT oracle_hub.touch(%s, %s)", (member.team, __version__))


def machines(connection: HubConnection, member: Membership) -> list[TeamMachine]:
    """Return the machines that joined the team and did not leave, by name."""
    return [TeamMachine(*found) for found in connection.rows(sql("machines"), (member.team,))]


def homes(connection: HubConnection, member: Membership) -> list[Home]:
    """Return the homes of the team's seats; `machine` is "" for a seat whose machine left."""
    return [Home(*found) for found in connection.rows(sql("homes"), (member.team,))]


def take_home(connection: HubConnection, member: Membership, home: tuple[str, str], *, take: bool = False) -> Home:
    """Make this machine the home of a seat (project, seat), and return the home as it is then.

    Another machine's home stays unless `take` is set.
    """
    found = connection.rows(sql("take-home"), (member.team, *home, take))
    return Home(*home, *found[0])
